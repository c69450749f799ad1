"""Which primitives of AscIR an operator is made of, and on which dtypes."""

from autofuse_ir.asc_graph import Axis, AxisKind
from autofuse_ir.dims import const
from autofuse_ir.dtypes import DType
from autofuse_ir.graph import Node
from autofuse_ir.operators import input_names, operator
from autofuse_ir.target import TargetSpec

from autofuse_fusion.lower.call import Call, Frame, arguments_of
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.lower.writer import KernelWriter, Tensor
from autofuse_fusion.precision import computes_in
from autofuse_fusion.values import Values


def primitives(node: Node, values: Values, target: TargetSpec) -> tuple[tuple[str, DType], ...]:
    """Return (AscIR operator, dtype of its last operand) for each primitive that ``node`` is made of."""
    lowering = lowering_of(node.op)
    assert lowering is not None
    space = lowering.space(node, values)
    # One axis stands for all: what is computed does not depend on how many there are.
    writer = KernelWriter((Axis("z0", AxisKind.ORIGINAL, const(2)),))
    assert space is not None
    frame = Frame(
        shape=space.shape,
        reduced=(0,) if space.reduced else (),
        indexed=dict.fromkeys(space.indexed, (0,)),
        scanned=(0,) if space.scanned else (),
        index_dtype=space.index_dtype(values),
    )
    dtypes: dict[str, DType] = {}
    found: dict[str, list[Tensor]] = {}
    made: dict[str, DType] = {}
    op = operator(node.op)
    for number, (param, value) in enumerate(zip(input_names(op, len(node.inputs)), node.inputs, strict=True)):
        if value is None:
            continue
        dtype = values.fact(value).dtype
        dtypes.setdefault(param, dtype)
        operand = Tensor(f"operand{number}", dtype, (True,))
        made[operand.name] = dtype
        wide = operand if lowering.moves else writer.cast(operand, computes_in(dtype, node.op, target))
        found.setdefault(param, []).append(wide)
    declared = values.fact(node.outputs[0]).dtype
    lowering.write(Call(node, writer, arguments_of(op, found), dtypes, declared, frame))
    made |= {primitive.name: primitive.dtype for primitive in writer.nodes}
    return tuple((n.op, made[n.inputs[-1]]) for n in writer.nodes if n.inputs)
