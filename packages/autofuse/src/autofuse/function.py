"""A compiled model: callable, with what happened while compiling and while running."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autofuse_ir.target import TargetSpec
from autofuse_runtime.build import build
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import BuiltLibrary
from autofuse_runtime.module import CompiledModule, Executor

from autofuse.pipeline import Lowered
from autofuse.prediction import Prediction, predict
from autofuse.report import Report, report_of


class CompiledFunction(CompiledModule):
    """What ``autofuse.compile`` returns.

    Call it with arrays by position or name, ``out=`` for given outputs. ``report`` says what was fused and why not
    more, ``stats`` what calls did, ``lowered`` holds the artefacts of every stage.
    """

    def __init__(
        self,
        lowered: Lowered,
        target: TargetSpec,
        cache: ArtefactCache,
        library: BuiltLibrary | None,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(lowered.program, executor)
        self.lowered = lowered
        self.target = target
        self._cache = cache
        self._library = library
        made_while_compiling = cache.misses
        found_while_compiling = cache.hits
        # Whatever this object makes from now on goes through its cache, which counts what it has to make.
        self.compiles = lambda: 1 + cache.misses - made_while_compiling
        self.cache_hits = lambda: found_while_compiling

    @property
    def report(self) -> Report:
        """What fusion did to the model."""
        return report_of(self.lowered, self.target)

    def predict(self, sizes: Mapping[str, int] | None = None, unfused: bool = False) -> Prediction:
        """Return the times that the tiling functions predict at ``sizes`` (those that are missing: their hints).

        ``unfused``: of a kernel for each operator, too. All are estimates from cost tables.
        """
        return predict(self.lowered, self.target, sizes or {}, unfused)

    def save(self, directory: str | Path) -> Path:
        """Write the model as a bundle that ``autofuse.load`` opens; returns its path.

        An existing bundle is replaced whole. Raises ``ToolMissingError`` where there is no compiler, ``DiskError``.
        """
        return build(
            self.lowered.program,
            self.lowered.bundles,
            self.target,
            directory,
            cache=self._cache,
            library=self._library,
            extra_files={"report.json": self.report.to_json()},
            extra_artefacts={"graph.json": self.lowered.source},
        )

    def __repr__(self) -> str:
        return f"<autofuse model {self.program.name}: {len(self.program.kernels)} kernels>"


def callable_of(face: CompiledFunction) -> Any:
    """Return what to hand to the user: the extension's callable, which shows the attributes of ``face``."""
    return face.function
