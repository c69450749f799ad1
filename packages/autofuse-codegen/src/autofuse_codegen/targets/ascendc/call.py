"""One operator to write: its operands, its result, and texts that several forms need."""

from collections.abc import Callable

from attrs import frozen
from autofuse_ir.asc_graph import AscNode

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.lines import Line, vector
from autofuse_codegen.targets.ascendc.operands import Operand, Tensor

SCRATCH = "scratch"


@frozen
class Call:
    """One node to write: its result, its operands, and counts of elements as expressions.

    ``round_up`` gives ``count`` rounded up to whole vectors, ``row`` the elements of a row and how far rows are apart.
    ``as_bits``: truth values are a bit each, not a byte.
    """

    node: AscNode
    to: Tensor
    operands: tuple[Operand, ...]
    count: str
    round_up: Callable[[], str]
    row: Callable[[], tuple[str, str]]
    as_bits: bool = False
    mask_is_bits: bool = False

    @property
    def whole(self) -> str:
        """The number of elements of all vectors that hold some of the value."""
        return self.round_up()

    @property
    def live(self) -> str:
        """Which elements belong to rows, for what raises errors."""
        return f"af_live{{{', '.join(self.row())}}}"

    def put(self, text: str, *operands: Operand, writes: str | None = None, extra: tuple[str, ...] = ()) -> Line:
        """Return a line that reads ``operands`` and writes the result."""
        reads = {o.memory for o in operands if isinstance(o, Tensor)} | set(extra)
        return vector(text, reads, {writes or self.to.memory})


def tensors_of(call: Call) -> tuple[Tensor, ...]:
    """Return the operands of ``call``, none of which may be a number."""
    found = tuple(o for o in call.operands if isinstance(o, Tensor))
    if len(found) != len(call.operands):
        raise constant_error(call)
    return found


def constant_error(call: Call) -> CodegenError:
    """Return the error for an operator that has no tensor among its operands."""
    return CodegenError(
        f"{call.node.op} of constants has no form on Ascend",
        where=f"node {call.node.name}",
        fix="compute it when compiling, or broadcast the constant first",
    )


def halves() -> str:
    """Return scratch as half."""
    return f"{SCRATCH}.ReinterpretCast<half>()"


def bits_in_scratch(call: Call) -> str:
    """Where bits stand in scratch: behind 2 bytes an element."""
    return f"{SCRATCH}[2 * {call.whole}]"


def behind_bits(call: Call) -> str:
    """Return scratch behind the bits that stand there."""
    return f"{SCRATCH}[2 * {call.whole} + {call.whole} / 8]"


def signed(count: str) -> str:
    """Return a count as the type that instructions with a signed count take."""
    return f"static_cast<int32_t>({count})"


def words_of(call: Call) -> str:
    """How many 16-bit words the result has."""
    if call.as_bits:
        return f"{call.whole} / 16"
    if call.to.dtype.bits == 8:
        return f"{call.whole} / 2"
    factor = call.to.dtype.bits // 16
    return call.count if factor == 1 else f"{factor} * {call.count}"
