"""A small graph, compiled as users do. Needs the packages, unlike the rest of the plug-in."""

from collections.abc import Callable
from typing import Any

import autofuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder

Outputs = dict[str, str]


def compiled(define: Callable[[GraphBuilder], Outputs], name: str = "g", **options: Any) -> Any:
    """Return the graph that ``define`` builds, compiled with ``options``."""
    builder = GraphBuilder(name)
    outputs = define(builder)
    return autofuse.compile(builder.build(outputs=outputs), **options)


def scaled_sum(b: GraphBuilder) -> Outputs:
    """x [n, m] + y [n, 1]."""
    x, y = b.input("x", ("n", "m"), dt.float32), b.input("y", ("n", 1), dt.float32)
    return {"z": b.op("Add", x, y)}
