"""Shapes of matrix multiplications and attention."""

from autofuse_ir.dims import Dim, const, floordiv

from autofuse_symshape.broadcast import broadcast, broadcast_dims, broadcast_onto
from autofuse_symshape.call import Call, shown
from autofuse_symshape.known import Shape
from autofuse_symshape.rules.model import Rule, Shapes
from autofuse_symshape.simplify import ONE


def multiplied(call: Call, a: Shape, b: Shape) -> Shape:
    """The shape of NumPy's ``a @ b``: matrices of the last two axes, the others broadcast."""
    if not a or not b:
        call.fail(f"{shown(a)} and {shown(b)} do not multiply: both need an axis")
    left = a if len(a) > 1 else (ONE, *a)
    right = b if len(b) > 1 else (*b, ONE)
    call.require_equal(
        left[-1], right[-2], lambda: f"{shown(a)} and {shown(b)} do not multiply: {left[-1]} and {right[-2]} differ"
    )
    batch = broadcast(call, (left[:-2], right[:-2]))
    return (*batch, *([left[-2]] if len(a) > 1 else []), *([right[-1]] if len(b) > 1 else []))


def _transposed(shape: Shape, flag: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if flag and len(shape) > 1 else shape


def _matmul(first: str, second: str) -> Rule:
    def rule(call: Call) -> Shapes:
        a, b = _transposed(call.shape("x1"), call.flag(first)), _transposed(call.shape("x2"), call.flag(second))
        result = multiplied(call, a, b)
        if call.op.input("bias") is not None and call.has("bias"):
            result = broadcast(call, (result, call.shape("bias")))
        return (result,)

    return rule


def _plain(first: str, second: str) -> Rule:
    return lambda call: (multiplied(call, call.shape(first), call.shape(second)),)


def _gemm(call: Call) -> Shapes:
    a = _transposed(call.shape_of_rank("A", 2), call.flag("transA"))
    b = _transposed(call.shape_of_rank("B", 2), call.flag("transB"))
    result = multiplied(call, a, b)
    if call.has("C"):
        broadcast_onto(call, result, call.shape("C"), "input 'C'")
    return (result,)


def _einsum(call: Call) -> Shapes:
    equation = call.text_attr("equation").replace(" ", "")
    inputs, arrow, output = equation.partition("->")
    terms, shapes = inputs.split(","), call.shapes("x")
    if len(terms) != len(shapes):
        call.fail(f"the equation {equation!r} has {len(terms)} terms for {len(shapes)} inputs")
    sizes: dict[str, Dim] = {}
    ellipses: list[Shape] = []
    for term, shape in zip(terms, shapes, strict=True):
        labels, around = _labelled(call, equation, term, shape)
        if around is not None:
            ellipses.append(around)
        for label, dim in labels:
            sizes[label] = broadcast_dims(call, sizes[label], dim, shapes) if label in sizes else dim
    around = broadcast(call, ellipses) if ellipses else ()
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        once = sorted({letter for letter in letters if letters.count(letter) == 1})
        output = ("..." if ellipses else "") + "".join(once)
    before, dots, after = output.partition("...")
    if any(label not in sizes for label in before + after):
        call.fail(f"the result of the equation {equation!r} names a dim that no input has")
    middle = around if dots else ()
    return ((*[sizes[label] for label in before], *middle, *[sizes[label] for label in after]),)


def _labelled(call: Call, equation: str, term: str, shape: Shape) -> tuple[list[tuple[str, Dim]], Shape | None]:
    """The dims of an input by label, and those its ellipsis stands for (None without one)."""
    before, dots, after = term.partition("...")
    rest = len(shape) - len(before) - len(after)
    if rest < 0 or (rest > 0 and not dots):
        call.fail(f"term {term!r} of the equation {equation!r} does not fit {shown(shape)}")
    tail = shape[len(shape) - len(after) :] if after else ()
    labels = [*zip(before, shape, strict=False), *zip(after, tail, strict=True)]
    return labels, shape[len(before) : len(before) + rest] if dots else None


def _attention(call: Call) -> Shapes:
    """ONNX Attention: rank 4 is [batch, heads, length, size], rank 3 [batch, length, heads * size]."""
    q, k, v = call.shape("Q"), call.shape("K"), call.shape("V")
    if len(q) == 4:
        q_heads, q_length = q[1], q[2]
        kv_heads, kv_length, k_size, v_size = k[1], k[2], k[3], v[3]
    elif len(q) == 3:
        q_heads, kv_heads = const(call.int_attr("q_num_heads")), const(call.int_attr("kv_num_heads"))
        if q_heads == 0 or kv_heads == 0:
            call.fail("inputs of rank 3 need q_num_heads and kv_num_heads")
        q_length, kv_length = q[1], k[1]
        k_size, v_size = floordiv(k[2], kv_heads), floordiv(v[2], kv_heads)
    else:
        call.fail(f"input 'Q' of shape {shown(q)} must have rank 3 or 4")
    whole = kv_length + call.shape("past_key")[2] if call.has("past_key") else kv_length
    y = (q[0], q_heads, q_length, v_size) if len(q) == 4 else (q[0], q_length, q_heads * v_size)
    present = ((q[0], kv_heads, whole, k_size), (q[0], kv_heads, whole, v_size))
    return (y, *present, (q[0], q_heads, q_length, whole))


def _flash_attention(call: Call) -> Shapes:
    """Statistics are [batch, heads, length, 8]; softmax_out is as declared."""
    query, layout = call.shape("query"), call.text_attr("input_layout")
    heads = const(call.int_attr("head_num"))
    places = {"BSH": (0, 1), "SBH": (1, 0), "BSND": (0, 1), "BNSD": (0, 2)}.get(layout)
    statistics = None if places is None else (query[places[0]], heads, query[places[1]], const(8))
    return (statistics, statistics, None, query)


def _infer_attention(call: Call) -> Shapes:
    query, layout = call.shape("query"), call.text_attr("input_layout")
    places = {"BSH": (0, 1), "BSND": (0, 1), "BNSD": (0, 2)}.get(layout)
    heads = const(call.int_attr("num_heads"))
    return (query, None if places is None else (query[places[0]], heads, query[places[1]], ONE))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("MatMul", "MatMulV2", "MatMulV3"), _matmul("transpose_x1", "transpose_x2")),
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _matmul("adj_x1", "adj_x2")),
    "MatMulInteger": _plain("A", "B"),
    "QLinearMatMul": _plain("a", "b"),
    "Gemm": _gemm,
    "Einsum": _einsum,
    "Attention": _attention,
    "FlashAttentionScore": _flash_attention,
    "FusedInferAttentionScore": _infer_attention,
}
