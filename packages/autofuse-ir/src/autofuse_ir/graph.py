"""``autofuse.graph``: a network as Ascend IR operators over named values.

A graph is a flat table. Every value has a name; a node names the values it reads and makes. Nodes stand in
topological order. Dims are sizes (``autofuse_ir.dims``) over the graph's symbols.
"""

from typing import TypeAlias

from attrs import field, frozen

from autofuse_ir.dims import Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.tensor_data import TensorData

LARGEST_SIZE = 2**31 - 1
"""Upper end of the range of a dim whose range nobody declared."""

AttrValue: TypeAlias = (
    bool
    | int
    | float
    | str
    | DType
    | Dim
    | tuple[int, ...]
    | tuple[float, ...]
    | tuple[str, ...]
    | tuple[tuple[int, ...], ...]
    | tuple[Dim, ...]
)
"""What an attribute may hold. ``()`` is an empty list of ints."""


@frozen
class Attr:
    """A named attribute of a node."""

    name: str
    value: AttrValue


@frozen
class Symbol:
    """A size only known at run time: inclusive range ``lo..hi``, and the ``hint`` at which profit is judged."""

    name: str
    lo: int = 0
    hi: int = LARGEST_SIZE
    hint: int | None = None


@frozen
class Value:
    """A named tensor: element type and dims. ``shape`` None means that not even the rank is known."""

    name: str
    dtype: DType
    shape: tuple[Dim, ...] | None


@frozen
class Payload:
    """What a host backend needs to rebuild an operator natively, e.g. a serialised ONNX function.

    ``format`` names the encoding ("onnx.FunctionProto"); ``data`` is a uint8 vector.
    """

    name: str
    format: str
    data: TensorData


@frozen
class Constant:
    """A value whose content is known when compiling."""

    name: str
    data: TensorData


@frozen
class Node:
    """One operator.

    ``inputs`` follow the operator's signature: a missing optional input is None (trailing ones are left out), a
    dynamic (list) input is spread in place. A host operator that reads values from an enclosing scope lists them after
    its own inputs. ``source`` says where it came from ("model.onnx, node /mlp/Add"); ``payload`` names the graph's
    payload that a host backend can run instead.
    """

    name: str
    op: str
    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    attrs: tuple[Attr, ...] = ()
    source: str = ""
    payload: str | None = None

    def attr(self, name: str, default: AttrValue | None = None) -> AttrValue | None:
        """Return the value of attribute ``name``, or ``default``."""
        for attr in self.attrs:
            if attr.name == name:
                return attr.value
        return default


@frozen
class GraphOutput:
    """A result of the graph: ``name`` as the user sees it, and the ``value`` it is."""

    name: str
    value: str


@frozen
class Graph:
    """A network: operators over named values.

    ``declared`` holds what the front end knows of intermediate values (name, dtype, shape): host operators without a
    shape rule need it, all others are checked against it. A declared dim over symbols that are not the graph's own is
    unknown.
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[GraphOutput, ...]
    nodes: tuple[Node, ...]
    constants: tuple[Constant, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    declared: tuple[Value, ...] = ()
    payloads: tuple[Payload, ...] = field(default=(), repr=False)
