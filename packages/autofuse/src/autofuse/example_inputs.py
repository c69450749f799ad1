"""Random inputs for a model at given sizes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputElement, SymbolFacts
from autofuse_ir.graph import Graph, Value
from autofuse_reference.arrays import numpy_dtype

from autofuse.errors import DriverError

SMALL_INTEGERS = (0, 4)
"""Range of random integers (high end excluded): small, since they are often indices, lengths or classes."""


def random_inputs(
    graph: Graph, facts: SymbolFacts, sizes: Mapping[str, int], seed: int = 0
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
