"""C++ names for symbols, axes and values: readable, unique, never a keyword."""

import re

from attrs import define, field

CPP_WORDS = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const constexpr
    continue decltype default delete do double dynamic_cast else enum explicit export extern false float for
    friend goto if inline int linux long main mutable namespace new noexcept not nullptr operator or private
    protected public register requires return short signed sizeof static struct switch template this throw true
    try typedef typeid typename union unix unsigned using virtual void volatile wchar_t while xor
    and_eq char16_t char32_t const_cast not_eq or_eq reinterpret_cast static_assert static_cast thread_local xor_eq
"""
FUNCTION_WORDS = """
    L argument at block call host i inputs launch local local_bytes outputs raised shared sizes status stream strip t
    tiling workspace
"""
"""Names that the templates of generated functions use themselves."""

RESERVED = frozenset(CPP_WORDS.split()) | frozenset(FUNCTION_WORDS.split())


def identifier(text: str) -> str:
    """Return ``text`` with every character that C++ does not allow in a name replaced by ``_``."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", text)
    word = re.sub(r"__+", "_", word).strip("_") or "value"
    return f"n{word}" if word[0].isdigit() else word


@define
class Names:
    """Hands out unique names in one scope; the same key gets the same name."""

    _by_key: dict[str, str] = field(factory=dict)
    _taken: set[str] = field(factory=lambda: set(RESERVED))

    def of(self, key: str, wish: str) -> str:
        """Return the name of ``key``: ``wish`` as an identifier, numbered where that is taken."""
        if key not in self._by_key:
            base = identifier(wish)
            if base.startswith("af_"):
                base = f"v{base[2:]}"  # names from our headers keep the prefix to themselves
            name, number = base, 2
            while name in self._taken:
                name, number = f"{base}_{number}", number + 1
            self._taken.add(name)
            self._by_key[key] = name
        return self._by_key[key]
