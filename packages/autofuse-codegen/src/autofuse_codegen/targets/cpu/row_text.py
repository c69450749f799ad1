"""Statements of one row: what is the same in all of its lanes, then what each strip does.

Values that outlive their segment pass through buffers: one segment spills them, others fetch them.
"""

from attrs import define, field
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, REDUCTIONS
from autofuse_ir.dims import Dim, const
from autofuse_ir.schedule import Location

from autofuse_codegen.kernel.addresses import Address
from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Element,
    Evaluate,
    Expression,
    Literal,
    Name,
    Size,
    Statement,
)
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.literals import type_name
from autofuse_codegen.targets.cpu.loads import ONE_LANE
from autofuse_codegen.targets.cpu.local_memory import leaf_count, tile_address, workspace_address
from autofuse_codegen.targets.cpu.operators import as_bools
from autofuse_codegen.targets.cpu.reductions import OPERATIONS
from autofuse_codegen.targets.cpu.scope import KernelScope, moved

ACCESS = "strip"
"""The access object of a strip: how many of its lanes there are."""
POSITION = "i"
"""The position of a strip in its row."""


@define
class RowText:
    """A row in the making; its strips run along ``strip`` (None: it is one point).

    ``before`` stands before the strips; ``body`` is done in each of them, beside the node that a statement belongs to.
    """

    scope: KernelScope
    strip: str | None
    before: list[Statement] = field(factory=list)
    body: list[tuple[str, Statement]] = field(factory=list)

    def pointer(self, node: AscNode, what: str, base: str, offset: Expression | None, kind: str | None = None) -> str:
        """Declare a pointer ``offset`` elements into ``base``, by default to elements that are written."""
        name = self.scope.names.of(f"{what} {node.name}", f"{node.name}_{what}")
        self.before.append(Declare(kind or f"{type_name(node.dtype)}*", name, moved(base, offset)))
        return name

    def add(self, name: str, statement: Statement) -> None:
        """Add a statement that makes ``name``: before the strips where it is the same in all lanes."""
        if self.scope.varies(name, self.strip):
            self.body.append((name, statement))
        else:
            self.before.append(statement)

    def access_of(self, name: str) -> str:
        """Return the access object that ``name`` is computed with."""
        return ACCESS if self.scope.varies(name, self.strip) else ONE_LANE

    def write(self, node: AscNode, pointer: str, step: Dim, value: Expression) -> None:
        """Store ``value`` where ``pointer`` shows, ``step`` elements apart along the strips."""
        arguments: tuple[Expression, ...] = (Name(pointer), value)
        if self.scope.varies(node.name, self.strip):
            arguments = (*self.moving(node, pointer, step), value)
        self.add(node.name, Evaluate(Call(f"{self.access_of(node.name)}.store", arguments)))

    def moving(self, node: AscNode, pointer: str, step: Dim) -> tuple[Expression, ...]:
        """Pointer at this strip, and the run-time step where it is not 1."""
        if step == const(1):
            return (Binary("+", Name(pointer), Name(POSITION)),)
        name = self.scope.names.of(f"step {node.name}", f"{node.name}_step")
        self.before.append(Declare("af_i64", name, Size(step)))
        return (Binary("+", Name(pointer), Binary("*", Name(POSITION), Name(name))), Name(name))

    def spill(self, node: AscNode) -> None:
        """Store a value into its buffer, for other segments."""
        where, step = self._buffer_address(node)
        pointer = self.pointer(node, "to", self.scope.base(node.name), self.scope.offset(where, self.strip))
        self.write(node, pointer, step, as_bools(Name(self.scope.value(node.name)), node.dtype))

    def fetch(self, name: str) -> None:
        """Load a value that another segment left in its buffer.

        All of a segment's local values are loaded before any is written: a new value may take over the buffer of one
        that dies here (in place, strip by strip).
        """
        scope = self.scope
        node = scope.nodes[name]
        if name not in scope.places or node.op in NOT_EVALUATED:
            return
        where, step = self._buffer_address(node)
        constness = f"const {type_name(node.dtype)}*"
        pointer = self.pointer(node, "row", scope.base(name), scope.offset(where, self.strip), constness)
        kind, value, varies = type_name(node.dtype), scope.value(name), scope.varies(name, self.strip)
        if node.op in REDUCTIONS and scope.location(name) is Location.WORKSPACE:
            leaves = Size(leaf_count(node, scope.impl))
            operation = OPERATIONS[node.op]
            if varies:
                moving = self.moving(node, pointer, step)
                arguments = (moving[0], Size(step), leaves, Call(f"{ACCESS}.live", ()))
                self.add(name, Declare("auto", value, Call("af_joined", arguments, (operation, LANES))))
                return
            one: Expression = Call("af_joined", (Name(pointer), leaves), (operation,))
        elif varies:
            self.add(name, Declare("auto", value, Call(f"{ACCESS}.load", self.moving(node, pointer, step))))
            return
        else:
            one = Element(Name(pointer), Literal("0"))
        self.before.append(Declare("auto", value, Call("af_splat", (one,), (kind, LANES))))

    def _buffer_address(self, node: AscNode) -> tuple[Address, Dim]:
        """Return the address of a placed value in its buffer, and its step along the strips."""
        scope = self.scope
        if scope.location(node.name) is Location.WORKSPACE:
            elements = leaf_count(node, scope.impl) if node.op in REDUCTIONS else const(1)
            where = workspace_address(node, scope.impl, elements)
            step = const(0) if self.strip is None else where.step_along(scope.axes[self.strip].root)
        else:
            where = tile_address(node, scope.vectorised[node.name], scope.impl)
            step = const(0) if self.strip is None else where.step_along(self.strip)
        return where, step
