"""Random inputs for a model at given sizes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import evolve
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputElement, SymbolFacts
from autofuse_ir.graph import Graph, Value
from autofuse_ir.program import Program
from autofuse_reference.arrays import numpy_dtype
from autofuse_symshape.sample import sample

from autofuse.errors import DriverError

SMALL_INTEGERS = (0, 4)
"""Range of random integers (high end excluded): small, since they are often indices, lengths or classes."""


def random_inputs(
    graph: Graph | Program, facts: SymbolFacts, sizes: Mapping[str, int], seed: int = 0
) -> dict[str, "np.ndarray[Any, Any]"]:
    """Return an array for every input of ``graph``: normal floats, small integers, the content that sizes demand."""
    generator = np.random.default_rng(seed)
    content: dict[str, dict[int, int]] = {}
    for symbol in facts.symbols:
        for source in symbol.sources:
            if isinstance(source, InputElement):
                content.setdefault(source.input, {})[source.element] = sizes[symbol.name]
    made = {}
    for value in graph.inputs:
        array = _random(value, _shape(value, sizes), generator)
        for element, number in content.get(value.name, {}).items():
            array.reshape(-1)[element] = number
        made[value.name] = array
    return made


def call_sizes(facts: SymbolFacts, known: Mapping[str, int], largest: int = 16) -> dict[str, int]:
    """Return sizes of a call: those ``known``, and for all other symbols small ones that satisfy the guards."""
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
    found = [f for f in sample(evolve(facts, symbols=pinned), 8, largest=largest) if all(f.values())]
    if not found:
        found = list(sample(evolve(facts, symbols=pinned), 1, largest=largest))
    if not found:
        raise DriverError(
            f"no sizes satisfy the model's guards with {dict(known)}", where="sizes", fix="give others with --dim"
        )
    return found[0] | dict(known)


def _shape(value: Value, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if value.shape is None or value.dtype.is_opaque:
        raise DriverError(
            f"no random value can be made for input {value.name!r} ({value.dtype.name})",
            where="random inputs",
            fix="give it with --input",
        )
    return tuple(evaluate(d, sizes) for d in value.shape)


def _random(value: Value, shape: tuple[int, ...], generator: np.random.Generator) -> "np.ndarray[Any, Any]":
    dtype: DType = value.dtype
    if dtype.is_float:
        return generator.standard_normal(shape).astype(numpy_dtype(dtype))
    if dtype.is_integer:
        return generator.integers(*SMALL_INTEGERS, size=shape).astype(numpy_dtype(dtype))
    return generator.integers(0, 2, size=shape).astype(numpy_dtype(dtype))
