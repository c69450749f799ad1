"""Chains on 8-bit values become tables: the same bits for all 256 values, in every place such a chain can stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse_ir import dtypes as dt
from autofuse_ir.dtypes import DType
from autofuse_ir.kernels import FileRole
from autofuse_reference.graph.interpret import GraphInterpreter
from autofuse_symshape.stage import infer
from autofuse_testkit.networks import Network

Array = np.ndarray[Any, Any]
Build = Callable[[Network, DType], dict[str, str]]

STRIP = 64
"""Lanes of the widest strip of 8-bit values."""


def wide(b: Network, x: str, dtype: DType) -> str:
    return b.op("DequantizeLinear", x, b.number(0.05), b.number(3, dtype))


def narrow(b: Network, x: str, dtype: DType) -> str:
    return b.op("QuantizeLinear", x, b.number(0.07), b.number(5, dtype))


def requantised(b: Network, dtype: DType) -> dict[str, str]:
    return {"y": narrow(b, b.op("Relu", wide(b, b.input("x", ("n", "m"), dtype), dtype)), dtype)}


def functions(b: Network, dtype: DType) -> dict[str, str]:
    return {"y": narrow(b, b.op("Tanh", b.op("Exp", wide(b, b.input("x", ("n", "m"), dtype), dtype))), dtype)}


def truth(b: Network, dtype: DType) -> dict[str, str]:
    return {"y": b.op("Greater", b.op("Exp", wide(b, b.input("x", ("n", "m"), dtype), dtype)), b.number(1.5))}


def also_wide(b: Network, dtype: DType) -> dict[str, str]:
    raised = b.op("Sigmoid", wide(b, b.input("x", ("n", "m"), dtype), dtype))
    return {"y": narrow(b, raised, dtype), "wide": raised}


def two_results(b: Network, dtype: DType) -> dict[str, str]:
    x = wide(b, b.input("x", ("n", "m"), dtype), dtype)
    return {"y": narrow(b, b.op("Sigmoid", x), dtype), "z": narrow(b, b.op("Tanh", x), dtype)}


def after_a_sum(b: Network, dtype: DType) -> dict[str, str]:
    x, row = b.input("x", ("n", "m"), dtype), b.input("row", ("m",), dtype)
    total = narrow(b, b.op("Add", wide(b, x, dtype), wide(b, row, dtype)), dtype)
    return {"y": narrow(b, b.op("Sigmoid", wide(b, total, dtype)), dtype), "total": total}


def along_rows(b: Network, dtype: DType) -> dict[str, str]:
    x, column = b.input("x", ("n", "m"), dt.float32), b.input("column", ("n", 1), dtype)
    gate = narrow(b, b.op("Sigmoid", wide(b, column, dtype)), dtype)
    return {"y": b.op("Mul", x, wide(b, gate, dtype))}


def before_a_reduction(b: Network, dtype: DType) -> dict[str, str]:
    x = narrow(b, b.op("Sigmoid", wide(b, b.input("x", ("n", "m"), dtype), dtype)), dtype)
    return {"y": b.op("ReduceMaxD", wide(b, x, dtype), axes=(-1,))}


def cheap(b: Network, dtype: DType) -> dict[str, str]:
    x = b.input("x", ("n", "m"), dtype)
    return {"y": b.op("Maximum", x, b.number(4, dtype))}


TABLES: dict[Build, int] = {
    requantised: 1,
    functions: 1,
    truth: 1,
    also_wide: 1,
    two_results: 2,
    after_a_sum: 1,
    along_rows: 1,
    before_a_reduction: 1,
    cheap: 0,
}


def content(b: Network, name: str, shape: tuple[int, ...], dtype: DType) -> Array:
    del b
    if name == "x" and dtype == dt.float32:
        return np.linspace(-3, 3, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    least = -128 if dtype == dt.int8 else 0
    values = least + (np.arange(int(np.prod(shape))) * 7 + len(name)) % 256
    return values.astype(np.int8 if dtype == dt.int8 else np.uint8).reshape(shape)


@pytest.mark.parametrize("dtype", [dt.int8, dt.uint8], ids=str)
@pytest.mark.parametrize("build", TABLES, ids=lambda build: build.__name__)
def test_the_bits_are_those_of_the_operators(build: Build, dtype: DType) -> None:
    network = Network(build.__name__)
    graph = network.build(build(network, dtype))
    lowered = lower_graph(graph, chosen_target("cpu"), chosen_options())
    files = [file for bundle in lowered.bundles for file in bundle.files]
    kernels = "".join(file.text for file in files if file.role is FileRole.KERNEL)
    assert len({part.partition(";")[0] for part in kernels.split("af_table<")[1:]}) == TABLES[build]
    fn = load_lowered(lowered, chosen_target("cpu"), "jit")
    known, facts = infer(graph)
    reference = GraphInterpreter(known, {fact.name: fact.dtype for fact in facts.values})
    for rows, columns in ((0, 3), (1, 1), (3, 256), (5, STRIP + 1), (2, 4 * STRIP - 1), (7, 40)):
        sizes = {"n": rows, "m": columns, "1": 1}
        values = {
            value.name: content(network, value.name, tuple(sizes[str(dim)] for dim in value.shape), value.dtype)
            for value in graph.inputs
        }
        found = fn(*values.values())
        wanted = reference.outputs(values).values()
        for got, want in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
            if want.dtype == np.float32:  # of functions: not to the last bit
                np.testing.assert_allclose(got, want, rtol=2e-6, err_msg=str(sizes))
            else:
                np.testing.assert_array_equal(got, want, err_msg=str(sizes), strict=True)
