"""Sizes and conditions as C99 (and C++) expressions over ``af_i64``, a signed 64-bit integer.

The expression computes in the order `autofuse_ir.dims_eval.evaluate` does: with values for which evaluation succeeds
it has no undefined behaviour and the same value.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import assert_never

from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol
from autofuse_ir.dims_conds import FALSE, TRUE, AllOf, AnyOf, Compare, Cond
from autofuse_ir.dims_polynomial import INT64_MIN, Dim
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, signed_terms
from autofuse_ir.errors import IrError

C_PRELUDE: str = Path(__file__).with_name("dims_prelude.h").read_text(encoding="utf-8")
"""The helpers the expressions call: ``af_floordiv``, ``af_ceildiv``, ``af_mod``, ``af_min``, ``af_max``.

It needs the type ``af_i64`` declared before it. Define ``AF_INLINE`` to replace ``static inline``.
"""

MAX_WORDS = 16384
"""Most words in one expression: shared parts are written out, so that deep sharing could exceed any memory."""


def c_text(dim: Dim, name_of: Callable[[str], str]) -> str:
    """``dim`` in C, with ``name_of(symbol)`` for its symbols, each an operand as it stands (``t->n``, ``f(x)``).

    Parenthesise the result before joining it with operators. Raises `IrError` for a size past `MAX_WORDS`.
    """
    return _sum_text(dim, _texts(dim, name_of))


def c_cond(cond: Cond, name_of: Callable[[str], str]) -> str:
    """``cond`` in C, an ``int`` (in C++ a ``bool``), under the same rules as `c_text`."""
    return _texts(cond, name_of)[as_node(cond)]


def _texts(root: Dim | Cond, name_of: Callable[[str], str]) -> dict[AnyNode, str]:
    if root.weight > MAX_WORDS:
        raise IrError(
            f"a size of {root.weight} words is too large for one C expression",
            where=str(root)[:80],
            fix="name a part of it with a symbol",
        )
    texts: dict[AnyNode, str] = {}
    for node in children_first(root):
        texts[node] = _node_text(node, texts, name_of)
    return texts


def _literal(value: int) -> str:
    if value == INT64_MIN:
        return "(-9223372036854775807LL - 1)"  # the literal 9223372036854775808 has no signed type
    return f"{value}LL" if abs(value) > 2**31 - 1 else str(value)


def _node_text(node: AnyNode, texts: Mapping[AnyNode, str], name_of: Callable[[str], str]) -> str:
    match node:
        case Symbol(name):
            return name_of(name)
        case FloorDiv(left, right):
            return f"af_floordiv({_sum_text(left, texts)}, {_sum_text(right, texts)})"
        case CeilDiv(left, right):
            return f"af_ceildiv({_sum_text(left, texts)}, {_sum_text(right, texts)})"
        case Mod(left, right):
            return f"af_mod({_sum_text(left, texts)}, {_sum_text(right, texts)})"
        case Min(operands):
            return _nested("af_min", operands, texts)
        case Max(operands):
            return _nested("af_max", operands, texts)
        case Select(cond, if_true, if_false):
            arms = _arm(if_true, if_false, texts), _arm(if_false, if_true, texts)
            return f"{texts[as_node(cond)]} ? {arms[0]} : {arms[1]}"
        case Compare(relation, left, right):
            return f"{_operand(left, texts)} {relation} {_operand(right, texts)}"
        case AllOf(conds):
            return "1" if node is TRUE else _joined(" && ", conds, texts)
        case AnyOf(conds):
            return "0" if node is FALSE else _joined(" || ", conds, texts)
        case never:
            assert_never(never)


def _nested(function: str, operands: tuple[Dim, ...], texts: Mapping[AnyNode, str]) -> str:
    text = _sum_text(operands[0], texts)
    for operand in operands[1:]:
        text = f"{function}({text}, {_sum_text(operand, texts)})"
    return text


def _arm(arm: Dim, other: Dim, texts: Mapping[AnyNode, str]) -> str:
    if arm.is_constant and other.is_constant:
        # Two int literals would make the choice an int, and products with it overflow at 32 bits.
        text = _literal(arm.constant_value or 0)
        return text if text.endswith(("LL", ")")) else f"{text}LL"
    return _operand(arm, texts)


def _operand(dim: Dim, texts: Mapping[AnyNode, str]) -> str:
    text = _sum_text(dim, texts)
    return f"({text})" if isinstance(dim.atom, Select) else text


def _joined(connective: str, conds: tuple[Cond, ...], texts: Mapping[AnyNode, str]) -> str:
    parts = []
    for cond in conds:
        text = texts[as_node(cond)]
        # && inside || needs none, but compilers warn without.
        parts.append(text if isinstance(cond, Compare) else f"({text})")
    return connective.join(parts)


def _sum_text(dim: Dim, texts: Mapping[AnyNode, str]) -> str:
    if dim.atom is not None:
        return texts[dim.atom]
    if not dim.terms:
        return "0"
    text = ""
    for position, (is_subtracted, factor, atoms) in enumerate(signed_terms(dim)):
        factors = [f"({texts[atom]})" if isinstance(atom, Select) else texts[atom] for atom in atoms]
        if factor == -1 and factors:
            factors[0] = "-" + factors[0]
        elif factor != 1 or not factors:
            factors.insert(0, _literal(factor))
        joint = "" if position == 0 else " - " if is_subtracted else " + "
        text += joint + "*".join(factors)
    return text
