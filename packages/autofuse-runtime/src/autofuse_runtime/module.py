"""The Python face of a program that can be called."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from attrs import evolve, frozen
from autofuse_ir.program import Program

from autofuse_runtime.arguments import ArgumentBinder, BoundArguments
from autofuse_runtime.arrays import Array
from autofuse_runtime.errors import InternalError, MemoryExhaustedError


@frozen
class ModuleStats:
    """What calls of a module did so far.

    ``compiles`` counts compiler processes and stage calls as the driver reports them; ``cache_hits`` built code found
    in the cache. ``copies`` are arrays copied because of strides, aliasing or shared results; ``tiling_hits`` launches
    that reused the last tile sizes, ``tiling_ns`` the time to solve the others. ``guard_misses`` are calls that took a
    more general variant.
    """

    compiles: int = 0
    cache_hits: int = 0
    calls_by_tier: tuple[tuple[str, int], ...] = ()
    launches: int = 0
    copies: int = 0
    tiling_hits: int = 0
    tiling_ns: int = 0
    guard_misses: int = 0


class Executor(Protocol):
    """Runs a program on arguments that passed the checks."""

    tier: str

    def __call__(self, values: Sequence[object], symbols: dict[str, int]) -> Sequence[object]:
        """Return one value for each output of the program."""
        ...


class CompiledModule:
    """A program and what runs it.

    ``executor`` runs calls made through this object (the interpreter tier). Where the program is built, ``function`` is
    the extension's callable: it takes the same arguments at a fraction of the time and shows this object's attributes.
    """

    def __init__(self, program: Program, executor: Executor | None = None) -> None:
        self.program = program
        self.executor = executor
        self.binder = ArgumentBinder(program)
        self.compiles: Callable[[], int] = lambda: 0
        self.cache_hits: Callable[[], int] = lambda: 0
        self.set_num_threads: Callable[[int], None] = lambda threads: None
        self._native: Any = None
        self._interpreted = 0
        self._lock = threading.Lock()

    @property
    def function(self) -> Callable[..., Any]:
        """What to hand to users: the extension's callable where there is one, else this object."""
        function: Callable[..., Any] = self if self._native is None else self._native
        return function

    def attach(self, native: object) -> None:
        """Run calls on ``native``, a callable of the extension."""
        self._native = native

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Run the program on arrays, by position or by input name; ``out=`` takes one array or a tuple of them.

        Values that have no result are an ``autofuse_ir.status.StatusError``, whatever runs the program.
        """
        if self._native is not None:
            return self._native(*args, **kwargs)
        if self.executor is None:
            raise InternalError(f"nothing runs {self.program.name}", where="module", fix="give it an executor")
        bound = self.binder.bind(args, kwargs)
        with self._lock:
            self._interpreted += 1
        given = [array for array in (*bound.values, *bound.outs) if isinstance(array, np.ndarray)]
        self.binder.check_buffers(bound.symbols)
        try:
            results = [_apart(value, given) for value in self.executor(bound.values, bound.symbols)]
        except MemoryExhaustedError:
            raise
        except MemoryError as error:
            reason = str(error) or "out of memory"
            where = f"running {self.program.name}"
            raise MemoryExhaustedError(reason, where=where, fix="give smaller inputs") from None
        finished = tuple(self._result(k, value, bound) for k, value in enumerate(results))
        return finished[0] if len(finished) == 1 else finished

    def _result(self, number: int, value: object, bound: BoundArguments) -> object:
        out = bound.outs[number]
        if out is None:
            return value
        array = np.asarray(value)
        self.binder.outs.check_shape(out, number, array.shape)
        out[...] = array
        return bound.out[number] if isinstance(bound.out, tuple) else bound.out

    @property
    def stats(self) -> ModuleStats:
        """Counters so far."""
        tier = "interpreter" if self.executor is None else self.executor.tier
        tiers = ((tier, self._interpreted),) if self._interpreted else ()
        stats = ModuleStats(compiles=self.compiles(), cache_hits=self.cache_hits(), calls_by_tier=tiers)
        if self._native is None:
            return stats
        counters = self._native.counters()
        calls = counters.pop("calls")
        return evolve(stats, calls_by_tier=(("native", calls), *tiers), **counters)


def _apart(value: object, given: Sequence[Array]) -> object:
    """Return ``value`` in memory of its own: results neither show arguments nor change while out= is filled."""
    if isinstance(value, np.ndarray) and any(np.may_share_memory(value, array) for array in given):
        return value.copy()
    return value
