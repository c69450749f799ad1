"""Random inputs for a model at given sizes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import GuardKind, InputElement, SymbolFacts
from autofuse_ir.graph import Graph, Value
from autofuse_ir.program import Program
from autofuse_reference.arrays import numpy_dtype
from autofuse_symshape.sample import sample

from autofuse.errors import DriverError

SMALL_INTEGERS = (0, 3)
"""Range of random integers (inclusive): small, since they are often indices, lengths or classes."""

FURTHER_SIZES = (256, 4096)
"""How far sizes go where the model takes no smaller ones."""

SHOWN_DEMANDS = 3
"""Errors of a few lines: what is wrong is mostly one demand."""

FLAGS = (0, 1)
FLAG_WORDS = ("mask", "token_type")
"""Integer inputs with such names hold flags by custom: other numbers send scores to infinity or miss their table."""


def random_inputs(
    graph: Graph | Program,
    facts: SymbolFacts,
    sizes: Mapping[str, int],
    seed: int = 0,
    contents: Mapping[str, tuple[int, int]] | None = None,
) -> dict[str, "np.ndarray[Any, Any]"]:
    """Return an array for every input of ``graph``: normal floats, small integers, the content that sizes demand.

    ``contents`` are inclusive ranges by input name, for inputs whose numbers have a meaning. Integer inputs that are
    called masks or token types hold 0 and 1.
    """
    contents = contents or {}
    unknown = [name for name in contents if name not in {value.name for value in graph.inputs}]
    if unknown:
        raise DriverError(
            f"the model has no input called {unknown[0]!r}",
            where="contents",
            fix=f"its inputs: {', '.join(value.name for value in graph.inputs)}",
        )
    generator = np.random.default_rng(seed)
    content: dict[str, dict[int, int]] = {}
    for symbol in facts.symbols:
        for source in symbol.sources:
            if isinstance(source, InputElement):
                content.setdefault(source.input, {})[source.element] = sizes[symbol.name]
    made = {}
    for value in graph.inputs:
        array = _random(value, _shape(value, sizes), generator, contents.get(value.name))
        for element, number in content.get(value.name, {}).items():
            array.reshape(-1)[element] = number
        made[value.name] = array
    return made


def call_sizes(facts: SymbolFacts, known: Mapping[str, int], largest: int = 16) -> dict[str, int]:
    """Return sizes of a call: those ``known``, and for all other symbols small ones that satisfy the guards.

    Sizes go past ``largest`` only where no smaller ones do; `DriverError` where none are found.
    """
    names = [s.name for s in facts.symbols]
    unknown = [name for name in known if name not in names]
    if unknown:
        raise DriverError(
            f"the model has no dim called {unknown[0]!r}",
            where="sizes",
            fix=f"its dims: {', '.join(names) or 'none, all are fixed'}",
        )
    for symbol in facts.symbols:
        if not symbol.lo <= known.get(symbol.name, symbol.lo) <= symbol.hi:
            raise DriverError(
                f"{symbol.name} is {known[symbol.name]}",
                where="sizes",
                fix=f"give a size in its range {symbol.lo}..{symbol.hi}",
            )
    pinned = tuple(evolve(s, lo=known[s.name], hi=known[s.name]) if s.name in known else s for s in facts.symbols)
    for limit in (largest, *(further for further in FURTHER_SIZES if further > largest)):
        found = sample(evolve(facts, symbols=pinned), 8, largest=limit)
        if found:
            return next((f for f in found if all(f.values())), found[0]) | dict(known)
    raise no_sizes(facts, known)


def no_sizes(facts: SymbolFacts, known: Mapping[str, int]) -> DriverError:
    """Return the error of a model that no sizes were found for, beside those ``known``; it says what is demanded."""
    given = "".join(f" with {name}={size}" for name, size in known.items())
    demands = [f"{g.condition} ({g.message})" for g in facts.guards if g.kind is GuardKind.ASSERT]
    more = [f"and {len(demands) - SHOWN_DEMANDS} more"] if len(demands) > SHOWN_DEMANDS else []
    return DriverError(
        f"no sizes{given} were found that the model takes; it demands {', '.join((*demands[:SHOWN_DEMANDS], *more))}",
        where="sizes",
        fix="give sizes with --dim NAME=N, or ranges with --dim NAME=LO..HI",
    )


def _shape(value: Value, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if value.shape is None or value.dtype.is_opaque:
        raise DriverError(
            f"no random value can be made for input {value.name!r} ({value.dtype.name})",
            where="random inputs",
            fix="give it with --input",
        )
    return tuple(evaluate(d, sizes) for d in value.shape)


def _random(
    value: Value, shape: tuple[int, ...], generator: np.random.Generator, content: tuple[int, int] | None
) -> "np.ndarray[Any, Any]":
    dtype: DType = value.dtype
    if dtype.is_float:
        floats = generator.standard_normal(shape) if content is None else generator.uniform(*content, size=shape)
        return floats.astype(numpy_dtype(dtype))
    if dtype.is_integer:
        flags = any(word in value.name for word in FLAG_WORDS)
        low, high = content or (FLAGS if flags else SMALL_INTEGERS)
        return generator.integers(low, high, size=shape, endpoint=True).astype(numpy_dtype(dtype))
    return generator.integers(0, 2, size=shape).astype(numpy_dtype(dtype))
