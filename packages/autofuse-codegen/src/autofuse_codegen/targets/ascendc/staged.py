"""Loads that a stage in UB turns into rows: steps other than 1 along the innermost axis."""

from autofuse_ir.asc_graph import Axis, Bounds
from autofuse_ir.dims import const

from autofuse_codegen.kernel.addresses import address
from autofuse_codegen.targets.ascendc.boxes import BoxWriter
from autofuse_codegen.targets.ascendc.literals import literal
from autofuse_codegen.targets.ascendc.loads import fill_value, is_gathered
from autofuse_codegen.targets.ascendc.memory import SCRATCH
from autofuse_codegen.targets.ascendc.places import at


def staged(writer: BoxWriter) -> BoxWriter:
    """Write a load of planes: the innermost axis, and the one along which the data is contiguous."""
    assert writer.node.access is not None
    axes, layouts, where = writer.axes, writer.layouts, address(writer.node.access)
    writer.measure()
    rows = _rows(writer)
    for axis in axes[:-1]:
        if axis is not rows:
            writer.loops.open(axis)
    across = writer.nest.size(where.step_along(axes[-1].root))
    down, count, pitch = "0", "1", layouts.extent(axes[-1])
    if rows is not None:
        down, count = writer.nest.size(where.step_along(rows.root)), layouts.extent(rows)
        pitch = layouts.step(axes, axes.index(rows))
    plane = f"af_plane{{{writer.offset()}, {down}, {across}}}"
    shape = f"{count}, {layouts.extent(axes[-1])}, {pitch}"
    function = "af_load_plane"
    if writer.node.access.bounds is not Bounds.INSIDE:
        function = "af_load_plane_box"
        fill = literal(fill_value(writer.node), writer.node.dtype)
        shape = f"{shape}, {writer.span_of(rows)}, {writer.inside_of(axes[-1], writer.conditions())}, {fill}"
    arguments = f"{at(writer.to, writer.loops.place(axes))}, {writer.gm}, {plane}, {shape}, {SCRATCH}"
    if is_gathered(writer.node.dtype):
        # The stage is filled once the vector unit is done with it, if anything goes through it.
        step, is_whole = where.step_along(axes[-1].root).constant_value, function == "af_load_plane"
        settles = is_whole and step not in (None, 1)
        writer.loops.put(f"{function}({arguments});", writes=frozenset({writer.memory, SCRATCH}), settles=settles)
    else:  # the scalar unit writes, once the vector unit is done
        writer.loops.put(f"{function}_each({arguments});", settles=True)
    return writer


def _rows(writer: BoxWriter) -> Axis | None:
    """The axis of the tile along which the data is contiguous, else the one around the innermost."""
    assert writer.node.access is not None
    outer, where = writer.axes[:-1], address(writer.node.access)
    contiguous = [axis for axis in outer if where.step_along(axis.root) in (const(1), const(-1))]
    return contiguous[-1] if contiguous else outer[-1] if outer else None
