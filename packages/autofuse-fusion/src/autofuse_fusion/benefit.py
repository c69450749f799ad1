"""What fusing two groups is predicted to gain, judged at the hints, in cycles of the target."""

from attrs import frozen
from autofuse_ir.dims import product
from autofuse_ir.errors import IrError
from autofuse_ir.operators import Flag, operator
from autofuse_ir.target import ANY_OPERATOR, TargetSpec

from autofuse_fusion.axes import Layout, Nest, is_full
from autofuse_fusion.groups import Group
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

    Gathers take ``row`` cycles to begin a row and ``scalar`` cycles an element where rows have but one.
    """

    read: float
    write: float
    launch: float
    element: float
    local: float
    row: float
    scalar: float

    def of(self, group: Group, values: Values) -> float:
        """Return the time of the kernel that ``group`` would be: memory traffic and arithmetic overlap.

        What a row of a reduction holds is read again for every result of the row that is waited for, unless rows fit
        into local memory.
        """
        reduced = group.reduced
        across = {t for t, layouts in group.inputs.items() if any(_is_along(layout, reduced) for layout in layouts)}
        row = values.sizes.hint(product(group.nest[k] for k in reduced))
        times = 1
        if row * sum(values.fact(tensor).dtype.itemsize for tensor in across) > self.local:
            times = group.levels + any(_is_along(layout, reduced) for layout in group.outputs.values())
        read = sum(values.bytes_at_hints(t) * (times if t in across else 1) for t in group.inputs)
        written = sum(values.bytes_at_hints(tensor) for tensor in group.outputs)
        return self.launch + max(read / self.read + written / self.write, group.work * self.element)


def _is_along(layout: Layout, axes: tuple[int, ...]) -> bool:
    return any(layout[axis] is not None for axis in axes)


def work_of(unit: Unit, values: Values, model: CostModel) -> float:
    """Return the arithmetic of ``unit`` at the hints, in additions; a gather waits for its reads, too.

    Rows that take longer to move than to begin cost nothing besides their bytes.
    """
    elements = values.sizes.hint(product(unit.nest))
    work = work_per_element(unit.node.op) * elements
    if unit.node.op != "Index":
        return work
    rows = values.sizes.hint(product(unit.nest[: _row_of(unit)]))
    if rows < elements:
        row_bytes = elements / max(1, rows) * values.fact(unit.outputs[0]).dtype.itemsize
        waits = max(0.0, model.row - row_bytes / model.read) * rows
    else:
        waits = model.scalar * elements
    return work + waits / model.element


def _row_of(unit: Unit) -> int:
    """Return the first of the axes inside of all those that an index varies along: rows along them lie in one piece."""
    layouts = [operand.layout for operand in unit.operands[1:] if isinstance(operand, Read)]
    return max((k + 1 for layout in layouts for k, entry in enumerate(layout) if entry is not None), default=0)


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
    )


def repetitions(producer: Nest, layout: Layout, nest: Nest, sizes: SizeFacts) -> float:
    """Return how often ``nest`` computes each element of a producer that lies on it as ``layout`` says.

    Loops around the innermost axis along which the producer varies compute it anew; loops inside of it do not.
    """
    if is_full(layout, nest):
        return 1.0
    innermost = max((k for k, entry in enumerate(layout) if entry is not None), default=-1)
    done = sizes.hint(product(nest[: innermost + 1]))
    return max(1.0, done / max(1, sizes.hint(product(producer))))
