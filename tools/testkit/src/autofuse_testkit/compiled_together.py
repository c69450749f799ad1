"""Many small models in one kernel library, each kernel compiled once: hundreds of models take a minute, not an hour.

The stages, the flags of the compiler and the runtime are those of ``autofuse.compile``; only the library is shared.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen
from autofuse import plugins
from autofuse.compiler import chosen_options, chosen_target
from autofuse.function import CompiledFunction, callable_of
from autofuse.options import settings
from autofuse.pipeline import Lowered
from autofuse_codegen.stage import emit, link
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.errors import AutofuseError
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import BuiltLibrary, compile_library
from autofuse_runtime.extension import load_extension
from autofuse_runtime.load import load_program
from autofuse_runtime.toolchain import find_toolchain
from autofuse_schedule.stage import schedule
from autofuse_symshape.stage import infer
from autofuse_tiling.stage import tile

_COMMENT_LINE = re.compile(r"^\s*//.*$", re.MULTILINE)


class CompiledTogether:
    """Collects models under names, compiles the kernels of all, and returns each as ``autofuse.compile`` would.

    ``flags`` follow those that kernels are always compiled with: ``-O1`` for the same results in half the time. What a
    stage or the compiler refuses is raised when the model is asked for.
    """

    def __init__(self, options: FusionOptions | None = None, flags: tuple[str, ...] = ()) -> None:
        self.lowered: dict[str, Lowered] = {}
        self.refused: dict[str, AutofuseError] = {}
        self._options = chosen_options(options)
        self._target = chosen_target("cpu")
        self._sources = _DistinctSources(flags)

    def add(self, name: str, graph: Graph) -> None:
        """Run all stages on ``graph``; ``name`` has to be a C identifier."""
        try:
            self.lowered[name] = self._lower(name, graph)
        except AutofuseError as error:
            self.refused[name] = error

    def __getitem__(self, name: str) -> Any:
        if name in self.refused:
            raise self.refused[name]
        lowered = self.lowered[name]
        library = self._library if lowered.bundles else None
        face = CompiledFunction(lowered, self._target, self._cache, library)
        path = library.path if library else None
        extension = load_extension(self._cache, find_toolchain())
        load_program(lowered.program, path, extension, hosts=plugins.hosts(), threads=settings().threads, face=face)
        return callable_of(face)

    def __iter__(self) -> Iterator[str]:
        return iter(self.lowered)

    @cached_property
    def _cache(self) -> ArtefactCache:
        return ArtefactCache(settings().cache)

    @cached_property
    def _library(self) -> BuiltLibrary:
        programs = [lowered.program for lowered in self.lowered.values()]
        everything = evolve(
            programs[0],
            name="together",
            kernels=tuple(kernel for program in programs for kernel in program.kernels),
            inputs=(),
            outputs=(),
            symbols=(),
            guards=(),
            buffers=(),
            variants=(),
            constants=(),
        )
        bundles = [bundle for lowered in self.lowered.values() for bundle in lowered.bundles]
        return compile_library(everything, bundles, self._cache, find_toolchain())

    def _lower(self, prefix: str, graph: Graph) -> Lowered:
        inferred, facts = infer(graph)
        fused = _renamed(fuse(inferred, facts, self._target, self._options), prefix)
        schedules, tilings, bundles = [], [], []
        for node in fused.nodes:
            if isinstance(node, AscBackend | FusedAscBackend):
                schedules.append(schedule(node, fused.facts, self._target))
                tilings.append(tile(schedules[-1], fused.facts, self._target))
                bundles.append(self._sources.shared(emit(schedules[-1], tilings[-1], fused.facts, self._target)))
        program = link(fused, tuple(bundles), fused.facts, self._target)
        made = (tuple(schedules), tuple(tilings), tuple(bundles))
        return Lowered(graph, self._options, inferred, facts, fused, *made, program)


@frozen
class _DistinctSources:
    """The first bundle of every text, names of kernels and comments apart."""

    flags: tuple[str, ...]
    firsts: dict[str, KernelBundle] = field(factory=dict)

    def shared(self, bundle: KernelBundle) -> KernelBundle:
        """Return ``bundle``, with the sources and entry points of an equal one where there is one."""
        texts = (_COMMENT_LINE.sub("", file.text).replace(bundle.name, "") for file in bundle.files)
        first = self.firsts.setdefault("\0".join(texts), bundle)
        return evolve(
            bundle,
            files=first.files,
            support_files=first.support_files,
            launch=first.launch,
            tiling=first.tiling,
            flags=(*bundle.flags, *self.flags),
        )


def _renamed(fused: FusedGraph, prefix: str) -> FusedGraph:
    """Kernels under names that no other model of the library has."""
    return evolve(fused, nodes=tuple(_node(node, prefix) for node in fused.nodes))


def _node(node: Any, prefix: str) -> Any:
    match node:
        case AscBackend():
            return _part(node, prefix)
        case FusedAscBackend():
            return evolve(node, name=f"{prefix}_{node.name}", parts=tuple(_part(part, prefix) for part in node.parts))
        case _:
            return node


def _part(part: AscBackend, prefix: str) -> AscBackend:
    name = f"{prefix}_{part.name}"
    return evolve(part, name=name, graph=evolve(part.graph, name=name))
