"""Which roundings of 16-bit floats a program keeps inside a kernel.

``strict`` keeps all, ``fp32`` none but the user's own casts. ``auto`` keeps those that operators see which jump: behind
a comparison, a rounding or a cast to an integer, a last bit can turn into a whole answer, so the values that lead there
are those of the program, bit by bit. What is stored is rounded in any case.
"""

from autofuse_ir.dtypes import DType, float32
from autofuse_ir.graph import Node
from autofuse_ir.operators import Flag, operator
from autofuse_ir.target import TargetSpec

from autofuse_fusion.lower.table import TRANSCENDENTAL
from autofuse_fusion.units import Unit
from autofuse_fusion.values import Values

_JOINING = (Flag.COMPOSITE, Flag.REDUCTION, Flag.CUBE)
_SCANS = ("Cumsum", "Cumprod")


def is_half(dtype: DType) -> bool:
    """True for fp16 and bf16."""
    return dtype.is_float and dtype.bits == 16


def computes_in(dtype: DType, op: str, target: TargetSpec) -> DType:
    """Return the dtype in which operator ``op`` computes on ``dtype``.

    Inside composite operators, and where many elements are joined, 16-bit floats are fp32.
    """
    if not is_half(dtype):
        return dtype
    rule = operator(op)
    if any(rule.has(flag) for flag in _JOINING) or op in TRANSCENDENTAL or op in _SCANS:
        return float32
    return target.computes_in(dtype)


def kept_roundings(units: tuple[Unit, ...], values: Values, numerics: str) -> frozenset[str]:
    """Return the 16-bit values that are rounded where the program says so."""
    halves = {name: unit for unit in units for name in unit.outputs if is_half(values.fact(name).dtype)}
    if numerics == "strict":
        return frozenset(halves)
    kept = {name for name, unit in halves.items() if unit.node.op == "Cast"}
    if numerics == "fp32":
        return frozenset(kept)
    compared = {name for unit in units if jumps(unit.node, values) for name in _sources(unit)}
    pending = [name for name in halves if name in compared]
    seen = set(pending)
    while pending:
        name = pending.pop()
        kept.add(name)
        if halves[name].reduced and name not in compared:
            continue  # one of many: its last bit moves a sum by less than a last bit
        for source in _sources(halves[name]):
            if source in halves and source not in seen:
                seen.add(source)
                pending.append(source)
    return frozenset(kept)


def jumps(node: Node, values: Values) -> bool:
    """True for operators whose result can change by more than their input did. A cast does when it makes integers."""
    if node.op == "Cast":
        return not values.fact(node.outputs[0]).dtype.is_float
    return operator(node.op).has(Flag.DISCONTINUOUS)


def _sources(unit: Unit) -> tuple[str, ...]:
    return tuple(read.value for read in unit.reads)
