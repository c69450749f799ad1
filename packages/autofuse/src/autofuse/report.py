"""What fusion did to a model, as data."""

import json
from math import prod
from typing import Any

from attrs import frozen
from autofuse_ir.dims import Dim, const, free_symbols, product
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.errors import AutofuseError
from autofuse_ir.facts import Guard
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, HostRegion, Refusal, RemovedRounding
from autofuse_ir.kernel_memory import Memory, Source, source_of
from autofuse_ir.operators import Flag, operator
from autofuse_ir.schedule import KernelArgument, ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_schedule.stage import PHASES

from autofuse.pipeline import Lowered
from autofuse.prediction import Prediction, predict

Names = tuple[str, ...]


@frozen
class KernelReport:
    """One kernel: its operators and axes, and the bytes it reads and writes in a call (a formula over the sizes).

    Of a kernel of several parts these are the axes of all, and the bytes that pass between the parts count, too. Where
    one can go on with the rows of another, ``bytes_with_rows_kept`` is what calls move whose rows are short enough to
    stay in local memory; else it is the same.
    """

    name: str
    operators: Names
    axes: tuple[tuple[str, Dim], ...]
    inputs: Names
    outputs: Names
    bytes_moved: Dim
    bytes_with_rows_kept: Dim


@frozen
class RegionReport:
    """One host region: its backend, operators with the reason of each, and the bytes that go in and out."""

    name: str
    backend: str
    operators: Names
    reasons: tuple[tuple[str, str], ...]
    bytes_handled: Dim


@frozen
class Report:
    """Kernels and host regions of a model, what was not fused and why, and which roundings were removed.

    Bytes are formulas over the sizes; ``hints`` are the sizes at which profit was judged. ``launches_before`` and
    ``bytes_moved_before`` are those of a kernel for each operator (views move nothing). ``prediction`` is what the
    tiling functions of an Ascend target decide at the hints, and the time they predict.
    """

    name: str
    operators: int
    kernels: tuple[KernelReport, ...]
    regions: tuple[RegionReport, ...]
    launches_before: int
    bytes_moved_before: Dim
    refusals: tuple[Refusal, ...]
    roundings: tuple[RemovedRounding, ...]
    guards: tuple[Guard, ...]
    peak_bytes: Dim
    hints: tuple[tuple[str, int], ...]
    prediction: Prediction | None = None

    @property
    def launches(self) -> int:
        """Kernels launched in a call."""
        return len(self.kernels)

    @property
    def operators_in_kernels(self) -> int:
        """Operators that kernels compute."""
        return sum(len(kernel.operators) for kernel in self.kernels)

    @property
    def operators_on_hosts(self) -> int:
        """Operators that host regions compute."""
        return sum(len(region.operators) for region in self.regions)

    @property
    def operators_in_neither(self) -> int:
        """Operators that nothing computes in a call: they only rename, make sizes or are known.

        Operators that two kernels compute count twice, but there are never fewer than none.
        """
        return max(0, self.operators - self.operators_in_kernels - self.operators_on_hosts)

    @property
    def bytes_moved(self) -> Dim:
        """Bytes all kernels read and write in a call."""
        return sum((k.bytes_moved for k in self.kernels), const(0))

    @property
    def bytes_with_rows_kept(self) -> Dim:
        """Bytes all kernels move where rows that one part makes and another reads stay in local memory, if they may."""
        return sum((k.bytes_with_rows_kept for k in self.kernels), const(0))

    @property
    def bytes_handled(self) -> Dim:
        """Bytes that go into and out of host steps in a call."""
        return sum((r.bytes_handled for r in self.regions), const(0))

    def peak_memory(self, sizes: dict[str, int] | None = None) -> int:
        """Return the most bytes of intermediates alive at once, at ``sizes`` (default: the hints)."""
        return evaluate(self.peak_bytes, dict(self.hints) | (sizes or {}))

    def why_not(self, a: str, b: str) -> tuple[Refusal, ...]:
        """Return the refusals between operators ``a`` and ``b``, in either order."""
        return tuple(r for r in self.refusals if {r.first, r.second} == {a, b})

    def at_hints(self, formula: Dim) -> int | None:
        """Return ``formula`` at the hints; None where it needs a size that only a call knows."""
        hints = dict(self.hints)
        if any(name not in hints for name in free_symbols(formula)):
            return None
        try:
            return evaluate(formula, hints)
        except AutofuseError:
            return None  # a size below zero, say: the hints are not sizes the model can have

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON data; formulas as text with their value at the hints."""
        formula = self._formula
        data: dict[str, Any] = {
            "model": self.name,
            "hints": dict(self.hints),
            "operators": self.operators,
            "launches": {"before": self.launches_before, "after": self.launches},
            "bytes_moved": {
                "before": formula(self.bytes_moved_before),
                "after": formula(self.bytes_moved),
                "after_with_rows_kept": formula(self.bytes_with_rows_kept),
            },
            "bytes_handled_by_host": formula(self.bytes_handled),
            "peak_memory": formula(self.peak_bytes),
            "kernels": [self._kernel_data(kernel) for kernel in self.kernels],
            "host_regions": [
                {
                    "name": r.name,
                    "backend": r.backend,
                    "operators": list(r.operators),
                    "reasons": dict(r.reasons),
                    "bytes_handled": formula(r.bytes_handled),
                }
                for r in self.regions
            ],
            "refusals": [
                {
                    "first": r.first,
                    "second": r.second,
                    "tensor": r.tensor,
                    "reason": r.reason.value,
                    "detail": r.detail,
                    "shape": [str(d) for d in r.shape],
                    "bytes_saved": formula(r.bytes_saved),
                }
                for r in self.refusals
            ],
            "removed_roundings": [
                {"kernel": r.kernel, "operator": r.operator, "dtype": r.dtype_name} for r in self.roundings
            ],
            "guards": [
                {"kind": g.kind.value, "condition": str(g.condition), "operator": g.operator, "message": g.message}
                for g in self.guards
            ],
        }
        return data if self.prediction is None else data | {"predicted": self.prediction.as_data()}

    def _kernel_data(self, kernel: KernelReport) -> dict[str, Any]:
        return {
            "name": kernel.name,
            "operators": list(kernel.operators),
            "axes": [{"name": name, "size": str(size)} for name, size in kernel.axes],
            "inputs": list(kernel.inputs),
            "outputs": list(kernel.outputs),
            "bytes_moved": self._formula(kernel.bytes_moved),
            "bytes_with_rows_kept": self._formula(kernel.bytes_with_rows_kept),
        }

    def _formula(self, dim: Dim) -> dict[str, Any]:
        return {"formula": str(dim), "at_hints": self.at_hints(dim)}

    def __str__(self) -> str:
        """Return one line for the model and one for each kernel and region; ``autofuse explain`` says more."""
        lines = [f"{self.name}: launches {self.launches_before} -> {self.launches}"]
        lines[0] += f", bytes moved {self.bytes_moved_before} -> {self.bytes_moved}"
        lines += [f"  {kernel.name}: {', '.join(kernel.operators)}" for kernel in self.kernels]
        lines += [f"  {region.name} ({region.backend}): {', '.join(region.operators)}" for region in self.regions]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return ``as_data`` as text that is the same for the same model and options."""
        return json.dumps(self.as_data(), indent=2, sort_keys=True) + "\n"


def report_of(lowered: Lowered, target: TargetSpec | None = None, unfused: bool = False) -> Report:
    """Return the report of what ``lower`` made.

    Of an Ascend ``target`` it holds predicted times; ``unfused``: those of a kernel for each operator, too.
    """
    fused = lowered.fused
    shapes = {v.name: (v.shape, v.dtype.itemsize) for v in (*lowered.facts.values, *fused.facts.values)}

    def size(names: Names) -> Dim:
        total = const(0)
        for name in dict.fromkeys(names):
            shape, itemsize = shapes[name]
            if shape is not None:
                total = total + product(shape) * itemsize
        return total

    def moved(node: AscBackend | FusedAscBackend) -> Dim:
        return sum((size((*part.inputs, *part.outputs)) for part in _parts(node)), const(0))

    backends = [n for n in fused.nodes if isinstance(n, (AscBackend, FusedAscBackend))]
    kept = {each.name: found for each in lowered.schedules if (found := _with_rows_kept(each)) is not None}
    kernels = tuple(
        KernelReport(n.name, operators_of(n), _axes(n), n.inputs, n.outputs, bytes_moved, kept.get(n.name, bytes_moved))
        for n, bytes_moved in ((n, moved(n)) for n in backends)
    )
    regions = tuple(
        RegionReport(
            n.name,
            n.backend,
            tuple(o.name for o in n.operators),
            tuple((r.operator, r.reason.value) for r in n.reasons),
            size((*n.inputs, *n.outputs)),
        )
        for n in fused.nodes
        if isinstance(n, HostRegion)
    )
    in_kernels = {name for kernel in kernels for name in kernel.operators}
    alone = [n for n in lowered.graph.nodes if n.name in in_kernels and Flag.SHAPE_ONLY not in operator(n.op).flags]
    inline = {
        c.name for c in lowered.graph.constants if prod(c.data.shape) == 1
    }  # such constants stand in the kernel's text
    before = (size((*(i for i in n.inputs if i is not None and i not in inline), *n.outputs)) for n in alone)
    return Report(
        name=fused.name,
        operators=len(lowered.graph.nodes),
        kernels=kernels,
        regions=regions,
        launches_before=len(alone),
        bytes_moved_before=sum(before, const(0)),
        refusals=fused.refusals,
        roundings=fused.removed_roundings,
        guards=lowered.program.guards,
        peak_bytes=lowered.program.peak_bytes,
        hints=tuple((s.name, s.hint) for s in lowered.program.symbols),
        prediction=None if target is None or target.kind is TargetKind.CPU else predict(lowered, target, {}, unfused),
    )


def _with_rows_kept(result: ScheduleResult) -> Dim | None:
    """Return the bytes that groups read and make where parts are phases of one another; None where none can be."""
    phases = next((each for each in result.alternatives if each.name == PHASES), None)
    if phases is None:
        return None
    inputs = [each for each in result.arguments if not each.is_output]
    outputs = [each for each in result.arguments if each.is_output]
    total = const(0)
    for group in phases.groups:
        touched: dict[KernelArgument, None] = {}  # each counts once
        for node in group.implementations[0].nodes:
            match source_of(node):
                case Source(Memory.INTERNAL, index):
                    touched[result.internals[index]] = None
                case Source(Memory.OUTPUT, index):
                    touched[outputs[index]] = None
                case Source(Memory.ARGUMENT, index):
                    touched[(outputs if node.op == "Output" else inputs)[index]] = None
                case _:
                    pass
        total = total + sum((product(each.shape) * each.dtype.itemsize for each in touched), const(0))
    return total


def operators_of(node: AscBackend | FusedAscBackend) -> Names:
    """Return the names of the operators a backend node runs."""
    return tuple(dict.fromkeys(operator for part in _parts(node) for operator in part.operators))


def _parts(node: AscBackend | FusedAscBackend) -> tuple[AscBackend, ...]:
    return node.parts if isinstance(node, FusedAscBackend) else (node,)


def _axes(node: AscBackend | FusedAscBackend) -> tuple[tuple[str, Dim], ...]:
    return tuple((axis.name, axis.size) for part in _parts(node) for axis in part.graph.axes)
