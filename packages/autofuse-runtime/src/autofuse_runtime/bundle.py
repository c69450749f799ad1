"""What a bundle directory holds, as its manifest says: every file's sha256 and what the bundle was built for."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import asdict, frozen

from autofuse_runtime.cache_entry import sha256_of
from autofuse_runtime.errors import BundleError, DiskError
from autofuse_runtime.isa import MachineIsa

MANIFEST = "manifest.json"
PROGRAM = "program.json"
FORMAT = "autofuse.bundle"
VERSION = (1, 0)


@frozen
class Manifest:
    """``library`` is the path of the kernel library inside the bundle, None where the program calls no kernel."""

    name: str
    target: str
    abi_version: int
    isa: MachineIsa
    compiler: str
    flags: tuple[str, ...]
    library: str | None
    files: tuple[tuple[str, str], ...] = ()


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest of ``directory``, with the digests of all files that are in it now."""
    found = sorted(path for path in directory.rglob("*") if path.is_file() and path != directory / MANIFEST)
    files = {path.relative_to(directory).as_posix(): sha256_of(path) for path in found}
    data: dict[str, Any] = asdict(manifest)
    data |= {"format": FORMAT, "version": list(VERSION), "files": files}
    text = json.dumps(data, indent=1, sort_keys=True) + "\n"
    partial = directory / f".{MANIFEST}.partial"
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, directory / MANIFEST)


def read_manifest(directory: Path) -> Manifest:
    """Return the manifest of a bundle; raises `BundleError` where there is none, or not one of ours."""
    path = directory / MANIFEST
    if not os.path.exists(path):
        raise BundleError(
            "there is no bundle here (no manifest.json)",
            where=str(directory),
            fix="name the directory that autofuse compile made",
        )
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r}")
        version = tuple(int(part) for part in data["version"])
        isa = MachineIsa(str(data["isa"]["architecture"]), str(data["isa"]["level"]), _strings(data["isa"]["features"]))
        manifest = Manifest(
            name=str(data["name"]),
            target=str(data["target"]),
            abi_version=int(data["abi_version"]),
            isa=isa,
            compiler=str(data["compiler"]),
            flags=_strings(data["flags"]),
            library=None if data["library"] is None else str(data["library"]),
            files=tuple((str(name), str(digest)) for name, digest in data["files"].items()),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(
            f"the manifest cannot be read ({error})", where=str(path), fix="compile the model again"
        ) from error
    if version[:1] != VERSION[:1] or version > VERSION:
        raise BundleError(
            f"the bundle has format version {'.'.join(map(str, version))}, this runtime reads {VERSION[0]}.x",
            where=str(path),
            fix="upgrade autofuse-runtime, or compile the model again",
        )
    return manifest


def _strings(items: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in items)


def check_files(directory: Path, manifest: Manifest) -> None:
    """Compare every file with its sha256; raises `BundleError` naming the first that is missing or changed."""
    names = [name for name, _ in manifest.files]
    for name in (PROGRAM, *([manifest.library] if manifest.library else [])):
        if name not in names:
            raise BundleError(f"the manifest does not list {name}", where=str(directory), fix="compile the model again")
    for name, digest in manifest.files:
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise BundleError(
                f"the manifest names a file outside the bundle: {name!r}",
                where=str(directory),
                fix="do not use this bundle",
            )
        path = directory / pure
        try:
            found = sha256_of(path)
        except OSError as error:
            raise BundleError(
                f"the file {name} is missing or unreadable ({error.strerror})",
                where=str(directory),
                fix="copy the whole bundle again, or compile the model again",
            ) from error
        if found != digest:
            raise BundleError(
                f"the file {name} was changed: its sha256 is not the manifest's",
                where=str(directory),
                fix="copy the bundle again, or compile the model again",
            )


@contextmanager
def replacing(directory: Path) -> Iterator[Path]:
    """Give a temporary directory that takes the place of ``directory`` at the end; on an error nothing changes.

    Raises `BundleError` when something that is no bundle stands there.
    """
    if directory.exists() and not (directory.is_dir() and _may_be_replaced(directory)):
        raise BundleError(
            "something that is no bundle is here already", where=str(directory), fix="name another directory"
        )
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
    except OSError as error:
        raise DiskError(
            f"the bundle cannot be written ({error.strerror})", where=str(directory), fix="name a writable directory"
        ) from error
    old = fresh / "old"
    new = fresh / "new"
    try:
        new.mkdir()
        yield new
        if directory.exists():
            os.rename(directory, old)
        os.rename(new, directory)
    except DiskError:
        raise
    except OSError as error:
        if old.exists() and not directory.exists():
            os.rename(old, directory)
        raise DiskError(
            f"the bundle cannot be written ({error.strerror})", where=str(directory), fix="free some space"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _may_be_replaced(directory: Path) -> bool:
    return (directory / MANIFEST).exists() or not any(directory.iterdir())


def write_texts(directory: Path, texts: Mapping[str, str]) -> None:
    """Write files by relative path, making their folders."""
    for name, text in texts.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
