"""Run the examples of Markdown pages, so that what a reader copies works.

    python tools/run_blocks.py README.md docs/tutorial/*.md

Pages run side by side, each in an interpreter and an empty folder of its own, its blocks in order and in one namespace:

* a ```` ```python ```` block is executed; where it starts with `>>>` it is a doctest and what it prints is compared
  (`...` stands for anything, runs of white space are equal);
* in a ```` ```console ```` block every line that starts with `$ ` is run by a shell and has to succeed.

A comment on the line before a block changes that:

* `<!-- prints -->` before a console or ```` ```text ```` block: what the commands above it in the block (or, for
  `text`, the block before) printed must be what is shown, compared as in a doctest;
* `<!-- exit: 2 -->` before a console block: its last command ends with this code;
* `<!-- skip: reason -->` before a block: it is not run; the reason is required and printed.

Standard library only: it also runs where nothing but one package is installed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS_PER_COMMAND = 300
MOST_AT_ONCE = 4
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<language>[\w+-]*)\s*$")
_MARKER = re.compile(r"^\s*<!--\s*(?P<name>prints|exit|skip)\s*(:\s*(?P<value>.*?))?\s*-->\s*$")
_DOCTEST_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class BlockError(Exception):
    """An example does not do what the page says."""


class UnreadablePage(Exception):
    """A page that is named is not there, or is no text."""


@dataclass(frozen=True)
class Block:
    """One fenced block: where its first line is, what language, the marker before it, its text."""

    line: int
    language: str
    marker: str
    value: str
    text: str


def read_blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page; fences inside a longer fence are text."""
    lines = page.splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        before = _MARKER.match(lines[number - 2]) if number > 1 else None
        start = number
        while number < len(lines) and lines[number].strip() != opening["fence"]:
            number += 1
        indent = len(opening["indent"])
        text = "".join(f"{line[indent:]}\n" for line in lines[start:number])
        marker, value = (before["name"], before["value"] or "") if before else ("", "")
        yield Block(start + 1, opening["language"], marker, value, text)
        number += 1


def read_page(page: Path) -> str:
    """Return the text of a page."""
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadablePage(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadablePage("is no text in UTF-8") from error


def same(shown: str, printed: str) -> bool:
    """Answer whether what was printed is what the page shows, as a doctest compares."""
    return doctest.OutputChecker().check_output(f"{shown.strip()}\n", f"{printed.strip()}\n", _DOCTEST_FLAGS)


def run_page(page: Path) -> tuple[int, list[str]]:
    """Run a page's blocks in this process and the current folder; return how many ran, and the reasons for skips."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed, ran, skipped = "", 0, []
    for block in read_blocks(read_page(page)):
        where = f"{page}:{block.line}"
        if block.marker == "skip":
            if not block.value:
                raise BlockError(f"{where}: a skipped block needs its reason: <!-- skip: reason -->")
            skipped.append(f"{where}: {block.value}")
            continue
        match block.language:
            case "python" if block.text.lstrip().startswith(">>>"):
                run_doctest(block, where, namespace)
            case "python":
                printed = run_python(block, page, namespace)
            case "console":
                printed = run_console(block, where)
            case "text" if block.marker == "prints":
                compare(block.text, printed, where)
                continue
            case _:
                continue
        ran += 1
    return ran, skipped


def run_python(block: Block, page: Path, namespace: dict[str, Any]) -> str:
    """Execute a block and return what it printed; a traceback shows the page's own line numbers."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(code, namespace)
    finally:
        print(output.getvalue(), end="")
    return output.getvalue()


def run_doctest(block: Block, where: str, namespace: dict[str, Any]) -> None:
    """Run a block of `>>>` lines and compare what it prints."""
    test = doctest.DocTestParser().get_doctest(block.text, {}, where, where, block.line - 1)
    test.globs = namespace  # get_doctest would copy it, and later blocks use the names
    output = io.StringIO()
    failed = doctest.DocTestRunner(optionflags=_DOCTEST_FLAGS).run(test, out=output.write, clear_globs=False).failed
    if failed:
        raise BlockError(f"{where}: the example does not print what is shown\n{output.getvalue()}")


def run_console(block: Block, where: str) -> str:
    """Run the commands of a block and return what the last one printed."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    commands = list(zip(parts[1::2], parts[2::2], strict=True))
    if not commands:
        raise BlockError(f"{where}: a console block needs a line that starts with `$ `")
    printed = ""
    for position, (command, shown) in enumerate(commands):
        wanted = int(block.value) if block.marker == "exit" and position == len(commands) - 1 else 0
        answer = subprocess.run(
            ["bash", "-c", command],
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_PER_COMMAND,
            check=False,
        )
        printed = answer.stdout
        if answer.returncode != wanted:
            raise BlockError(f"{where}: `{command}` ended with {answer.returncode}, not {wanted}\n{printed}")
        if block.marker == "prints":
            compare(shown, printed, f"{where}: `{command}`")
    return printed


def compare(shown: str, printed: str, where: str) -> None:
    """Raise where what was printed is not what the page shows."""
    if not same(shown, printed):
        raise BlockError(f"{where}: the page shows\n{shown}\nbut this was printed\n{printed}")


def run_alone(page: Path) -> tuple[bool, str]:
    """Run one page in a fresh interpreter and folder; return whether all was as it says, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "--here", str(page.resolve())]
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode == 0, done.stdout


def run_all(pages: list[str]) -> list[str]:
    """Run pages side by side, print what each printed in their order, and return those that are not as they say."""
    failed = []
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_AT_ONCE)) as pool:
        for page, (is_right, printed) in zip(pages, pool.map(run_alone, map(Path, pages)), strict=True):
            print(printed, end="", flush=True)
            if not is_right:
                failed.append(page)
    return failed


def main(arguments: list[str]) -> int:
    """Run the pages that are named; return 1 where one fails."""
    if not arguments:
        print("name the pages to run: python tools/run_blocks.py PAGE...", file=sys.stderr)
        return 2
    if arguments[:1] != ["--here"]:
        failed = run_all(arguments)
        print(
            f"{len(arguments) - len(failed)} pages as they say" + (f"; not so: {', '.join(failed)}" if failed else "")
        )
        return 1 if failed else 0
    page = Path(arguments[1])
    try:
        ran, skipped = run_page(page)
    except BlockError as error:
        print(error, file=sys.stderr)
        return 1
    except UnreadablePage as error:
        print(f"{page}: {error}", file=sys.stderr)
        return 1
    except (Exception, SystemExit):  # an example that exits would hide the blocks after it
        traceback.print_exc()
        print(f"{page}: an example fails", file=sys.stderr)
        return 1
    print(f"{page}: {ran} blocks run" + "".join(f"\n  not run: {reason}" for reason in skipped))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
