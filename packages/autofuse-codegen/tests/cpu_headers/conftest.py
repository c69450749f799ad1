"""Builds test libraries from the CPU kernels' freestanding headers: pasted by dependency closure, compiled once."""

import ctypes
import functools
import importlib.resources
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

FLAGS = (
    "-std=c++17",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fPIC",
)
# Other compilers, instruction sets, registers and strips by hand:
# AF_TEST_COMPILER=clang++ AF_TEST_MARCH=x86-64 AF_TEST_FLAGS="-DAF_VECTOR_BYTES=16 -DTEST_LANES=4" pytest ...
COMPILER = os.environ.get("AF_TEST_COMPILER", "g++")
MARCH = os.environ.get("AF_TEST_MARCH", "native")
MORE_FLAGS = os.environ.get("AF_TEST_FLAGS", "").split()
INCLUDE = Path(str(importlib.resources.files("autofuse_codegen") / "targets" / "cpu" / "include"))
HERE = Path(__file__).parent


@functools.cache
def header_text(name: str) -> str:
    return (INCLUDE / name).read_text()


def required_headers(name: str) -> tuple[str, ...]:
    first = header_text(name).splitlines()[0]
    match = re.fullmatch(r"// requires:((?: af_\w+\.h)*)", first)
    assert match, f"{name}: the first line must be '// requires: af_x.h ...', it is {first!r}"
    return tuple(match.group(1).split())


def closure(names: Iterable[str]) -> tuple[str, ...]:
    """Headers in the order in which they can be pasted: each after what it requires."""
    ordered: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in ordered:
            for needed in required_headers(name):
                visit(needed)
            ordered[name] = None

    for name in names:
        visit(name)
    return tuple(ordered)


def paste(names: Iterable[str]) -> str:
    return "\n".join(header_text(name) for name in closure(names))


@pytest.fixture(autouse=True)
def quiet_numpy() -> Iterator[None]:
    """NaN, infinities and overflow are what these tests are about: NumPy is not to warn of them."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="session")
def include_dir() -> Path:
    return INCLUDE


@pytest.fixture(scope="session")
def all_headers() -> tuple[str, ...]:
    return tuple(sorted(path.name for path in INCLUDE.glob("*.h")))


@pytest.fixture(scope="session")
def paste_headers() -> Callable[[Iterable[str]], str]:
    return paste


@pytest.fixture(scope="session")
def header_closure() -> Callable[[Iterable[str]], tuple[str, ...]]:
    return closure


Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compile_source(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles a C++ source with the flags of generated kernels; `link=False` stops at the object file."""
    folder = tmp_path_factory.mktemp("cpu_headers")

    def compile_one(
        name: str,
        source: str,
        *,
        compiler: str = COMPILER,
        march: str = MARCH,
        link: bool = True,
        more: Sequence[str] = (),
    ) -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        path = folder / f"{name}.cpp"
        path.write_text(source)
        out = folder / f"{name}-{Path(compiler).name}-{march}{'.so' if link else '.o'}"
        how = ("-shared",) if link else ("-c",)
        done = subprocess.run(
            [compiler, *FLAGS, f"-march={march}", *how, *more, *MORE_FLAGS, "-o", str(out), str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[:4000]
        return out

    return compile_one


class Kernels:
    """Functions of one compiled test library, called on NumPy arrays of equal length."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))

    def __call__(self, name: str, *arrays: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Runs `name(inputs..., out, n)`; returns `out`."""
        assert all(a.flags.c_contiguous and a.size == out.size for a in arrays)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
        function = getattr(self.library, name)
        function.restype = None
        function(*pointers, ctypes.c_longlong(out.size))
        return out

    def with_status(self, name: str, *arrays: np.ndarray, out: np.ndarray) -> int:
        """Runs `name(inputs..., out, n, status)`; returns the status word."""
        status = ctypes.c_uint32(0)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
        getattr(self.library, name)(*pointers, ctypes.c_longlong(out.size), ctypes.byref(status))
        return status.value


@pytest.fixture(scope="session")
def kernels(compile_source: Compile, all_headers: tuple[str, ...]) -> Kernels:
    """Every function over every dtype that the default tests call, compiled for this machine by g++."""
    source = paste(all_headers) + (HERE / "strips.inc").read_text()
    return Kernels(compile_source("strips", source))


@pytest.fixture(scope="session")
def on_x86() -> bool:
    return platform.machine() in ("x86_64", "AMD64")


@pytest.fixture(scope="session")
def math_source(all_headers: tuple[str, ...]) -> str:
    return paste(all_headers) + (HERE / "math_strips.inc").read_text()


@pytest.fixture(scope="session")
def math_kernels(compile_source: Compile, math_source: str) -> Kernels:
    """The math functions over float and double."""
    return Kernels(compile_source("math_strips", math_source))


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The C library's functions in a wider type, and the search for a kernel's largest error."""
    out = tmp_path_factory.mktemp("reference") / "reference.so"
    command = ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-o", str(out), str(HERE / "reference.cpp")]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(out))
    for name in ("worst_f32", "worst_f64", "worst2_f32", "worst2_f64"):
        getattr(library, name).restype = ctypes.c_double
    return library
