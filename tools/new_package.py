#!/usr/bin/env python3
"""Start a package: `python3 tools/new_package.py autofuse-x --layer L2 --description "What it is"`.

Writes the folder under `packages/` and gives the module its layer in the root `pyproject.toml`. Everything else finds
it on disk. Standard library only.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import layers
from workspace import ROOT, WorkspaceError

LAYERS = ("L4", "L3", "L2", "L1", "L0")

_PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "0.1.0"
description = "{description}"
readme = "README.md"
license = "Apache-2.0"
requires-python = ">=3.11"
authors = [{{ name = "AutoFuse developers" }}]
classifiers = ["Programming Language :: Python :: 3", "Typing :: Typed"]
dependencies = [
    "attrs>=24.2",
]

[project.optional-dependencies]
test = ["pytest>=8", "hypothesis>=6.100"]

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]

[tool.hatch.build.targets.sdist]
include = ["src", "tests", "README.md", "CHANGELOG.md"]
"""

_README = """\
# {name}

{description}.

```python
import {module}

print({module}.__version__)
```
"""

_INIT = '''\
"""{description}."""

__version__ = "0.1.0"
'''

_TEST = """\
from pathlib import Path

import {module}


def test_the_version_is_the_declared_one() -> None:
    declared = Path(__file__).parents[1] / "pyproject.toml"
    assert f'version = "{{{module}.__version__}}"' in declared.read_text(encoding="utf-8")
"""


def contents(name: str, description: str) -> dict[str, str]:
    """Return the files of a new package: path in its folder -> text."""
    module = name.replace("-", "_")
    words = {"name": name, "module": module, "description": description.rstrip(".")}
    return {
        "pyproject.toml": _PYPROJECT.format(**words),
        "README.md": _README.format(**words),
        "CHANGELOG.md": "# Changelog\n\n## 0.1.0 (unreleased)\n\n- First version.\n",
        f"src/{module}/__init__.py": _INIT.format(**words),
        f"src/{module}/py.typed": "",
        f"tests/test_{module.removeprefix('autofuse_')}.py": _TEST.format(**words),
    }


def with_layer(pyproject: str, module: str, layer: str) -> str:
    """Return the root `pyproject.toml` with the module among the roots and in its layer, beside its siblings."""
    block = re.search(r'(?<=^layers = \[\n)(?:    ".*",\n)+', pyproject, flags=re.MULTILINE)
    roots = re.search(r'(?<=^root_packages = \[\n)(?:    ".*",\n)+', pyproject, flags=re.MULTILINE)
    if block is None or roots is None or len(rows := block[0].splitlines()) != len(LAYERS):
        raise WorkspaceError(
            f"pyproject.toml: [tool.importlinter] does not list roots and {len(LAYERS)} layers by line"
        )
    position = LAYERS.index(layer)
    rows[position] = rows[position].replace('",', f' | {module}",')
    changed = pyproject.replace(block[0], "".join(f"{row}\n" for row in rows))
    listed = sorted({*roots[0].splitlines(), f'    "{module}",'})
    return changed.replace(roots[0], "".join(f"{row}\n" for row in listed))


def create(root: Path, name: str, layer: str, description: str) -> Path:
    """Write the package and return its folder; nothing is written where it cannot be."""
    if not re.fullmatch(r"autofuse(-[a-z0-9]+)+", name):
        raise WorkspaceError(f"{name!r} is no name for a package here: autofuse-, then lower-case words with hyphens")
    folder = root / "packages" / name
    module = name.replace("-", "_")
    if folder.exists():
        raise WorkspaceError(f"{folder} is there already")
    declaration = root / "pyproject.toml"
    declared = declaration.read_text(encoding="utf-8")
    placed = any(module in row for row in layers.declared_layers(root))
    changed = declared if placed else with_layer(declared, module, layer)
    for path, text in contents(name, description).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    declaration.write_text(changed, encoding="utf-8")
    return folder


def main(arguments: list[str]) -> int:
    """Run the command; return 2 where the input is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="distribution, such as autofuse-numpy")
    parser.add_argument("--layer", required=True, choices=LAYERS, help="where its imports may point: down only")
    parser.add_argument("--description", required=True, help="one line: what it is")
    chosen = parser.parse_args(arguments)
    try:
        folder = create(ROOT, chosen.name, chosen.layer, chosen.description)
    except WorkspaceError as error:
        print(f"new_package: {error}", file=sys.stderr)
        return 2
    print(f"wrote {folder.relative_to(ROOT)}; next: `nox -s tests-{chosen.name} layers`")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
