"""The networks behind `families.CASES`, each written as its makers write it: mostly from primitives."""

from collections.abc import Callable

from autofuse_ir import dtypes as dt
from autofuse_ir.graph import Graph

from autofuse_testkit.networks import Network, layer_norm_of, rms_norm_of, softmax_of


def chain(b: Network) -> str:
    """Ten element-wise operators."""
    x, bias = b.input("x", ("n", "m"), dt.float32), b.input("bias", ("m",), dt.float32)
    t = b.op("Add", b.op("Mul", x, b.number(0.7)), bias)
    a = b.op("Relu", t)
    left = b.op("Add", b.op("Mul", a, b.op("Sigmoid", t)), b.op("Tanh", t))
    return b.op("Mul", left, b.op("Exp", b.op("Neg", a)))


def gelu_erf(b: Network) -> str:
    """GELU by erf of a biased value, and a residual."""
    x, bias = b.input("x", ("n", "m"), dt.float32), b.input("bias", ("m",), dt.float32)
    residual = b.input("residual", ("n", "m"), dt.float32)
    return b.op("Add", b.op("GeluV2", b.op("Add", x, bias)), residual)


def swiglu(b: Network) -> str:
    """SwiGLU with gate and value apart."""
    gate, up = b.input("gate", ("n", "m"), dt.float32), b.input("up", ("n", "m"), dt.float32)
    return b.op("Mul", b.op("Swish", gate), up)


def residual_norm(b: Network) -> str:
    """Residual + LayerNorm."""
    x, r = b.input("x", ("n", "m"), dt.float32), b.input("r", ("n", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    return layer_norm_of(b, b.op("Add", x, r), gamma, beta)


def rms_bf16(b: Network) -> str:
    """RMSNorm in float32 of bfloat16."""
    x, gamma = b.input("x", ("n", "m"), dt.bfloat16), b.input("gamma", ("m",), dt.bfloat16)
    wide, scale = (b.op("Cast", each, dst_type=0) for each in (x, gamma))
    return b.op("Cast", rms_norm_of(b, wide, scale), dst_type=27)


def variance(axis: int) -> Callable[[Network], str]:
    """Variance along the last axis (-1), or along axis 1 of three."""

    def build(b: Network) -> str:
        shape = ("n", "m") if axis < 0 else ("n", "k", "m")
        x = b.input("x", shape, dt.float32)
        centred = b.op("Sub", x, b.op("ReduceMeanD", x, axes=(axis,), keep_dims=True))
        return b.op("ReduceMeanD", b.op("Mul", centred, centred), axes=(axis,))

    return build


def reduced(op: str, axes: tuple[int, ...], rank: int = 2) -> Callable[[Network], str]:
    """One reduction."""

    def build(b: Network) -> str:
        x = b.input("x", ("n", "m")[:rank], dt.float32)
        return b.op(op, x, axes=axes)

    return build


def concat3(b: Network) -> str:
    """Three pieces along the columns, two of them computed."""
    x, y, z = (b.input(name, ("n", name), dt.float32) for name in ("a", "b", "c"))
    middle = b.op("Add", b.op("Mul", y, b.number(2.0)), b.number(1.0))
    return b.op("ConcatV2D", b.op("Relu", x), middle, b.op("Tanh", z), concat_dim=1, N=3)


def transpose_add(b: Network) -> str:
    """Addition of a transposed value."""
    x, y = b.input("x", ("b", "s", "d"), dt.float32), b.input("y", ("b", "d", "s"), dt.float32)
    return b.op("Add", b.op("TransposeD", x, perm=(0, 2, 1)), y)


def rotary(b: Network) -> str:
    """Rotary embedding by halves of 64."""
    q = b.input("q", ("h", "s", 128), dt.float32)
    cos, sin = b.input("cos", ("s", 128), dt.float32), b.input("sin", ("s", 128), dt.float32)
    first, second = b.op_outputs("SplitD", q, outputs=2, split_dim=-1, num_split=2)
    turned = b.op("ConcatV2D", b.op("Neg", second), first, concat_dim=-1, N=2)
    return b.op("Add", b.op("Mul", q, cos), b.op("Mul", turned, sin))


def adam() -> Graph:
    """One step of Adam, from primitives."""
    b = Network("adam")
    p, g, m, v = (b.input(name, ("n",), dt.float32) for name in ("p", "g", "m", "v"))

    def times(x: str, value: float) -> str:
        return b.op("Mul", x, b.number(value))

    first = b.op("Add", times(m, 0.9), times(g, 0.1))
    second = b.op("Add", times(v, 0.999), b.op("Mul", times(g, 0.001), g))
    root = b.op("Add", b.op("Sqrt", times(second, 1000.0)), b.number(1e-8))
    step = b.op("RealDiv", times(first, 1e-2), root)
    return b.build({"new_p": b.op("Sub", p, step), "new_m": first, "new_v": second})


def mixed(b: Network) -> str:
    """float16 + bfloat16 in float32."""
    x, y = b.input("x", ("n",), dt.float16), b.input("y", ("n",), dt.bfloat16)
    total = b.op("Add", b.op("Cast", x, dst_type=0), b.op("Cast", y, dst_type=0))
    return b.op("Mul", b.op("Relu", total), b.number(0.5))


def embedding(b: Network) -> str:
    """Rows of a table + positions, LayerNorm."""
    table, ids = b.input("table", ("v", "m"), dt.float32), b.input("ids", ("n",), dt.int64)
    positions = b.input("positions", ("n", "m"), dt.float32)
    gamma, beta = b.input("gamma", ("m",), dt.float32), b.input("beta", ("m",), dt.float32)
    found = b.op("GatherV2", table, ids, b.number(0, dt.int64))
    return layer_norm_of(b, b.op("Add", found, positions), gamma, beta)


def masked(b: Network) -> str:
    """Softmax of scaled and masked scores."""
    x, mask = b.input("x", ("n", "m"), dt.float32), b.input("mask", ("n", "m"), dt.bool_)
    return softmax_of(b, b.op("SelectV2", mask, b.op("Mul", x, b.number(0.125)), b.number(-1e9)))


def cross_entropy(b: Network) -> str:
    """Mean loss of labels from logits."""
    x, labels = b.input("x", ("n", "m"), dt.float32), b.input("labels", ("n", 1), dt.int64)
    picked = b.op("GatherElements", b.op("LogSoftmaxV2", x, axes=(-1,)), labels, dim=1)
    return b.op("Neg", b.op("ReduceMeanD", picked, axes=(0, 1)))


def batch_norm(b: Network) -> str:
    """Folded BatchNorm + ReLU6."""
    x = b.input("x", ("n", "c", "h"), dt.float32)
    mean, var, gamma, beta = (b.input(name, ("c", 1), dt.float32) for name in ("mean", "var", "gamma", "beta"))
    scale = b.op("RealDiv", gamma, b.op("Sqrt", b.op("Add", var, b.number(1e-5))))
    return b.op("Relu6", b.op("Add", b.op("Mul", b.op("Sub", x, mean), scale), beta))


def quantised(b: Network) -> str:
    """Dequantise, ReLU, quantise."""
    x = b.input("x", ("n",), dt.int8)
    wide = b.op("DequantizeLinear", x, b.number(0.05), b.number(3, dt.int8))
    return b.op("QuantizeLinear", b.op("Relu", wide), b.number(0.04), b.number(-10, dt.int8))
