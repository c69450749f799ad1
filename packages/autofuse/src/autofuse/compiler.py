"""``autofuse.compile``: a model -> a callable."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from autofuse_fusion.options import FusionOptions
from autofuse_ir.graph import Graph
from autofuse_ir.target import TargetKind, TargetSpec
from autofuse_reference.arrays import to_tensor_data
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import compile_library
from autofuse_runtime.errors import ToolMissingError
from autofuse_runtime.extension import load_extension
from autofuse_runtime.load import load_program
from autofuse_runtime.toolchain import find_toolchain

from autofuse import plugins
from autofuse.calibration.overlay import target_named
from autofuse.dump import dump_into
from autofuse.errors import DriverError
from autofuse.front_end import import_graph
from autofuse.function import CompiledFunction, callable_of
from autofuse.options import settings
from autofuse.pipeline import Lowered, Observer, lower
from autofuse.ranges import Range

TIERS = ("auto", "jit", "interpreter")
DEVICES = ("auto", "sim", "real")


def nothing(stage: str, artefact: object) -> None:
    """Observe nothing."""


def compile_model(
    model: Any,
    target: str | TargetSpec | None = None,
    dims: Mapping[str, Range] | None = None,
    hints: Mapping[str, int] | None = None,
    values: Mapping[str, Any] | None = None,
    numerics: str | None = None,
    on_specialize: str | None = None,
    device: str = "auto",
    tier: str = "auto",
    fusion: FusionOptions | None = None,
    example_inputs: Any = None,
    observe: Observer = nothing,
) -> Any:
    """Compile ``model`` and return it as a callable (see ``CompiledFunction``).

    ``model`` is a graph, the path of a model or bundle, or an ONNX model or its bytes. ``target`` is a name that
    ``autofuse targets`` lists or the path of an overlay (default: ``AUTOFUSE_TARGET``, else "cpu"). ``device`` is where
    kernels of an Ascend target run: "sim", the emulator, which "auto" means as well, or "real", a chip.

    ``dims`` declares sizes by symbol name: an int fixes one, ``(lo, hi)`` is an inclusive range. ``hints`` are the
    sizes at which profit is judged, ``values`` the arrays of inputs known now (axes, permutations). ``fusion`` is the
    scope of fusion (default: what ``AUTOFUSE_FLAGS`` says); ``numerics`` ("strict", "fp32", "auto") and
    ``on_specialize`` ("refuse", "error") override what it says. ``tier`` "auto" uses the C++ compiler where there is
    one and the interpreter (after a one-line warning) where there is none; "jit" and "interpreter" insist. Raises an
    ``AutofuseError`` that says what is wrong, where, and what to do.
    """
    if tier not in TIERS:
        raise DriverError(f"there is no tier {tier!r}", where="autofuse.compile", fix=f"use one of {', '.join(TIERS)}")
    spec = chosen_target(target, device)
    options = chosen_options(fusion, numerics, on_specialize)
    graph = import_graph(model, dims, hints, values, example_inputs)
    known = values if isinstance(model, Graph) else None  # a front end has made constants of them
    return load_lowered(lower_graph(graph, spec, options, known, observe), spec, tier, device)


def chosen_target(target: str | Path | TargetSpec | None, device: str = "auto") -> TargetSpec:
    """Return the target asked for, else that of the environment, else the CPU; ``device`` has to go with it."""
    if device not in DEVICES:
        known = ", ".join(DEVICES)
        raise DriverError(f"there is no device {device!r}", where="autofuse.compile", fix=f"use one of {known}")
    spec = target if isinstance(target, TargetSpec) else target_named(str(target or settings().target))
    if device == "sim" and spec.kind is TargetKind.CPU:
        raise DriverError("target cpu has no simulator", where="autofuse.compile", fix="use device auto")
    if device == "real" and spec.kind is TargetKind.ASCEND:
        _cann()  # what is missing is said before any work
    return spec


def chosen_options(
    fusion: FusionOptions | None = None, numerics: str | None = None, on_specialize: str | None = None
) -> FusionOptions:
    """Return ``fusion`` (default: the environment's) with what the other arguments override."""
    options: object = settings().flags.fusion if fusion is None else fusion
    if not isinstance(options, FusionOptions):
        kind = type(options).__name__
        raise DriverError(f"fusion is a {kind}", where="autofuse.compile", fix="give FusionOptions")
    try:
        return evolve(
            options,
            numerics=options.numerics if numerics is None else numerics,
            on_specialize=options.on_specialize if on_specialize is None else on_specialize,
        )
    except ValueError as error:
        raise DriverError(str(error.args[0]), where="autofuse.compile", fix="see FusionOptions") from None


def lower_graph(
    graph: Graph,
    target: TargetSpec,
    options: FusionOptions,
    values: Mapping[str, Any] | None = None,
    observe: Observer = nothing,
) -> Lowered:
    """Run the stages on ``graph``; ``values`` are arrays. Dumps the artefacts where ``AUTOFUSE_DFX_FLAGS`` asks."""
    dump = settings().flags.dump
    if values is not None and not isinstance(values, Mapping):
        raise DriverError(f"values is a {type(values).__name__}", where="autofuse.compile", fix="give a dict by name")
    known = {name: to_tensor_data(_known_value(name, array)) for name, array in (values or {}).items()}
    return lower(graph, target, options, known, dump_into(dump, observe) if dump else observe)


def _known_value(name: str, value: Any) -> "np.ndarray[Any, Any]":
    array = np.asarray(value)
    if array.dtype.kind not in "biufV":  # ml_dtypes' types are of kind V
        raise DriverError(
            f"the value of input {name!r} is an array of {array.dtype}", where="values", fix="give an array of numbers"
        )
    return array


def load_lowered(lowered: Lowered, target: TargetSpec, tier: str = "auto", device: str = "auto") -> Any:
    """Build what ``lower`` made and return it as a callable; kernels for Ascend run on ``device``."""
    chosen = settings()
    cache = ArtefactCache(chosen.cache)
    if tier != "interpreter":
        try:
            if target.kind is not TargetKind.ASCEND:
                return _load_built(lowered, target, cache, chosen.threads)
            load = _load_on_device if device == "real" else _load_emulated
            return load(lowered, target, cache)
        except ToolMissingError as error:
            if tier == "jit" or device != "auto":
                raise
            warnings.warn(f"{error.what}; {lowered.program.name} runs on the interpreter", RuntimeWarning, stacklevel=2)
    from autofuse_reference.executor import ProgramExecutor  # noqa: PLC0415 - only this tier needs it

    return callable_of(
        CompiledFunction(lowered, target, cache, None, ProgramExecutor(lowered.program, plugins.hosts()))
    )


def _load_emulated(lowered: Lowered, target: TargetSpec, cache: ArtefactCache) -> Any:
    """Kernels on the emulator of an Ascend chip, everything else as the interpreter does it."""
    from autofuse_reference.executor import ProgramExecutor  # noqa: PLC0415 - only this device needs these
    from autofuse_runtime.launchers.sim import load_sim  # noqa: PLC0415

    kernels = load_sim(lowered.bundles, target.name, cache, find_toolchain(), lowered.program.name)
    executor = ProgramExecutor(lowered.program, plugins.hosts(), run_kernel=kernels.run, tier="sim")
    return callable_of(CompiledFunction(lowered, target, cache, None, executor))


def _load_on_device(lowered: Lowered, target: TargetSpec, cache: ArtefactCache) -> Any:
    """Kernels on an Ascend device, everything else as the interpreter does it."""
    from autofuse_reference.executor import ProgramExecutor  # noqa: PLC0415 - only this device needs these
    from autofuse_runtime.launchers.real import load_real  # noqa: PLC0415

    cann, name = _cann(), lowered.program.name
    kernels = load_real(lowered.bundles, target.name, target.cores, cache, cann, find_toolchain(), name)
    executor = ProgramExecutor(lowered.program, plugins.hosts(), run_kernel=kernels.run, tier="real")
    return callable_of(CompiledFunction(lowered, target, cache, None, executor))


def _cann() -> Any:
    from autofuse_runtime.launchers.cann import find_cann  # noqa: PLC0415 - only devices need it

    return find_cann(settings().cann)


def _load_built(lowered: Lowered, target: TargetSpec, cache: ArtefactCache, threads: int | None) -> Any:
    with cache.in_use():
        toolchain = find_toolchain()
        extension = load_extension(cache, toolchain)
        library = compile_library(lowered.program, lowered.bundles, cache, toolchain) if lowered.bundles else None
        face = CompiledFunction(lowered, target, cache, library)
        path = library.path if library else None
        load_program(lowered.program, path, extension, hosts=plugins.hosts(), threads=threads, face=face)
    return callable_of(face)
