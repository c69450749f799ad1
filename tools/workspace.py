"""The packages of this repository, read from disk: names, dependencies, order, layers.

Nothing else in the repository lists the packages, so a new folder under `packages/` is built, tested and checked
without an edit. Standard library only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# The testing plug-in is used from the test extras but never released.
UNRELEASED = ("tools/testkit",)


class WorkspaceError(Exception):
    """A `pyproject.toml` or the graph of packages is not as the repository needs it."""


@dataclass(frozen=True, order=True)
class Package:
    """One distribution of the repository, as its `pyproject.toml` declares it."""

    name: str
    version: str
    folder: Path
    dependencies: tuple[str, ...]
    extras: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def module(self) -> str:
        """The name it is imported by."""
        return self.name.replace("-", "_")

    @property
    def source(self) -> Path:
        """The folder of its import package."""
        return self.folder / "src" / self.module

    def extra(self, name: str) -> tuple[str, ...]:
        """The requirements of one extra; () when it has none of that name."""
        return dict(self.extras).get(name, ())


def requirement_name(requirement: str) -> str:
    """Return the normalised distribution name of a requirement such as `autofuse-ir[fast]>=0.1,<0.2`."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    if match is None:
        raise WorkspaceError(f"{requirement!r} is not a requirement: it does not start with a distribution's name")
    return re.sub(r"[-_.]+", "-", match[1]).lower()


def read_package(folder: Path) -> Package:
    """Read one package folder."""
    file = folder / "pyproject.toml"
    try:
        project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        return Package(
            name=requirement_name(project["name"]),
            version=project["version"],
            folder=folder,
            dependencies=tuple(project.get("dependencies", ())),
            extras=tuple((name, tuple(needs)) for name, needs in project.get("optional-dependencies", {}).items()),
        )
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise WorkspaceError(f"{file} cannot be read as a package: {error!r}") from error


def read_workspace(root: Path = ROOT) -> tuple[Package, ...]:
    """Return every package under `packages/`, dependencies before what needs them, else by name."""
    return in_order(read_package(file.parent) for file in sorted((root / "packages").glob("*/pyproject.toml")))


def read_unreleased(root: Path = ROOT) -> tuple[Package, ...]:
    """Return the local packages that only tests use."""
    return tuple(read_package(root / folder) for folder in UNRELEASED if (root / folder).is_dir())


def local_needs(package: Package, packages: Iterable[Package], extras: Sequence[str] = ()) -> tuple[Package, ...]:
    """Return the local packages that `package` names itself, in its dependencies and in the given extras."""
    named = {requirement_name(need) for need in package.dependencies}
    named |= {requirement_name(need) for extra in extras for need in package.extra(extra)}
    return tuple(other for other in packages if other.name in named and other.name != package.name)


def closure(package: Package, packages: Sequence[Package], extras: Sequence[str] = ()) -> tuple[Package, ...]:
    """Return the local packages an installation of `package` needs, in the order of `packages`, without itself.

    `extras` are those of `package`; what it needs is installed without any.
    """
    found: set[Package] = set()
    waiting = list(local_needs(package, packages, extras))
    while waiting:
        need = waiting.pop()
        if need not in found:
            found.add(need)
            waiting += local_needs(need, packages)
    return tuple(other for other in packages if other in found and other != package)


def in_order(packages: Iterable[Package]) -> tuple[Package, ...]:
    """Sort topologically, by name where there is a choice; a cycle is an error that names its members."""
    left = {package.name: package for package in sorted(packages)}
    ordered: list[Package] = []
    while left:
        ready = [package for package in left.values() if not local_needs(package, left.values())]
        if not ready:
            raise WorkspaceError(f"these packages depend on one another in a cycle: {', '.join(left)}")
        ordered.append(ready[0])
        del left[ready[0].name]
    return tuple(ordered)


def dependency_group(name: str, root: Path = ROOT) -> tuple[str, ...]:
    """Return the requirements of a `[dependency-groups]` entry of the root `pyproject.toml`, included groups first."""
    groups = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("dependency-groups", {})
    if name not in groups:
        raise WorkspaceError(f"pyproject.toml has no dependency group {name!r}; it has {', '.join(sorted(groups))}")
    flat: list[str] = []
    for entry in groups[name]:
        flat += dependency_group(entry["include-group"], root) if isinstance(entry, dict) else [entry]
    return tuple(flat)


def source_files(root: Path = ROOT) -> tuple[Path, ...]:
    """Return the Python, C and C++ files that people wrote, sorted."""
    folders = [*(root / "packages").glob("*"), root / "tools", root / "integration_tests"]
    files = (file for folder in folders for file in folder.rglob("*") if file.suffix in {".py", ".h", ".c", ".cpp"})
    return tuple(sorted(file for file in files if "golden" not in file.parts))
