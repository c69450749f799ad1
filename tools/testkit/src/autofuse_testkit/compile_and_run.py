"""Compile a C or C++ program and run it, from a test, in one line."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_COMPILERS = {"c++": ("g++", "clang++"), "c": ("gcc", "clang")}
_DEFAULT_FLAGS = {
    "c++": ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"),
    "c": ("-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"),
}
_SUFFIX = {"c++": ".cpp", "c": ".c"}
_LIBRARIES = ("-lm", "-lpthread")


def compilers(language: str = "c++") -> tuple[str, ...]:
    """Return the compilers for a language (`c++` or `c`) that this machine has, the preferred one first."""
    return tuple(name for name in _COMPILERS[language] if shutil.which(name))


@dataclass(frozen=True)
class CompileAndRun:
    """Builds programs in one folder; equal source, flags and compiler are compiled once."""

    folder: Path

    def __call__(
        self,
        source: str,
        arguments: Sequence[str] = (),
        *,
        flags: Sequence[str] = (),
        include: Sequence[Path] = (),
        language: str = "c++",
        compiler: str | None = None,
        stdin: str | None = None,
        timeout_s: float = 60.0,
    ) -> str:
        """Return what the program printed; AssertionError where it does not compile or does not end with 0.

        `flags` follow the default ones (warnings are errors, no contraction), so that they win.
        """
        program = self.compile(source, flags=flags, include=include, language=language, compiler=compiler)
        answer = subprocess.run(
            [str(program), *arguments], input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        if answer.returncode != 0:
            raise AssertionError(
                f"the program ended with {answer.returncode}\n{answer.stdout}{answer.stderr}\n{source}"
            )
        return answer.stdout

    def compile(
        self,
        source: str,
        *,
        flags: Sequence[str] = (),
        include: Sequence[Path] = (),
        language: str = "c++",
        compiler: str | None = None,
    ) -> Path:
        """Return the path of the compiled program; AssertionError with the compiler's words where it fails."""
        found = compilers(language)
        if not found:
            raise AssertionError(f"no compiler for {language}: apt-get install {_COMPILERS[language][0]}")
        options = [*_DEFAULT_FLAGS[language], *flags, *(f"-I{folder}" for folder in include)]
        words = [compiler or found[0], *options]
        name = hashlib.sha256("\0".join([*words, source]).encode()).hexdigest()[:16]
        program = self.folder / name
        # headers under `include` may have changed, but not within one test session
        if not program.exists():
            file = self.folder / f"{name}{_SUFFIX[language]}"
            file.write_text(source, encoding="utf-8")
            command = [*words, str(file), "-o", str(program), *_LIBRARIES]
            answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if answer.returncode != 0:
                raise AssertionError(f"{' '.join(command)}\n{answer.stderr}\n{source}")
        return program
