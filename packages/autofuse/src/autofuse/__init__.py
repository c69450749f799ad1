"""AutoFuse: an automatic operator-fusion compiler. Fewer passes over memory, one compile for every shape.

>>> import autofuse
>>> fn = autofuse.compile("model.onnx", dims={"batch": (0, 512)})   # doctest: +SKIP
>>> y = fn(x)                                                       # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autofuse.compiler import compile_model as compile
    from autofuse.loading import load
    from autofuse.verification import verify

__all__ = ["compile", "load", "verify"]

_LAZY = {
    "load": ("autofuse.loading", "load"),
    "compile": ("autofuse.compiler", "compile_model"),
    "verify": ("autofuse.verification", "verify"),
}
"""Attributes loaded on first use, so that importing the package stays cheap."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module, attribute = _LAZY[name]
        return getattr(import_module(module), attribute)  # modules have other names than what they give
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
