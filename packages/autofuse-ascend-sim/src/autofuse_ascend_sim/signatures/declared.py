"""Which names a preprocessed header declares in namespace AscendC."""

import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|::|[{}();<>=,\[\]]|[^\sA-Za-z_]')
_TYPES = {"class", "struct", "enum"}
_NOT_NAMES = {
    "operator",
    "static_assert",
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "decltype",
    "__attribute__",
}


def declared_names(text: str) -> frozenset[str]:
    """Functions, types, aliases and constants that `text` declares directly in `namespace AscendC`."""
    found: set[str] = set()
    for body in _bodies(_tokens(text), "AscendC"):
        found |= _names(body)
    return frozenset(found)


def _tokens(text: str) -> list[str]:
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return _TOKEN.findall("\n".join(lines))


def _bodies(tokens: list[str], namespace: str) -> list[list[str]]:
    """The tokens inside every `namespace <namespace> { ... }` at file level."""
    bodies, at = [], 0
    while at < len(tokens):
        if tokens[at : at + 3] == ["namespace", namespace, "{"]:
            end = _closing(tokens, at + 2)
            bodies.append(tokens[at + 3 : end])
            at = end
        elif tokens[at] == "{":
            at = _closing(tokens, at)
        at += 1
    return bodies


def _closing(tokens: list[str], opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[at], 0)
        if depth == 0:
            return at
    return len(tokens) - 1


def _names(tokens: list[str]) -> set[str]:
    """Names of the declarations of a namespace body; bodies of functions and classes are skipped."""
    found: set[str] = set()
    declaration: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "{":
            name = _name(declaration)
            if "namespace" in declaration:
                at = _closing(tokens, at)
                declaration = []
                at += 1
                continue
            found |= {name} if name else set()
            at = _closing(tokens, at)
            is_initialiser = "=" in _outside_brackets(declaration)
            is_type = bool(_TYPES & set(_without_template(declaration)))
            declaration = ["done"] if is_type or is_initialiser else []
        elif token == ";":
            name = _name(declaration)
            found |= {name} if name else set()
            declaration = []
        else:
            declaration.append(token)
        at += 1
    return found


def _without_template(declaration: list[str]) -> list[str]:
    """A declaration without its leading `template <...>`."""
    while declaration and declaration[0] == "template":
        depth, at = 0, 1
        while at < len(declaration):
            depth += {"<": 1, ">": -1}.get(declaration[at], 0)
            at += 1
            if depth == 0:
                break
        declaration = declaration[at:]
    return declaration


def _outside_brackets(declaration: list[str]) -> list[str]:
    kept, depth = [], 0
    for token in _without_template(declaration):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            kept.append(token)
    return kept


def _name(declaration: list[str]) -> str | None:
    words = _without_template(declaration)
    if not words or words[0] == "done" or words[0] in ("friend", "static_assert"):
        return None
    if words[0] == "using":
        return words[1] if len(words) > 2 and words[2] == "=" else None
    for kind in ("class", "struct", "enum"):
        if kind in words and "(" not in words[: words.index(kind)]:
            rest = [word for word in words[words.index(kind) + 1 :] if word not in ("class", "struct")]
            return next((word for word in rest if re.match(r"[A-Za-z_]", word)), None)
    words = _without_attributes(words)
    if "operator" in words:
        return None
    if "(" in words and ("=" not in words or words.index("(") < words.index("=")):
        name = words[words.index("(") - 1]
        return name if re.match(r"[A-Za-z_]", name) and name not in _NOT_NAMES else None
    if "=" in words:
        before = [word for word in words[: words.index("=")] if re.match(r"[A-Za-z_]", word)]
        return before[-1] if before else None
    return None


def _without_attributes(words: list[str]) -> list[str]:
    kept, at = [], 0
    while at < len(words):
        if words[at] == "__attribute__":
            depth, at = 0, at + 1
            while at < len(words):
                depth += {"(": 1, ")": -1}.get(words[at], 0)
                at += 1
                if depth == 0:
                    break
            continue
        kept.append(words[at])
        at += 1
    return kept
