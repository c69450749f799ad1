"""What fusing two groups is predicted to gain, judged at the hints, in cycles of the target."""

from attrs import frozen
from autofuse_ir.dims import product
from autofuse_ir.errors import IrError
from autofuse_ir.operators import Flag, operator
from autofuse_ir.target import TargetSpec

from autofuse_fusion.axes import Layout, Nest, is_full
from autofuse_fusion.groups import Group
from autofuse_fusion.size_facts import SizeFacts

TRANSCENDENTAL = frozenset(
    [
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Atan2",
        "Cos",
        "Cosh",
        "Sin",
        "Sinh",
        "Tan",
        "Tanh",
        "Erf",
        "Erfc",
        "Exp",
        "Expm1",
        "Log",
        "Log1p",
        "Pow",
    ]
)
"""Operators whose element costs a polynomial."""

_FALLBACK = {"bytes_per_cycle_read": 4.0, "bytes_per_cycle_write": 4.0, "launch_cycles": 10000.0}
"""For targets that do not state the number: about what DRAM gives one core, and a launch of 3 us."""


def weight_of(op: str) -> float:
    """Return the arithmetic of one element of operator ``op``, in additions."""
    if op in TRANSCENDENTAL:
        return 12.0
    return 16.0 if operator(op).has(Flag.COMPOSITE) else 1.0


@frozen
class CostModel:
    """Cycles of moving and computing on a target."""

    read: float
    write: float
    launch: float
    element: float

    def gain(self, bytes_not_written: int, bytes_not_read: int, again: float) -> float:
        """Return the cycles saved: a launch and the bytes that stay in registers, less ``again`` additions done anew."""
        saved = bytes_not_written / self.write + bytes_not_read / self.read + self.launch
        return saved - again * self.element


def cost_model(target: TargetSpec) -> CostModel:
    """Return the cost model of ``target``."""

    def quantity(name: str) -> float:
        try:
            return target.quantity(name)
        except IrError:
            return _FALLBACK[name]

    element = next((cost.per_element for cost in target.costs if cost.op == "*"), 0.125)
    return CostModel(
        quantity("bytes_per_cycle_read"), quantity("bytes_per_cycle_write"), quantity("launch_cycles"), element
    )


def recomputed(producer: Group, layout: Layout, nest: Nest, sizes: SizeFacts) -> float:
    """Return the additions done again when ``producer`` is computed at each point of ``nest`` that needs it.

    Loops around the innermost axis along which the producer varies compute it anew; loops inside of it do not.
    """
    if is_full(layout, nest):
        return 0.0
    innermost = max((k for k, entry in enumerate(layout) if entry is not None), default=-1)
    done = sizes.hint(product(nest[: innermost + 1]))
    once = sizes.hint(product(producer.nest))
    return max(done - once, 0) * producer.weight
