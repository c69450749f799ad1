"""What fusing two groups is predicted to gain, judged at the hints, in cycles of the target."""

from collections.abc import Iterable, Sequence

from attrs import frozen
from autofuse_ir.dims import product
from autofuse_ir.errors import IrError
from autofuse_ir.operators import Flag, operator
from autofuse_ir.target import ANY_OPERATOR, TargetKind, TargetSpec

from autofuse_fusion.axes import Layout, Nest, innermost, is_full, varies
from autofuse_fusion.groups import Group
from autofuse_fusion.index_map import Viewed
from autofuse_fusion.lower.table import TRANSCENDENTAL
from autofuse_fusion.size_facts import SizeFacts
from autofuse_fusion.units import Read, Unit
from autofuse_fusion.values import Values

_FALLBACK = {
    "bytes_per_cycle_read": 4.0,
    "bytes_per_cycle_write": 4.0,
    "launch_cycles": 10000.0,
    "load_cycles": 0.0,
    "scalar_global_cycles": 0.0,
}
"""For targets that do not state the number: about what DRAM gives one core, a launch of 3 us, and reads that cost their
bytes alone, wherever they are."""

_CYCLES_PER_ELEMENT = 0.125
"""For targets without a general cost of an operator: eight elements a cycle."""

_POLYNOMIAL = 12.0
"""Additions that a polynomial of the usual degree takes as long as."""

_COMPOSITE = 16.0
"""Additions that an operator of many primitives takes as long as: most hold one polynomial."""


@frozen
class CostModel:
    """Cycles of moving bytes, of one addition on one element, and of a launch; the bytes of ``local`` memory.

    Gathers take ``row`` cycles to begin a row and ``scalar`` cycles an element where rows have but one. Without a
    cache (``is_cached``) whatever leaves local memory is fetched from far away when it is read again.
    """

    read: float
    write: float
    launch: float
    element: float
    local: float
    row: float
    scalar: float
    is_cached: bool = True

    def of(self, group: Group, values: Values) -> float:
        """Return the time of the kernel that ``group`` would be.

        What a row of a reduction holds is read again for every result of the row that is waited for, unless rows fit
        into local memory; what lies between those and what is read is done again, too. With a cache, memory traffic
        and arithmetic of one sweep overlap; without, reads, writes and arithmetic do where there is room for two tiles.
        """
        reduced = group.reduced
        across = {t for t, layouts in group.inputs.items() if any(varies(layout, reduced) for layout in layouts)}
        made = {tensor for tensor, layout in group.outputs.items() if varies(layout, reduced)}
        room = self._rows(group, across, made, values)
        times = 1 if room else group.sweeps
        read = 0.0
        for tensor in group.inputs:
            if room or tensor not in across:
                read += values.bytes_at_hints(tensor) / self.read + self._apart(tensor, group, values)
            else:
                read += self._sweep(tensor, group, values) * times
        written = sum(values.bytes_at_hints(tensor) for tensor in group.outputs) / self.write
        work, again = group.work * self.element, 0.0 if room else group.again * self.element
        if self.is_cached:
            return self.launch + max(read + written, work) + again
        return self.launch + (read + written + work if room == 1 else max(read, written, work + again))

    def _rows(self, group: Group, across: set[str], made: set[str], values: Values) -> int:
        """Return how many rows of a reduction local memory holds at once: none, one, or two and more.

        Without a cache they need room for what is computed, besides; what all rows share is held once.
        """
        if not group.reduced:
            return 2
        row = values.sizes.hint(product(group.nest[k] for k in group.reduced))
        moved = {tensor: row * values.fact(tensor).dtype.itemsize for tensor in (*across, *made)}
        if self.is_cached:
            return 2 if sum(moved[tensor] for tensor in across) <= self.local else 0
        kept = [k for k in range(len(group.nest)) if k not in group.reduced]
        again = [t for t in moved if t in made or any(varies(layout, kept) for layout in group.inputs[t])]
        once, widest = sum(moved.values()), max(moved.values(), default=0)
        if once + sum(moved[tensor] for tensor in again) + 3 * widest <= self.local:
            return 2
        return 1 if once + 2 * widest <= self.local else 0

    def _sweep(self, tensor: str, group: Group, values: Values) -> float:
        """Return the time of fetching ``tensor`` for one sweep of rows that do not fit local memory.

        Without a cache, tiles of a kernel that keeps no axis fetch what others have, too; and elements are fetched one
        by one where rows are taken in pieces along another axis than that in which they lie in memory.
        """
        count = values.bytes_at_hints(tensor)
        if self.is_cached:
            return count / self.read
        layout = max(group.inputs[tensor], key=innermost)
        walked = values.sizes.hint(product(group.nest[: innermost(layout) + 1]))
        if len(group.reduced) == len(group.nest):
            count = max(count, walked * values.fact(tensor).dtype.itemsize)
        if {_axis_in_memory(tensor, layout, values), innermost(layout)} <= set(group.reduced):
            return max(count / self.read, walked * self.row)
        return count / self.read

    def _apart(self, tensor: str, group: Group, values: Values) -> float:
        """Return the time of beginning at every element again for repetitions of ``tensor`` by loops around it.

        So it is without a cache where elements lie apart in memory, a transposed table for every row of a batch: its
        bytes are few, and still it pays to turn it round once, in a kernel of its own.
        """
        layout = max(group.inputs[tensor], key=innermost)
        if self.is_cached or _axis_in_memory(tensor, layout, values) is None:
            return 0.0
        walked = values.sizes.hint(product(group.nest[: innermost(layout) + 1]))
        return max(0, walked - values.sizes.hint(product(values.shape(tensor)))) * self.row

    def gather_waits(self, rows: int, elements: int, itemsize: int) -> float:
        """Return how long a gather of ``elements`` in ``rows`` waits: longer rows take as long to move as to begin."""
        if rows < elements:
            return max(0.0, self.row - elements / max(1, rows) * itemsize / self.read) * rows
        return self.scalar * elements


def _axis_in_memory(tensor: str, layout: Layout, values: Values) -> int | None:
    """Return the axis along which neighbours in memory lie, where that is not the innermost one; None where it is."""
    leaf = values.leaves.get(tensor)
    if not isinstance(leaf, Viewed):
        return None
    dims = [dim for dim, size in enumerate(values.shape(tensor)) if not values.sizes.is_one(size)]
    axes = [axis for axis, size in enumerate(layout) if size is not None]
    places = [place for size, place in zip(leaf.memory, leaf.places, strict=True) if not values.sizes.is_one(size)]
    if len(dims) != len(axes) or not places or len(places[-1].dims) != 1:
        return None
    (dim,) = places[-1].dims
    return axes[dims.index(dim)] if dim in dims and dim != dims[-1] else None


def work_of(unit: Unit, values: Values, model: CostModel) -> float:
    """Return the arithmetic of ``unit`` at the hints, in additions; a gather waits for its reads, too.

    Rows that take longer to move than to begin cost nothing besides their bytes.
    """
    elements = values.sizes.hint(product(unit.nest))
    work = work_per_element(unit.node.op) * elements
    if unit.node.op != "Index":
        return work
    rows = values.sizes.hint(product(unit.nest[: _row_of(unit)]))
    waits = model.gather_waits(rows, elements, values.fact(unit.outputs[0]).dtype.itemsize)
    return work + waits / model.element


def _row_of(unit: Unit) -> int:
    """Return the first of the axes inside of all those that an index varies along: rows along them lie in one piece."""
    layouts = [operand.layout for operand in unit.operands[1:] if isinstance(operand, Read)]
    return max(map(innermost, layouts), default=-1) + 1


def work_again(units: Sequence[Unit], wanted: Iterable[str], values: Values, model: CostModel) -> float:
    """Return the arithmetic of making values ``wanted`` of a kernel of ``units`` once more, sweeping its rows again.

    What reductions came to is there. Simple arithmetic is left out: it hides behind what the sweep fetches.
    """
    needed = set(wanted)
    total = 0.0
    for unit in reversed(units):
        if needed.isdisjoint(unit.outputs) or (unit.reduced and not any(varies(r, unit.reduced) for r in unit.results)):
            continue
        needed.update(read.value for read in unit.reads)
        if work_per_element(unit.node.op) >= _POLYNOMIAL:
            total += work_of(unit, values, model)
    return total


def work_per_element(op: str) -> float:
    """Return the arithmetic of ``op`` on one element, in additions."""
    if op in TRANSCENDENTAL:
        return _POLYNOMIAL
    return _COMPOSITE if operator(op).has(Flag.COMPOSITE) else 1.0


def cost_model(target: TargetSpec) -> CostModel:
    """Return the cost model of ``target``."""

    def quantity(name: str) -> float:
        try:
            return target.quantity(name)
        except IrError:
            return _FALLBACK[name]

    element = next((cost.per_element for cost in target.costs if cost.op == ANY_OPERATOR), _CYCLES_PER_ELEMENT)
    return CostModel(
        quantity("bytes_per_cycle_read"),
        quantity("bytes_per_cycle_write"),
        quantity("launch_cycles"),
        element,
        target.local_memory.bytes - target.local_memory.reserved,
        quantity("load_cycles"),
        quantity("scalar_global_cycles"),
        target.kind is TargetKind.CPU,
    )


def repetitions(producer: Nest, layout: Layout, nest: Nest, sizes: SizeFacts) -> float:
    """Return how often ``nest`` computes each element of a producer that lies on it as ``layout`` says.

    Loops around the innermost axis along which the producer varies compute it anew; loops inside of it do not.
    """
    if is_full(layout, nest):
        return 1.0
    done = sizes.hint(product(nest[: innermost(layout) + 1]))
    return max(1.0, done / max(1, sizes.hint(product(producer))))
