"""No rule knows a composite operator: written from primitives under other names, a network becomes the same kernel.

The two forms of each of the twelve networks are compared as expressions over what they load, so the order of
independent nodes and all names do not matter, and both are run.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import numpy_dtype, to_tensor_data

Array = np.ndarray[Any, Any]
Shape = tuple[int | str, ...]
Build = Callable[..., str | tuple[str, ...]]
"""Adds operators that read the inputs of a network, and returns its result or results."""

FAR = 2**31 - 1


@frozen
class Network:
    """Two ways to write it, its inputs, and the sizes it is run with; ``ulps`` of the largest number between them.

    ``same`` says that both are one expression; where the shapes of the loops differ, that they do the same steps.
    """

    composite: Build
    primitives: Build
    inputs: dict[str, Shape]
    sizes: dict[str, int]
    dtypes: Mapping[str, DType] = field(factory=dict)
    same: bool = True


def number(b: GraphBuilder, value: float, dtype: DType = dt.float32) -> str:
    return b.constant(to_tensor_data(np.asarray(value).astype(numpy_dtype(dtype))))


def ints(b: GraphBuilder, *values: int) -> str:
    return b.constant(to_tensor_data(np.asarray(values, np.int64)))


def softmax(b: GraphBuilder, x: str, keep: bool = True) -> str:
    def widened(value: str) -> str:
        return value if keep else b.op("UnsqueezeV3", value, ints(b, -1))

    e = b.op("Exp", b.op("Sub", x, widened(b.op("ReduceMax", x, ints(b, -1), keep_dims=keep))))
    return b.op("RealDiv", e, widened(b.op("ReduceSum", e, ints(b, -1), keep_dims=keep)))


def log_softmax(b: GraphBuilder, x: str) -> str:
    below = b.op("Sub", x, b.op("ReduceMax", x, ints(b, -1), keep_dims=True))
    return b.op("Sub", below, b.op("Log", b.op("ReduceSum", b.op("Exp", below), ints(b, -1), keep_dims=True)))


def normal(b: GraphBuilder, x: str, epsilon: float) -> str:
    """``x`` in units of its deviation along the last dim, by two passes."""
    apart = b.op("Sub", x, b.op("ReduceMean", x, ints(b, -1), keep_dims=True))
    variance = b.op("ReduceMean", b.op("Mul", apart, apart), ints(b, -1), keep_dims=True)
    return b.op("Mul", apart, b.op("RealDiv", number(b, 1.0), b.op("Sqrt", b.op("Adds", variance, value=epsilon))))


def layer_norm(b: GraphBuilder, x: str, gamma: str, beta: str) -> str:
    return b.op("Add", b.op("Mul", normal(b, x, 1e-5), gamma), beta)


def rms_norm(b: GraphBuilder, x: str, gamma: str) -> str:
    square = b.op("ReduceMean", b.op("Square", x), ints(b, -1), keep_dims=True)
    root = b.op("Sqrt", b.op("Adds", square, value=1e-6))
    return b.op("Mul", b.op("Mul", x, b.op("RealDiv", number(b, 1.0), root)), gamma)


def group_norm(b: GraphBuilder, x: str, gamma: str, beta: str) -> str:
    """Six channels of four in three groups."""
    y = b.op("Reshape", normal(b, b.op("Reshape", x, ints(b, -1, 3, 8)), 1e-5), ints(b, -1, 6, 4))
    column = [b.op("Reshape", each, ints(b, 6, 1)) for each in (gamma, beta)]
    return b.op("Add", b.op("Mul", y, column[0]), column[1])


def rotary(b: GraphBuilder, x: str, cos: str, sin: str) -> str:
    """The halves of the last dim turned: x * cos + (-x2, x1) * sin."""
    first, second = b.op_outputs("SplitD", x, outputs=2, split_dim=-1, num_split=2)
    turned = b.op("ConcatD", b.op("Neg", second), first, concat_dim=-1, N=2)
    return b.op("Add", b.op("Mul", x, cos), b.op("Mul", turned, sin))


def swiglu(b: GraphBuilder, x: str) -> str:
    gate, up = b.op_outputs("SplitD", x, outputs=2, split_dim=-1, num_split=2)
    return b.op("Mul", b.op("Mul", gate, b.op("Sigmoid", gate)), up)


RATES = {"power1": 0.729, "power2": 0.997, "lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def adam(b: GraphBuilder, var: str, m: str, v: str, grad: str) -> tuple[str, ...]:
    rates = [number(b, value) for value in RATES.values()]
    return tuple(b.op_outputs("ApplyAdamD", var, m, v, *rates, grad, outputs=3))


def adam_by_hand(b: GraphBuilder, var: str, m: str, v: str, grad: str) -> tuple[str, ...]:
    power1, power2, lr, beta1, beta2, epsilon = (number(b, value) for value in RATES.values())

    def rest(value: str) -> str:
        return b.op("Sub", number(b, 1.0), value)

    m = b.op("Add", m, b.op("Mul", rest(beta1), b.op("Sub", grad, m)))
    v = b.op("Add", v, b.op("Mul", rest(beta2), b.op("Sub", b.op("Mul", grad, grad), v)))
    rate = b.op("RealDiv", b.op("Mul", lr, b.op("Sqrt", rest(power2))), rest(power1))
    step = b.op("RealDiv", b.op("Mul", rate, m), b.op("Add", epsilon, b.op("Sqrt", v)))
    return b.op("Sub", var, step), m, v


def requantised(b: GraphBuilder, x: str) -> str:
    wide = b.op("DequantizeLinear", x, number(b, 0.05), number(b, 3, dt.int8))
    return b.op("QuantizeLinear", b.op("Relu", wide), number(b, 0.07), number(b, -5, dt.int8))


def requantised_by_hand(b: GraphBuilder, x: str) -> str:
    apart = b.op("Sub", b.op("Cast", x, dst_type=dt.int32.ascend_code), number(b, 3, dt.int32))
    wide = b.op("Mul", b.op("Cast", apart, dst_type=0), number(b, 0.05))
    steps = b.op("Round", b.op("RealDiv", b.op("Maximum", wide, number(b, 0.0)), number(b, 0.07)))
    return b.op("Cast", b.op("Add", steps, number(b, -5.0)), dst_type=dt.int8.ascend_code)


def looked_up(b: GraphBuilder, words: str, ids: str, places: str) -> str:
    return b.op("Add", b.op("GatherV2", words, ids, number(b, 0, dt.int64)), places)


ROWS = {"n": 3, "m": 37}
NORM: dict[str, Shape] = {"g": (768,), "o": (768,)}
NETWORKS = {
    "softmax": Network(lambda b, x: b.op("SoftmaxV2", x), softmax, {"x": ("n", "m")}, ROWS),
    "softmax of rank 4": Network(
        lambda b, x: b.op("SoftmaxV2", x), softmax, {"x": ("b", "h", "n", "m")}, ROWS | {"b": 2, "h": 2}
    ),
    "softmax without kept dims": Network(
        lambda b, x: b.op("SoftmaxV2", x), lambda b, x: softmax(b, x, False), {"x": ("n", "m")}, ROWS
    ),
    "layer norm of a residual": Network(
        lambda b, x, r, g, o: b.op_outputs("AddLayerNorm", x, r, g, o, outputs=4)[0],
        lambda b, x, r, g, o: layer_norm(b, b.op("Add", x, r), g, o),
        {"x": ("n", 768), "r": ("n", 768)} | NORM,
        {"n": 3},
    ),
    "RMS norm": Network(
        lambda b, x, g: b.op_outputs("RmsNorm", x, g, outputs=2)[0],
        rms_norm,
        {"x": ("b", "n", "m"), "g": ("m",)},
        ROWS | {"b": 2},
    ),
    "log softmax": Network(lambda b, x: b.op("LogSoftmaxV2", x), log_softmax, {"x": ("n", "m")}, ROWS),
    "group norm": Network(
        lambda b, x, g, o: b.op_outputs("GroupNorm", x, g, o, outputs=3, num_groups=3)[0],
        group_norm,
        {"x": ("n", 6, 4), "g": (6,), "o": (6,)},
        {"n": 2},
        same=False,
    ),
    "masked softmax": Network(
        lambda b, x, mask: b.op("SoftmaxV2", b.op("MaskedFill", b.op("Muls", x, value=0.125), mask, number(b, -1e9))),
        lambda b, x, mask: softmax(b, b.op("SelectV2", mask, number(b, -1e9), b.op("Mul", x, number(b, 0.125)))),
        {"x": ("b", "n", "m"), "mask": ("b", 1, "m")},
        ROWS | {"b": 2},
        {"mask": dt.bool_},
    ),
    "layer norm of embeddings": Network(
        lambda b, words, ids, places, g, o: b.op_outputs(
            "LayerNormV4", looked_up(b, words, ids, places), ints(b, 768), g, o, outputs=3
        )[0],
        lambda b, words, ids, places, g, o: layer_norm(b, looked_up(b, words, ids, places), g, o),
        {"words": ("v", 768), "ids": ("b", "n"), "places": ("n", 768)} | NORM,
        {"v": 5, "b": 2, "n": 3},
        {"ids": dt.int64},
    ),
    "rotary embedding": Network(
        lambda b, x, cos, sin: b.op("RotaryPositionEmbedding", x, cos, sin),
        rotary,
        {"x": ("b", "n", "2*d"), "cos": ("n", "2*d"), "sin": ("n", "2*d")},
        {"b": 2, "n": 3, "d": 5},
        same=False,
    ),
    "SwiGLU": Network(lambda b, x: b.op("SwiGlu", x), swiglu, {"x": ("n", "2*m")}, ROWS),
    "Adam": Network(adam, adam_by_hand, dict.fromkeys(("var", "m", "v", "grad"), ("n", "m")), ROWS),
    "int8 layers": Network(requantised, requantised_by_hand, {"x": ("n", "m")}, ROWS, {"x": dt.int8}),
    "concatenation of three": Network(
        lambda b, x, y, z: b.op("ConcatV2D", x, b.op("Relu", y), z, concat_dim=0, N=3),
        lambda b, x, y, z: b.op(
            "ConcatD", x, b.op("ConcatD", b.op("Maximum", y, number(b, 0.0)), z, concat_dim=0, N=2), concat_dim=0, N=2
        ),
        {"x": (3, "m"), "y": (4, "m"), "z": (5, "m")},
        ROWS,
    ),
}


def graph_of(network: Network, build: Build) -> Graph:
    b = GraphBuilder("network")
    inputs = [b.input(name, shape, network.dtypes.get(name, dt.float32)) for name, shape in network.inputs.items()]
    made = build(b, *inputs)
    results = made if isinstance(made, tuple) else (made,)
    return b.build({f"y{k}": value for k, value in enumerate(results)})


def arrays(network: Network) -> dict[str, Array]:
    draw = np.random.default_rng(1)

    def extent(size: int | str) -> int:
        factor, _, symbol = str(size).rpartition("*")
        return int(factor or 1) * network.sizes.get(symbol, 0) if isinstance(size, str) else size

    found: dict[str, Array] = {}
    for name, shape in network.inputs.items():
        sizes = [extent(size) for size in shape]
        dtype = network.dtypes.get(name, dt.float32)
        drawn = draw.standard_normal(sizes) if dtype.is_float else draw.integers(0, 2, sizes)
        found[name] = np.abs(drawn).astype(numpy_dtype(dtype)) if name == "v" else drawn.astype(numpy_dtype(dtype))
    return found


def expressions(kernel: AscBackend) -> list[tuple[Any, ...]]:
    """What a kernel computes, as one expression per output, in no order."""
    known: dict[str, tuple[Any, ...]] = {}

    def expression(node: AscNode) -> tuple[Any, ...]:
        if node.op == "Data":
            return ("Data", kernel.inputs[node.argument_index])
        attrs = tuple(attr for attr in node.attrs if node.op != "Output")
        return (node.op, node.dtype, node.repeats, attrs, node.access, tuple(known[name] for name in node.inputs))

    for node in kernel.graph.nodes:
        known[node.name] = expression(node)
    assert len(set(map(repr, known.values()))) == len(kernel.graph.nodes), "nothing is computed twice"
    return sorted((known[node.name] for node in kernel.graph.nodes if node.op == "Output"), key=repr)


def steps(kernel: AscBackend) -> list[str]:
    """The arithmetic of a kernel, in no order; how often values are repeated and loaded depends on the axes."""
    return sorted(node.op for node in kernel.graph.nodes if node.op not in ("Broadcast", "Load", "Scalar", "IndexExpr"))


@pytest.mark.parametrize("name", NETWORKS)
def test_primitives_are_the_kernel_of_the_composite(kit: Any, name: str) -> None:
    network = NETWORKS[name]
    (mine,) = kit.kernels(kit.fuse(graph_of(network, network.primitives)))
    (other,) = kit.kernels(kit.fuse(graph_of(network, network.composite)))
    assert set(mine.inputs) == set(other.inputs)
    assert steps(mine) == steps(other)
    if network.same:
        assert expressions(mine) == expressions(other)


@pytest.mark.parametrize("name", NETWORKS)
def test_both_compute_the_same(kit: Any, name: str) -> None:
    network, values = NETWORKS[name], arrays(NETWORKS[name])
    kit.check(graph_of(network, network.primitives), values, ulps=8)
    kit.check(graph_of(network, network.composite), values, ulps=8)
    composite, primitives = (
        kit.run_graph(graph_of(network, b), values) for b in (network.composite, network.primitives)
    )
    assert all(kit.near(primitives[key], composite[key], 8) for key in composite)
