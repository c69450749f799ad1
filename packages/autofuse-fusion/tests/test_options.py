"""What users may switch: each option has its effect and its reason."""

from typing import Any

import numpy as np
import pytest
from autofuse_fusion.explain import summary
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import const, symbol
from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Graph
from autofuse_ir.operators import Family
from autofuse_reference.arrays import to_tensor_data

X = {"x": np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)}


def chain(*ops: str) -> Graph:
    b = GraphBuilder("chain")
    value = b.input("x", ("n", 4), dt.float32)
    for number, op in enumerate(ops):
        value = b.op(op, value, name=f"block{number // 2}/{op.lower()}{number}")
    return b.build(outputs={"y": value})


def reasons(fused: Any) -> dict[tuple[str, str], Reason]:
    return {(r.first, r.second): r.reason for r in fused.refusals}


def test_everything_fuses_by_default(kit) -> None:
    fused = kit.check(chain("Exp", "Abs", "Relu", "Neg"), X)
    assert len(kit.kernels(fused)) == 1
    assert fused.refusals == ()


def test_disabled_gives_a_kernel_per_operator(kit) -> None:
    fused = kit.check(chain("Exp", "Abs", "Relu"), X, enable=False)
    assert [len(kernel.operators) for kernel in kit.kernels(fused)] == [1, 1, 1]
    assert set(reasons(fused).values()) == {Reason.SWITCHED_OFF}


@pytest.mark.parametrize(
    "options",
    [
        {"skip_operators": ("block0/abs1",)},
        {"skip_types": ("Abs",)},
        {"families": (Family.ACTIVATION, Family.BINARY)},
    ],
)
def test_skipped_operators_stay_alone(kit, options: dict[str, Any]) -> None:
    fused = kit.check(chain("Exp", "Abs", "Relu", "Relu6"), X, **options)
    found = reasons(fused)
    assert found[("block0/exp0", "block0/abs1")] is Reason.SWITCHED_OFF
    assert ("block1/relu2", "block1/relu63") not in found


def test_scopes_keep_fusion_inside(kit) -> None:
    fused = kit.check(chain("Exp", "Abs", "Relu", "Neg"), X, scopes=("block0", "block1"))
    assert [kernel.operators for kernel in kit.kernels(fused)] == [
        ("block0/exp0", "block0/abs1"),
        ("block1/relu2", "block1/neg3"),
    ]
    assert reasons(fused)[("block0/abs1", "block1/relu2")] is Reason.OUTSIDE_SCOPE
    assert FusionOptions(scopes=("a", "a/b")).scope_of("a/b/c") == "a/b"
    assert FusionOptions(scopes=("a",)).scope_of("ab/c") is None


def test_the_number_of_operators_is_limited(kit) -> None:
    fused = kit.check(chain(*["Exp", "Abs"] * 4), X, max_operators=3)
    assert max(len(kernel.operators) for kernel in kit.kernels(fused)) == 3
    assert Reason.TOO_LARGE in reasons(fused).values()


def test_inputs_and_outputs_are_limited(kit) -> None:
    b = GraphBuilder("many")
    total = b.input("x0", ("n",), dt.float32)
    arrays = {"x0": np.ones(5, np.float32)}
    for number in range(1, 6):
        total = b.op("Add", total, b.input(f"x{number}", ("n",), dt.float32))
        arrays[f"x{number}"] = np.full(5, number, np.float32)
    fused = kit.check(b.build(outputs={"y": total}), arrays, max_inputs=3)
    assert max(len(kernel.inputs) for kernel in kit.kernels(fused)) == 3
    assert set(reasons(fused).values()) == {Reason.TOO_MANY_INPUTS}
    b = GraphBuilder("fan")
    x = b.input("x", ("n", 4), dt.float32)
    fan = b.build(outputs={f"y{i}": b.op("Muls", x, value=float(i + 2)) for i in range(5)})
    assert len(kit.kernels(kit.check(fan, X))) == 1
    limited = kit.check(fan, X, max_outputs=2)
    assert max(len(kernel.outputs) for kernel in kit.kernels(limited)) == 2
    assert set(reasons(limited).values()) == {Reason.TOO_MANY_OUTPUTS}


def test_wide_arithmetic_is_not_repeated_for_every_row(kit) -> None:
    b = GraphBuilder("rows")
    b.symbol("n", hint=100_000)
    x = b.input("x", ("n", 4096), dt.float32)
    row = b.input("row", (4096,), dt.float32)
    slow = row
    for _ in range(12):
        slow = b.op("GeluV2", slow)
    graph = b.build(outputs={"y": b.op("Add", x, slow)})
    fused = kit.fuse(graph)
    assert [len(kernel.operators) for kernel in kit.kernels(fused)] == [12, 1]
    assert list(reasons(fused).values()) == [Reason.NO_BENEFIT]


def test_widenings_are_read_through_up_to_the_threshold(kit) -> None:
    b = GraphBuilder("expand")
    x = b.input("x", ("n", 4), dt.float32)
    row = b.input("row", (4,), dt.float32)
    wide = b.op("Expand", row, b.op("Shape", x), name="wide")
    soft = b.op("Lgamma", b.op("Add", x, wide))
    graph = b.build(outputs={"y": b.op("Mul", soft, wide)})
    arrays = X | {"row": np.arange(4, dtype=np.float32)}
    assert all("wide" not in kernel.operators for kernel in kit.kernels(kit.check(graph, arrays)))
    stored = kit.check(graph, arrays, recomputation_threshold=1)
    assert sum("wide" in kernel.operators for kernel in kit.kernels(stored)) == 1


def test_refusals_say_what_was_lost(kit) -> None:
    b = GraphBuilder("lost")
    x = b.input("x", ("n", 4), dt.float32)
    y = b.op("Lgamma", b.op("Exp", x, name="e"), name="s")
    fused = kit.fuse(b.build(outputs={"y": y}))
    (refusal,) = fused.refusals
    assert (refusal.first, refusal.second, refusal.tensor) == ("e", "s", "e")
    assert refusal.shape == (symbol("n"), const(4))
    assert refusal.bytes_saved == symbol("n") * 32
    text = summary(fused)
    assert "kernel  k0_exp: e" in text
    assert "refused e -> s over %e: host-operator" in text


def test_reshapes_without_common_axes_end_the_nest(kit) -> None:
    b = GraphBuilder("nest")
    x = b.input("x", (4, 9), dt.float32)
    column = b.input("column", (4, 1), dt.float32)
    turned = b.op("Reshape", b.op("Add", x, column), b.constant(to_tensor_data(np.asarray([6, 6], np.int64))))
    y = b.op("Mul", turned, b.input("other", (6, 1), dt.float32))
    arrays = {
        "x": np.arange(36, dtype=np.float32).reshape(4, 9),
        "column": np.ones((4, 1), np.float32),
        "other": np.full((6, 1), 2, np.float32),
    }
    fused = kit.check(b.build(outputs={"y": y}), arrays)
    assert len(kit.kernels(fused)) == 2
    assert Reason.AXES_DO_NOT_MAP in reasons(fused).values()


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="numerics"):
        FusionOptions(numerics="fast")
    with pytest.raises(ValueError, match="max_operators"):
        FusionOptions(max_operators=0)
