"""Shapes of quantisation, random tensors and optimizer steps."""

from autofuse_ir.dims import const
from autofuse_ir.operators import Flag, all_operators

from autofuse_symshape.call import Call
from autofuse_symshape.rules.model import Rule, Shapes, same_as
from autofuse_symshape.rules.shape_view import sizes_given


def _drawn(call: Call) -> Shapes:
    """A tensor of the given shape; a counter behind it keeps its own shape."""
    after = (call.shape("offset"),) if call.op.input("offset") is not None else ()
    return (sizes_given(call, "shape"), *after)


def _multinomial(call: Call) -> Shapes:
    x = call.shape_of_rank("input", 2)
    return ((x[0], const(call.int_attr("sample_size"))),)


def _updated(call: Call) -> Shapes:
    """Outputs are the like-named inputs, updated."""
    return tuple([call.shape(result.name) for result in call.op.outputs])


RULES: dict[str, Rule] = {
    "AscendQuant": same_as("x"),
    "QuantizeLinear": same_as("x"),
    "DequantizeLinear": same_as("x"),
    "DynamicQuantizeLinear": lambda call: (call.shape("x"), (), ()),
    **dict.fromkeys(
        ("RandomUniform", "RandomUniformV2", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal"), _drawn
    ),
    "Bernoulli": same_as("input"),
    "Multinomial": _multinomial,
    "HcomAllReduce": same_as("x"),
    **{
        op.name: _updated
        for op in all_operators()
        if op.has(Flag.IN_PLACE) and all(op.input(result.name) is not None for result in op.outputs)
    },
}
