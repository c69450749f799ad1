"""Small graphs, and what is said of their values."""

from typing import Any

from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.facts import SymbolFacts, ValueFact
from autofuse_ir.graph import Graph


def fact(facts: SymbolFacts, name: str) -> ValueFact:
    return next(value for value in facts.values if value.name == name)


def shape(facts: SymbolFacts, name: str) -> list[str]:
    dims = fact(facts, name).shape
    assert dims is not None
    return [str(dim) for dim in dims]


def two_inputs(op: str, a: tuple[Any, ...], b: tuple[Any, ...], **attrs: Any) -> Graph:
    builder = GraphBuilder("two")
    x, y = builder.input("x", a, dt.float32), builder.input("y", b, dt.float32)
    return builder.build(outputs={"z": builder.op(op, x, y, name="z", **attrs)})
