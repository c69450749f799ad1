"""Sizes and conditions as flat int64 postfix code for a stack machine: no nesting, no pointers, easy to run in C.

A word is an opcode or the operand after it. Operands stand directly behind `Op.CONST` (the value), `Op.SYM` (the
index of the symbol's value), `Op.JZ` and `Op.JMP` (the index of the word to go on with, always further ahead). The
other opcodes take their operands from the stack, the right one on top, and push one result; truth values are 0 and 1.
The code ends after its last word with one value on the stack.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import assert_never

from autofuse_ir.dims_atoms import CeilDiv, FloorDiv, Max, Min, Mod, Select, Symbol
from autofuse_ir.dims_conds import FALSE, TRUE, AllOf, AnyOf, Compare, Cond, Relation
from autofuse_ir.dims_polynomial import INT64_MAX, INT64_MIN, Dim
from autofuse_ir.dims_walk import AnyNode, as_node, children_first, signed_terms
from autofuse_ir.errors import IrError

MAX_CODE = 65536
"""Most words in one code: shared parts are written out, so that deep sharing could exceed any memory."""


class Op(IntEnum):
    """The opcodes; their numbers are part of the format and never change."""

    CONST = 1
    """Push the next word."""
    SYM = 2
    """Push the value of the symbol whose index is the next word."""
    ADD = 3
    SUB = 4
    MUL = 5
    NEG = 6
    FLOORDIV = 7
    CEILDIV = 8
    MOD = 9
    MIN = 10
    MAX = 11
    EQ = 12
    NE = 13
    LE = 14
    LT = 15
    AND = 16
    OR = 17
    NOT = 18
    """Never compiled, since conditions hold their negations in the comparisons; for code written by hand."""
    JZ = 19
    """Pop a truth value; if it is 0, go on at the word whose index is the next word."""
    JMP = 20
    """Go on at the word whose index is the next word."""


_WITH_OPERAND = frozenset((Op.CONST, Op.SYM, Op.JZ, Op.JMP))
_UNARY = frozenset((Op.NEG, Op.NOT))
_OF_RELATION: dict[Relation, Op] = {"==": Op.EQ, "!=": Op.NE, "<=": Op.LE, "<": Op.LT}

# Chunks are position independent until the end: a jump holds the distance from its operand's word, and is made
# absolute once.
Chunk = tuple[int, ...]


def compile_dim(dim: Dim, symbol_index: Mapping[str, int]) -> tuple[int, ...]:
    """Code that leaves the value of ``dim``; raises `IrError` for a symbol without an index or code past `MAX_CODE`."""
    return _absolute(_sum_code(dim, _chunks(dim, symbol_index)))


def compile_cond(cond: Cond, symbol_index: Mapping[str, int]) -> tuple[int, ...]:
    """Code that leaves 1 where ``cond`` holds and else 0; raises `IrError` as `compile_dim` does."""
    return _absolute(_chunks(cond, symbol_index)[as_node(cond)])


def _chunks(root: Dim | Cond, symbol_index: Mapping[str, int]) -> dict[AnyNode, Chunk]:
    chunks: dict[AnyNode, Chunk] = {}
    for node in children_first(root):
        if node.weight > MAX_CODE:
            raise _too_long()
        chunks[node] = _node_code(node, chunks, symbol_index)
    return chunks


def _too_long() -> IrError:
    return IrError(f"the code of a size would be longer than {MAX_CODE} words", fix="name a part of it with a symbol")


def _absolute(chunk: Chunk) -> tuple[int, ...]:
    if len(chunk) > MAX_CODE:
        raise _too_long()
    code = list(chunk)
    position = 0
    while position < len(code):
        if code[position] in _WITH_OPERAND:
            position += 1
            if code[position - 1] in (Op.JZ, Op.JMP):
                code[position] += position
        position += 1
    return tuple([int(word) for word in code])


def _sum_code(dim: Dim, chunks: Mapping[AnyNode, Chunk]) -> Chunk:
    if not dim.terms:
        return (Op.CONST, 0)
    code: list[int] = []
    for position, (is_subtracted, factor, atoms) in enumerate(signed_terms(dim)):
        parts: list[Chunk] = [chunks[atom] for atom in atoms]
        if factor == -1 and parts:
            parts[0] = (*parts[0], Op.NEG)
        elif factor != 1 or not parts:
            parts.insert(0, (Op.CONST, factor))
        for index, part in enumerate(parts):
            code.extend(part)
            if index:
                code.append(Op.MUL)
        if position:
            code.append(Op.SUB if is_subtracted else Op.ADD)
    return tuple(code)


def _folded(op: Op, parts: Sequence[Chunk]) -> Chunk:
    code: list[int] = []
    for index, part in enumerate(parts):
        code.extend(part)
        if index:
            code.append(op)
    return tuple(code)


def _node_code(node: AnyNode, chunks: Mapping[AnyNode, Chunk], symbol_index: Mapping[str, int]) -> Chunk:
    match node:
        case Symbol(name):
            if name not in symbol_index:
                raise IrError("a symbol without an index", where=str(node.dim), fix="list it among the code's symbols")
            return (Op.SYM, symbol_index[name])
        case FloorDiv(left, right):
            return (*_sum_code(left, chunks), *_sum_code(right, chunks), Op.FLOORDIV)
        case CeilDiv(left, right):
            return (*_sum_code(left, chunks), *_sum_code(right, chunks), Op.CEILDIV)
        case Mod(left, right):
            return (*_sum_code(left, chunks), *_sum_code(right, chunks), Op.MOD)
        case Min(operands):
            return _folded(Op.MIN, [_sum_code(operand, chunks) for operand in operands])
        case Max(operands):
            return _folded(Op.MAX, [_sum_code(operand, chunks) for operand in operands])
        case Select(cond, if_true, if_false):
            first, second = _sum_code(if_true, chunks), _sum_code(if_false, chunks)
            jump = (Op.JMP, len(second) + 1)
            return (*chunks[as_node(cond)], Op.JZ, len(first) + len(jump) + 1, *first, *jump, *second)
        case Compare(relation, left, right):
            return (*_sum_code(left, chunks), *_sum_code(right, chunks), _OF_RELATION[relation])
        case AllOf(conds):
            return (Op.CONST, 1) if node is TRUE else _folded(Op.AND, [chunks[as_node(cond)] for cond in conds])
        case AnyOf(conds):
            return (Op.CONST, 0) if node is FALSE else _folded(Op.OR, [chunks[as_node(cond)] for cond in conds])
        case never:
            assert_never(never)


def stack_depth(code: Sequence[int]) -> int:
    """The most values ``code`` has on its stack at once; raises `IrError` when the code is malformed.

    Code that passes runs to its end in at most ``len(code)`` steps and never pops from an empty stack.
    """
    depths: dict[int, int] = {}  # at the words that jumps lead to
    depth: int | None = 0  # None behind a JMP, until a word that a jump leads to
    most = position = 0
    while position < len(code):
        arriving = depths.get(position, depth)
        if arriving is None or (depth is not None and depth != arriving):
            raise _malformed("paths that meet with different stacks, or a word that is never reached", position)
        op, operand, following = _decoded(code, position)
        pops = 0 if op in (Op.CONST, Op.SYM, Op.JMP) else 1 if op in _UNARY or op is Op.JZ else 2
        pushes = 0 if op in (Op.JZ, Op.JMP) else 1
        if arriving < pops:
            raise _malformed(f"{op.name} finds too few values", position)
        depth = arriving - pops + pushes
        most = max(most, depth)
        if op is Op.SYM and operand < 0:
            raise _malformed(f"SYM has the index {operand}", position)
        if op in (Op.JZ, Op.JMP):
            if not following <= operand <= len(code) or depths.setdefault(operand, depth) != depth:
                raise _malformed(f"{op.name} leads to {operand}", position)
            depth = None if op is Op.JMP else depth
        # A jump into the operand of an instruction would read it as an opcode.
        if any(target in depths for target in range(position + 1, following)):
            raise _malformed("a jump leads into an instruction", position)
        position = following
    if depths.get(position, depth) != 1 or depth not in (None, 1):
        raise _malformed("the code does not end with one value", position)
    return most


def _malformed(what: str, position: int) -> IrError:
    return IrError(what, where=f"size bytecode, word {position}", fix="make bytecode with compile_dim()")


def _decoded(code: Sequence[int], position: int) -> tuple[Op, int, int]:
    """The opcode at ``position``, its operand (0 where it has none), and where the next instruction starts."""
    try:
        op = Op(code[position])
    except ValueError:
        raise _malformed(f"unknown opcode {code[position]}", position) from None
    if op not in _WITH_OPERAND:
        return op, 0, position + 1
    if position + 1 >= len(code):
        raise _malformed(f"{op.name} lacks its operand", position)
    return op, code[position + 1], position + 2


def run(code: Sequence[int], values: Sequence[int]) -> int:
    """The value ``code`` leaves, with ``values`` for its symbols; conditions leave 0 or 1.

    Raises `IrError` for malformed code, a division by zero and an int64 overflow.
    """
    stack: list[int] = []
    position = 0
    while position < len(code):
        op, operand, following = _decoded(code, position)
        try:
            if op is Op.JMP or op is Op.JZ:
                if following > operand:
                    raise _malformed(f"{op.name} leads to {operand}", position)
                if op is Op.JMP or not stack.pop():
                    following = operand
            elif op is Op.CONST or op is Op.SYM:
                stack.append(operand if op is Op.CONST else _symbol_value(values, operand))
            elif op in _UNARY:
                value = stack.pop()
                stack.append(int(not value) if op is Op.NOT else _int64(-value, position))
            else:
                right, left = stack.pop(), stack.pop()
                stack.append(_int64(_applied(op, left, right, position), position))
        except IndexError:
            raise _malformed(f"{op.name} finds no value", position) from None
        position = following
    if len(stack) != 1:
        raise _malformed("the code does not end with one value", position)
    return stack[0]


def _symbol_value(values: Sequence[int], position: int) -> int:
    if position < 0:
        raise IndexError(position)
    return int(values[position])  # a NumPy integer would wrap around silently


def _int64(value: int, position: int) -> int:
    if INT64_MIN <= value <= INT64_MAX:
        return value
    raise IrError("int64 overflow", where=f"size bytecode, word {position}", fix="the sizes given are too large")


def _applied(op: Op, left: int, right: int, position: int) -> int:
    match op:
        case Op.ADD:
            return left + right
        case Op.SUB:
            return left - right
        case Op.MUL:
            return left * right
        case Op.MIN:
            return min(left, right)
        case Op.MAX:
            return max(left, right)
        case Op.EQ:
            return int(left == right)
        case Op.NE:
            return int(left != right)
        case Op.LE:
            return int(left <= right)
        case Op.LT:
            return int(left < right)
        case Op.AND:
            return int(bool(left) and bool(right))
        case Op.OR:
            return int(bool(left) or bool(right))
        case _:
            return _divided(op, left, right, position)


def _divided(op: Op, left: int, right: int, position: int) -> int:
    if right == 0:
        raise IrError("division by zero", where=f"size bytecode, word {position}", fix="guard the divisor")
    if op is Op.MOD:
        return left % right
    return left // right if op is Op.FLOORDIV else -(-left // right)
