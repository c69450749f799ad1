"""What the front end declares of a value: the shape where no rule knows better, and a check where one does."""

from autofuse_ir.dims import Dim, eq, free_symbols
from autofuse_ir.facts import ResultDim
from autofuse_ir.graph import Node, Value
from autofuse_ir.operators.bind import where

from autofuse_symshape.call import Call, shown
from autofuse_symshape.errors import ShapeError
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Shapes
from autofuse_symshape.scope import Scope


def declared_shape(scope: Scope, name: str, given: Value | None) -> Shape | None:
    """The declared shape of ``name``: sizes over known symbols as declared, others as unbacked symbols.

    None where not even the rank is declared.
    """
    if given is None or given.shape is None:
        return None
    return tuple(
        [
            dim if _is_known(scope, dim) else scope.fresh(f"{name}.dim{axis}", ResultDim(name, axis))
            for axis, dim in enumerate(given.shape)
        ]
    )


SAME_RANK: dict[str, str] = {
    **dict.fromkeys(("Slice", "StridedSliceV2", "StridedSliceV3", "Pad", "PadV3", "Tile", "Transpose"), "x"),
    **dict.fromkeys(("Concat", "ConcatV2", "Split", "SplitV", "TopKV2", "LayerNormV4"), "x"),
    **dict.fromkeys(("Resize", "Upsample", "TopK"), "X"),
    "CenterCropPad": "input_data",
    "DFT": "input",
}
"""Operators whose results have the rank of an input, whatever the operand is that is not known when compiling."""


def shape_of_rank(call: Call) -> Shapes:
    """Unbacked sizes in the rank that the operator has for sure; nothing where no rank is sure."""
    name = SAME_RANK.get(call.op.name)
    if name is None or (call.op.name == "StridedSliceV2" and not call.has("axes")):
        return ()
    bound = call.values(name)[0] if call.is_list(name) else call.value(name)
    shape = call.shape_of(bound)
    if shape is None:
        return ()
    return tuple([tuple([call.unbacked(i, axis) for axis in range(len(shape))]) for i in range(call.output_count)])


def refined(scope: Scope, node: Node, name: str, shape: Shape, given: Shape) -> Shape:
    """The inferred ``shape`` made to agree with the declared one: proved, guarded, or an error naming the operator."""
    if len(shape) != len(given):
        raise ShapeError(
            f"output {name!r} has shape {shown(shape)}, but is declared as {shown(given)}",
            where=where(node),
            fix="correct the declaration or the operator",
        )
    result = []
    for axis, (dim, declared) in enumerate(zip(shape, given, strict=True)):
        size = dim
        if dim != declared and _is_known(scope, declared):
            scope.require(
                eq(dim, declared),
                operator=node.name,
                where=where(node),
                message=f"dim {axis} of output {name!r} is {dim}, but is declared as {declared}",
            )
            size = declared if declared.is_constant else dim
        result.append(size)
    return tuple(result)


def _is_known(scope: Scope, dim: Dim) -> bool:
    return all(name in scope.symbols for name in free_symbols(dim))
