"""Symbols and checks from the inputs of a graph, and contents that are known when compiling."""

from collections.abc import Mapping
from math import prod

from autofuse_ir.dims import Dim, Symbol, const, eq, free_symbols
from autofuse_ir.facts import InputDim, InputElement
from autofuse_ir.graph import Graph, Value
from autofuse_ir.tensor_data import TensorData

from autofuse_symshape.call import ELEMENT_RANGE, shown
from autofuse_symshape.constants import decoded
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.known import MAX_STRUCTURAL, Known, static
from autofuse_symshape.scope import Scope


def add_inputs(graph: Graph, values: Mapping[str, TensorData], scope: Scope) -> None:
    """Add every input: symbols with their sources, then checks of the dims that are no plain symbol."""
    unknown = sorted(set(values) - {value.name for value in graph.inputs})
    if unknown:
        raise ShapeError(
            f"values are given for {', '.join(unknown)}, which the graph does not have as inputs",
            where=f"graph {graph.name}",
            fix=f"its inputs are {', '.join(value.name for value in graph.inputs) or 'none'}",
        )
    for value in graph.inputs:
        scope.known[value.name] = Known(value.dtype, value.shape)
        for axis, dim in enumerate(value.shape or ()):
            if isinstance(dim.atom, Symbol):
                scope.declare(dim.atom.name, InputDim(value.name, axis))
    for value in graph.inputs:
        for axis, dim in enumerate(value.shape or ()):
            if not dim.is_constant and not isinstance(dim.atom, Symbol):
                _check_dim(scope, value, axis, dim)
        if value.name in values:
            _fix_content(scope, value, values[value.name])
        elif value.name in scope.wanted and _holds_sizes(value):
            scope.elements(value.name, *ELEMENT_RANGE)
    _check_all_given(graph, scope)


def _check_all_given(graph: Graph, scope: Scope) -> None:
    """Every size of an input can be read from some argument, or has one value."""
    for value in graph.inputs:
        for axis, dim in enumerate(value.shape or ()):
            for name in free_symbols(dim):
                fact = scope.symbols[name]
                if not fact.sources and fact.lo != fact.hi:
                    raise ShapeError(
                        f"dim {axis} is {dim}, but no input gives {name} itself",
                        where=f"graph {graph.name}, input {value.name!r}",
                        fix=f"declare a dim as {name}, give {name} one size, or name this dim as a size of its own",
                    )


def _holds_sizes(value: Value) -> bool:
    """Whether an input is small and integer enough for its elements to become symbols."""
    sizes = static(value.shape)
    return value.dtype.is_integer and sizes is not None and prod(sizes) <= MAX_STRUCTURAL


def _check_dim(scope: Scope, value: Value, axis: int, dim: Dim) -> None:
    """A dim that is an expression is a symbol of its own that must be equal to it."""
    for name in free_symbols(dim):
        scope.declare(name)
    size = scope.fresh(f"{value.name}.dim{axis}", InputDim(value.name, axis))
    scope.require(
        eq(size, dim),
        operator=value.name,
        where=f"input {value.name!r}",
        message=f"dim {axis} of input {value.name!r} must be {dim}",
    )


def _fix_content(scope: Scope, value: Value, data: TensorData) -> None:
    """The content of an input that the user fixes when compiling; runs that pass something else are refused."""
    where = f"input {value.name!r}"
    if data.dtype != value.dtype or (value.shape is not None and len(value.shape) != len(data.shape)):
        raise ShapeError(
            f"the value given has dtype {data.dtype} and shape {list(data.shape)}, the input is {value.dtype} "
            f"{'of unknown rank' if value.shape is None else shown(value.shape)}",
            where=where,
            fix="give a value of the input's dtype and shape",
        )
    sizes = tuple([const(size) for size in data.shape])
    for axis, (dim, size) in enumerate(zip(value.shape or (), sizes, strict=False)):
        scope.require(
            eq(dim, size),
            operator=value.name,
            where=where,
            message=f"dim {axis} of input {value.name!r} must be {size}: its value is fixed",
        )
    content = decoded(data)
    if content is not None and value.dtype.is_integer and data.element_count <= MAX_STRUCTURAL:
        for i, element in enumerate(content):
            if isinstance(element, Dim):
                passed = scope.fresh(f"{value.name}.{i}", InputElement(value.name, i), *ELEMENT_RANGE)
                scope.require(
                    eq(passed, element),
                    operator=value.name,
                    where=where,
                    message=f"element {i} of input {value.name!r} is fixed to {element}",
                )
    scope.known[value.name] = Known(value.dtype, sizes, content)
