"""Where a group of a kernel finds its arguments, its workspace, its part of TilingData and its constants."""

from collections.abc import Mapping

from attrs import Factory, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, const
from autofuse_ir.kernel_memory import Memory, source_of

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.kernel.program import Binary, Element, Expression, Literal, Member, Name, Size

_START = const(0)


@frozen
class Borders:
    """Byte offsets into workspace, of the internal values by index and of the group's own buffers.

    ``tiling`` stands before each field of TilingData. ``constants`` are the members, by node, that hold what kernels of
    the same code do not have in common. A kernel of one group that shares no code has the defaults.
    """

    internals: tuple[Dim, ...] = ()
    workspace: Dim = _START
    tiling: str = ""
    constants: Mapping[str, str] = Factory(dict)

    def pointer(self, node: AscNode) -> tuple[str, Expression]:
        """Return what to call the data of a ``Data`` or ``Output`` node, and where it starts."""
        source = source_of(node)
        if source is None:
            raise CodegenError(
                "it does not say which argument or internal value it stands for",
                where=f"node {node.name}, {node.op}",
                fix="set index, output (of a Data) or internal",
            )
        if source.memory is Memory.INTERNAL:
            return f"internal{source.index}", in_workspace(self.internals[source.index])
        is_output = node.op == "Output" or source.memory is Memory.OUTPUT
        array = "outputs" if is_output else "inputs"
        data = Member(Element(Name(f"launch->{array}"), Literal(str(source.index))), "data")
        return f"{'out' if is_output else 'in'}{source.index}", data

    def constant(self, node: str) -> Expression | None:
        """Return where the value of Scalar ``node`` is; None where the code has it."""
        return Name(f"launch->constants->{self.constants[node]}") if node in self.constants else None


ALONE = Borders()
"""Those of a kernel of one group."""


def in_workspace(offset: Dim) -> Expression:
    """Return the address of byte ``offset`` of the launch's workspace."""
    workspace = Name("launch->workspace")
    return workspace if offset == const(0) else Binary("+", workspace, Size(offset))
