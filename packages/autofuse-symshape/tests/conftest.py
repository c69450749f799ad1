"""Checks that the tests share: a node inferred with symbolic sizes and evaluated at the sizes of real arrays."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.dims import const, free_symbols, symbol
from autofuse_ir.dims_eval import evaluate, holds
from autofuse_ir.facts import InputDim, InputElement, ResultDim, ResultElement, SymbolFacts
from autofuse_ir.graph import Attr, Constant, Graph, GraphOutput, Node, Symbol, Value
from autofuse_ir.operators import ParamKind, operator
from autofuse_ir.tensor_data import TensorData
from autofuse_symshape.stage import infer

sys.path.insert(0, str(Path(__file__).parent))


def dtype_of(array: Any) -> dt.DType:
    return dt.dtype_named(array.dtype.name) if array.dtype.kind not in "OUS" else dt.opaque


def tensor_data(array: Any) -> TensorData:
    return TensorData(dtype_of(array), tuple(array.shape), np.ascontiguousarray(array).tobytes())


def bindings_of(facts: SymbolFacts, arrays: Mapping[str, Any]) -> dict[str, int]:
    """The value of every symbol that ``arrays`` (inputs and results) give; all its sources must agree."""
    bindings: dict[str, int] = {}
    for fact in facts.symbols:
        for source in fact.sources:
            match source:
                case InputDim(name, axis) | ResultDim(name, axis):
                    value = arrays[name].shape[axis] if name in arrays else None
                case InputElement(name, element) | ResultElement(name, element):
                    value = int(arrays[name].reshape(-1)[element]) if name in arrays else None
            if value is None:
                continue
            assert bindings.setdefault(fact.name, value) == value, f"the sources of {fact.name} disagree"
            assert fact.lo <= value <= fact.hi, f"{fact.name} = {value} is outside {fact.lo}..{fact.hi}"
    return bindings


def check_at(facts: SymbolFacts, arrays: Mapping[str, Any]) -> None:
    """Every fact and guard is true at the sizes of ``arrays``, and shapes (and contents) are theirs."""
    bindings = bindings_of(facts, arrays)
    for cond in [*[guard.condition for guard in facts.guards], *facts.equalities]:
        if set(free_symbols(cond)) <= set(bindings):
            assert holds(cond, bindings), f"{cond} is false at {bindings}"
    for divisible in facts.divisible:
        if set(free_symbols(divisible.dim)) <= set(bindings):
            assert evaluate(divisible.dim, bindings) % divisible.divisor == 0
    for value in facts.values:
        if value.name not in arrays:
            continue
        array = arrays[value.name]
        assert value.shape is not None, f"{value.name}: shape not known"
        shape = tuple([evaluate(dim, bindings) for dim in value.shape])
        assert shape == array.shape, f"{value.name}: {[str(dim) for dim in value.shape]} is {shape}, not {array.shape}"
        if value.content is not None and array.dtype.kind in "biu":
            assert [evaluate(element, bindings) for element in value.content] == [int(e) for e in array.reshape(-1)]


NodeCheck = Callable[..., SymbolFacts]


@pytest.fixture(scope="session")
def check_node() -> NodeCheck:
    """``check_node(op, attrs, inputs, results)``: the operator's shapes at the inputs' sizes are the results'.

    Every dim of an input is a symbol of its own, except of those that ``known`` lists (positions: constants) or
    ``static`` lists (positions: inputs of static shape, whose elements may become symbols).
    """

    def check(
        op: str,
        attrs: Mapping[str, Any],
        inputs: Sequence[Any],
        results: Sequence[Any],
        known: Sequence[int] = (),
        static: Sequence[int] = (),
    ) -> SymbolFacts:
        arrays = {f"x{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}
        values, constants, symbols = [], [], []
        for i, x in enumerate(inputs):
            if x is None:
                continue
            array = arrays[f"x{i}"]
            if i in known:
                constants.append(Constant(f"x{i}", tensor_data(array)))
                continue
            names = [f"x{i}d{axis}" for axis in range(array.ndim)]
            dims = [const(s) for s in array.shape] if i in static else [symbol(name) for name in names]
            values.append(Value(f"x{i}", dtype_of(array), tuple(dims)))
            symbols.extend(Symbol(name) for name in names if i not in static)
        outputs = tuple(f"y{i}" for i in range(len(results)))
        names_in = tuple(None if x is None else f"x{i}" for i, x in enumerate(inputs))
        required = sum(result.kind is ParamKind.REQUIRED for result in operator(op).outputs)
        made = outputs + tuple(f"unasked{i}" for i in range(len(outputs), required))
        node = Node("node", op, names_in, made, tuple(Attr(k, v) for k, v in sorted(attrs.items())))
        graph = Graph(
            "case",
            tuple(values),
            tuple(GraphOutput(name, name) for name in outputs),
            (node,),
            tuple(constants),
            tuple(symbols),
            tuple(Value(name, dtype_of(np.asarray(y)), None) for name, y in zip(outputs, results, strict=True)),
        )
        _, facts = infer(graph)
        arrays.update({name: np.asarray(y) for name, y in zip(outputs, results, strict=True)})
        check_at(facts, arrays)
        return facts

    return check


@pytest.fixture(scope="session")
def check_facts() -> Callable[[SymbolFacts, Mapping[str, Any]], None]:
    """``check_facts(facts, arrays)``: every fact is true of the arrays (inputs and results by value name)."""
    return check_at


@pytest.fixture(scope="session")
def as_constant() -> Callable[[Any], TensorData]:
    """``as_constant(array)``: the array as the content of a constant."""
    return lambda array: tensor_data(np.asarray(array))
