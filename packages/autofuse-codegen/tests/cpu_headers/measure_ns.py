"""Prints nanoseconds an element of the math functions against their goals; run by hand on a quiet machine.

    python measure_ns.py [march] [compiler]

4,096 elements in the first-level cache, one thread, the best of many rounds. The goals hold for AVX2 at about 3.5 GHz.
"""

import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from conftest import FLAGS, HERE, INCLUDE, paste

GOALS_NS = {"exp": 0.6, "sigmoid": 0.6, "log": 0.6, "tanh": 0.9, "erf": 0.9, "sin": 1.2, "cos": 1.2, "pow": 3.0}
NAMES = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sigmoid",
    "tanh",
    "erf",
    "erfc",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "pow",
    "atan2",
]
COUNT, ROUNDS, CALLS = 4096, 60, 10
POSITIVE = {"log", "log2", "log10", "sqrt", "rsqrt", "pow"}


def nanoseconds(kernels: ctypes.CDLL, name: str, arrays: list[np.ndarray]) -> float:
    arguments = [ctypes.c_void_p(a.ctypes.data) for a in arrays] + [ctypes.c_longlong(COUNT)]
    function = getattr(kernels, name)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            function(*arguments)
        best = min(best, time.perf_counter() - start)
    return best / CALLS / COUNT * 1e9


def main() -> None:
    march = sys.argv[1] if len(sys.argv) > 1 else "native"
    compiler = sys.argv[2] if len(sys.argv) > 2 else "g++"
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "math.cpp", Path(folder) / "math.so"
        headers = sorted(path.name for path in INCLUDE.glob("*.h"))
        # Lanes of one float register, as the emitter chooses them for a segment of floats.
        width = "constexpr int AF_FLOAT_LANES = AF_VECTOR_BYTES / 4;\n#define TEST_LANES AF_FLOAT_LANES\n"
        source.write_text(paste(headers) + width + (HERE / "math_strips.inc").read_text())
        subprocess.run([compiler, *FLAGS, f"-march={march}", "-shared", "-o", str(library), str(source)], check=True)
        kernels = ctypes.CDLL(str(library))
    print(f"{'function':10}{'float32':>9}{'goal':>7}{'float64':>10}   ({march}, {compiler})")
    for name in NAMES:
        row = [name.ljust(10)]
        for tag, dtype in (("f32", np.float32), ("f64", np.float64)):
            low, high = (
                (0.1, 20) if name in POSITIVE else (-0.99, 0.99) if name in ("asin", "acos", "atanh") else (-5, 5)
            )
            x = np.linspace(1.01, 20, COUNT) if name == "acosh" else np.linspace(low, high, COUNT)
            inputs = [x.astype(dtype)] * (2 if name in ("pow", "atan2") else 1)
            took = nanoseconds(kernels, f"{name}_{tag}", [*inputs, np.empty(COUNT, dtype)])
            goal = GOALS_NS.get(name) if tag == "f32" else None
            row.append(f"{took:9.3f}" + (f"{goal:7.1f}" if goal else " " * 7 if tag == "f32" else ""))
        print("".join(row))


if __name__ == "__main__":
    main()
