"""The layers of the repository, as `[tool.importlinter]` of the root `pyproject.toml` declares them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from workspace import Package


def declared_layers(root: Path) -> tuple[tuple[str, ...], ...]:
    """Return the modules of each layer, highest layer first."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (each for each in settings["contracts"] if each["type"] == "layers")
    return tuple(tuple(re.findall(r"\w+", layer)) for layer in contract["layers"])


def undeclared(packages: Iterable[Package], root: Path) -> tuple[str, ...]:
    """Return the packages on disk whose imports would not be checked, because they have no layer or are no root."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    placed = {module for layer in declared_layers(root) for module in layer} & set(settings["root_packages"])
    return tuple(package.name for package in packages if package.module not in placed)
