"""What a kernel computes, without what it is called: kernels of equal form are emitted and compiled once."""

import hashlib

from attrs import evolve
from autofuse_ir.artefact import dumps
from autofuse_ir.graph import Attr
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ImplGraph, ScheduleGroup, ScheduleResult
from autofuse_ir.target import TargetKind, TargetSpec

from autofuse_codegen.kernel.constants import is_constant


def content_of(schedule_result: ScheduleResult) -> str:
    """Return the sha256 of ``schedule_result`` without names of kernels and arguments, and without sources.

    Kernels of equal content differ in nothing that runs. The canonical JSON tells apart what ``==`` does not (0.0 and
    -0.0, 1 and True) and equals itself where NaN does not.
    """
    arguments = tuple(evolve(argument, name="") for argument in schedule_result.arguments)
    internals = tuple(evolve(value, name="") for value in schedule_result.internals)
    alternatives = tuple(
        evolve(alternative, groups=_numbered(alternative.groups)) for alternative in schedule_result.alternatives
    )
    plain = evolve(
        schedule_result, name="", arguments=arguments, internals=internals, alternatives=alternatives, dropped=()
    )
    return hashlib.sha256(dumps(plain).encode("utf-8")).hexdigest()


def form_of(schedule_result: ScheduleResult, target: TargetSpec) -> str:
    """Return what kernels of ``target`` share with those whose code they can use: their content, on a chip.

    On a CPU floating-point constants may differ besides: code that is shared finds them where its launch says.
    """
    if target.kind is not TargetKind.CPU:
        return content_of(schedule_result)
    alternatives = tuple(
        evolve(
            alternative,
            groups=tuple(
                evolve(group, implementations=tuple(map(_without_constants, group.implementations)))
                for group in alternative.groups
            ),
        )
        for alternative in schedule_result.alternatives
    )
    return content_of(evolve(schedule_result, alternatives=alternatives))


def shared(bundle: KernelBundle, schedule_result: ScheduleResult) -> KernelBundle:
    """Return ``bundle`` as that of ``schedule_result``, which has equal content: its own name, the same sources."""
    return evolve(bundle, name=schedule_result.name, arguments=schedule_result.arguments)


def _numbered(groups: tuple[ScheduleGroup, ...]) -> tuple[ScheduleGroup, ...]:
    number = {group.name: str(at) for at, group in enumerate(groups)}
    return tuple(
        evolve(
            group,
            name=number[group.name],
            implementations=tuple(_nameless(impl) for impl in group.implementations),
            after=tuple(number[name] for name in group.after),
        )
        for group in groups
    )


def _without_constants(impl: ImplGraph) -> ImplGraph:
    zero = (Attr("value", 0.0),)
    return evolve(impl, nodes=tuple(evolve(n, attrs=zero) if is_constant(n) else n for n in impl.nodes))


def _nameless(impl: ImplGraph) -> ImplGraph:
    return evolve(impl, name="", nodes=tuple(evolve(node, source=()) for node in impl.nodes))
