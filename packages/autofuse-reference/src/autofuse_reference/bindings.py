"""Size symbols from the shapes and contents of arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, product
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.errors import IrError
from autofuse_ir.facts import InputDim, InputElement, SymbolFact
from autofuse_ir.graph import Value

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.errors import EvaluationError

Equation: TypeAlias = tuple[Dim, int]


def solve(equations: Sequence[Equation], known: Mapping[str, int]) -> dict[str, int]:
    """Return ``known`` and every symbol that an equation over one unknown symbol decides.

    Equations are solved where they are linear; for a choice such as ``select(d == 1, 1, n)`` the value itself and 1 are
    tried. What cannot be solved stays unknown.
    """
    sizes = dict(known)
    progress = True
    while progress:
        progress = False
        for dim, value in equations:
            unknown = [s for s in free_symbols(dim) if s not in sizes]
            if len(unknown) == 1 and (found := _root(dim, value, unknown[0], sizes)) is not None:
                sizes[unknown[0]] = found
                progress = True
    return sizes


def _root(dim: Dim, value: int, name: str, sizes: Mapping[str, int]) -> int | None:
    def at(guess: int) -> int | None:
        try:
            return evaluate(dim, {**sizes, name: guess})
        except IrError:
            return None

    first, second = at(2), at(3)
    candidates = [value, 1]
    if first is not None and second is not None and second != first:
        candidates.insert(0, 2 + (value - first) // (second - first))
    return next((c for c in candidates if c >= 0 and at(c) == value), None)


def load_equations(nodes: Sequence[AscNode], arrays: Sequence[Array]) -> list[Equation]:
    """Return what the shapes of a kernel's inputs say about the sizes in its Loads' access maps."""
    data = {n.name: n.attr("index", 0) for n in nodes if n.op == "Data"}
    found: list[Equation] = []
    for node in nodes:
        if node.op != "Load" or node.access is None:
            continue
        number = data[node.inputs[0]]
        if not isinstance(number, int) or number >= len(arrays):
            continue
        shape = np.shape(arrays[number])
        if len(shape) == len(node.access.memory):
            found += zip(node.access.memory, shape, strict=True)
        else:  # axes merged: only the number of elements is left
            found.append((product(node.access.memory), int(np.prod(shape, dtype=np.int64))))
    return found


def bind_inputs(
    where: str, inputs: Sequence[Value], symbols: Sequence[SymbolFact], arrays: Sequence[Any]
) -> dict[str, int]:
    """Return the sizes that ``arrays`` give the symbols of a program or graph.

    Raises ``EvaluationError`` for a wrong dtype, rank, range or size, and for sources of one symbol that disagree.
    """
    given = dict(zip((v.name for v in inputs), arrays, strict=True))
    for value in inputs:
        _check_type(where, value, given[value.name])
    sizes: dict[str, int] = {}
    told: dict[str, str] = {}
    for fact in symbols:
        if not fact.sources and fact.lo == fact.hi:
            sizes[fact.name] = fact.lo
        for source in fact.sources:
            match source:
                case InputDim(name, dim):
                    found, place = int(np.shape(given[name])[dim]), f"dim {dim} of input {name!r}"
                case InputElement(name, element):
                    content = np.asarray(given[name]).reshape(-1)
                    if element >= content.size:
                        raise EvaluationError(f"input {name!r} has no element {element}", where=where)
                    found, place = int(content[element]), f"element {element} of input {name!r}"
                case _:
                    continue
            _check_size(where, fact, found, place, sizes, told)
    solved = solve(_value_equations(inputs, given), sizes)
    for value in inputs:
        _check_shape(where, value, given[value.name], solved)
    return solved


def _value_equations(inputs: Sequence[Value], given: Mapping[str, Any]) -> list[Equation]:
    return [
        equation
        for value in inputs
        if value.shape is not None and not value.dtype.is_opaque
        for equation in zip(value.shape, np.shape(given[value.name]), strict=True)
    ]


def _check_type(where: str, value: Value, given: object) -> None:
    if value.dtype.is_opaque or value.shape is None:
        return
    array = np.asarray(given)
    if array.dtype != numpy_dtype(value.dtype):
        raise EvaluationError(
            f"input {value.name!r} has dtype {array.dtype}, but {value.dtype.name} is expected",
            where=where,
            fix=f"convert it with .astype({value.dtype.numpy_name!r})",
        )
    if array.ndim != len(value.shape):
        shape = ", ".join(str(dim) for dim in value.shape)
        raise EvaluationError(
            f"input {value.name!r} has {array.ndim} dims, but {len(value.shape)} dims [{shape}] are expected",
            where=where,
            fix="give an array of that shape",
        )


def _check_size(
    where: str, fact: SymbolFact, found: int, place: str, sizes: dict[str, int], told: dict[str, str]
) -> None:
    if not fact.lo <= found <= fact.hi:
        raise EvaluationError(
            f"{place} is {found}, outside the range {fact.lo}..{fact.hi} of size {fact.name}",
            where=where,
            fix=f"give a size in the range, or declare a wider one for {fact.name}",
        )
    if sizes.setdefault(fact.name, found) != found:
        raise EvaluationError(
            f"the inputs disagree on size {fact.name}: {told.get(fact.name, 'its range')} is {sizes[fact.name]}, "
            f"{place} is {found}",
            where=where,
            fix="give both the same size",
        )
    told.setdefault(fact.name, place)


def _check_shape(where: str, value: Value, given: Any, sizes: Mapping[str, int]) -> None:
    if value.dtype.is_opaque or value.shape is None:
        return
    for axis, (dim, found) in enumerate(zip(value.shape, np.shape(given), strict=True)):
        if all(s in sizes for s in free_symbols(dim)) and evaluate(dim, sizes) != found:
            raise EvaluationError(
                f"dim {axis} of input {value.name!r} is {found}, but {dim} = {evaluate(dim, sizes)} is expected",
                where=where,
                fix="give inputs whose sizes fit together",
            )
