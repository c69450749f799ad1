"""Evaluates one operator on NumPy arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Attr, AttrValue, Node
from autofuse_ir.operators import attr_of, bind, operator, result_dtypes

from autofuse_reference.arrays import Array, dtype_of
from autofuse_reference.errors import EvaluationError, StatusError
from autofuse_reference.operators.call import Call
from autofuse_reference.operators.precision import Precision, cast, widen
from autofuse_reference.operators.table import meaning


def evaluate_operator(
    node: Node | str,
    attrs: Mapping[str, AttrValue] | None,
    inputs: Sequence[Array | None],
    precision: Precision = "declared",
    *,
    input_dtypes: Sequence[DType | None] | None = None,
) -> list[Array]:
    """Return the results of an operator, given as a node or by name, for ``inputs`` in signature order.

    A node gets as many results as it has outputs, a name all of them.

    ``attrs`` are the attributes (those of the node when None); missing ones take their default. ``input_dtypes`` are
    the declared dtypes where the arrays are wider (precision "float64" widens floats); the arrays' own when None.
    Results have the declared dtypes, floats in precision "float64" are float64. Raises ``EvaluationError`` for what
    has no answer (integer division by zero, an index out of range, shapes that do not fit).
    """
    by_name = isinstance(node, str)
    if isinstance(node, str):
        node = Node(node, node, tuple(None if x is None else f"{i}" for i, x in enumerate(inputs)), ("y",))
    if attrs is not None:
        pairs = tuple(Attr(name, value) for name, value in attrs.items())
        node = Node(node.name, node.op, node.inputs, node.outputs, pairs, node.source)
    call = _call(node, inputs, precision, input_dtypes)
    function = meaning(node.op)
    try:
        with np.errstate(all="ignore"):
            results = function.function(call)
    except StatusError as error:
        raise (error if error.where else error.at(call.where)) from None
    except EvaluationError as error:
        if error.where:
            raise
        raise EvaluationError(error.what, where=call.where, fix=error.fix) from None
    except (ValueError, IndexError, TypeError, ArithmeticError) as error:
        shapes = ", ".join("none" if x is None else f"{x.dtype}{list(x.shape)}" for x in inputs)
        raise EvaluationError(
            f"{error} (inputs {shapes})", where=call.where, fix="check the shapes of its inputs"
        ) from error
    arrays = results if isinstance(results, tuple) else (results,)
    if not by_name:
        if len(arrays) < len(node.outputs):
            call.fail(
                f"the NumPy reference makes {len(arrays)} of its {len(node.outputs)} outputs", "use a host backend"
            )
        arrays = arrays[: len(node.outputs)]
    return _rounded(node, arrays, tuple(_declared(inputs, input_dtypes)), precision)


def _declared(inputs: Sequence[Array | None], given: Sequence[DType | None] | None) -> list[DType | None]:
    own = [None if x is None else dtype_of(x) for x in inputs]
    return own if given is None else [declared or mine for declared, mine in zip(given, own, strict=True)]


def _call(
    node: Node, inputs: Sequence[Array | None], precision: Precision, input_dtypes: Sequence[DType | None] | None
) -> Call:
    op = operator(node.op)
    if len(inputs) != len(node.inputs):
        raise EvaluationError(f"{len(inputs)} arrays for {len(node.inputs)} inputs", where=f"node {node.name}")
    # Positions instead of names: one value may stand for several inputs.
    places = tuple(None if x is None else str(i) for i, x in enumerate(inputs))
    bound = bind(Node(node.name, node.op, places, node.outputs, node.attrs, node.source))
    moves = meaning(node.op).moves and precision == "declared"
    used: list[Array | None] = [
        x if x is None or moves or x.dtype.kind == "O" else widen(x, precision) for x in map(_as_array, inputs)
    ]
    dtypes = _declared(inputs, input_dtypes)
    arrays: dict[str, Array | tuple[Array, ...] | None] = {}
    declared: dict[str, DType] = {}
    for name, place in bound.items():
        positions = (place,) if isinstance(place, str) else place or ()
        chosen = tuple(x for p in positions if (x := used[int(p)]) is not None)
        arrays[name] = None if place is None else chosen if isinstance(place, tuple) else chosen[0]
        if positions and (dtype := dtypes[int(positions[0])]) is not None:
            declared[name] = dtype
    attrs = {spec.name: attr_of(node, spec.name) for spec in op.attrs}
    source = f" ({node.source})" if node.source else ""
    return Call(op, attrs, arrays, declared, precision, f"operator {node.op}{source}")


def _as_array(value: Array | None) -> Array | None:
    return None if value is None else np.asarray(value)


def _rounded(
    node: Node, arrays: tuple[Array, ...], input_dtypes: tuple[DType | None, ...], precision: Precision
) -> list[Array]:
    outputs = tuple(f"y{i}" for i in range(len(arrays)))
    dtypes = result_dtypes(Node(node.name, node.op, node.inputs, outputs, node.attrs), input_dtypes)
    rounded = []
    for array, dtype in zip(map(np.asarray, arrays), dtypes, strict=True):
        if dtype is None or dtype.is_opaque:
            rounded.append(array)
        elif precision == "float64" and dtype.is_float:
            rounded.append(array.astype(np.float64))
        else:
            rounded.append(cast(array, dtype))
    return rounded
