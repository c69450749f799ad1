"""Networks drawn at random over all families: element-wise, casts, broadcasts, reductions, views, gathers, scans.

Floats that no two implementations need have the same bits of (`loose` values) feed nothing that jumps or has a pole.
"""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import drawn_operators
import drawn_views
import numpy as np
from autofuse_ir import dtypes as dt
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from drawing import MOST_ELEMENTS, Drawing, Network

Array = np.ndarray[Any, Any]

SIZES = (0, 1, 2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 64, 100, 129, 257, 300, 1000, 1024, 4099, 9001)
FAMILIES: tuple[tuple[Callable[[Drawing], None], int], ...] = (
    (drawn_operators.unary, 4),
    (drawn_operators.binary, 5),
    (drawn_operators.compare, 1),
    (drawn_operators.select, 1),
    (drawn_operators.cast, 2),
    (drawn_operators.reduce, 3),
    (drawn_operators.normalise, 2),
    (drawn_operators.arg, 1),
    (drawn_operators.scan, 1),
    (drawn_views.gather, 1),
    (drawn_views.transpose, 1),
    (drawn_views.slice, 1),
    (drawn_views.pad, 1),
    (drawn_views.concat, 1),
    (drawn_views.split, 1),
    (drawn_views.tile, 1),
    (drawn_views.reverse, 1),
    (drawn_views.reshape, 1),
)
"""What is drawn, and how often."""


def network_of(seed: int) -> Network:
    """Return the network of ``seed``."""
    drawing = Drawing(seed)
    for _ in range(drawing.random.randint(2, 11)):
        (draw,) = drawing.random.choices([each for each, _ in FAMILIES], [weight for _, weight in FAMILIES])
        draw(drawing)
    return drawing.network()


def calls(network: Network, seed: int, count: int) -> Iterator[tuple[dict[str, int], dict[str, Array]]]:
    """Yield sizes and arguments of ``count`` calls: a few tiny, one of them empty, most in between."""
    rng = np.random.default_rng(seed)
    for number in range(count if network.symbols else min(count, 2)):
        yield (sizes := _sizes(network, rng, number)), _arguments(network, sizes, rng, number)


def _sizes(network: Network, rng: np.random.Generator, number: int) -> dict[str, int]:
    least = 0 if number in (0, 7) else 1
    for tried in range(500):
        limit = 3 if number < 2 or tried > 400 else 64 if tried > 200 else SIZES[-1]
        sizes = {s: int(rng.choice([c for c in SIZES if least <= c <= limit])) for s in network.symbols}
        if max(prod(evaluate(d, sizes) for d in shape) for shape in network.shapes) <= MOST_ELEMENTS:
            break
    return sizes


def _arguments(network: Network, sizes: Mapping[str, int], rng: np.random.Generator, number: int) -> dict[str, Array]:
    found = {}
    for value in network.graph.inputs:
        shape = tuple(evaluate(d, sizes) for d in value.shape or ())
        if value.name in network.positions:
            most = max(1, evaluate(network.positions[value.name], sizes))
            found[value.name] = rng.integers(0, most, shape).astype(numpy_dtype(value.dtype))
        else:
            found[value.name] = _content(rng, value.dtype, shape, special=network.is_exact and number % 5 == 4)
    return found


def _content(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], special: bool) -> Array:
    kind = numpy_dtype(dtype)
    if dtype == dt.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        limits = np.iinfo(kind)
        values = rng.integers(max(-9, limits.min), 10, shape).astype(kind)
        return np.where(rng.random(shape) < 0.1, rng.choice([limits.min, limits.max]), values).astype(kind)
    values = np.where(rng.random(shape) < 0.5, rng.integers(-8, 9, shape) / 2, rng.normal(0, 2, shape))
    if special:
        values = np.where(
            rng.random(shape) < 0.1, rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-30], shape), values
        )
    return values.astype(kind)
