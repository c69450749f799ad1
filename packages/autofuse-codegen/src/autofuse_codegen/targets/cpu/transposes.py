"""Loads across the rows of their data: a few rows at a time are transposed in cache, then loaded along them.

y[i, j] = x[j, i]        16 rows i of 4 bytes share the cache lines of x; each line is read once for all of them
"""

from autofuse_ir.asc_graph import AscNode, Bounds
from autofuse_ir.dims import const

from autofuse_codegen.kernel.addresses import address
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    If,
    Integer,
    Name,
    Size,
    Statement,
)
from autofuse_codegen.targets.cpu.literals import type_name
from autofuse_codegen.targets.cpu.scope import KernelScope, Scratch, moved

LINE_BYTES = 64
"""Bytes of a cache line: what rows are loaded together for."""


def is_transposed(scope: KernelScope, node: AscNode, loop: str, strip: str | None) -> bool:
    """Return whether neighbours along ``loop``, but not those along strips, are neighbours in the data of ``node``."""
    if strip is None or node.access is None or node.access.bounds is not Bounds.INSIDE or len(node.inputs) > 1:
        return False
    if not (scope.varies(node.name, strip) and scope.varies(node.name, loop)):
        return False
    where = address(node.access)
    along = where.step_along(scope.axes[strip].root)
    return where.step_along(scope.axes[loop].root) == const(1) and along not in (const(0), const(1))


def load_transposed(
    scope: KernelScope, node: AscNode, loop: str, strip: str, access: str, index: str
) -> tuple[tuple[Statement, ...], Statement]:
    """Transpose as many rows as share cache lines into scratch, at the first of them, and load from there.

    Returns what stands before the strips, and the load at ``index`` of each strip.
    """
    assert node.access is not None

    def name(what: str) -> str:
        return scope.names.of(f"{what} {node.name}", f"{node.name}_{what}")

    kind = type_name(node.dtype)
    where = address(node.access)
    rows = LINE_BYTES // node.dtype.itemsize
    pitch = scope.axes[strip].size
    at = name("block_at")
    scope.scratch.append(Scratch(at, pitch * (rows * node.dtype.itemsize)))
    block = name("block")
    declared = Declare(f"{kind}*", block, Call(f"({kind}*)", (Binary("+", Name("local"), Name(at)),)))
    position = scope.nest.known[loop]
    passed: Expression = position
    end = scope.nest.bound(loop)
    if (rows_of_range := scope.nest.limits(loop)) is not None:
        begin, end = rows_of_range
        passed = Binary("-", position, begin)
    number = Binary("%", passed, Integer(rows))
    left = Call("af_min", (Integer(rows), Binary("-", end, position)))
    step = Size(where.step_along(scope.axes[strip].root))
    offset, count = scope.offset(where, strip), scope.nest.bound(strip)
    first: Expression | None = None
    if (limits := scope.nest.limits(strip)) is not None:  # the first row may begin later than others: take whole ones
        first, count = limits[0], Size(pitch)
        offset = scope.offset(where, strip, Binary("*", Binary("-", Integer(0), first), step))
    start = moved(scope.base(node.inputs[0]), offset)
    width = f"(AF_VECTOR_BYTES < {LINE_BYTES} ? AF_VECTOR_BYTES : {LINE_BYTES}) / {node.dtype.itemsize}"
    arguments = (start, step, Name(block), Size(pitch), left, count)
    fill = Evaluate(Call("af_transpose", arguments, (kind, width)))
    filled = If(Binary("==", number, Integer(0)), (fill,))
    row = name("row")
    of_row = Binary("+", Name(block), Binary("*", number, Size(pitch)))
    found = Declare(f"const {kind}*", row, of_row if first is None else Binary("+", of_row, first))
    loaded = Call(f"{access}.load", (Binary("+", Name(row), Name(index)),))
    return (declared, filled, found), Declare("auto", scope.value(node.name), loaded)
