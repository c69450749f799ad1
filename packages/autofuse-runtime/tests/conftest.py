"""Hand-made programs over hand-written kernels: what the tests of this package run."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import TRUE, as_dim, const
from autofuse_ir.facts import InputDim, SymbolFact
from autofuse_ir.graph import GraphOutput, Value
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile, StatusMessage
from autofuse_ir.program import (
    BufferKind,
    Program,
    ProgramBuffer,
    ProgramKernel,
    Variant,
)
from autofuse_ir.schedule import KernelArgument
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.compile_kernels import BuiltLibrary, compile_library
from autofuse_runtime.extension import load_extension
from autofuse_runtime.load import load_program
from autofuse_runtime.module import CompiledModule
from autofuse_runtime.toolchain import Toolchain, find_toolchain

SOURCE = Path(__file__).parent / "cases" / "kernels.cpp"
BINARY = ((0, 0), (0, 1))
F32 = dt.float32


class Kit:
    """Makes programs from short descriptions, and runs them on the kernels of ``cases/kernels.cpp``."""

    def __init__(self, cache: ArtefactCache, toolchain: Toolchain, extension: ModuleType) -> None:
        self.cache = cache
        self.toolchain = toolchain
        self.extension = extension

    @staticmethod
    def kernel(
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        symbols: Sequence[str] = ("n",),
        dtype: dt.DType = F32,
        workspace: object = 0,
        safe: tuple[tuple[int, int], ...] = BINARY,
        messages: tuple[StatusMessage, ...] = (),
    ) -> ProgramKernel:
        """One of the kernels, with the shapes of its arguments as text ("n", "n,m", "")."""
        arguments = [
            KernelArgument(f"{role}{index}", role == "out", index, dtype, dims(shape))
            for role, shapes in (("in", inputs), ("out", outputs))
            for index, shape in enumerate(shapes)
        ]
        return ProgramKernel(
            name=name,
            launch=f"launch_{name}",
            tiling=f"tiling_{name}",
            tiling_bytes=8,
            workspace_bytes=as_dim(workspace),
            arguments=tuple(arguments),
            symbols=tuple(symbols),
            safe_aliases=safe,
            status_messages=messages,
            graphs=(),
        )

    @staticmethod
    def buffer(
        name: str, kind: str, shape: str = "n", dtype: dt.DType = F32, alias_of: str | None = None
    ) -> ProgramBuffer:
        """A buffer; ``kind`` as `BufferKind` spells it."""
        return ProgramBuffer(name, BufferKind(kind), dtype, dims(shape), alias_of)

    @staticmethod
    def fact(name: str, *sources: Any, lo: int = 0, hi: int = 100_000_000) -> SymbolFact:
        """A symbol with its sources; ("x", 0) is dim 0 of input x."""
        made = tuple(InputDim(*source) if isinstance(source, tuple) else source for source in sources)
        return SymbolFact(name, lo, hi, max(lo, min(hi, 8)), made)

    @staticmethod
    def program(
        buffers: Sequence[ProgramBuffer],
        steps: Sequence[Any],
        outputs: Sequence[str],
        symbols: Sequence[SymbolFact],
        kernels: Sequence[ProgramKernel] = (),
        **more: Any,
    ) -> Program:
        """A program whose inputs are its input buffers (and its object buffers called ``in...``), in order."""
        objects = [b for b in buffers if b.kind is BufferKind.OBJECT and b.name.startswith("in")]
        inputs = [b for b in buffers if b.kind is BufferKind.INPUT or b in objects]
        base = Program(
            name="test",
            target="cpu",
            inputs=tuple(Value(b.name, b.dtype, None if b in objects else b.shape) for b in inputs),
            outputs=tuple(GraphOutput(name, name) for name in outputs),
            symbols=tuple(symbols),
            guards=(),
            buffers=tuple(buffers),
            variants=(Variant(TRUE, tuple(steps)),),
            kernels=tuple(kernels),
            regions=(),
            peak_bytes=const(0),
            numerics="strict",
        )
        return evolve(base, **more)

    @staticmethod
    def bundle(program: Program) -> tuple[KernelBundle, ...]:
        """Kernel bundles for the program, each with a source file of its own."""
        text = SOURCE.read_text(encoding="utf-8")
        return tuple(
            KernelBundle(
                name=kernel.name,
                target="cpu",
                arguments=kernel.arguments,
                symbols=kernel.symbols,
                launch=kernel.launch,
                tiling=kernel.tiling,
                tiling_bytes=kernel.tiling_bytes,
                workspace_bytes=kernel.workspace_bytes,
                files=(SourceFile(f"{kernel.name}.cpp", FileRole.KERNEL, f"#define USE_{used(kernel)}\n{text}", ""),),
                support_files=(),
                flags=(),
                safe_aliases=kernel.safe_aliases,
                status_messages=kernel.status_messages,
            )
            for kernel in program.kernels
        )

    def library(self, program: Program) -> BuiltLibrary:
        """The program's kernels, compiled."""
        return compile_library(program, self.bundle(program), self.cache, self.toolchain)

    def module(self, program: Program, hosts: Mapping[str, Any] | None = None) -> CompiledModule:
        """The program, built and loaded."""
        path = self.library(program).path if program.kernels else None
        return load_program(program, path, self.extension, hosts=hosts)

    def run(self, program: Program, hosts: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        """The program's callable."""
        return self.module(program, hosts).function


def used(kernel: ProgramKernel) -> str:
    """The name of the kernel's section in the source file."""
    return kernel.launch.removeprefix("launch_")


def dims(text: str) -> tuple[Any, ...]:
    """Dims of a shape written with commas; "" is a scalar."""
    return tuple(as_dim(part.strip()) for part in text.split(",")) if text else ()


@pytest.fixture(scope="session")
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compiled code goes: kept between runs where AUTOFUSE_TEST_CACHE says so."""
    kept = os.environ.get("AUTOFUSE_TEST_CACHE")
    return Path(kept) if kept else tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    return find_toolchain()


@pytest.fixture(scope="session")
def kit(cache_directory: Path, toolchain: Toolchain) -> Kit:
    """Programs and what builds them; AUTOFUSE_TEST_SANITIZE=address,undefined instruments the extension."""
    cache = ArtefactCache(cache_directory)
    sanitizers = os.environ.get("AUTOFUSE_TEST_SANITIZE")
    flags = (f"-fsanitize={sanitizers}", "-g", "-fno-omit-frame-pointer") if sanitizers else ()
    return Kit(cache, toolchain, load_extension(cache, toolchain, flags))
