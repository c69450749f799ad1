"""Run a tuple of passes, with observers that verify, dump or time each."""

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from autofuse_ir.checks import verify
from autofuse_ir.errors import IrError
from autofuse_ir.text import Showable

T = TypeVar("T")
S = TypeVar("S", bound=Showable)


class Pass(Protocol[T]):
    """A rewrite: pure, the same object back where nothing changed; a frozen attrs class whose fields are options."""

    def __call__(self, artefact: T, /) -> T:
        """Return ``artefact`` rewritten."""
        ...


@frozen
class Ran(Generic[T]):
    """One pass that ran: its name, what it got and gave, and how long it took."""

    name: str
    before: T
    after: T
    time_ns: int

    @property
    def has_changed(self) -> bool:
        """Whether the pass gave back another object."""
        return self.after is not self.before


class Observer(Protocol[T]):
    """Sees every pass after it ran; changes nothing."""

    def __call__(self, ran: Ran[T], /) -> None:
        """Look at what a pass did."""
        ...


def pass_name(step: Pass[T]) -> str:
    """Return the name of a pass: that of its class, or of a plain function itself."""
    return str(getattr(step, "__name__", type(step).__name__))


def run_passes(artefact: T, passes: Sequence[Pass[T]], observers: Sequence[Observer[T]] = ()) -> T:
    """Return ``artefact`` after ``passes``, one after another; ``observers`` see each."""
    for step in passes:
        before, start = artefact, perf_counter_ns()
        artefact = step(before)
        ran = Ran(pass_name(step), before, artefact, perf_counter_ns() - start)
        for observer in observers:
            observer(ran)
    return artefact


def run_until_stable(
    artefact: T, passes: Sequence[Pass[T]], most_rounds: int, observers: Sequence[Observer[T]] = ()
) -> T:
    """Return ``artefact`` after rounds of ``passes`` until one changes nothing; ``IrError`` after ``most_rounds``."""
    for _ in range(most_rounds):
        before = artefact
        artefact = run_passes(artefact, passes, observers)
        if artefact is before:
            return artefact
    raise IrError(
        f"{', '.join(map(pass_name, passes))} still change something after {most_rounds} rounds",
        where="run_until_stable",
        fix="two of them undo one another, or a pass returns an equal object for a changed one",
    )


def verifying(ran: Ran[S]) -> None:
    """Verify what a pass made: an observer. Raises ``IrError`` that names the pass."""
    if not ran.has_changed:
        return
    try:
        verify(ran.after)
    except IrError as error:
        raise IrError(error.what, where=f"after {ran.name}, {error.where}", fix=error.fix) from None
