"""Names from models as text inside comments of generated sources."""

import re

_SHUT = re.compile(r"\*(?=/)")
_OPEN = re.compile(r"/(?=\*)")


def comment_text(text: str) -> str:
    r"""Return ``text`` on one line that neither ends a comment, starts another, nor continues its line.

    Whatever is not printable shows as an escape; a model's names can so never become code.

    >>> comment_text("a\nint x; */")
    'a\\nint x; * /'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    shown = _OPEN.sub("/ ", _SHUT.sub("* ", shown))
    return f"{shown}." if shown.endswith("\\") else shown
