"""The text form of sizes and conditions: ``show_*`` writes it, ``parse_*`` reads it back to an equal object.

::

    size       a + b   a - b   a*b   a // b   a % b   -a   (a)   42   name   "any name"
               floordiv(a, b)  ceildiv(a, b)  mod(a, b)  min(a, ...)  max(a, ...)  select(condition, a, b)
    condition  a == b  a != b  a <= b  a < b  a >= b  a > b   true  false   c and d   c or d   not c   (c)

Operators bind as in Python. Names that are not identifiers, or are one of the words above, stand in double quotes
with JSON escapes.
"""

from typing import assert_never

from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol, quoted_name
from autofuse_ir.dims_conds import FALSE, TRUE, AllOf, AnyOf, Compare, Cond
from autofuse_ir.dims_parse import MAX_TEXT, parse_cond, parse_dim
from autofuse_ir.dims_polynomial import Dim
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, signed_terms
from autofuse_ir.errors import IrError

__all__ = ["parse_cond", "parse_dim", "show_cond", "show_dim", "text_or_excerpt"]


def show_dim(dim: Dim) -> str:
    """The text form of ``dim``; raises `IrError` when it would be longer than the parser accepts."""
    return _show(dim)


def show_cond(cond: Cond) -> str:
    """The text form of ``cond``; raises `IrError` when it would be longer than the parser accepts."""
    return _show(cond)


def text_or_excerpt(part: Dim | Cond) -> str:
    """The text form, or a description of its size where the text would be too long to read or parse."""
    try:
        return _show(part)
    except IrError:
        return f"<{type(part).__name__} of {part.weight} words>"


def _show(root: Dim | Cond) -> str:
    if root.weight > MAX_TEXT:
        raise _too_long(root)
    texts: dict[AnyNode, str] = {}
    for node in children_first(root):
        texts[node] = _node_text(node, texts)
        if len(texts[node]) > MAX_TEXT:
            raise _too_long(root)
    text = texts[as_node(root)] if isinstance(root, Cond) else _dim_text(root, texts)
    if len(text) > MAX_TEXT:
        raise _too_long(root)
    return text


def _too_long(root: Dim | Cond) -> IrError:
    return IrError(
        f"the text of a size of {root.weight} words would be longer than {MAX_TEXT} characters",
        fix="name an intermediate size with a symbol of its own",
    )


def _node_text(node: AnyNode, texts: dict[AnyNode, str]) -> str:
    match node:
        case Symbol(name):
            return quoted_name(name)
        case FloorDiv(left, right):
            return f"{_dividend(left, texts)} // {_divisor(right, texts)}"
        case CeilDiv(left, right):
            return f"ceildiv({_dim_text(left, texts)}, {_dim_text(right, texts)})"
        case Mod(left, right):
            return f"mod({_dim_text(left, texts)}, {_dim_text(right, texts)})"
        case Min(operands):
            return f"min({', '.join([_dim_text(dim, texts) for dim in operands])})"
        case Max(operands):
            return f"max({', '.join([_dim_text(dim, texts) for dim in operands])})"
        case Select(cond, if_true, if_false):
            return f"select({texts[as_node(cond)]}, {_dim_text(if_true, texts)}, {_dim_text(if_false, texts)})"
        case Compare(relation, left, right):
            return f"{_dim_text(left, texts)} {relation} {_dim_text(right, texts)}"
        case AllOf(conds):
            return "true" if node is TRUE else _joined(" and ", conds, texts)
        case AnyOf(conds):
            return "false" if node is FALSE else _joined(" or ", conds, texts)
        case never:
            assert_never(never)


def _joined(word: str, conds: tuple[Cond, ...], texts: dict[AnyNode, str]) -> str:
    parts = []
    for cond in conds:
        text = texts[as_node(cond)]
        parts.append(text if isinstance(cond, Compare) else f"({text})")
    return word.join(parts)


def _dim_text(dim: Dim, texts: dict[AnyNode, str]) -> str:
    if len(dim.terms) == 1 and dim.atom is not None:
        return texts[dim.atom]
    if not dim.terms:
        return "0"
    text = ""
    for position, (is_subtracted, factor, atoms) in enumerate(signed_terms(dim)):
        factors = [f"({texts[atom]})" if isinstance(atom, FloorDiv) else texts[atom] for atom in atoms]
        if factor == -1 and atoms:
            product = "-" + "*".join(factors)
        elif factor == 1 and len(atoms) == 1:
            product = texts[atoms[0]]  # a sum needs no parentheses around a quotient
        else:
            product = "*".join(factors if factor == 1 and atoms else [str(factor), *factors])
        joint = "" if position == 0 else " - " if is_subtracted else " + "
        text += joint + product
    return text


def _dividend(dim: Dim, texts: dict[AnyNode, str]) -> str:
    text = _dim_text(dim, texts)
    # A product binds as tightly as the quotient, to its left; a lone quotient gets parentheses for the reader.
    return text if (len(dim.terms) == 1 and not isinstance(dim.atom, FloorDiv)) or not dim.terms else f"({text})"


def _divisor(dim: Dim, texts: dict[AnyNode, str]) -> str:
    text = _dim_text(dim, texts)
    is_plain = dim.is_constant or (dim.atom is not None and not isinstance(dim.atom, FloorDiv))
    return text if is_plain else f"({text})"
