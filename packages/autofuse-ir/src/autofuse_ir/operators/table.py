"""The operator table: every operator by name."""

import difflib

from autofuse_ir.errors import IrError
from autofuse_ir.operators import (
    activation,
    binary,
    compare_logic,
    concat_split_slice_pad,
    cube,
    elementwise,
    gather_scatter,
    gradient,
    host,
    norm_loss,
    optimizer,
    quantise,
    random,
    reduce,
    shape_view,
)
from autofuse_ir.operators.model import Operator

_OPERATORS: tuple[Operator, ...] = (
    *elementwise.OPERATORS,
    *activation.OPERATORS,
    *gradient.OPERATORS,
    *binary.OPERATORS,
    *compare_logic.OPERATORS,
    *reduce.OPERATORS,
    *shape_view.OPERATORS,
    *concat_split_slice_pad.OPERATORS,
    *gather_scatter.OPERATORS,
    *norm_loss.OPERATORS,
    *optimizer.OPERATORS,
    *quantise.OPERATORS,
    *cube.OPERATORS,
    *host.OPERATORS,
    *random.OPERATORS,
)
_BY_NAME = {op.name: op for op in _OPERATORS}


def all_operators() -> tuple[Operator, ...]:
    """Return every operator, family by family, in the order of the table."""
    return _OPERATORS


def has_operator(name: str) -> bool:
    """True when the table holds an operator called ``name``."""
    return name in _BY_NAME


def operator(name: str) -> Operator:
    """Return the operator called ``name``; an error that lists the nearest names when there is none."""
    found = _BY_NAME.get(name)
    if found is None:
        near = difflib.get_close_matches(name, _BY_NAME, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "'HostCall' stands for what only a host backend runs"
        raise IrError(f"there is no operator {name!r} in the operator table", where="operator table", fix=hint)
    return found
