"""From kernel sources to one shared library: units of several kernels, compiled side by side, kept in the cache."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from attrs import frozen
from autofuse_ir.abi import header_text
from autofuse_ir.kernels import FileRole, KernelBundle
from autofuse_ir.program import Program

from autofuse_runtime.c_model import model_header
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import BuildError
from autofuse_runtime.isa import MachineIsa, isa_named
from autofuse_runtime.library_source import library_source
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import KERNEL_FLAGS, Toolchain, in_parallel

KERNELS_PER_UNIT = 8
"""Kernels in one translation unit: a compiler process costs about as much as two small kernels."""
CHARACTERS_PER_UNIT = 60_000
"""Of sources, about two seconds of compiling: longer kernels are units of their own, compiled side by side."""

LIBRARY_FILE = "library.cpp"
"""The source that lists the kernels; the runtime writes it."""

_ABI_HEADER = "af_abi.h"
_MODEL_HEADER = "af_model.h"
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_COMPILED = (FileRole.KERNEL, FileRole.TILING_FUNCTION, FileRole.INFER_SHAPE)


@frozen
class BuiltLibrary:
    """A kernel library: where it is, what it was built for, by whom, and the sources by path."""

    path: Path
    isa: MachineIsa
    compiler: str
    flags: tuple[str, ...]
    sources: dict[str, str]


def kernel_sources(program: Program, bundles: Sequence[KernelBundle]) -> dict[str, str]:
    """Return every source file of the library by path: the bundles', what they include, and the list of kernels."""
    own = {_ABI_HEADER: header_text(), _MODEL_HEADER: model_header(), LIBRARY_FILE: library_source(program)}
    return bundle_sources(bundles, own)


def bundle_sources(bundles: Sequence[KernelBundle], own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``own`` and the files of ``bundles`` by path; `BuildError` where two differ or one would lie outside."""
    texts = dict(own or {})
    for bundle in bundles:
        for path, text in [(file.path, file.text) for file in bundle.files] + [
            (file.name, file.text) for file in bundle.support_files
        ]:
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts:
                raise BuildError(f"a source file would be written outside its folder: {path!r}", where=bundle.name)
            if texts.setdefault(path, text) != text:
                raise BuildError(
                    f"two kernels bring different files called {path}",
                    where=bundle.name,
                    fix="report this with the program",
                )
    return dict(sorted(texts.items()))


def compile_library(
    program: Program,
    bundles: Sequence[KernelBundle],
    cache: ArtefactCache,
    toolchain: Toolchain,
    isa: str = "native",
) -> BuiltLibrary:
    """Return the library of all kernels of ``program``, from the cache or compiled.

    ``isa`` is what ``-march`` takes. Raises `BuildError` when the compiler refuses a source.
    """
    texts = kernel_sources(program, bundles)
    flags = _flags(bundles, isa)
    made_with = _made_with(bundles, toolchain, isa)
    units = _units(bundles)

    def make(directory: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="autofuse-src-", dir=directory.parent) as name:
            folder = Path(name)
            for path, text in texts.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")

            def compile_unit(paths: tuple[str, ...]) -> list[Path]:
                return _compile_unit(cache, toolchain, folder, paths, flags, unit_recipe(texts, paths, made_with))

            longest_first = sorted(units, key=lambda paths: -sum(len(texts[path]) for path in paths))
            objects = [path for paths in in_parallel(compile_unit, longest_first, toolchain) for path in paths]
            toolchain.link_shared(objects, directory / "kernels.so")

    with cache.in_use():  # the objects, until they are linked
        directory = cache.entry(_library_recipe(program, texts, made_with), make)
    return BuiltLibrary(directory / "kernels.so", isa_named(isa), toolchain.identity, flags, texts)


def library_recipes(
    program: Program, bundles: Sequence[KernelBundle], toolchain: Toolchain, isa: str = "native"
) -> tuple[Recipe, ...]:
    """Return what `compile_library` asks the cache for: the library, then the objects it would be linked from."""
    texts = kernel_sources(program, bundles)
    made_with = _made_with(bundles, toolchain, isa)
    units = (unit_recipe(texts, paths, made_with) for paths in _units(bundles))
    return (_library_recipe(program, texts, made_with), *units)


def _made_with(bundles: Sequence[KernelBundle], toolchain: Toolchain, isa: str) -> dict[str, str]:
    flags = " ".join(_flags(bundles, isa))
    return {"compiler": toolchain.identity, "instruction set": isa_named(isa).text, "flags": flags}


def _library_recipe(program: Program, texts: Mapping[str, str], made_with: Mapping[str, str]) -> Recipe:
    parts = {**made_with, **{f"source {path}": text for path, text in texts.items()}}
    return Recipe("library", f"kernels of {program.name}", tuple(parts.items()), made_with["compiler"])


def unit_recipe(texts: Mapping[str, str], paths: tuple[str, ...], made_with: Mapping[str, str]) -> Recipe:
    """Return what the objects of one unit are made from: its files, in order, and the headers they include."""
    parts = {**made_with, "files": " ".join(paths)}
    parts |= {f"source {name}": texts[name] for name in (*_included(texts, paths), *paths)}
    return Recipe("object", f"objects of {' '.join(paths)}", tuple(parts.items()), made_with["compiler"])


def _flags(bundles: Sequence[KernelBundle], isa: str) -> tuple[str, ...]:
    """The fixed flags, the instruction set, and what bundles ask for besides (never another instruction set)."""
    asked = dict.fromkeys(flag for bundle in bundles for flag in bundle.flags)
    more = (flag for flag in asked if flag not in KERNEL_FLAGS and not flag.startswith("-march="))
    return (*KERNEL_FLAGS, f"-march={isa}", *more)


def _units(bundles: Sequence[KernelBundle]) -> list[tuple[str, ...]]:
    """Groups of source files: those of up to `KERNELS_PER_UNIT` kernels each, or of one that is longer than
    `CHARACTERS_PER_UNIT`, the list of kernels, shared sources.

    Kernels that share their sources count once.
    """
    found = (
        tuple(file.path for file in bundle.files if file.role in _COMPILED and file.path.endswith(".cpp"))
        for bundle in bundles
    )
    per_kernel = list(dict.fromkeys(found))
    texts = {file.path: file.text for bundle in bundles for file in bundle.files}
    groups = _grouped(per_kernel, [sum(len(texts[path]) for path in paths) for paths in per_kernel])
    units = [tuple(path for paths in group for path in paths) for group in groups]
    # The list of kernels rides along where there is one group: a process costs more than its few lines.
    units = [(*units[0], LIBRARY_FILE)] if len(units) == 1 else [*units, (LIBRARY_FILE,)]
    return [*units, *((path,) for path in _shared_sources(bundles))]


def _grouped(kernels: Sequence[tuple[str, ...]], lengths: Sequence[int]) -> list[list[tuple[str, ...]]]:
    """Return neighbouring ``kernels`` together, as many as a unit takes."""
    groups: list[list[tuple[str, ...]]] = []
    length = 0
    for paths, own in zip(kernels, lengths, strict=True):
        if not groups or len(groups[-1]) == KERNELS_PER_UNIT or length + own > CHARACTERS_PER_UNIT:
            groups.append([])
            length = 0
        groups[-1].append(paths)
        length += own
    return groups


def _shared_sources(bundles: Sequence[KernelBundle]) -> tuple[str, ...]:
    """Support sources that several kernels bring alike (the tiling solver): compiled once, each on its own."""
    paths = (f.path for b in bundles for f in b.files if f.role is FileRole.SUPPORT and f.path.endswith(".cpp"))
    return tuple(dict.fromkeys(paths))


def _included(texts: Mapping[str, str], paths: Sequence[str]) -> tuple[str, ...]:
    """Names of the library's headers that ``paths`` include, directly or not, sorted."""
    found: set[str] = set()
    pending = list(paths)
    while pending:
        for name in _INCLUDE.findall(texts[pending.pop()]):
            if name in texts and name not in found:
                found.add(name)
                pending.append(name)
    return tuple(sorted(found))


def _compile_unit(
    cache: ArtefactCache,
    toolchain: Toolchain,
    folder: Path,
    paths: tuple[str, ...],
    flags: tuple[str, ...],
    recipe: Recipe,
) -> list[Path]:
    """Objects of one unit: its files together, or one by one where they do not compile together."""

    def make(directory: Path) -> None:
        if len(paths) == 1:
            toolchain.compile_cpp(folder / paths[0], directory / "0.o", (*flags, f"-I{folder}"))
            return
        unit = folder / f"unit_{recipe.key[:16]}.cpp"
        unit.write_text("".join(f'#include "{path}"\n' for path in paths), encoding="utf-8")
        try:
            toolchain.compile_cpp(unit, directory / "0.o", (*flags, f"-I{folder}"))
        except BuildError:
            # Names of two kernels may collide; alone, each file must compile, and its errors name its own lines.
            for number, path in enumerate(paths):
                toolchain.compile_cpp(folder / path, directory / f"{number}.o", (*flags, f"-I{folder}"))

    return sorted(cache.entry(recipe, make).glob("*.o"))
