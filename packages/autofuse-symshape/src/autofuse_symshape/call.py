"""One operator as its rules see it: shapes, contents and attributes by name; requirements and errors in its name."""

from collections.abc import Iterable, Mapping
from typing import NoReturn

from autofuse_ir.dims import Cond, Dim, DimLike, as_dim, eq, le
from autofuse_ir.dims_eval import bounds
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import ResultDim
from autofuse_ir.graph import LARGEST_SIZE, AttrValue, Node
from autofuse_ir.operators import Operator, attr_of, bind
from autofuse_ir.operators.bind import Bound, where

from autofuse_symshape.errors import ShapeError, UnknownShape
from autofuse_symshape.known import Content, Known, Shape, static
from autofuse_symshape.oracle import Oracle
from autofuse_symshape.scope import Message, Scope

ELEMENT_RANGE = (-(2**31), 2**31 - 1)
"""Range of an integer that a run-time input (or host result) gives, where negative numbers mean something."""


def shown(shape: Iterable[Dim]) -> str:
    """Return the text of a shape."""
    return f"[{', '.join(str(dim) for dim in shape)}]"


class Call:
    """A node whose inputs are known."""

    def __init__(self, node: Node, op: Operator, scope: Scope) -> None:
        self.node = node
        self.op = op
        self._scope = scope
        self._bound: Mapping[str, Bound] = bind(node)

    @property
    def oracle(self) -> Oracle:
        """What is known about sizes."""
        return self._scope.oracle

    @property
    def output_count(self) -> int:
        """Number of outputs the node has."""
        return len(self.node.outputs)

    # -- inputs

    def has(self, name: str) -> bool:
        """Whether optional input ``name`` is given."""
        return self._bound.get(name) is not None

    def is_list(self, name: str) -> bool:
        """Whether input ``name`` is a list."""
        return isinstance(self._bound.get(name), tuple)

    def value(self, name: str) -> str:
        """Return the value that input ``name`` reads."""
        bound = self._bound[name]
        assert isinstance(bound, str), f"{self.op.name}: input {name}"
        return bound

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values that list input ``name`` reads."""
        bound = self._bound[name]
        assert isinstance(bound, tuple), f"{self.op.name}: input {name}"
        return bound

    def known(self, name: str) -> Known:
        """Return what is known of input ``name``."""
        return self._scope.known[self.value(name)]

    def dtype(self, name: str) -> DType:
        """Return the element type of input ``name``."""
        return self.known(name).dtype

    def shape(self, name: str) -> Shape:
        """Return the shape of input ``name``; raises `UnknownShape` without a rank."""
        return self._shape_of(self.value(name))

    def shapes(self, name: str) -> tuple[Shape, ...]:
        """Return the shapes of list input ``name``."""
        return tuple([self._shape_of(value) for value in self.values(name)])

    def given_shapes(self) -> tuple[Shape, ...]:
        """Return the shapes of all inputs that are there, in order."""
        return tuple([self._shape_of(value) for value in self.node.inputs if value is not None])

    def shape_of_rank(self, name: str, rank: int) -> Shape:
        """Return the shape of input ``name``, which must have ``rank`` dims."""
        shape = self.shape(name)
        if len(shape) != rank:
            self.fail(f"input {name!r} of shape {shown(shape)} must have rank {rank}")
        return shape

    def shape_of(self, value: str) -> Shape | None:
        """Return the shape of ``value``; None without a rank."""
        return self._scope.known[value].shape

    def dtype_of(self, value: str) -> DType:
        """Return the element type of ``value``."""
        return self._scope.known[value].dtype

    def _shape_of(self, value: str) -> Shape:
        shape = self._scope.known[value].shape
        if shape is None:
            raise UnknownShape(value)
        return shape

    def static_shape_of(self, value: str) -> tuple[int, ...] | None:
        """Return the sizes of ``value`` where all are known when compiling."""
        return static(self.shape_of(value))

    # -- contents

    def content(self, name: str) -> Content | None:
        """Return the content of input ``name``, as far as it is known."""
        return self._scope.content(self.value(name))

    def content_of(self, value: str) -> Content | None:
        """Return the content of ``value``, as far as it is known."""
        return self._scope.content(value)

    def sizes(self, name: str, lo: int = ELEMENT_RANGE[0], hi: int = ELEMENT_RANGE[1]) -> tuple[Dim, ...]:
        """Return the elements of integer input ``name``; the unknown ones become symbols in ``lo..hi``.

        Raises `UnknownShape` where the number of elements is not static or too large.
        """
        value = self.value(name)
        return self._scope.elements(value, lo, hi)

    def size(self, name: str, lo: int = ELEMENT_RANGE[0], hi: int = ELEMENT_RANGE[1]) -> Dim:
        """Return the only element of integer input ``name``."""
        elements = self.sizes(name, lo, hi)
        if len(elements) != 1:
            self.fail(f"input {name!r} must hold one element, not {len(elements)}")
        return elements[0]

    def integers(self, name: str) -> tuple[int, ...]:
        """Return the elements of integer input ``name``, which must be known when compiling, else `UnknownShape`."""
        content = self.content(name)
        if content is None:
            raise UnknownShape(name)
        numbers = [element.constant_value if isinstance(element, Dim) else None for element in content]
        if any(number is None for number in numbers):
            raise UnknownShape(name)
        return tuple([number for number in numbers if number is not None])

    def sizes_of(self, name: str, lo: int = ELEMENT_RANGE[0]) -> tuple[Dim, ...]:
        """Return the elements of input ``name``, or of the attribute where the operator has it as one (D forms)."""
        return self.dims_attr(name) if self.op.input(name) is None else self.sizes(name, lo)

    def ints_of(self, name: str) -> tuple[int, ...]:
        """Return, known when compiling, the elements of input ``name`` or of the (list) attribute."""
        if self.op.input(name) is not None:
            return self.integers(name)
        return self.ints_attr(name) if isinstance(self.attr(name), tuple) else (self.int_attr(name),)

    def unbacked(self, output: int, axis: int, at_most: DimLike | None = None) -> Dim:
        """Return a symbol for dim ``axis`` of an output, which is known once the node has run; at most ``at_most``."""
        name = self.node.outputs[output]
        limit = LARGEST_SIZE if at_most is None else min(LARGEST_SIZE, bounds(as_dim(at_most), self.oracle.ranges)[1])
        size = self._scope.fresh(f"{name}.dim{axis}", ResultDim(name, axis), 0, max(0, limit))
        if at_most is not None and not as_dim(at_most).is_constant:
            self._scope.note(le(size, at_most))
        return size

    # -- attributes

    def attr(self, name: str) -> AttrValue | None:
        """Return attribute ``name`` or its default."""
        return attr_of(self.node, name)

    def int_attr(self, name: str) -> int:
        """Return an int attribute, which must be known when compiling, else `UnknownShape`."""
        value = self.attr(name)
        if isinstance(value, Dim):
            value = value.constant_value
        if not isinstance(value, int):
            raise UnknownShape(name)
        return int(value)

    def flag(self, name: str) -> bool:
        """Return a bool attribute."""
        return bool(self.attr(name))

    def text_attr(self, name: str) -> str:
        """Return a string attribute."""
        value = self.attr(name)
        return value if isinstance(value, str) else ""

    def dims_attr(self, name: str) -> tuple[Dim, ...]:
        """Return a list-of-ints attribute as sizes; empty where it is absent."""
        value = self.attr(name)
        return tuple([as_dim(each) for each in value]) if isinstance(value, tuple) else ()  # type: ignore[arg-type] # a list of ints

    def ints_attr(self, name: str) -> tuple[int, ...]:
        """Return a list-of-ints attribute known when compiling, else `UnknownShape`; empty where it is absent."""
        numbers = [dim.constant_value for dim in self.dims_attr(name)]
        if any(number is None for number in numbers):
            raise UnknownShape(name)
        return tuple([number for number in numbers if number is not None])

    # -- axes

    def axis(self, axis: int, rank: int, name: str = "axis") -> int:
        """Return ``axis`` counted from the front; an error where ``rank`` dims have no such axis."""
        if not -rank <= axis < rank:
            self.fail(f"{name} {axis} is outside -{rank}..{rank - 1} for rank {rank}")
        return axis % rank

    def axes(self, axes: Iterable[int], rank: int, name: str = "axes") -> tuple[int, ...]:
        """Return ``axes`` counted from the front, without repetitions."""
        found = tuple([self.axis(axis, rank, name) for axis in axes])
        if len(set(found)) != len(found):
            self.fail(f"{name} {list(axes)} name an axis twice for rank {rank}")
        return found

    # -- requirements

    @property
    def where(self) -> str:
        """Return how errors name this node."""
        return where(self.node)

    def require(self, cond: Cond, message: Message) -> None:
        """Make sure that ``cond`` holds in every run: proved, guarded, or an error."""
        self._scope.require(cond, operator=self.node.name, where=self.where, message=message)

    def require_equal(self, a: Dim, b: Dim, message: Message) -> Dim:
        """Make sure that two sizes are equal, and return the simpler one."""
        if a != b:
            self.require(eq(a, b), message)
        return b if b.is_constant else a

    def fail(self, what: str, fix: str = "") -> NoReturn:
        """Raise the error of this node."""
        raise ShapeError(what, where=self.where, fix=fix or "change the shapes of the inputs, or the operator")
