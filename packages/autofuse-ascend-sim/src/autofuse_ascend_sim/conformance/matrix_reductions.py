"""Cases of the high-level reductions: matrices by axis, and sums and means of rows."""

from typing import Any

import numpy as np

from autofuse_ascend_sim.conformance.case import Case, Operand, Step
from autofuse_ascend_sim.conformance.elements import ELEMENTS, Array, Element
from autofuse_ascend_sim.conformance.lanes import CAPACITY
from autofuse_ascend_sim.conformance.operands import target_of
from autofuse_ascend_sim.signatures.table import Function

SHAPES = ((1, 1), (3, 5), (4, 8), (7, 33), (5, 64), (2, 65), (3, 128), (6, 200), (16, 40))


def _matrix_source(element: Element, name: str) -> Array:
    rng = np.random.default_rng(1)
    if name in ("ReduceAny", "ReduceAll"):
        return element.encode(
            rng.integers(0, 2, CAPACITY).astype(np.float64 if element.is_floating else element.storage)
        )
    if name == "ReduceProd":
        return element.encode(rng.choice([-1.0, 1.0, 2.0, 0.5], CAPACITY))
    if name in ("ReduceSum", "ReduceMean") and element.is_floating:
        return element.encode(rng.integers(-9, 10, CAPACITY).astype(np.float64))  # exact in any order
    return element.samples(CAPACITY, 1, specials=False)


def matrix_case(row: Function, kind: str, pattern: str) -> Case:
    """A matrix reduced along the axis that `pattern` names (`AR`: the last, `RA`: the first)."""
    element = ELEMENTS[kind]
    per_block = 32 // element.size
    source = _matrix_source(element, row.name)
    src, dst = Operand("src", element, source), target_of(element)
    numbers = element.decode(source)
    last_axis = pattern.endswith("AR")
    reduce: Any = {
        "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod,
        "ReduceAny": np.max, "ReduceAll": np.min,
    }[row.name]  # fmt: skip

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rows, columns = step
        stride = -(-columns // per_block) * per_block
        whole = numbers[: rows * stride].reshape(rows, stride)[:, :columns]
        options = {"dtype": whole.dtype} if row.name == "ReduceSum" else {}
        results = element.encode(reduce(whole, axis=1 if last_axis else 0, **options))
        after = dst.values.copy()
        after[: results.size] = results
        return ((after,),)

    tmp = "tmp, " if row.form == "pattern_tmp" else ""
    code = f"uint32_t shape[2] = {{p[0], p[1]}};\n{row.name}<{kind}, {pattern}>(dst, src, {tmp}shape, true);"
    form = f"{pattern.rsplit(':', 1)[1]} {row.form}"
    fitting = tuple(s for s in SHAPES if s[0] * -(-s[1] // per_block) * per_block <= CAPACITY)
    ulp = 1 if row.name == "ReduceMean" else 0
    return Case(
        row.name, row.architecture, (kind,), form, code, (src,), (dst,), fitting, expectation, ulp, tmp_bytes=32768
    )


def rows_case(row: Function, types: tuple[str, ...]) -> Case:
    """The sum or mean of each row of a matrix."""
    element = ELEMENTS[types[0]]
    per_block = 32 // element.size
    source = element.encode(np.random.default_rng(1).integers(-3, 4, CAPACITY).astype(np.float64))
    src, dst = Operand("src", element, source), target_of(element)
    numbers = element.decode(source)

    def expectation(step: Step) -> tuple[tuple[Array, ...], ...]:
        rows, columns = step
        stride = -(-columns // per_block) * per_block
        whole = numbers[: rows * stride].reshape(rows, stride)[:, :columns]
        results = element.encode(whole.sum(axis=1) if row.name == "Sum" else whole.mean(axis=1))
        after = dst.values.copy()
        after[:rows] = results
        return ((after,),)

    tmp = "tmp, " if any(p.name == "sharedTmpBuffer" for p in row.parameters) else ""
    explicit = f"<{', '.join(types)}>" if row.name == "Mean" else ""
    stride_text = f"(p[1] + {per_block - 1}) / {per_block} * {per_block}"
    code = (
        f"{row.name}Params params;\nparams.outter = p[0];\nparams.inner = {stride_text};\nparams.n = p[1];\n"
        f"{row.name}{explicit}(dst, src, {tmp}params);"
    )
    fitting = tuple(s for s in SHAPES if s[0] * -(-s[1] // per_block) * per_block <= CAPACITY)
    form = "rows with temporary" if tmp else "rows"
    return Case(row.name, row.architecture, types, form, code, (src,), (dst,), fitting, expectation, 1, tmp_bytes=8192)
