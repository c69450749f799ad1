"""What a kernel computes, without what it is called: kernels of equal content are emitted and compiled once."""

import hashlib

from attrs import evolve
from autofuse_ir.artefact import dumps
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ImplGraph, ScheduleGroup, ScheduleResult


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


def _nameless(impl: ImplGraph) -> ImplGraph:
    return evolve(impl, name="", nodes=tuple(evolve(node, source=()) for node in impl.nodes))
