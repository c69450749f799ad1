"""Loads whose place the values of index operands say: rows that copies move, elements that the scalar unit reads."""

from collections.abc import Mapping

from attrs import define, field
from autofuse_ir.asc_graph import AscNode, Axis, Bounds
from autofuse_ir.dims import const

from autofuse_codegen.targets.ascendc.boxes import RAISE, BoxWriter
from autofuse_codegen.targets.ascendc.lines import Line
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.loads import RowText, ValueText, fill_value, index_operands, is_gathered
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.places import DimPlace, at, dims_of, times


def rows_by_index(writer: BoxWriter, value: ValueText, nodes: Mapping[str, AscNode]) -> BoxWriter:
    """Write one copy for each point of the axes that the indices vary along; rows of two axes where they can."""
    writer.measure()
    axes, layouts = writer.axes, writer.layouts
    indexed = {axis for name in index_operands(writer.node) for axis in layouts.axes_of(nodes[name])}
    inner = axes[-1:] if len(axes) < 2 or axes[-2] in indexed else axes[-2:]
    for axis in axes[: len(axes) - len(inner)]:
        writer.loops.open(axis)
    conditions, terms = _operands(writer, value)
    columns = inner[-1] if inner else None
    writer.copy(
        writer.offset(*terms), [*writer.conditions(), *conditions], columns, inner[-2] if len(inner) > 1 else None
    )
    return writer


def elements(writer: BoxWriter, value: ValueText, row: RowText) -> BoxWriter:
    """The scalar unit reads each element: where steps along the innermost axis, or indices, allow no copy.

    Where the indices are those of the last dim of the data, and it fits the stage, they are read from there. Words are
    gathered by the vector unit, from the stage or from copies of each, if all indices of a row are inside.
    """
    node, loops, axes = writer.node, writer.loops, writer.axes
    assert node.access is not None
    places = _Places(writer, value)
    source = f"{writer.gm}.GetValue(static_cast<uint64_t>("
    if _is_row_staged(node):
        walked = {dim.access.axis for dim in dims_of(node)[:-1]}
        outer = max((i + 1 for i, axis in enumerate(axes) if axis.root in walked), default=0)
        for axis in axes[:outer]:
            loops.open(axis)
        for dim in dims_of(node)[:-1]:
            places.add(dim)
        inner = axes[outer:]
        indices = row(node.inputs[1], loops.counted) if len(inner) == 1 and _is_picked(node) else None
        is_staged, stage = _stage(writer, places, inner, indices is not None)
        first = "0" if indices is None else _pick(writer, places, is_staged, indices, inner[0])
        for axis in inner:
            loops.open(axis, first=first)
        places.add(dims_of(node)[-1])
        index = places.names[-1]
        read = f"({is_staged} ? {stage}.GetValue(static_cast<uint32_t>({index})) : {source}{places.offset})))"
    else:
        for axis in axes:
            loops.open(axis)
        for dim in dims_of(node):
            places.add(dim)
        read = f"{source}{places.offset}))"
    place = loops.place(axes) or "0"
    if node.access.bounds is Bounds.INSIDE or not places.inside:
        loops.put(f"{writer.to}.SetValue({place}, {read});")
        return writer
    holds = writer.nest.names.of(f"holds {node.name}", f"{node.name}_in")
    loops.put(f"const bool {holds} = {' && '.join(places.inside)};")
    if writer.raises:
        loops.put(f"if (!{holds}) {RAISE}")
    fill = literal(fill_value(node), node.dtype)
    loops.put(f"{writer.to}.SetValue({place}, {holds} ? {read} : {fill});")
    return writer


@define
class _Places:
    """Indices of dims as they are declared: their names, what they add to the offset, and when they are inside."""

    writer: BoxWriter
    value: ValueText
    names: list[str] = field(factory=list)
    terms: list[str] = field(factory=list)
    inside: list[str] = field(factory=list)

    @property
    def offset(self) -> str:
        """The element of the data."""
        return " + ".join(self.terms) or "0"

    def add(self, dim: DimPlace) -> None:
        """Declare the index of ``dim`` at the point of the loops."""
        node, loops, nest = self.writer.node, self.writer.loops, self.writer.nest
        if dim.access.operand is not None:
            index = loops.operand(dim, self.value(node.inputs[1 + dim.access.operand], loops.counted))
        else:
            index = loops.index(dim.access)
        name = nest.names.of(f"dim {node.name} {dim.number}", f"{node.name}_d{dim.number}")
        loops.put(f"const af_i64 {name} = {index};")
        self.names.append(name)
        self.inside.append(f"af_is_inside({name}, {nest.size(dim.size)})")
        self.terms.append(times(name, nest.size(dim.stride)))


def _is_row_staged(node: AscNode) -> bool:
    """True where the last dim of the data alone is indexed, and there is a stage for it."""
    assert node.access is not None
    operands = [dim.operand for dim in node.access.dims]
    return bool(node.attr("scratch")) and operands[-1:] == [0] and operands.count(None) == len(operands) - 1


def _is_picked(node: AscNode) -> bool:
    """True where the vector unit can gather from a row in the stage: words, at the indices as they are."""
    assert node.access is not None
    dim = node.access.dims[-1]
    return is_gathered(node.dtype) and dim.offset == const(0) and dim.step == const(1)


def _stage(writer: BoxWriter, places: _Places, inner: tuple[Axis, ...], is_picked: bool) -> tuple[str, str]:
    """Copy the row that elements over axes ``inner`` are read from; return whether that was done, and where."""
    node, names = writer.node, writer.nest.names
    assert node.access is not None
    stage = names.of(f"stage {node.name}", f"{node.name}_stage")
    is_staged = names.of(f"staged {node.name}", f"{node.name}_staged")
    size, points = writer.nest.size(node.access.memory[-1]), writer.layouts.points(inner)
    place, kind = f"{writer.gm}, {places.offset}, {size}, {points}", type_name(node.dtype)
    view, call = f"{SCRATCH}.ReinterpretCast<{kind}>()", f"af_stage_row({stage}, {place})"
    if is_picked:
        view, call = f"af_pick_stage<{kind}>({SCRATCH})", f"af_pick_from({place}, {SCRATCH})"
    writer.loops.put(f"const auto {stage} = {view};")
    writer.loops.put(f"const bool {is_staged} = {' && '.join([*_needed(node, places), call])};")
    return is_staged, stage


def _pick(writer: BoxWriter, places: _Places, is_staged: str, indices: str, axis: Axis) -> str:
    """Let the vector unit gather along ``axis``; return the position from which on the scalar unit has to read."""
    node, loops = writer.node, writer.loops
    assert node.access is not None
    first = writer.nest.names.of(f"first {node.name}", f"{node.name}_first")
    known = str(node.access.bounds is Bounds.INSIDE).lower()
    count, size = writer.layouts.extent(axis), writer.nest.size(node.access.memory[-1])
    to, what = at(writer.to, loops.place(writer.axes)), f"{indices}, {count}, {size}, {SCRATCH}"
    near, far = (
        f"af_pick_row<{known}>({to}, {what})",
        f"af_pick_far<{known}>({to}, {writer.gm}, {places.offset}, {what})",
    )
    picked = " && ".join([*_needed(node, places), f"({is_staged} ? {near} : {far})"])
    loops.put(f"const uint32_t {first} = {picked} ? {count} : 0;")
    return first


def waited_for(lines: list[Line]) -> list[Line]:
    """Return the ``lines`` of a Load, and a wait for what the vector unit has gathered in them."""
    picks = any("af_pick_row" in line.text for line in lines)
    return [*lines, Line("af_order<HardEvent::V_S>();", settles=True)] if picks else lines


def _needed(node: AscNode, places: _Places) -> list[str]:
    """What has to hold for the row that is read from to be there."""
    assert node.access is not None
    return places.inside if node.access.bounds is not Bounds.INSIDE else []


def _operands(writer: BoxWriter, value: ValueText) -> tuple[list[str], list[str]]:
    """Declare the indices that operands say; return what must hold for them, and their parts of the offset."""
    node = writer.node
    assert node.access is not None
    conditions: list[str] = []
    terms: list[str] = []
    for dim in dims_of(node):
        if dim.access.operand is None:
            continue
        name = writer.nest.names.of(f"dim {node.name} {dim.number}", f"{node.name}_d{dim.number}")
        index = writer.loops.operand(dim, value(node.inputs[1 + dim.access.operand], writer.loops.counted))
        writer.loops.put(f"const af_i64 {name} = {index};")
        if node.access.bounds is not Bounds.INSIDE:
            conditions.append(f"af_is_inside({name}, {writer.nest.size(dim.size)})")
        if dim.stride != const(0):
            terms.append(times(name, writer.nest.size(dim.stride)))
    if not conditions:
        return [], terms
    holds = writer.nest.names.of(f"found {node.name}", f"{node.name}_found")
    writer.loops.put(f"const bool {holds} = {' && '.join(conditions)};")
    if writer.raises:
        writer.loops.put(f"if (!{holds}) {RAISE}")
    return [holds], terms
