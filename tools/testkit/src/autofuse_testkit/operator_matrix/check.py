"""One compiled case against the NumPy meaning of its operator, at every size and layout of its inputs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import AutofuseError
from autofuse_reference.arrays import dtype_of
from autofuse_reference.compare import compare
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer

from autofuse_testkit.operator_matrix.call import MOST_ELEMENTS, Array, Case, strided

ULPS: Mapping[DType, float] = {dt.float16: 2, dt.bfloat16: 2, dt.float32: 2048, dt.float64: 2048}
"""How far floats may be off, in ULP at a thousandth of the largest: functions are other approximations than NumPy's,
differences cancel, and where a size is 1 a sum may take another tree. 16 bits are rounded once, and have no excuse."""

CANCELLING = frozenset(("Gelu", "GeluV2", "GeluGrad", "GeluGradV2"))
"""Far left of zero these add 1 to a function near -1: what is left may be a thousandth of an ULP of 1."""

CANCELLING_ULPS: Mapping[DType, float] = {**ULPS, dt.float32: 32_768, dt.float64: 32_768}

TRUNCATING = frozenset(("LpNormV2",))
"""A root of powers of integers that is an ULP short of a whole number becomes the integer below."""


LAYOUTS = ("contiguous", "strided")


def faults_of(
    case: Case, compiled: Callable[..., Any], turn: int, most: int = MOST_ELEMENTS, layouts: Sequence[str] = LAYOUTS
) -> Iterator[str]:
    """Yield what is wrong with ``compiled``, one line for each call that is not right.

    What the operator refuses has to be refused; a call is made for each of ``layouts``. ``most`` limits large sizes.
    """
    graph, facts = infer(case.graph)
    reference = GraphInterpreter(graph, {value.name: value.dtype for value in facts.values})
    rng = np.random.default_rng(turn)
    for number, (kind, sizes) in enumerate(case.points(most)):
        arrays = case.arrays(sizes, rng)
        wanted = _outcome(lambda given: tuple(reference.outputs(given).values()), _named(case, arrays))
        for layout in layouts:
            given = arrays if layout == "contiguous" else [strided(array, turn + number) for array in arrays]
            fault = _fault(_outcome(lambda arguments: _listed(compiled(*arguments)), given), wanted, case.operator)
            if fault:
                yield f"{case.name}, {kind} {sizes}, {layout}: {fault}"


def _named(case: Case, arrays: list[Array]) -> dict[str, Array]:
    return {operand.name: array for operand, array in zip(case.operands, arrays, strict=True)}


def _outcome(run: Any, arguments: Any) -> tuple[Array, ...] | AutofuseError:
    with np.errstate(all="ignore"):
        try:
            return tuple(map(np.asarray, run(arguments)))
        except AutofuseError as error:
            return error


def _listed(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _fault(
    found: tuple[Array, ...] | AutofuseError, wanted: tuple[Array, ...] | AutofuseError, operator: str
) -> str | None:
    match found, wanted:
        case AutofuseError(), AutofuseError():
            return None
        case AutofuseError(), _:
            return f"refused ({found.what})"
        case _, AutofuseError():
            return f"not refused ({wanted.what})"
        case _:
            differences = (_difference(got, want, operator) for got, want in zip(found, wanted, strict=True))
            return next((difference for difference in differences if difference), None)


def _difference(got: Array, want: Array, operator: str) -> str | None:
    if got.dtype != want.dtype:
        return f"{got.dtype} is not {want.dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape} is not {want.shape}"
    dtype = dtype_of(want)
    allowed = (CANCELLING_ULPS if operator in CANCELLING else ULPS).get(dtype, 0.0)
    comparison = compare(got, want, allowed_ulp=allowed)
    is_truncated = operator in TRUNCATING and dtype.is_integer
    if comparison.equal or (is_truncated and comparison.max_abs <= 1):
        return None
    at = comparison.first_mismatch or ()
    return f"{got[at]} is not {want[at]} at {at} ({comparison.max_ulp:.0f} ULP, {comparison.mismatches} wrong)"
