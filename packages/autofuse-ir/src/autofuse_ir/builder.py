"""Build graphs in Python: ``GraphBuilder`` for networks, ``AscGraphBuilder`` for single kernels."""

from collections.abc import Mapping
from typing import TypeAlias

from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dims import Dim, as_dim, free_symbols
from autofuse_ir.dtypes import DType
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr, AttrValue, Constant, Graph, GraphOutput, Node, Payload, Symbol, Value
from autofuse_ir.tensor_data import TensorData

__all__ = ["AscGraphBuilder", "GraphBuilder", "ShapeLike"]

ShapeLike: TypeAlias = tuple[int | str | Dim, ...]
"""Dims as ints, symbol names (or size expressions as text), or sizes."""


class GraphBuilder:
    """Collects values and operators of a network, in order, and builds a ``Graph``.

    >>> from autofuse_ir import dtypes as dt
    >>> b = GraphBuilder("scale")
    >>> x = b.input("x", ("n", 4), dt.float32)
    >>> graph = b.build(outputs={"y": b.op("Mul", x, x)})
    >>> [node.op for node in graph.nodes]
    ['Mul']
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._inputs: list[Value] = []
        self._nodes: list[Node] = []
        self._constants: list[Constant] = []
        self._symbols: dict[str, Symbol] = {}
        self._declared: list[Value] = []
        self._payloads: list[Payload] = []
        self._taken: set[str] = set()

    def symbol(self, name: str, lo: int = 0, hi: int | None = None, hint: int | None = None) -> str:
        """Declare the range of size ``name`` (inclusive) and the hint at which profit is judged; return its name."""
        self._symbols[name] = Symbol(name, lo) if hi is None else Symbol(name, lo, hi, hint)
        if hi is None and hint is not None:
            self._symbols[name] = Symbol(name, lo, hint=hint)
        return name

    def input(self, name: str, shape: ShapeLike, dtype: DType) -> str:
        """Add a graph input; dims are ints, symbol names or sizes. Returns its name."""
        dims = tuple(as_dim(d) for d in shape)
        self._claim(name)
        self._inputs.append(Value(name, dtype, dims))
        for dim in dims:
            for symbol in free_symbols(dim):
                self._symbols.setdefault(symbol, Symbol(symbol))
        return name

    def constant(self, data: TensorData, name: str | None = None) -> str:
        """Add a constant; returns its name."""
        name = name or self._fresh("const")
        self._claim(name)
        self._constants.append(Constant(name, data))
        return name

    def payload(self, payload: Payload) -> str:
        """Add what a host backend needs for some node; returns its name."""
        self._payloads.append(payload)
        return payload.name

    def declare(self, value: Value) -> None:
        """Say what is known of a value that an operator makes (dtype, dims)."""
        self._declared.append(value)

    def op(self, op: str, *inputs: str | None, name: str | None = None, **attrs: AttrValue) -> str:
        """Add operator ``op`` with one output and return that value's name."""
        return self.op_outputs(op, *inputs, outputs=1, name=name, **attrs)[0]

    def op_outputs(
        self, op: str, *inputs: str | None, outputs: int, name: str | None = None, **attrs: AttrValue
    ) -> tuple[str, ...]:
        """Add operator ``op`` with ``outputs`` results and return their names."""
        name = name or self._fresh(op)
        results = (name,) if outputs == 1 else tuple(f"{name}.{i}" for i in range(outputs))
        self.node(
            Node(
                name=name,
                op=op,
                inputs=inputs,
                outputs=results,
                attrs=tuple(Attr(k, attrs[k]) for k in sorted(attrs)),
                source=f"graph {self._name}, node {name}",
            )
        )
        return results

    def node(self, node: Node) -> Node:
        """Add a finished node (front ends name their values themselves)."""
        for output in node.outputs:
            self._claim(output)
        self._nodes.append(node)
        return node

    def build(self, outputs: Mapping[str, str]) -> Graph:
        """Return the graph with ``outputs``: name as the user sees it -> value."""
        for name, value in outputs.items():
            if value not in self._taken:
                raise IrError(
                    f"output {name!r} is the value {value!r}, which nothing makes",
                    where=f"graph {self._name}",
                    fix="pass a name that input(), constant() or op() returned",
                )
        return Graph(
            name=self._name,
            inputs=tuple(self._inputs),
            outputs=tuple(GraphOutput(k, v) for k, v in outputs.items()),
            nodes=tuple(self._nodes),
            constants=tuple(self._constants),
            symbols=tuple(self._symbols[s] for s in sorted(self._symbols)),
            declared=tuple(self._declared),
            payloads=tuple(self._payloads),
        )

    def _claim(self, name: str) -> None:
        if name in self._taken:
            raise IrError(
                f"the value {name!r} is made twice", where=f"graph {self._name}", fix="give each value its own name"
            )
        self._taken.add(name)

    def _fresh(self, stem: str) -> str:
        number = len(self._nodes) + len(self._constants)
        name = f"{stem}_{number}"
        while name in self._taken:
            number += 1
            name = f"{stem}_{number}"
        return name
