"""What is known of a value while shapes are inferred: element type, shape and symbolic content."""

from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType

Shape: TypeAlias = tuple[Dim, ...]


@frozen
class Real:
    """The real number ``numerator / denominator`` (at least 1); every finite float is one.

    ``rounded``: the float is not this number but near it, on the same side of every integer.
    """

    numerator: Dim
    denominator: int = 1
    rounded: bool = False


Element: TypeAlias = Dim | Real
"""One element of a content: integers and truth values (0 or 1) are sizes, floats are ratios."""

Content: TypeAlias = tuple[Element | None, ...]
"""Row-major elements; None where an element is not known."""

MAX_CONTENT = 1024
"""Most elements whose content is followed."""

MAX_STRUCTURAL = 64
"""Most elements of a run-time input (or host result) that become symbols."""


@frozen
class Known:
    """Type, shape (None: rank unknown) and content (None: nothing known) of a value."""

    dtype: DType
    shape: Shape | None
    content: Content | None = None


def static(shape: Shape | None) -> tuple[int, ...] | None:
    """The sizes of ``shape`` as integers; None where one is not known when compiling."""
    if shape is None:
        return None
    sizes = [dim.constant_value for dim in shape]
    return None if any(size is None for size in sizes) else tuple([size for size in sizes if size is not None])
