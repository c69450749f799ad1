"""The form of each Load: which of them copies move, as whole rows or in part, and which are read one by one."""

from collections.abc import Callable, Mapping
from enum import Enum

from autofuse_ir.asc_graph import AccessDim, AscNode, Axis, Bounds
from autofuse_ir.asc_ops import NOT_EVALUATED
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType

from autofuse_codegen.kernel.addresses import address
from autofuse_codegen.targets.ascendc.layout import Layouts

ValueText = Callable[[str, dict[str, str]], str]
"""The text of an index operand (a node's name) at a point of the tile (root axis -> index in the tile)."""

RowText = Callable[[str, dict[str, str]], str | None]
"""The text of the indices along the innermost axis at a point of the other ones; None where no tensor has them as
32-bit or 64-bit integers."""


class LoadForm(Enum):
    """How the elements of a tile get into UB."""

    ROWS = "rows"
    """Copies of whole rows: everything lies inside of the data."""
    BOX = "box"
    """Copies of the part that lies inside of the data; the rest is filled."""
    ROW_BY_INDEX = "row_by_index"
    """Copies of rows whose place the values of index operands say."""
    STAGED = "staged"
    """Copies into scratch, from where the vector unit gathers elements."""
    ELEMENTS = "elements"
    """The scalar unit reads one by one."""


def load_form(node: AscNode, nodes: Mapping[str, AscNode], layouts: Layouts) -> LoadForm:
    """Return the form of Load ``node``."""
    access = node.access
    assert access is not None
    axes = layouts.axes_of(node)
    is_row = not axes or address(access).step_along(axes[-1].root) == const(1)
    if not is_row or (access.bounds is not Bounds.INSIDE and not _pads(node)):
        has_stage = bool(node.attr("scratch")) and axes and len(node.inputs) == 1
        return LoadForm.STAGED if has_stage else LoadForm.ELEMENTS
    indices = [nodes[node.inputs[1 + dim.operand]] for dim in access.dims if dim.operand is not None]
    if not indices:
        return LoadForm.ROWS if access.bounds is Bounds.INSIDE else LoadForm.BOX
    if axes and any(axes[-1] in layouts.axes_of(index) for index in indices):
        return LoadForm.ELEMENTS
    return LoadForm.ROW_BY_INDEX


def moves_rows(node: AscNode, layouts: Layouts) -> bool:
    """True for Loads and Stores that copies between GM and UB make alone."""
    access = node.access
    assert access is not None
    if access.bounds is not Bounds.INSIDE or any(dim.operand is not None for dim in access.dims):
        return False
    axes = layouts.axes_of(node)
    return not axes or address(access).step_along(axes[-1].root) == const(1)


def is_gathered(dtype: DType) -> bool:
    """True for elements that the vector unit gathers from a stage; the scalar unit picks others."""
    return dtype.itemsize in (2, 4)


def index_operands(node: AscNode) -> tuple[str, ...]:
    """Return the index operands of ``node``, none for what is no gather."""
    return node.inputs[1:] if node.op == "Load" else ()


def waits_for_values(node: AscNode, nodes: Mapping[str, AscNode]) -> bool:
    """True for a Load whose indices are computed; what was only loaded is there before anything is computed."""
    return any(nodes[name].op not in ("Load", *NOT_EVALUATED) for name in index_operands(node)) or any(
        index_operands(nodes[name]) for name in index_operands(node)
    )


def fill_value(node: AscNode) -> bool | int | float:
    """Return what is read outside of the data; zero where that is an error."""
    found = node.attr("fill", 0)
    assert isinstance(found, (bool, int, float)), "checks.check_access finds others"
    return found


def always_inside(dim: AccessDim, size: object, roots: Mapping[str, Axis]) -> bool:
    """True where the index along a dim is an axis of its size."""
    is_plain = dim.axis is not None and dim.step == const(1) and dim.offset == const(0)
    return is_plain and dim.axis is not None and roots[dim.axis].size == size


def _pads(node: AscNode) -> bool:
    """True where copies can fill up blocks: those of 64-bit elements with zero alone."""
    return node.dtype.itemsize < 8 or fill_value(node) == 0
