"""One operator that moves elements, being lowered."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim, as_dim, const
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import AttrValue, Node
from autofuse_ir.operators import attr_of, bind, operator
from autofuse_ir.operators.bind import Bound
from autofuse_reference.arrays import to_array
from autofuse_symshape.oracle import Oracle

from autofuse_fusion.lower.views.builder import ViewBuilder
from autofuse_fusion.lower.views.nodes import Shape
from autofuse_fusion.size_facts import SizeFacts
from autofuse_fusion.values import MOST_ELEMENTS


class NotLoweredError(Exception):
    """This node is no kernel: ``reason`` says why. Never leaves the lowering of views."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@frozen(eq=False)
class ViewCall:
    """The node, by the names of its operator's signature, and the builder of what it becomes."""

    node: Node
    builder: ViewBuilder
    bound: Mapping[str, Bound]

    @property
    def sizes(self) -> SizeFacts:
        """What is known of sizes."""
        return self.builder.values.sizes

    @property
    def oracle(self) -> Oracle:
        """Proves conditions on sizes."""
        return self.sizes.oracle

    def value(self, name: str) -> str:
        """Return the value that input ``name`` reads."""
        found = self.bound[name]
        assert isinstance(found, str), f"{self.node.op}: input {name}"
        return found

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a list input."""
        found = self.bound[name]
        assert isinstance(found, tuple), f"{self.node.op}: input {name}"
        return found

    def has(self, name: str) -> bool:
        """True where optional input ``name`` is there."""
        return self.bound.get(name) is not None

    def shape_of(self, value: str) -> Shape:
        """Return the shape of a value."""
        shape = self.builder.values.fact(value).shape
        if shape is None:
            raise NotLoweredError(Reason.RANK_UNKNOWN)
        return shape

    def shape(self, name: str) -> Shape:
        """Return the shape of input ``name``."""
        return self.shape_of(self.value(name))

    def dtype_of(self, value: str) -> DType:
        """Return the dtype of a value."""
        return self.builder.values.fact(value).dtype

    @property
    def result(self) -> str:
        """The first value it makes."""
        return self.node.outputs[0]

    @property
    def result_shape(self) -> Shape:
        """The shape of the first value it makes."""
        return self.shape_of(self.result)

    @property
    def result_dtype(self) -> DType:
        """The dtype of the first value it makes."""
        return self.dtype_of(self.result)

    def attr(self, name: str) -> AttrValue | None:
        """Return an attribute, or its default."""
        return attr_of(self.node, name)

    def integer(self, name: str) -> int:
        """Return an integer attribute that is known when compiling."""
        value = self.attr(name)
        number = value.constant_value if isinstance(value, Dim) else value
        if not isinstance(number, int):
            raise NotLoweredError(Reason.STRUCTURAL_OPERAND_UNKNOWN)
        return int(number)

    def flag(self, name: str) -> bool:
        """Return a bool attribute."""
        return bool(self.attr(name))

    def text(self, name: str) -> str:
        """Return a string attribute."""
        value = self.attr(name)
        return value if isinstance(value, str) else ""

    def elements(self, name: str) -> tuple[Dim, ...]:
        """Return the elements of integer input ``name``, or of the attribute where the operator has it as one."""
        if operator(self.node.op).input(name) is None:
            listed = self.attr(name)
            given = listed if isinstance(listed, tuple) else () if listed is None else (listed,)
            return tuple([as_dim(each) for each in given if isinstance(each, int | Dim)])
        values = self.builder.values
        content, known = values.content(self.value(name)), values.constants.get(self.value(name))
        if content is None and known is not None and known.dtype.is_integer and known.element_count <= MOST_ELEMENTS:
            return tuple([const(int(each)) for each in to_array(known).reshape(-1)])
        if content is None:
            raise NotLoweredError(Reason.STRUCTURAL_OPERAND_UNKNOWN)
        return content

    def integers(self, name: str) -> tuple[int, ...]:
        """Return the elements of an input or attribute that shapes the loops: known when compiling."""
        found = [element.constant_value for element in self.elements(name)]
        known = tuple([number for number in found if number is not None])
        if len(known) != len(found):
            raise NotLoweredError(Reason.STRUCTURAL_OPERAND_UNKNOWN)
        return known

    def axis(self, name: str, rank: int) -> int:
        """Return the dim that an input or attribute names."""
        return self.integers(name)[0] % max(rank, 1)

    def finish(self, value: str) -> None:
        """Make the first result ``value``."""
        self.builder.finish(self.result, value)


ViewLowering: TypeAlias = Callable[[ViewCall], None]
"""Adds what the operator becomes and finishes each of its results; raises `NotLoweredError` where it cannot."""


def call_of(node: Node, builder: ViewBuilder) -> ViewCall:
    """Return the call that lowers ``node``."""
    builder.node = node
    return ViewCall(node, builder, bind(node))
