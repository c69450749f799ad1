"""Random kernels of exact operators, with broadcasts, casts and several results, have the interpreter's bits."""

import random

import numpy as np
import pytest
from ascend_kernels import TARGETS, Kernel, build, compile_all, inputs_of
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_schedule.errors import ScheduleError

TYPES = (dt.float32, dt.float16, dt.bfloat16, dt.int8, dt.uint8, dt.int16, dt.int32, dt.bool_)
ARITHMETIC = ("Add", "Sub", "Mul", "Minimum", "Maximum")
COMPARES = ("Eq", "Ne", "Lt", "Le", "Gt", "Ge")
LOGIC = ("LogicalAnd", "LogicalOr", "LogicalXor", "LogicalNot")
ON_FLOATS = ("Div", "Sqrt", "Abs", "Neg", "Floor", "Round", "Reciprocal")
SIZES = (1, 2, 3, 5, 8, 13, 16, 31, 64, 100, 257)
PER_LIBRARY = 20


def draw(seed: int) -> Kernel:
    """Return the random kernel of ``seed``; the same for the same seed."""
    rng = random.Random(seed)
    rank = rng.randint(1, 3)
    axes = {f"z{i}": rng.choice([f"n{i}", f"n{i}", rng.choice(SIZES)]) for i in range(rank)}
    b = Kernel(f"random{seed}", axes)
    types = rng.sample(TYPES, rng.randint(1, 3))
    values: list[str] = []

    def new_input(dtype: DType) -> str:
        kept = [axis for axis in axes if rng.random() < 0.7]
        return b.wide(b.read(f"x{len(values)}", dtype, *kept))

    def a_value(dtype: DType) -> str:
        if rng.random() < 0.15 and dtype != dt.bool_:
            return b.scalar(rng.randint(-3, 3) if dtype.is_integer and dtype != dt.uint8 else rng.randint(0, 3), dtype)
        ready = [v for v in values if b.node(v).dtype == dtype]
        if ready and rng.random() < 0.7:
            return rng.choice(ready)
        return new_input(dtype)

    values.append(b.wide(b.read("first", types[0], *axes)))
    for _ in range(rng.randint(2, 9)):
        dtype = rng.choice(types)
        kind = rng.random()
        if kind < 0.15:
            made = b.cast(rng.choice(values), rng.choice(TYPES))
        elif kind < 0.35:
            made = b.apply(rng.choice(COMPARES), a_vector(b, values, dtype, rng), a_value(dtype))
        elif kind < 0.5:
            made = b.apply(
                "Select", a_vector(b, values, dt.bool_, rng), a_value(dtype), a_vector(b, values, dtype, rng)
            )
        elif dtype == dt.bool_:
            op = rng.choice(LOGIC)
            made = b.apply(op, *(a_vector(b, values, dtype, rng) for _ in range(1 if op == "LogicalNot" else 2)))
        elif dtype.is_float and kind < 0.7:
            op = rng.choice(ON_FLOATS)
            first = a_vector(b, values, dtype, rng)
            made = b.apply(op, first, a_value(dtype)) if op == "Div" else b.apply(op, first)
        else:
            operands = [a_vector(b, values, dtype, rng), a_value(dtype)]
            rng.shuffle(operands)
            made = b.apply(rng.choice(ARITHMETIC), *operands)
        values.append(made)
    for number, value in enumerate(dict.fromkeys([values[-1], *rng.sample(values, min(2, len(values)))])):
        b.write(value, f"y{number}")
    return b


def a_vector(b: Kernel, values: list[str], dtype: DType, rng: random.Random) -> str:
    """A value of ``dtype`` that is no constant: one there is, a cast of one, or a new input."""
    ready = [v for v in values if b.node(v).dtype == dtype]
    if ready and rng.random() < 0.8:
        return rng.choice(ready)
    if rng.random() < 0.5:
        return b.cast(rng.choice(values), dtype)
    return b.wide(b.read(f"v{len(b.build().nodes)}", dtype, *b.axes))


def check(seeds: range, folder, target: str, sizes: int) -> int:
    """Compare the kernels of ``seeds`` at so many sizes each; returns how many kernels the target takes."""
    built = {}
    for seed in seeds:
        try:
            built |= build([draw(seed)], target)
        except ScheduleError as error:
            if "has no instruction" not in error.what:
                raise
    emulated = compile_all(built, folder, target)
    for name, each in built.items():
        rng = random.Random(name)
        for number in range(sizes):
            chosen = {symbol: rng.choice(SIZES) for symbol in each.bundle.symbols}
            arrays = inputs_of(each, chosen, np.random.default_rng(number), special=True)
            wanted = emulated.expected(name, arrays, chosen)
            for found, right in zip(emulated.run(name, arrays, chosen, rng.choice((1, 48))), wanted, strict=True):
                same_bits(found.reshape(-1), right.reshape(-1), f"{name} at {chosen}")
    return len(built)


def same_bits(found, wanted, where: str) -> None:
    same = found.view(f"u{found.dtype.itemsize}") == wanted.view(f"u{wanted.dtype.itemsize}")
    if found.dtype.kind in "fV":
        same |= np.isnan(found) & np.isnan(wanted)
    wrong = np.flatnonzero(~same)
    assert wrong.size == 0, f"{where}: {wrong.size} wrong, first {found[wrong[0]]}, not {wanted[wrong[0]]}"


def test_random_kernels_have_the_bits_of_the_interpreter(tmp_path):
    assert check(range(8), tmp_path, "ascend-a2", sizes=4) >= 6


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("start", range(0, 200, PER_LIBRARY))
def test_many_random_kernels_have_the_bits_of_the_interpreter(start, target, tmp_path):
    assert check(range(start, start + PER_LIBRARY), tmp_path, target, sizes=20) > 0
