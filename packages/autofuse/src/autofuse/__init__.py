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
    from autofuse.threads import set_num_threads
    from autofuse.verification import verify

__all__ = ["compile", "load", "set_num_threads", "verify"]

_LAZY = {
    "compile": ("autofuse.compiler", "compile_model"),
    "load": ("autofuse.loading", "load"),
    "set_num_threads": ("autofuse.threads", "set_num_threads"),
    "verify": ("autofuse.verification", "verify"),
}
"""Attributes loaded on first use, so that importing the package stays cheap."""

_FROM_NUMPY = ("erf", "evaluate", "jit")
"""Attributes that autofuse-numpy brings, through the entry points of the front ends."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        module, attribute = _LAZY[name]
        return getattr(import_module(module), attribute)  # modules have other names than what they give
    if name in _FROM_NUMPY:
        return import_module("autofuse.plugins").frontend(name, f"autofuse.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
