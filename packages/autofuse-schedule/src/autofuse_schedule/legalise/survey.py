"""How a chip computes each operator of AscIR on each element type: what tables and documents are made from."""

from enum import Enum

from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.asc_ops import AscKind, AscOp, AscResult
from autofuse_ir.dtypes import DType
from autofuse_ir.reduction import tree_for

from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.legalise.chips import INTEGERS
from autofuse_schedule.legalise.graph import Legalise


class Means(Enum):
    """What computes an operator."""

    INSTRUCTION = "instruction"
    """One instruction or function of Ascend C, or a short fixed sequence of them."""
    COMPOSED = "composed"
    """Several, with the same result, and conversions to types that have them."""
    ELEMENTS = "scalar unit"
    """No instructions make it exactly: the scalar unit computes one element after the other."""
    NONE = "none"
    """The chip cannot: the schedule refuses it, and fusion leaves it to the host."""


SURVEYED = (AscKind.ELEMENTWISE, AscKind.REDUCE, AscKind.SCAN)


def means(op: AscOp, dtype: DType, target: str) -> Means:
    """Return how ``target`` computes ``op`` on operands of ``dtype``.

    Casts are those to all types but float64; of 64-bit integers also without bfloat16, which the scalar unit makes.
    """
    if not op.computes_on(dtype):
        return Means.NONE
    graph = _graph(op, dtype)
    try:
        found = Legalise(target)(graph)
    except ScheduleError:
        return Means.NONE
    known = {node.name for node in graph.nodes}
    if any(node.attr("composed") == "elements" for node in found.nodes):
        return Means.ELEMENTS
    if op.kind is not AscKind.ELEMENTWISE and dtype.bits == 64 and dtype in INTEGERS:
        return Means.ELEMENTS
    if any(node.attr("composed") is not None or node.name not in known for node in found.nodes):
        return Means.COMPOSED
    return Means.INSTRUCTION


def _graph(op: AscOp, dtype: DType) -> AscGraph:
    b = AscGraphBuilder("k", {"z0": "n", "z1": "m"})
    dtypes = [dt.bool_, dtype, dtype] if op.result is AscResult.SECOND else [dtype] * op.arity
    values = [b.load(b.input(f"x{i}", each), ("n", "m"), ("z0", "z1")) for i, each in enumerate(dtypes)]
    made: list[str] = []
    match op.kind:
        case AscKind.REDUCE:
            made.append(b.reduce(op.name, values[0], "z1", tree=tree_for(dtype, True)))
        case AscKind.SCAN:
            made.append(b.scan(op.name, values[0], "z1"))
        case _ if op.name == "Cast":
            left_out = {dtype, dt.float64} | ({dt.bfloat16} if dtype.is_integer and dtype.bits == 64 else set())
            made += [b.cast(values[0], to) for to in dt.TENSOR_DTYPES if to not in left_out]
        case _:
            made.append(b.op(op.name, *values))
    kept = ("z0",) if op.kind is AscKind.REDUCE else ("z0", "z1")
    for number, value in enumerate(made):
        b.store(value, f"y{number}", ("n", "m")[: len(kept)], kept)
    return b.build()
