"""Steps of composite operators that move elements: primitives, in the dtype that the operator computes in."""

from attrs import frozen
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType, bool_, float32
from autofuse_ir.graph import Attr
from autofuse_ir.operators import promote

from autofuse_fusion.index_map import Number
from autofuse_fusion.lower.views.call import ViewCall
from autofuse_fusion.lower.views.nodes import Shape


@frozen(eq=False)
class Steps:
    """Writes primitives for one operator: 16-bit floats are computed in fp32 and rounded once, at the end."""

    call: ViewCall

    def input(self, name: str) -> str:
        """Return input ``name``, widened."""
        return self.wide(self.call.value(name))

    def wide(self, value: str) -> str:
        """Return ``value`` in the dtype it is computed in."""
        dtype = self.dtype(value)
        return self.call.builder.cast(value, float32) if dtype.is_float and dtype.bits == 16 else value

    def dtype(self, value: str) -> DType:
        """Return the dtype of ``value``."""
        return self.call.dtype_of(value)

    def shape(self, value: str) -> Shape:
        """Return the shape of ``value``."""
        return self.call.shape_of(value)

    def apply(self, op: str, *inputs: str, shape: Shape | None = None, dtype: DType | None = None) -> str:
        """Return ``op`` of ``inputs``; where nothing else is said it has the shape and dtype of the first of them."""
        first = inputs[0]
        found = self.shape(first) if shape is None else shape
        return self.call.builder.emit(op, inputs, found, self.dtype(first) if dtype is None else dtype)

    def promoted(self, op: str, x: str, y: str, shape: Shape | None = None) -> str:
        """Return ``op`` of two values in the dtype that they promote to."""
        dtype = promote(self.dtype(x), self.dtype(y))
        builder = self.call.builder
        return self.apply(op, builder.cast(x, dtype), builder.cast(y, dtype), shape=shape)

    def number(self, value: Number, like: str) -> str:
        """Return the constant ``value`` in the dtype of ``like``."""
        return self.call.builder.number(value, self.dtype(like))

    def compare(self, op: str, x: str, y: str) -> str:
        """Return where comparison ``op`` holds; ``y`` broadcasts to ``x``."""
        return self.apply(op, x, y, dtype=bool_)

    def choose(self, condition: str, if_true: str, if_false: str, shape: Shape) -> str:
        """Return ``if_true`` where ``condition`` holds, else ``if_false``, over ``shape``."""
        return self.apply("SelectV2", condition, if_true, if_false, shape=shape, dtype=self.dtype(if_true))

    def reduce(self, op: str, value: str, axes: tuple[int, ...], keep: bool) -> str:
        """Return ``value`` reduced along ``axes`` by ``op`` (ReduceSumD, ...)."""
        own = self.shape(value)
        shape = tuple([const(1) if k in axes else size for k, size in enumerate(own) if keep or k not in axes])
        attrs = (Attr("axes", axes), Attr("keep_dims", keep))
        return self.call.builder.emit(op, (value,), shape, self.dtype(value), attrs=attrs)

    def reshaped(self, value: str, shape: Shape) -> str:
        """Return ``value`` under another shape."""
        return value if self.shape(value) == shape else self.apply("Reshape", value, shape=shape)

    def finish(self, name: str, value: str) -> None:
        """Make result ``name``, where it is wanted, ``value`` rounded to the dtype of the result."""
        if name:
            self.call.builder.adopt(name, self.call.builder.cast(value, self.dtype(name)))
