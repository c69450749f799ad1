"""Turns the nodes of an ONNX graph into operators of Ascend IR, one after the other."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import onnx
from attrs import define, field, frozen
from autofuse_ir.dtypes import DType, opaque
from autofuse_ir.graph import Attr, Node, Payload, Value
from autofuse_ir.operators import Flag, ParamKind, check_node, operator, result_dtypes
from autofuse_ir.tensor_data import TensorData

from autofuse_onnx.lowering import Lowering, Native, Operand, Step
from autofuse_onnx.mappings.table import RULES
from autofuse_onnx.node import OnnxNode, ValueType
from autofuse_onnx.payload import payload_of_native, payload_of_node, without_dims
from autofuse_onnx.schemas import is_numpy_like
from autofuse_onnx.scopes import captured_names
from autofuse_onnx.sizes import as_value
from autofuse_onnx.tensors import Array, to_array, to_tensor_data

STANDARD = ("", "ai.onnx")
"""The two spellings of the domain of the standard operators."""

SAME_IN_ONNX = ("Abs", "Add", "Div", "Identity", "Mul", "Pow", "Sqrt", "Sub")
"""Operators of decompositions that ONNX knows by the same name, with the same inputs."""


@frozen
class Attempt:
    """The operators for one ONNX node, before they are accepted."""

    nodes: tuple[Node, ...]
    payloads: tuple[Payload, ...]
    constants: Mapping[str, TensorData]
    dtypes: Mapping[str, DType]


@define
class Translation:
    """The operators so far, and what is known of the values.

    ``read`` are the values that anybody reads, ``formed`` the outputs of well-formed nodes; ``tensors`` are the
    constants of the model by name, loaded when somebody needs them, ``constants`` those loaded.
    """

    model: str
    opsets: Mapping[str, int]
    types: dict[str, ValueType]
    read: frozenset[str]
    formed: frozenset[str]
    tensors: dict[str, Callable[[], TensorData]] = field(factory=dict)
    taken: set[str] = field(factory=set)
    nodes: list[Node] = field(factory=list)
    constants: dict[str, TensorData] = field(factory=dict)
    payloads: list[Payload] = field(factory=list)
    declared: list[Value] = field(factory=list)
    dtypes: dict[str, DType] = field(factory=dict)
    node_names: set[str] = field(factory=set)

    def type_of(self, name: str) -> ValueType | None:
        """Return the type of value ``name``, or None."""
        return self.types.get(name)

    def content(self, name: str) -> Array | None:
        """Return the content of constant ``name``, or None."""
        data = self.constant(name)
        return None if data is None else to_array(data)

    def constant(self, name: str) -> TensorData | None:
        """Return constant ``name``, or None."""
        if name not in self.constants and name in self.tensors:
            self.constants[name] = self.tensors[name]()
        return self.constants.get(name)

    def is_read(self, name: str) -> bool:
        """True when a node or a graph output reads value ``name``."""
        return name in self.read

    def dtype(self, name: str) -> DType | None:
        """Return the dtype of value ``name``: what the operator that makes it says, else what is known."""
        known = self.types.get(name)
        return self.dtypes.get(name) or (None if known is None else known.dtype)

    def add(self, proto: onnx.NodeProto) -> None:
        """Add the operators that stand for ``proto``: those of its rule, or a host operator."""
        node = self._view(proto)
        attempt = self._by_rule(node) or self._as_host(node)
        self.nodes += attempt.nodes
        self.payloads += attempt.payloads
        self.constants |= attempt.constants
        self.dtypes |= attempt.dtypes
        self.node_names.update(made.name for made in attempt.nodes)
        self.taken.update(attempt.constants, attempt.dtypes)
        for made in attempt.nodes:
            self._declare(made)

    def _view(self, proto: onnx.NodeProto) -> OnnxNode:
        domain = "" if proto.domain in STANDARD else proto.domain
        return OnnxNode(
            proto=proto,
            name=_fresh(proto.name or f"{proto.op_type}_{len(self.nodes)}", self.node_names),
            op_type=proto.op_type,
            domain=domain,
            opset=self.opsets.get(domain, 0),
            attrs={a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute if not a.ref_attr_name},
            inputs=_without_trailing([name or None for name in proto.input]),
            outputs=tuple(name or "" for name in _without_trailing([name or None for name in proto.output])),
            known=self,
        )

    def _by_rule(self, node: OnnxNode) -> Attempt | None:
        rule = RULES.get(node.op_type)
        if rule is None or node.domain or not is_numpy_like(node.op_type, node.opset):
            return None
        if not self.formed.issuperset(node.proto.output):
            return None
        try:
            lowering = rule(node)
        except (IndexError, ValueError, OverflowError):
            # An axis out of range, say. The node keeps its meaning: whoever runs it says what is wrong.
            return None
        return None if lowering is None else self._attempt(node, lowering)

    def _as_host(self, node: OnnxNode) -> Attempt:
        name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        present = tuple(value for value in node.inputs if value is not None)
        attempt = self._attempt(node, (Step("HostCall", present, {"operator": name}),))
        assert attempt is not None, "a host call takes everything"
        return attempt

    def _attempt(self, node: OnnxNode, lowering: Lowering) -> Attempt | None:
        """Return the operators of ``lowering``; None when the operator table does not allow one of them."""
        names = {name: name for name in node.outputs if name}
        nodes: list[Node] = []
        payloads: list[Payload] = []
        constants: dict[str, TensorData] = {}
        dtypes: dict[str, DType] = {}
        for number, step in enumerate(lowering):
            own = node.name if len(lowering) == 1 else _fresh(f"{node.name}.{number}", self.node_names)
            inputs = [self._operand(own, i, operand, names, constants) for i, operand in enumerate(step.inputs)]
            if len(lowering) == 1:
                inputs = _with_captured(step.op, inputs, captured_names(node.proto))
            outputs = self._outputs(own, step, node.outputs, names)
            given = [None if name is None else self._given(name, constants, dtypes) for name in inputs]
            known = {name: a for name in inputs if name and (a := self._array(name, constants)) is not None}
            payload = self._payload(own, step, node, inputs, outputs, given, known, alone=len(lowering) == 1)
            made = Node(
                name=own,
                op=step.op,
                inputs=_without_trailing(inputs),
                outputs=outputs,
                attrs=tuple(Attr(name, step.attrs[name]) for name in sorted(step.attrs)),
                source=f"{self.model}, node {node.proto.name or node.name}",
                payload=None if payload is None else payload.name,
            )
            given = given[: len(made.inputs)]
            if check_node(made, given):
                return None
            for output, dtype in zip(outputs, result_dtypes(made, given), strict=True):
                stated = self.types.get(output)
                if dtype is not None and stated is not None and dtype != stated.dtype:
                    return None
                dtypes[output] = dtype or (opaque if stated is None else stated.dtype)
            nodes.append(made)
            payloads += [] if payload is None else [payload]
        return Attempt(tuple(nodes), tuple(payloads), constants, dtypes)

    def _array(self, name: str, constants: Mapping[str, TensorData]) -> Array | None:
        """Return the content of value ``name`` where it is a constant, of the model or made for this node."""
        data = constants.get(name) or self.constant(name)
        return None if data is None else to_array(data)

    def _given(self, name: str, constants: Mapping[str, TensorData], dtypes: Mapping[str, DType]) -> DType:
        if name in constants:
            return constants[name].dtype
        return dtypes.get(name) or self.dtype(name) or opaque

    def _operand(
        self, own: str, i: int, operand: Operand, names: Mapping[str, str], constants: dict[str, TensorData]
    ) -> str | None:
        if operand is None or isinstance(operand, str):
            return None if operand is None else names.get(operand, operand)
        name = _fresh(f"{own}.const{i}", {*self.taken, *constants})
        constants[name] = to_tensor_data(operand)
        return name

    def _outputs(self, own: str, step: Step, outputs: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
        """Return the names of the step's outputs: those of the ONNX node, or fresh ones where somebody needs a name."""
        results = operator(step.op).outputs
        made = []
        for i, name in enumerate(outputs if step.outputs is None else step.outputs):
            kind = results[min(i, len(results) - 1)].kind
            if name not in names and (name or kind is not ParamKind.OPTIONAL):
                key = name or f"{own}.unused{i}"
                names[key] = _fresh(key, {*self.taken, *names.values()})
                made.append(names[key])
            else:
                made.append(names.get(name, ""))
        return tuple(made)

    def _payload(
        self,
        own: str,
        step: Step,
        node: OnnxNode,
        inputs: list[str | None],
        outputs: tuple[str, ...],
        given: Sequence[DType | None],
        constants: Mapping[str, Array],
        *,
        alone: bool,
    ) -> Payload | None:
        types = [self._type(name, dtype) for name, dtype in zip(inputs, given, strict=True)]
        native = step.native
        if native is None and not alone and step.op in SAME_IN_ONNX:
            native = Native(step.op, tuple(range(len(step.inputs))))
        if native is not None:
            placed = {i: constants[name] for i, name in enumerate(inputs) if name and name in constants}
            count = len(outputs) if native.outputs is None else native.outputs
            return payload_of_native(own, native, count, placed, self.opsets, types)
        if not alone:
            return None
        positions: dict[str, int] = {}
        for i, name in enumerate(inputs):
            if name is not None:
                positions.setdefault(name, i)
        missing = {name for name in node.proto.input if name and name not in positions}
        absent = {name: array for name in missing if (array := self.content(name)) is not None}
        return payload_of_node(own, node.proto, positions, outputs, {**constants, **absent}, self.opsets, types)

    def _type(self, name: str | None, dtype: DType | None) -> onnx.TypeProto | None:
        """Return what ONNX calls the type of an input, or None where nobody knows."""
        if name is None or dtype is None:
            return None
        if not dtype.is_opaque:
            known = self.types.get(name)
            shape = None if known is None else known.shape
            # Names of sizes mean nothing inside a region: a fused graph may know them by others.
            dims = None if shape is None else [dim if isinstance(dim, int) else None for dim in shape]
            return onnx.helper.make_tensor_type_proto(dtype.onnx_code, dims)
        known = self.types.get(name)
        return None if known is None or known.proto is None else without_dims(known.proto)

    def _declare(self, node: Node) -> None:
        """State the types of what a host or matrix operator makes: not all of them have a shape rule."""
        flags = operator(node.op)
        if not (flags.has(Flag.HOST) or flags.has(Flag.CUBE)):
            return
        for name in node.outputs:
            if name:
                known = self.types.get(name, ValueType(opaque, None))
                self.declared.append(as_value(name, ValueType(self.dtypes[name], known.shape)))


def _fresh(name: str, taken: Iterable[str]) -> str:
    fresh, number = name, 1
    while fresh in taken:
        number += 1
        fresh = f"{name}_{number}"
    return fresh


def _without_trailing(names: list[str | None]) -> tuple[str | None, ...]:
    count = len(names)
    while count and names[count - 1] is None:
        count -= 1
    return tuple(names[:count])


def _with_captured(op: str, inputs: list[str | None], captured: tuple[str, ...]) -> list[str | None]:
    """Return the inputs followed by the captured values, which no parameter of its own may take."""
    if not captured:
        return inputs
    own = sum(param.kind is not ParamKind.DYNAMIC for param in operator(op).inputs)
    return [*inputs, *[None] * (own - len(inputs)), *captured]
