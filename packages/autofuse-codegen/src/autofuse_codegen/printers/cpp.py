"""Kernel programs as C++ text."""

from collections.abc import Callable
from typing import assert_never

from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim
from autofuse_ir.dims_c import c_text

from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Comment,
    Declare,
    Element,
    Evaluate,
    Expression,
    For,
    If,
    Integer,
    Literal,
    Member,
    Name,
    Scope,
    Size,
    Statement,
    Strips,
    Table,
    Variable,
    Walk,
)

PRECEDENCE = {"*": 5, "/": 5, "%": 5, "+": 4, "-": 4, "<": 3, "<=": 3, "==": 2, "!=": 2, "&&": 1}
ATOM = 9
INDENT = "  "

NameOf = Callable[[str], str]


def expression(node: Expression, name_of: NameOf) -> str:
    """Return ``node`` as a C++ expression with as few parentheses as needed."""
    return _print(node, 0, name_of)


def size(dim: Dim, name_of: NameOf) -> str:
    """Return a symbolic size as a C++ expression of type ``af_i64``."""
    return c_text(dim, name_of)


def _print(node: Expression, outer: int, name_of: NameOf) -> str:
    match node:
        case Name(text) | Literal(text):
            return text
        case Integer(value):
            return f"{value}LL" if abs(value) > 2**31 - 1 else str(value)
        case Size(dim):
            text = c_text(dim, name_of)
            return text if outer == 0 or _is_operand(text) else f"({text})"
        case Binary(operator, left, right):
            own = PRECEDENCE[operator]
            text = f"{_print(left, own, name_of)} {operator} {_print(right, own + 1, name_of)}"
            return f"({text})" if own < outer else text
        case Call(function, arguments, templates):
            types = f"<{', '.join(templates)}>" if templates else ""
            return f"{function}{types}({', '.join(_print(a, 0, name_of) for a in arguments)})"
        case Member(of, name, through_pointer):
            return f"{_print(of, ATOM, name_of)}{'->' if through_pointer else '.'}{name}"
        case Element(of, index):
            return f"{_print(of, ATOM, name_of)}[{_print(index, 0, name_of)}]"
        case _:
            assert_never(node)


def _is_operand(text: str) -> bool:
    """True for a name, a number, or one call: what no operator around it can tear apart."""
    if "(" not in text:
        return text.replace("_", "").isalnum()
    function, _, rest = text.partition("(")
    depth = 1
    for position, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return position == len(rest) - 1 and function.replace("_", "").isalnum()
    return False


def statements(body: tuple[Statement, ...], name_of: NameOf, depth: int = 1) -> list[str]:
    """Return the lines of ``body``, indented by ``depth`` levels."""
    lines: list[str] = []
    for statement in body:
        lines += _statement(statement, name_of, depth)
    return lines


def _statement(node: Statement, name_of: NameOf, depth: int) -> list[str]:
    pad = INDENT * depth

    def text(value: Expression) -> str:
        return expression(value, name_of)

    match node:
        case Declare(type_name, name, value):
            kind = f"{type_name} const" if type_name.endswith("*") else f"const {type_name}"
            return [f"{pad}{kind} {name} = {text(value)};"]
        case Table(type_name, name, values):
            kind = f"{type_name} const" if type_name.endswith("*") else f"const {type_name}"
            return [f"{pad}{kind} {name}[] = {{{', '.join(map(text, values))}}};"]
        case Variable(name, Call(function, arguments, templates)):
            given = f"({', '.join(map(text, arguments))})" if arguments else ""
            return [f"{pad}{function}<{', '.join(templates)}> {name}{given};"]
        case Evaluate(value):
            return [f"{pad}{text(value)};"]
        case Comment(words):
            return [f"{pad}// {comment_text(words)}"]
        case For(name, first, end, step, body):
            advance = f"++{name}" if step == Integer(1) else f"{name} += {text(step)}"
            bound = _print(end, PRECEDENCE["<"] + 1, name_of)
            head = f"{pad}for (af_i64 {name} = {text(first)}; {name} < {bound}; {advance}) {{"
            return [head, *statements(body, name_of, depth + 1), f"{pad}}}"]
        case If(condition, body):
            return [f"{pad}if ({text(condition)}) {{", *statements(body, name_of, depth + 1), f"{pad}}}"]
        case Scope(body):
            return [f"{pad}{{", *statements(body, name_of, depth + 1), f"{pad}}}"]
        case Strips(index, access, _, _, body):
            walk, closing = _walk(node, text)
            parameters = [f"[[maybe_unused]] const af_i64 {index}", f"const auto {access}"]
            parameters += [f"auto& {state.parameter}" for state in node.states]
            return [
                f"{pad}{walk}[&]({', '.join(parameters)}) AF_BODY {{",
                *statements(body, name_of, depth + 1),
                f"{pad}}}{closing}",
            ]
        case _:
            assert_never(node)


def _walk(node: Strips, text: Callable[[Expression], str]) -> tuple[str, str]:
    """Return what stands before the body of strips, and what after it."""
    head = f"{node.walk.value}<{node.lanes}>({text(node.count)}, "
    if node.streamed is not None:
        head += f"stream, {text(node.streamed)}, " if node.walk is Walk.PLAIN else "stream, "
    return head, f"{''.join(f', {state.variable}' for state in node.states)});"
