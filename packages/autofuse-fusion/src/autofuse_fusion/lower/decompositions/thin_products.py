"""Products of matrices of which one is a vector: every element is used once, so they are no work for a matrix unit.

The rows of the wide operand are multiplied by the vector and added up; a column times a row is all products of pairs.
"""

from attrs import frozen
from autofuse_ir.dims import Dim, const
from autofuse_ir.graph import Node
from autofuse_ir.operators import attr_of, bind, operator

from autofuse_fusion.lower.call import Call, Lowering
from autofuse_fusion.lower.decompositions.functions import add, mul, times
from autofuse_fusion.lower.space import Lies, Space, one_each, space
from autofuse_fusion.lower.writer import Tensor
from autofuse_fusion.values import Values

_MATRIX_DIMS = 2


@frozen
class _Product:
    """The parameters of operator ``name``, which multiplies ``first`` and ``second`` and adds ``addend`` ("": none).

    ``turns`` are the attributes that exchange the last two axes of the operands.
    """

    name: str
    first: str
    second: str
    addend: str
    turns: tuple[str, str]

    def lowering(self) -> Lowering:
        """Return the lowering of the operator where an operand is thin."""
        return Lowering(self.name, self.write, accepts=self.accepts, space=self.space)

    def accepts(self, node: Node) -> bool:
        """True without the offsets of quantised weights."""
        op = operator(node.op)
        offset = op.input("offset_w") is not None and bind(node)["offset_w"] is not None
        return not offset and (op.attr_spec("offset_x") is None or attr_of(node, "offset_x") == 0)

    def space(self, node: Node, values: Values) -> Space | None:
        """Return the loops over batches, and over rows, columns and what is added up, of which one is 1.

        The last two stand as in the wide operand. None where no operand is thin.
        """
        bound = bind(node)
        a, b = bound[self.first], bound[self.second]
        assert isinstance(a, str)
        assert isinstance(b, str)
        left = _named(values.shape(a), "mk", bool(attr_of(node, self.turns[0])))
        right = _named(values.shape(b), "kn", bool(attr_of(node, self.turns[1])))
        sizes = {"m": const(1), "n": const(1)} | right | left
        if values.sizes.is_one(sizes["k"]):
            order = "mn"
        elif values.sizes.is_one(sizes["n"]):
            order = "".join(left)
        elif values.sizes.is_one(sizes["m"]):
            order = "".join(right)
        else:
            return None
        result = values.shape(node.outputs[0])
        named = [name for name in "mn" if name in left or name in right]
        batch = result[: len(result) - len(named)]
        place = {name: (len(batch) + k,) for k, name in enumerate(order)}

        def lies(shape: tuple[Dim, ...], names: list[str]) -> Lies:
            lead = len(shape) - len(names)
            return (*one_each(range(len(batch) - lead, len(batch))), *(place.get(name, ()) for name in names))

        on_result = lies(result, named)
        found = {self.first: lies(values.shape(a), list(left)), self.second: lies(values.shape(b), list(right))}
        found |= {f"-> {out.name}": on_result for out in operator(node.op).outputs}
        addend = bound.get(self.addend)
        if isinstance(addend, str):
            rank = len(values.shape(addend))
            found[self.addend] = ((),) * (rank - len(on_result)) + on_result[max(0, len(on_result) - rank) :]
        reduced = place.get("k", ())
        return space(node, values, (*batch, *(sizes[name] for name in order)), reduced, found)

    def write(self, call: Call) -> Tensor:
        """Return first @ second (times alpha) + addend (times beta)."""
        value = call.reduce("Sum", mul(call, call.tensor(self.first), call.tensor(self.second)))
        value = _weighted(call, value, "alpha")
        addend = call.optional(self.addend) if self.addend else None
        return value if addend is None else add(call, value, _weighted(call, addend, "beta"))


def _named(shape: tuple[Dim, ...], names: str, is_turned: bool) -> dict[str, Dim]:
    """Return the last dims by name, in their order; an operand of rank 1 has only the one that is added up."""
    if len(shape) == 1:
        return {"k": shape[0]}
    return dict(zip(reversed(names) if is_turned else names, shape[-_MATRIX_DIMS:], strict=True))


def _weighted(call: Call, value: Tensor, name: str) -> Tensor:
    if operator(call.node.op).attr_spec(name) is None or call.number(name) == 1.0:
        return value
    return times(call, value, call.number(name))


_TRANSPOSE = ("transpose_x1", "transpose_x2")
_ADJOINT = ("adj_x1", "adj_x2")

LOWERINGS: tuple[Lowering, ...] = (
    *(_Product(name, "x1", "x2", "bias", _TRANSPOSE).lowering() for name in ("MatMul", "MatMulV2", "MatMulV3")),
    _Product("BatchMatMul", "x1", "x2", "", _ADJOINT).lowering(),
    *(_Product(name, "x1", "x2", "bias", _ADJOINT).lowering() for name in ("BatchMatMulV2", "BatchMatMulV3")),
    _Product("Gemm", "A", "B", "C", ("transA", "transB")).lowering(),
)
