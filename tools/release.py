#!/usr/bin/env python3
"""Release one package: `python3 tools/release.py autofuse-ir [--dry-run]`.

Checks that the tree is clean, that the version is new and has a dated section with entries in the changelog, and that
the siblings' declared ranges admit what is here; then builds sdist and wheel into `dist/<package>/` and tags
`<package>-v<version>`. It uploads nothing. `--dry-run` checks and says what it would do. Standard library only; the
build itself needs `hatchling` in this interpreter (`.venv/bin/python -m pip install hatchling`).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from workspace import ROOT, Package, WorkspaceError, read_workspace, requirement_name

_HEADING = re.compile(r"^## (?P<version>\S+) \((?P<when>[^)]*)\)\s*$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def tag_of(package: Package) -> str:
    """Return the tag of the package's present version."""
    return f"{package.name}-v{package.version}"


def git(root: Path, *arguments: str) -> str:
    """Return what git prints."""
    answer = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise WorkspaceError(f"git {' '.join(arguments)} failed: {answer.stderr.strip()}")
    return answer.stdout


def problems(root: Path, package: Package, packages: tuple[Package, ...]) -> list[str]:
    """Return all that stands against a release, each with what to do."""
    found = [*changelog_problems(package), *range_problems(package, packages)]
    dirty = git(root, "status", "--porcelain").splitlines()
    if dirty:
        found.append(f"the tree is not clean: commit or remove {len(dirty)} paths first, such as {dirty[0][3:]}")
    if git(root, "tag", "--list", tag_of(package)).strip():
        found.append(f"{tag_of(package)} is tagged already: raise `version` in {package.folder.name}/pyproject.toml")
    return found


def changelog_problems(package: Package) -> list[str]:
    """Return what the changelog lacks for the present version."""
    name = f"{package.folder.name}/CHANGELOG.md"
    file = package.folder / "CHANGELOG.md"
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    headings = list(_HEADING.finditer(text))
    if not headings or headings[0]["version"] != package.version:
        return [f"{name} does not begin with `## {package.version} (YYYY-MM-DD)`, the version to release"]
    end = headings[1].start() if len(headings) > 1 else len(text)
    found = []
    if not _DATE.fullmatch(headings[0]["when"]):
        found.append(f"{name}: `({headings[0]['when']})` has to be the day of the release, YYYY-MM-DD")
    if not re.search(r"^- \S", text[headings[0].end() : end], re.MULTILINE):
        found.append(f"{name}: {package.version} has no entry (`- what changed for users`)")
    return found


def range_problems(package: Package, packages: tuple[Package, ...]) -> list[str]:
    """Return the ranges on siblings that are not of the form `>=A.B,<A.C` or do not admit the sibling's version."""
    siblings = {other.name: other for other in packages}
    found = []
    for need in package.dependencies:
        sibling = siblings.get(requirement_name(need))
        if sibling is None:
            continue
        bounds = re.search(r">=\s*([\d.]+)\s*,\s*<\s*([\d.]+)", need)
        if bounds is None:
            found.append(f"`{need}` has to be a narrow range, such as {sibling.name}>=0.1,<0.2")
        elif not numbers(bounds[1]) <= numbers(sibling.version) < numbers(bounds[2]):
            found.append(f"`{need}` does not admit {sibling.name} {sibling.version}, which is what was tested here")
    return found


def numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, for comparison."""
    return tuple(int(number) for number in re.findall(r"\d+", version.split("+", maxsplit=1)[0]))


def release(root: Path, package: Package) -> None:
    """Build both distributions and tag."""
    target = root / "dist" / package.name
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    if subprocess.call(command, cwd=str(package.folder)) != 0:
        raise WorkspaceError(f"the build failed: {' '.join(command)}")
    git(root, "tag", "--annotate", tag_of(package), "--message", f"{package.name} {package.version}")


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Run the command; return 1 where something stands against the release, 2 where the input is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--dry-run", action="store_true", help="check and say what would be done")
    chosen = parser.parse_args(arguments)
    try:
        packages = read_workspace(root)
        named = [package for package in packages if package.name == chosen.package]
        if not named:
            names = ", ".join(package.name for package in packages)
            raise WorkspaceError(f"there is no package {chosen.package!r}; there are {names}")
        found = problems(root, named[0], packages)
        if found:
            print(f"{tag_of(named[0])} is not ready:", *(f"  * {line}" for line in found), sep="\n", file=sys.stderr)
            return 1
        if chosen.dry_run:
            print(f"would build {named[0].name} into dist/{named[0].name}/ and tag {tag_of(named[0])}")
            return 0
        release(root, named[0])
    except WorkspaceError as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    print(f"built into dist/{named[0].name}/ and tagged {tag_of(named[0])}; push the tag to publish it")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
