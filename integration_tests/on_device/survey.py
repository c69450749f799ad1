"""Random networks through all stages and on the emulator, with what became of each."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
from attrs import frozen
from autofuse import plugins
from autofuse_codegen.errors import CodegenError
from autofuse_fusion.options import FusionOptions
from autofuse_ir.errors import AutofuseError
from autofuse_reference.executor import ProgramExecutor
from autofuse_runtime.module import CompiledModule
from autofuse_schedule.errors import ScheduleError
from checked_kernels import CheckedKernels, Emitted, WrongValueError, compiled, emitted
from drawing import Network
from random_networks import calls, network_of

NETWORKS_PER_LIBRARY = 25


@frozen
class Outcome:
    """What became of the network of ``seed``: ``ran`` calls on the emulator, or a ``fault``, or why it was ``refused``.

    ``skipped`` calls have no result by the operators' own rules (the largest of no elements, say).
    """

    seed: int
    target: str
    ran: int = 0
    launches: int = 0
    skipped: int = 0
    refused: str = ""
    fault: str = ""


def survey(seeds: Iterable[int], targets: tuple[str, ...], folder: Path, sizes: int) -> Iterator[Outcome]:
    """Yield what became of the networks of ``seeds`` on chips of one architecture, at so many sizes each."""
    todo = list(seeds)
    for start in range(0, len(todo), NETWORKS_PER_LIBRARY):
        chunk = todo[start : start + NETWORKS_PER_LIBRARY]
        ready: dict[int, tuple[Network, Emitted]] = {}
        for seed in chunk:
            network = network_of(seed)
            try:
                options = FusionOptions(numerics=("auto", "strict")[seed % 2])
                made = emitted(network.graph, targets[0], options, f"s{seed}")
            except (ScheduleError, CodegenError) as error:
                yield from (Outcome(seed, target, refused=f"{error.what} [{error.where}]") for target in targets)
                continue
            except Exception as error:
                yield from (Outcome(seed, target, fault=f"stages: {_said(error)}") for target in targets)
                continue
            ready[seed] = network, made
        yield from _launched(ready, targets, folder / f"library{start}", sizes)


def _launched(
    ready: dict[int, tuple[Network, Emitted]], targets: tuple[str, ...], folder: Path, sizes: int
) -> Iterator[Outcome]:
    """Compile what is ready, halves of it where together they do not compile, and run it."""
    if not any(made.bundles for _, made in ready.values()):  # all on the host
        yield from (Outcome(seed, target) for seed in ready for target in targets)
        return
    try:
        kernels = compiled((made for _, made in ready.values()), folder, targets[0])
    except (sim.CompileError, AutofuseError) as error:
        if len(ready) == 1:
            yield from (Outcome(s, t, fault=f"compile: {_said(error)}") for s in ready for t in targets)
            return
        seeds = list(ready)
        for half in (seeds[: len(seeds) // 2], seeds[len(seeds) // 2 :]):
            yield from _launched({seed: ready[seed] for seed in half}, targets, folder / str(half[0]), sizes)
        return
    for target in targets:
        chip = kernels.on(target)
        for seed, (network, made) in ready.items():
            yield _ran(seed, network, made, chip, sizes)
    shutil.rmtree(folder)


def _ran(seed: int, network: Network, made: Emitted, kernels: CheckedKernels, sizes: int) -> Outcome:
    target = kernels.kernels.target
    before, ran, skipped = len(kernels.reports), 0, 0
    executor = ProgramExecutor(made.program, plugins.hosts(), run_kernel=kernels.run, tier="sim")
    plain = CompiledModule(made.program, ProgramExecutor(made.program, plugins.hosts()))
    module = CompiledModule(made.program, executor)
    for chosen, arguments in calls(network, seed, sizes):
        try:
            module(*arguments.values())
            ran += 1
        except (AutofuseError, WrongValueError, sim.AscendSimError) as error:
            if _has_no_result(plain, arguments):
                skipped += 1
            else:
                return Outcome(seed, target, ran, len(kernels.reports) - before, fault=f"at {chosen}: {_said(error)}")
    return Outcome(seed, target, ran, len(kernels.reports) - before, skipped)


def _has_no_result(plain: CompiledModule, arguments: Mapping[str, Any]) -> bool:
    """True where the program has no result, whatever runs it."""
    try:
        plain(*arguments.values())
    except AutofuseError:
        return True
    return False


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}"


def summary(outcomes: Iterable[Outcome]) -> str:
    """Return counts by chip, and reasons of refusals by how often they occur."""
    lines = []
    by_target: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_target.setdefault(outcome.target, []).append(outcome)
    for target, found in by_target.items():
        refused = Counter(o.refused.split(" [")[0] for o in found if o.refused)
        lines.append(
            f"{target}: {len(found)} networks, {sum(o.ran > 0 for o in found)} ran at {sum(o.ran for o in found)} "
            f"sizes ({sum(o.launches for o in found)} launches), {sum(refused.values())} refused, "
            f"{sum(bool(o.fault) for o in found)} wrong"
        )
        lines += [f"  {count:4} {reason}" for reason, count in refused.most_common(25)]
    return "\n".join(lines)
