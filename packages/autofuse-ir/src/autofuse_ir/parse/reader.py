"""Reads the words, names, sizes and literals of text forms, one after another, with the position for errors."""

import json
import re
from collections.abc import Callable
from typing import TypeVar

from autofuse_ir.dims import INT64_MAX, INT64_MIN, Dim
from autofuse_ir.dims_text import parse_dim
from autofuse_ir.dtypes import DType, dtype_named
from autofuse_ir.errors import IrError

T = TypeVar("T")

MAX_TEXT = 64 << 20
"""Longer texts are refused unread."""

_BLANK = re.compile(r"(?:\s|#[^\n]*)*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_VALUE = re.compile(r"[A-Za-z0-9_./]+", re.ASCII)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_INT = re.compile(r"-?[0-9]{1,19}(?![0-9A-Za-z_.])", re.ASCII)
_SIZE = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"|[^"\n\[\]{}(),:#])+')


class Reader:
    """A position in a text. ``accept_*`` moves on where the text fits and says whether; the others raise."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise IrError(f"a text of {len(text)} characters", where="text form", fix=f"the limit is {MAX_TEXT}")
        self._text = text
        self._at = 0
        self._skip()

    def error(self, what: str, fix: str = "") -> IrError:
        """Return an error at the current position, with the line it is in."""
        line = self._text.count("\n", 0, self._at) + 1
        start = self._text.rfind("\n", 0, self._at) + 1
        column = self._at - start + 1
        shown = self._text[start:].split("\n", 1)[0][:120]
        return IrError(what, where=f"line {line}, column {column}: {shown!r}", fix=fix)

    def accept(self, mark: str) -> bool:
        """Move past ``mark``, a punctuation."""
        if not self._text.startswith(mark, self._at):
            return False
        self._move(self._at + len(mark))
        return True

    def expect(self, mark: str) -> None:
        """Move past ``mark``."""
        if not self.accept(mark):
            raise self.error(f"{mark!r} is expected")

    def expect_end(self) -> None:
        """Raise unless the text is over."""
        if self._at < len(self._text):
            raise self.error("nothing more is expected here")

    def peek(self, mark: str) -> bool:
        """Return whether ``mark`` stands here."""
        return self._text.startswith(mark, self._at)

    def peek_name(self) -> bool:
        """Return whether a plain word or a quoted text stands here."""
        return self.peek('"') or _WORD.match(self._text, self._at) is not None

    def accept_word(self, word: str) -> bool:
        """Move past ``word`` where the text has exactly this word."""
        match = _WORD.match(self._text, self._at)
        if match is None or match[0] != word:
            return False
        self._move(match.end())
        return True

    def any_word(self, what: str) -> str:
        """Return the plain word here; ``what`` says what it means."""
        match = _WORD.match(self._text, self._at)
        if match is None:
            raise self.error(f"{what} is expected")
        self._move(match.end())
        return match[0]

    def name(self, what: str) -> str:
        """Return a name: a plain word or a quoted text."""
        return self.string() if self.peek('"') else self.any_word(what)

    def string(self) -> str:
        """Return the quoted text here."""
        match = _STRING.match(self._text, self._at)
        if match is None:
            raise self.error("a text in double quotes is expected")
        try:
            found: str = json.loads(match[0])
        except ValueError:
            raise self.error("a malformed escape in a quoted text") from None
        self._move(match.end())
        return found

    def value(self) -> str:
        """Return the name of a value, which starts with ``%``."""
        if not self.peek("%"):
            raise self.error("the name of a value, like %x, is expected")
        self._at += 1
        if self.peek('"'):
            return self.string()
        match = _VALUE.match(self._text, self._at)
        if match is None:
            raise self.error("the name of a value is expected after %")
        self._move(match.end())
        return match[0]

    def integer(self) -> int:
        """Return the int64 here."""
        match = _INT.match(self._text, self._at)
        if match is None or not INT64_MIN <= int(match[0]) <= INT64_MAX:
            raise self.error("an int64 is expected")
        self._move(match.end())
        return int(match[0])

    def literal(self, pattern: re.Pattern[str], what: str) -> str:
        """Return the text that ``pattern`` matches here."""
        match = pattern.match(self._text, self._at)
        if match is None:
            raise self.error(f"{what} is expected")
        self._move(match.end())
        return match[0]

    def dtype(self) -> DType:
        """Return the element type named here."""
        start = self._at
        try:
            return dtype_named(self.any_word("an element type"))
        except KeyError:
            self._at = start
            raise self.error("there is no such element type", "use f32, i64, b8, ...") from None

    def size(self) -> Dim:
        """Return the size here, which ends before the next comma, colon, closing bracket or line end."""
        start = at = self._at
        while True:
            match = _SIZE.match(self._text, at)
            at = match.end() if match else at
            if not self._text.startswith("(", at):
                break
            at = self._after_parenthesis(at)
        try:
            size = parse_dim(self._text[start:at])
        except IrError as error:
            raise self.error(error.what, error.fix) from None
        self._move(at)
        return size

    def shape(self) -> tuple[Dim, ...]:
        """Return sizes in brackets."""
        return self.many("[", "]", self.size)

    def tensor_type(self) -> tuple[DType, tuple[Dim, ...] | None]:
        """Return an element type and dims, None for ``[*]``."""
        dtype = self.dtype()
        if self.peek("[*]"):
            self.expect("[*]")
            return dtype, None
        return dtype, self.shape()

    def many(self, opening: str, closing: str, one: Callable[[], T]) -> tuple[T, ...]:
        """Return what ``one`` reads between ``opening`` and ``closing``, separated by commas."""
        self.expect(opening)
        found: list[T] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(one())
        return tuple(found)

    def _after_parenthesis(self, at: int) -> int:
        """Return the position after the parenthesis that opens at ``at``; quoted texts are skipped."""
        depth = 0
        while at < len(self._text):
            match = _STRING.match(self._text, at)
            if match is not None:
                at = match.end()
                continue
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            at += 1
            if depth == 0:
                return at
        raise self.error("a parenthesis is never closed")

    def _move(self, at: int) -> None:
        self._at = at
        self._skip()

    def _skip(self) -> None:
        match = _BLANK.match(self._text, self._at)
        assert match is not None  # it matches the empty text
        self._at = match.end()
