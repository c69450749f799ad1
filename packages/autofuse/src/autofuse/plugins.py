"""Plug-ins by entry point: front ends, host backends and lazily found integrations."""

from importlib.metadata import entry_points
from typing import Any

from autofuse.errors import PluginMissingError

FRONTENDS = "autofuse.frontends"
HOSTS = "autofuse.hosts"

PACKAGES = {
    "onnx": "autofuse-onnx",
    "torch": "autofuse-torch",
    **dict.fromkeys(("numpy", "jit", "erf", "evaluate"), "autofuse-numpy"),
}
"""Distributions that bring the known front ends."""

RELEASED = frozenset(("autofuse-onnx",))
"""Those that can be installed; the others have their place and nothing in it yet."""


def frontend(name: str, purpose: str) -> Any:
    """Return what entry point ``name`` of the front ends loads; ``PluginMissingError`` names the package to install."""
    for point in entry_points(group=FRONTENDS, name=name):
        return point.load()
    package = PACKAGES.get(name, f"a package with an entry point {FRONTENDS}: {name}")
    is_planned = name in PACKAGES and package not in RELEASED
    raise PluginMissingError(
        f"{purpose} needs {package}, which is not {'there yet' if is_planned else 'installed'}",
        where="plug-ins",
        fix="export the model to ONNX, or build a graph" if is_planned else f"pip install {package}",
    )


def hosts() -> dict[str, Any]:
    """Return every installed host backend by name."""
    found: dict[str, Any] = {}
    for point in sorted(entry_points(group=HOSTS), key=lambda p: p.name):
        loaded = point.load()
        found[point.name] = loaded() if isinstance(loaded, type) else loaded
    return found
