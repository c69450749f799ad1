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


def frontend(name: str, purpose: str) -> Any:
    """Return what entry point ``name`` of the front ends loads; ``PluginMissingError`` names the package to install."""
    for point in entry_points(group=FRONTENDS, name=name):
        return point.load()
    package = PACKAGES.get(name, f"a package with an entry point {FRONTENDS}: {name}")
    raise PluginMissingError(
        f"{purpose} needs {package}, which is not installed", where="plug-ins", fix=f"pip install {package}"
    )


def hosts() -> dict[str, Any]:
    """Return every installed host backend by name."""
    found: dict[str, Any] = {}
    for point in sorted(entry_points(group=HOSTS), key=lambda p: p.name):
        loaded = point.load()
        found[point.name] = loaded() if isinstance(loaded, type) else loaded
    return found
