"""Kernels drawn at random."""

import numpy as np
from autofuse_ir.dims import const
from kernel_builder import F32, Kernel


def random_kernel(seed: int) -> Kernel:
    """Draw a kernel: values over 2 or 3 axes, some of which are reduced again and again, and stores of some of them.

    Stored values cover the kept axes, and all or none of the reduced ones, as those of fused kernels do. One is a sum.
    """
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(2, 4))
    axes = {f"z{i}": size for i, size in zip(range(rank), ("n", "m", "k"), strict=False)}
    names = tuple(axes)
    reduced = tuple(names[i] for i in sorted(rng.choice(rank, int(rng.integers(1, rank + 1)), replace=False)))
    b = Kernel(f"random{seed}", axes)
    values = [b.read("x0", *names)]
    for number in range(1, int(rng.integers(1, 4))):
        some = tuple(name for name in names if rng.random() < 0.6)
        values.append(b.read(f"x{number}", *some))
    for _ in range(int(rng.integers(3, 10))):
        value = values[int(rng.integers(len(values)))]
        match int(rng.integers(6)):
            case 0 | 1 if any(b.node(value).repeats[names.index(axis)] != const(1) for axis in reduced):
                op = ("Sum", "Max", "Min", "Prod")[int(rng.integers(4))]
                values.append(b.reduce(op, b.as_wide_as(value, *reduced), *reduced))
            case 2:
                op = ("Exp", "Neg", "Sqrt", "Tanh")[int(rng.integers(4))]
                values.append(b.op(op, value))
            case 3:
                values.append(b.apply("Mul", value, b.scalar(0.5, F32)))
            case _:
                other = values[int(rng.integers(len(values)))]
                walked = {a for v in (value, other) for a, r in zip(names, b.node(v).repeats, strict=True) if r != 1}
                op = ("Add", "Sub", "Maximum", "Div")[int(rng.integers(4))]
                values.append(b.op(op, b.as_wide_as(value, *walked), b.as_wide_as(other, *walked)))
    b.write(b.as_wide_as(b.reduce("Sum", b.as_wide_as(values[-1], *reduced), *reduced), *names), "total")
    for number in range(int(rng.integers(0, 3))):
        stored = values[-1 - number] if number < len(values) else values[-1]
        repeats = zip(names, b.node(stored).repeats, strict=True)
        is_row = all(repeat == const(1) for axis, repeat in repeats if axis in reduced)
        kept = tuple(axis for axis in names if axis not in reduced)
        b.write(b.as_wide_as(stored, *(kept if is_row else names)), f"y{number}")
    return b


def random_scans(seed: int) -> Kernel:
    """Draw a kernel of 1 to 3 axes with at least one scan, and reductions along some of them.

    Mostly all scans go along one axis in one direction, as those of fused kernels do.
    """
    rng = np.random.default_rng(seed)
    names = tuple(f"z{i}" for i in range(int(rng.integers(1, 4))))
    b = Kernel(f"scans{seed}", dict(zip(names, ("n", "m", "k"), strict=False)))
    values = [b.read("x0", *names), b.read("x1", *(name for name in names if rng.random() < 0.6))]
    reduced = tuple(name for name in names if rng.random() < 0.5) or names[-1:]
    axis, is_backward = names[int(rng.integers(len(names)))], bool(rng.integers(2))
    one_way = rng.random() < 0.7

    def scan(value: str) -> str:
        op, exclusive = ("CumSum", "CumProd")[int(rng.integers(2))], bool(rng.integers(2))
        along, backward = (axis, is_backward) if one_way else (names[int(rng.integers(len(names)))], rng.random() < 0.5)
        return b.scan(op, b.wide(value), along, exclusive, bool(backward))

    values.append(scan(values[0]))
    for _ in range(int(rng.integers(1, 7))):
        value, other = (values[int(rng.integers(len(values)))] for _ in range(2))
        match int(rng.integers(6)):
            case 0 | 1:
                values.append(scan(value))
            case 2 if any(b.node(value).repeats[names.index(name)] != const(1) for name in reduced):
                op = ("Sum", "Max")[int(rng.integers(2))]
                values.append(b.reduce(op, b.as_wide_as(value, *reduced), *reduced))
            case 3:
                values.append(b.op("Neg", value))
            case _:
                values.append(b.apply(("Add", "Sub", "Maximum")[int(rng.integers(3))], value, other))
    b.write(b.wide(values[-1]), "y")
    b.write(b.wide(values[len(values) // 2]), "z")
    return b
