"""What a check found, and the error that lists all findings with the text around each."""

from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from autofuse_ir.errors import IrError

LINES_AROUND = 2
MOST_SHOWN = 20


@frozen
class Finding:
    """One broken invariant: ``where`` and ``what`` for people, ``anchor`` the start of its line in the text form."""

    where: str
    what: str
    fix: str = ""
    anchor: str = ""


def duplicates(names: Iterable[str]) -> Iterator[str]:
    """Yield each name that occurs again, once."""
    seen: set[str] = set()
    told: set[str] = set()
    for name in names:
        if name in seen and name not in told:
            told.add(name)
            yield name
        seen.add(name)


def error_of(found: Sequence[Finding], text: str, what: str) -> IrError:
    """Return the error for ``found`` in the artefact described by ``what``, whose text form is ``text``."""
    lines = text.splitlines()
    starts = [line.strip() for line in lines]
    parts = []
    for finding in found[:MOST_SHOWN]:
        fix = f" ({finding.fix})" if finding.fix else ""
        parts.append("\n".join([f"- {finding.where}: {finding.what}{fix}", *_around(lines, starts, finding.anchor)]))
    if len(found) > MOST_SHOWN:
        parts.append(f"- and {len(found) - MOST_SHOWN} more")
    count = f"{len(found)} invariants do" if len(found) > 1 else "one invariant does"
    return IrError(
        f"{count} not hold\n" + "\n".join(parts), where=what, fix="correct what made it; show() prints all of it"
    )


def _around(lines: list[str], starts: list[str], anchor: str) -> list[str]:
    if not anchor:
        return []
    at = next((i for i, line in enumerate(starts) if line.startswith(anchor)), None)
    if at is None:
        return []
    first = max(0, at - LINES_AROUND)
    shown = lines[first : at + LINES_AROUND + 1]
    return [f"    {'>' if first + i == at else ' '} {line[:160]}" for i, line in enumerate(shown)]
