"""What is known of a value while shapes are inferred: element type, shape and symbolic content."""

from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType

Shape: TypeAlias = tuple[Dim, ...]


@frozen
class Scaled:
    """The real number ``numerator / 2**shift``: every finite float with an integer numerator is one exactly."""

    numerator: Dim
    shift: int


Element: TypeAlias = Dim | Scaled
"""One element of a content: integers and truth values (0 or 1) are sizes, floats are scaled sizes."""

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
