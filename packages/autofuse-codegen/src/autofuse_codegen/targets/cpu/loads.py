"""Loads: rows at a fixed step, rows that may leave their data, and gathers by index values.

Everything that one row shares (pointer, index of each dim, which positions lie inside) is computed before its strips.
"""

from attrs import define, frozen
from autofuse_ir.asc_graph import AccessDim, AscNode, Bounds
from autofuse_ir.dims import Dim, const

from autofuse_codegen.kernel.addresses import address, strides_of
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
from autofuse_codegen.targets.cpu.literals import literal, type_name
from autofuse_codegen.targets.cpu.operators import RAISED
from autofuse_codegen.targets.cpu.scope import KernelScope, moved, times
from autofuse_codegen.targets.cpu.transposes import is_transposed, load_transposed

ONE_LANE = f"af_partial<{LANES}>{{1}}"
"""The access object of values that are the same in all lanes: one of them counts."""


@frozen
class LoadText:
    """Statements of a load: ``before`` its row's strips, and in the body of each strip.

    ``guard`` names the span without which the whole row has nothing to read, where its index is an error.
    """

    before: tuple[Statement, ...]
    body: tuple[Statement, ...]
    guard: str | None = None


@define
class LoadWriter:
    """Writes Load ``node`` for rows with strips along ``strip`` (None: for one point).

    ``loop`` is the vectorised axis of the loop around the strips, along which several rows may be loaded together.
    """

    scope: KernelScope
    node: AscNode
    strip: str | None
    access: str
    index: str
    loop: str | None = None

    def text(self) -> LoadText:
        """Return the statements; the value is declared under its name, before the strips where it is a row's."""
        before: list[Statement] = []
        body: list[Statement] = []
        dims = self._dims()
        by_value = [dim for dim in dims if dim.lanes]
        if self.loop is not None and is_transposed(self.scope, self.node, self.loop, self.strip):
            return self._transposed(self.loop)
        pointer, step = self._pointer(dims, before)
        span = self._span(dims, before)
        guard = None
        if by_value:
            self._gather(by_value, pointer, step, span, body)
        elif span is not None and self._bounds is Bounds.ERROR and self._is_row_checked(dims):
            guard = span
            self._row(pointer, step, None, before, body)
        else:
            self._row(pointer, step, span, before, body)
        return LoadText(tuple(before), tuple(body), guard)

    def _transposed(self, loop: str) -> LoadText:
        assert self.strip is not None
        before, body = load_transposed(self.scope, self.node, loop, self.strip, self.access, self.index)
        return LoadText(before, (body,))

    def _dims(self) -> tuple["_Dim", ...]:
        access = self.node.access
        assert access is not None
        found = []
        for number, (dim, size, stride) in enumerate(zip(access.dims, access.memory, strides_of(access), strict=True)):
            operand = self.node.inputs[1 + dim.operand] if dim.operand is not None else None
            lanes = operand is not None and self.scope.varies(operand, self.strip)
            found.append(_Dim(number, dim, size, stride, operand, lanes))
        return tuple(found)

    @property
    def _bounds(self) -> Bounds:
        assert self.node.access is not None
        return self.node.access.bounds

    def _name(self, what: str) -> str:
        return self.scope.names.of(f"{what} {self.node.name}", f"{self.node.name}_{what}")

    def _pointer(self, dims: tuple["_Dim", ...], before: list[Statement]) -> tuple[str, Dim]:
        """Declare the pointer to the row's first element; return it and the step along the strips."""
        assert self.node.access is not None
        where = address(self.node.access)
        terms: list[Expression] = []
        for dim in dims:
            if dim.operand is None or dim.lanes:
                continue
            value = Name(self.scope.value(dim.operand))
            name = self._name(f"at{dim.number}")
            index = Call("af_row_index", (value, Size(dim.access.step), Size(dim.access.offset)))
            before.append(Declare("af_i64", name, index))
            inside: Expression = Name(name)
            if self._bounds is not Bounds.INSIDE:
                inside = Call("af_inside_or_zero", (inside, Size(dim.size)))
            terms.append(times(inside, dim.stride))
        data = self.scope.base(self.node.inputs[0])
        pointer = self._name("row")
        kind = f"const {type_name(self.node.dtype)}*"
        before.append(Declare(kind, pointer, moved(data, self.scope.offset(where, self.strip, *terms))))
        root = None if self.strip is None else self.scope.axes[self.strip].root
        return pointer, const(0) if root is None else where.step_along(root)

    def _span(self, dims: tuple["_Dim", ...], before: list[Statement]) -> str | None:
        """Declare which positions of the row are inside of the data; None where all of them are."""
        if self._bounds is Bounds.INSIDE:
            return None
        span: Expression = Name("af_everywhere")
        checked = False
        for dim in dims:
            if dim.lanes or self._is_whole(dim):
                continue
            checked = True
            step = const(0)
            if dim.operand is not None:
                first: Expression = Name(self._name(f"at{dim.number}"))
            else:
                first = self._first(dim)
                if self.strip is not None and dim.access.axis == self.scope.axes[self.strip].root:
                    step = dim.access.step
            span = Call("af_within", (span, first, Size(step), Size(dim.size)))
        if not checked:
            return None
        name = self._name("span")
        before.append(Declare("af_span", name, span))
        return name

    def _is_row_checked(self, dims: tuple["_Dim", ...]) -> bool:
        """The row is inside as a whole or not at all: no dim that may leave the data moves along the strips."""
        if not self.scope.varies(self.node.name, self.strip):
            return False
        assert self.strip is not None
        moving = [dim for dim in dims if dim.access.axis == self.scope.axes[self.strip].root]
        return all(self._is_whole(dim) for dim in moving)

    def _is_whole(self, dim: "_Dim") -> bool:
        """The dim is an axis of its own size, walked as it is."""
        if dim.access.operand is not None or dim.access.offset != const(0):
            return False
        if dim.access.axis is None:
            return False
        return dim.access.step == const(1) and self.scope.axes[dim.access.axis].size == dim.size

    def _first(self, dim: "_Dim") -> Expression:
        index = None if dim.access.axis is None else self.scope.index(dim.access.axis, self.strip)
        if index is None:
            return Size(dim.access.offset)
        moved_index = times(index, dim.access.step)
        return moved_index if dim.access.offset == const(0) else Binary("+", moved_index, Size(dim.access.offset))

    def _row(self, pointer: str, step: Dim, span: str | None, before: list[Statement], body: list[Statement]) -> None:
        scope, node = self.scope, self.node
        kind, value = type_name(node.dtype), scope.value(node.name)
        if not scope.varies(node.name, self.strip):
            if span is not None and self._bounds is Bounds.ERROR:
                before.append(_check_span(Name(ONE_LANE), Literal("0"), span))
            if span is None:
                one: Expression = Element(Name(pointer), Literal("0"))
            else:
                one = Call("af_load_one_within", (Name(pointer), Name(span), self._fill()))
            before.append(Declare("auto", value, Call("af_splat", (one,), (kind, LANES))))
            return
        if span is None:
            arguments = self._moving(pointer, step, before)
            body.append(Declare("auto", value, Call(f"{self.access}.load", arguments)))
            return
        if self._bounds is Bounds.ERROR:
            body.append(_check_span(Name(self.access), Name(self.index), span))
        at, steps = self._at(pointer, step, before)
        arguments = (Name(self.access), at, steps, Name(self.index), Name(span), self._fill())
        body.append(Declare("auto", value, Call("af_load_within", arguments)))

    def _moving(self, pointer: str, step: Dim, before: list[Statement]) -> tuple[Expression, ...]:
        """Return the pointer at this strip, and the step where it is not 1."""
        at, steps = self._at(pointer, step, before)
        return (at,) if step == const(1) else (at, steps)

    def _at(self, pointer: str, step: Dim, before: list[Statement]) -> tuple[Expression, Expression]:
        if step == const(1):
            return Binary("+", Name(pointer), Name(self.index)), Literal("1")
        name = self._name("step")
        before.append(Declare("af_i64", name, Size(step)))
        return Binary("+", Name(pointer), Binary("*", Name(self.index), Name(name))), Name(name)

    def _gather(self, dims: list["_Dim"], pointer: str, step: Dim, span: str | None, body: list[Statement]) -> None:
        node, strip = self.node, Name(self.access)
        offsets: list[Expression] = []
        inside: list[Expression] = []
        for dim in dims:
            assert dim.operand is not None
            name = self._name(f"at{dim.number}")
            value = Name(self.scope.value(dim.operand))
            index = Call("af_index", (value, Size(dim.access.step), Size(dim.access.offset)))
            body.append(Declare("auto", name, index))
            offsets.append(_scaled(Name(name), dim.stride))
            inside.append(Call("af_is_inside", (Name(name), Size(dim.size))))
        base: Expression = Name(pointer)
        if step != const(0):
            base = Binary("+", base, times(Name(self.index), step))
            offsets.append(Call("af_iota", (Literal("0"), Size(step)), ("af_i64", LANES)))
        if span is not None:
            inside.append(Call("af_is_within", (Name(self.index), Name(span)), (LANES,)))
        offset = _joined("af_add", offsets)
        value_name = self.scope.value(node.name)
        if self._bounds is Bounds.INSIDE:
            body.append(Declare("auto", value_name, Call("af_gather", (strip, base, offset))))
            return
        name = self._name("inside")
        body.append(Declare("auto", name, _joined("af_logical_and", inside)))
        if self._bounds is Bounds.ERROR:
            body.append(Evaluate(Call("af_check_inside", (strip, Name(name), RAISED))))
        arguments = (strip, base, offset, Name(name), self._fill())
        body.append(Declare("auto", value_name, Call("af_gather_within", arguments)))

    def _fill(self) -> Expression:
        value = self.node.attr("fill", 0)
        assert isinstance(value, bool | int | float), "checks.check_access finds others"
        return Literal(literal(value, self.node.dtype))


@frozen
class _Dim:
    """Dim ``number`` of a load; ``lanes``: its index is ``operand``, which differs from lane to lane."""

    number: int
    access: AccessDim
    size: Dim
    stride: Dim
    operand: str | None
    lanes: bool


def _check_span(strip: Expression, position: Expression, span: str) -> Statement:
    return Evaluate(Call("af_check_within", (strip, position, Name(span), RAISED)))


def _scaled(index: Expression, stride: Dim) -> Expression:
    if stride == const(1):
        return index
    return Call("af_mul", (index, Call("af_splat", (Size(stride),), ("af_i64", LANES))))


def _joined(function: str, parts: list[Expression]) -> Expression:
    total = parts[0]
    for part in parts[1:]:
        total = Call(function, (total, part))
    return total
