"""Loads whose tile may leave the data: spans of positions inside, copies of that box, fills around it."""

from attrs import define, field
from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.dims import Dim, const

from autofuse_codegen.kernel.addresses import address
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.literals import literal
from autofuse_codegen.targets.ascendc.loads import always_inside, fill_value
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.places import DimPlace, Loops, at, dims_of, plus, times

RAISE = "raised |= AF_STATUS_INDEX_OUT_OF_RANGE;"


@define
class BoxWriter:
    """Writes the copies and fills of Load ``node`` into tensor ``to``, which lies in ``memory``, from ``gm``."""

    node: AscNode
    to: str
    memory: str
    gm: str
    nest: Nest
    layouts: Layouts
    loops: Loops = field(init=False)
    spans: dict[str, str] = field(factory=dict)
    """By root axis where the positions inside are not all of them: the name of their span."""
    holds: str = ""
    """A condition for anything to lie inside: dims that the tile's own axes do not walk."""

    def __attrs_post_init__(self) -> None:
        self.loops = Loops(self.nest, self.layouts)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the tile that the value varies along."""
        return self.layouts.axes_of(self.node)

    @property
    def raises(self) -> bool:
        """True where an index outside is an error."""
        assert self.node.access is not None
        return self.node.access.bounds is Bounds.ERROR

    def measure(self) -> None:
        """Declare the spans of all dims that no operand stands in, and raise where leaving them is an error."""
        assert self.node.access is not None
        if self.node.access.bounds is Bounds.INSIDE:
            return
        walked = {axis.root: axis for axis in self.axes}
        roots = {axis.name: axis for axis in self.nest.impl.axes}
        conditions: list[str] = []
        parts: dict[str, list[DimPlace]] = {}
        for dim in dims_of(self.node):
            if dim.access.operand is not None or always_inside(dim.access, dim.size, roots):
                continue
            if dim.access.axis in walked and dim.access.step != const(0):
                parts.setdefault(str(dim.access.axis), []).append(dim)
                continue
            conditions.append(f"af_is_inside({self.loops.index(dim.access)}, {self.nest.size(dim.size)})")
        for axis in self.axes:
            if axis.root not in parts:
                continue
            text = self._everything(axis)
            for dim in parts[axis.root]:
                first, step = self.loops.index(dim.access), self.nest.size(dim.access.step)
                text = f"af_within({text}, {first}, {step}, {self.nest.size(dim.size)})"
            name = self.nest.names.of(f"span {self.node.name} {axis.name}", f"{self.node.name}_{axis.name}")
            self.loops.put(f"const af_span {name} = {text};")
            self.spans[axis.root] = name
        if conditions:
            self.holds = self.nest.names.of(f"holds {self.node.name}", f"{self.node.name}_in")
            self.loops.put(f"const bool {self.holds} = {' && '.join(conditions)};")
        if self.raises and (self.spans or self.holds):
            wrong = [f"!{self.holds}"] if self.holds else []
            whole = [axis for axis in self.axes if axis.root in self.spans]
            wrong += [f"!af_is_whole({self.spans[axis.root]}, {self.layouts.extent(axis)})" for axis in whole]
            self.loops.put(f"if ({' || '.join(wrong)}) {RAISE}")

    def conditions(self) -> list[str]:
        """Return what must hold at the point of the loops for something to lie inside."""
        found = [self.holds] if self.holds else []
        for root, index in self.loops.counted.items():
            if root in self.spans:
                span = self.spans[root]
                found.append(f"{index} >= {span}.from && {index} < {span}.to")
        return found

    def span_of(self, axis: Axis | None) -> str:
        """Return the span along ``axis``; without one there is a single position."""
        if axis is not None and axis.root in self.spans:
            return self.spans[axis.root]
        return self._everything(axis)

    def inside_of(self, axis: Axis | None, conditions: list[str]) -> str:
        """Return the span along ``axis`` where ``conditions`` hold, else none."""
        span = self.span_of(axis)
        return f"af_where({' && '.join(conditions)}, {span})" if conditions else span

    def offset(self, *terms: str) -> str:
        """Return the element of the data at the point of the loops; ``terms`` come from index operands."""
        assert self.node.access is not None
        where = address(self.node.access)
        text = "" if where.constant == const(0) else self._text(where.constant)
        for root, step in where.coefficients:
            point = self.nest.base(root) or ""
            if root in self.loops.counted:
                point = plus(point, f"static_cast<af_i64>({self.loops.counted[root]})")
            if point:
                text = plus(text, times(point, self.nest.size(step)))
        for term in terms:
            text = plus(text, term)
        return text or "0"

    def copy(self, offset: str, conditions: list[str], columns: Axis | None, rows: Axis | None) -> None:
        """Add the call that loads rows over axes ``rows`` and ``columns`` at the point of the loops."""
        assert self.node.access is not None
        target, shape = at(self.to, self.loops.place(self.axes)), self.shape(columns, rows)
        if self.node.access.bounds is Bounds.INSIDE:
            self.loops.put(f"af_load({target}, {self.gm}, {offset}, {shape});")
            return
        across = self.inside_of(columns, conditions)
        fill = literal(fill_value(self.node), self.node.dtype)
        text = f"af_load_box({target}, {self.gm}, {offset}, {shape}, {self.span_of(rows)}, {across}, {fill});"
        self.loops.put(text, writes=frozenset({self.memory}))

    def shape(self, columns: Axis | None, rows: Axis | None) -> str:
        """Return how many rows and columns there are, and how far apart rows lie in GM and in UB."""
        assert self.node.access is not None
        where, extent = address(self.node.access), self.layouts.extent
        count = extent(columns) if columns is not None else "1"
        if rows is None:
            return f"1, {count}, {count}, {count}"
        stride = self.nest.size(where.step_along(rows.root))
        return f"{extent(rows)}, {count}, {stride}, {self.layouts.pitch(self.axes)}"

    def _everything(self, axis: Axis | None) -> str:
        return f"af_span{{0, {self.layouts.extent(axis) if axis is not None else '1'}}}"

    def _text(self, dim: Dim) -> str:
        return self.nest.size(dim)


def box(writer: BoxWriter) -> BoxWriter:
    """Write a load without index operands: two axes at a time, loops over those outside of them."""
    writer.measure()
    axes = writer.axes
    for axis in axes[:-2]:
        writer.loops.open(axis)
    rows = axes[-2] if len(axes) > 1 else None
    writer.copy(writer.offset(), writer.conditions(), axes[-1] if axes else None, rows)
    return writer
