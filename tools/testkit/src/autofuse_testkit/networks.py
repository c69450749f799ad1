"""Graphs in the making for tests: a builder with constants as plain numbers, and networks that are parts of others.

Each is made of primitives. Needs the packages, unlike the rest of the plug-in.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Array = np.ndarray[Any, Any]


class Network(GraphBuilder):
    """A graph in the making, with constants as plain numbers."""

    def number(self, value: float, dtype: DType = dt.float32) -> str:
        """Add a constant of rank 0."""
        return self.constant(to_tensor_data(np.asarray(value, numpy_dtype(dtype))))

    def integers(self, *values: int) -> str:
        """Add a vector of int64."""
        return self.constant(to_tensor_data(np.asarray(values, np.int64)))


def normal(rng: np.random.Generator, *shape: int, dtype: DType = dt.float32) -> Array:
    """Return normally distributed content."""
    return rng.standard_normal(shape).astype(numpy_dtype(dtype))


def one(name: str, build: Callable[[Network], str]) -> Graph:
    """Return the graph `name` whose one result `build` returns."""
    network = Network(name)
    return network.build({"y": build(network)})


def drawn_inputs(
    graph: Graph, sizes: Mapping[str, int], rng: np.random.Generator, *, below: int = 5
) -> dict[str, Array]:
    """Return content for the inputs of ``graph`` at ``sizes``: normally distributed, integers 0 to ``below`` - 1."""
    found = {}
    for value in graph.inputs:
        shape = tuple(evaluate(dim, dict(sizes)) for dim in value.shape or ())
        drawn = rng.normal(size=shape) if value.dtype.is_float else rng.integers(0, below, shape)
        found[value.name] = np.asarray(drawn).astype(numpy_dtype(value.dtype))
    return found


def softmax_of(b: Network, x: str) -> str:
    """Softmax over the last axis, from primitives."""
    peak = b.op("ReduceMaxD", x, axes=(-1,), keep_dims=True)
    raised = b.op("Exp", b.op("Sub", x, peak))
    return b.op("RealDiv", raised, b.op("ReduceSumD", raised, axes=(-1,), keep_dims=True))


def layer_norm_of(b: Network, x: str, gamma: str, beta: str) -> str:
    """LayerNorm over the last axis, from primitives."""
    mean = b.op("ReduceMeanD", x, axes=(-1,), keep_dims=True)
    centred = b.op("Sub", x, mean)
    variance = b.op("ReduceMeanD", b.op("Mul", centred, centred), axes=(-1,), keep_dims=True)
    deviation = b.op("Sqrt", b.op("Add", variance, b.number(1e-5)))
    return b.op("Add", b.op("Mul", b.op("RealDiv", centred, deviation), gamma), beta)


def rms_norm_of(b: Network, x: str, gamma: str) -> str:
    """RMSNorm over the last axis, from primitives."""
    power = b.op("ReduceMeanD", b.op("Mul", x, x), axes=(-1,), keep_dims=True)
    return b.op("Mul", b.op("RealDiv", x, b.op("Sqrt", b.op("Add", power, b.number(1e-6)))), gamma)


def log_softmax_of(b: Network, x: str) -> str:
    """LogSoftmax over the last axis, from primitives."""
    shifted = b.op("Sub", x, b.op("ReduceMaxD", x, axes=(-1,), keep_dims=True))
    total = b.op("ReduceSumD", b.op("Exp", shifted), axes=(-1,), keep_dims=True)
    return b.op("Sub", shifted, b.op("Log", total))
