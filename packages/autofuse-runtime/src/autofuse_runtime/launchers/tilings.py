"""Tiling functions of Ascend kernels: compiled for the host, and asked before each launch."""

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import frozen
from autofuse_ir.kernels import FileRole, KernelBundle

from autofuse_runtime.errors import RuntimeInputError
from autofuse_runtime.toolchain import Toolchain

HOST_FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fPIC")

_BLOCK_DIM, _TILING_KEY = 0, 16
"""Where these 32-bit fields start in the tiling data, in bytes."""

_REASONS = {
    -3: "a size is negative, or larger than 2,147,483,647",
    -2: "the workspace takes 4,294,967,296 bytes or more, and the field for its size has 32 bits",
    3: "no tile fits the local memory",
    4: "there are more blocks than cores",
}
"""What the results of tiling functions mean."""


@frozen
class Decision:
    """What a launch gets: tiling data, the number of blocks (0: there is nothing to do), and the tiling key."""

    data: bytes
    block_dim: int
    tiling_key: int


@frozen(eq=False)
class Tilings:
    """Compiled tiling functions for ``target`` with ``cores`` cores."""

    library: ctypes.CDLL
    target: str
    cores: int

    def decide(self, bundle: KernelBundle, sizes: Mapping[str, int]) -> Decision:
        """Return what the tiling function of ``bundle`` decides; ``RuntimeInputError`` where it finds nothing."""
        values = (ctypes.c_int64 * max(1, len(bundle.symbols)))(*(sizes[name] for name in bundle.symbols))
        data = ctypes.create_string_buffer(bundle.tiling_bytes)
        status = getattr(self.library, bundle.tiling)(values, ctypes.c_int64(self.cores), data)
        if status != 0:
            known = ", ".join(f"{name} = {sizes[name]}" for name in bundle.symbols)
            reason = _REASONS.get(status, f"its tiling function returned {status}")
            raise RuntimeInputError(
                f"the kernel cannot run on {self.target} with {known or 'its sizes'}: {reason}",
                where=f"kernel {bundle.name}",
                fix="use smaller sizes",
            )
        raw = data.raw
        fields = (int.from_bytes(raw[at : at + 4], "little") for at in (_BLOCK_DIM, _TILING_KEY))
        return Decision(raw, *fields)


def compile_tilings(
    folder: Path,
    bundles: Sequence[KernelBundle],
    toolchain: Toolchain,
    library: Path,
    flags: Sequence[str] = HOST_FLAGS,
) -> None:
    """Compile the tiling functions of ``bundles``, whose sources lie in ``folder``, to ``library``."""
    unit = folder / "tiling_functions.cpp"
    functions = files_of(bundles, FileRole.TILING_FUNCTION)
    unit.write_text("".join(f'#include "{path}"\n' for path in functions), encoding="utf-8")
    shared = [p for p in files_of(bundles, FileRole.SUPPORT) if p.startswith("af_tiling_") and p.endswith(".cpp")]
    objects = []
    for number, source in enumerate((unit, *(folder / path for path in shared))):
        objects.append(folder / f"host_{number}.o")
        toolchain.compile_cpp(source, objects[-1], flags)
    toolchain.link_shared(objects, library)


def files_of(bundles: Iterable[KernelBundle], role: FileRole) -> list[str]:
    """Return the paths of all files of ``role``, each once."""
    return list(dict.fromkeys(file.path for bundle in bundles for file in bundle.files if file.role is role))


def sources_of(bundles: Iterable[KernelBundle]) -> dict[str, str]:
    """Return the texts of all files by path."""
    found: dict[str, str] = {}
    for bundle in bundles:
        found |= {file.path: file.text for file in bundle.files}
        found |= {file.name: file.text for file in bundle.support_files}
    return dict(sorted(found.items()))


def write_sources(sources: Mapping[str, str], folder: Path) -> None:
    """Write ``sources`` under ``folder``."""
    for path, text in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
