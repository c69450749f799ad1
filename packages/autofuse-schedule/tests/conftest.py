"""Small kernels to schedule."""

from collections.abc import Callable

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscGraph, AscNode, Axis, AxisKind
from autofuse_ir.dims import Dim, const, symbol
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.target import Memory, TargetKind, TargetSpec, load_target

ZERO, ONE = const(0), const(1)


def access(memory: tuple[Dim, ...], axes: tuple[str | None, ...]) -> AccessMap:
    """One data dim per entry of ``axes``, step 1."""
    return AccessMap(memory, tuple(AccessDim(a, ONE if a else ZERO, ZERO) for a in axes))


def bias_add(
    rows: Dim, columns: Dim, dtype: DType = dt.float32, broadcast: bool = True
) -> tuple[AscBackend, SymbolFacts]:
    """y = x + bias, with the Broadcast of the bias explicit; without ``broadcast`` the second input is full."""
    full, wide = (rows, columns), (columns, ONE)
    one, narrow = ((ONE, columns), (ZERO, ONE)) if broadcast else (full, wide)
    data = (columns,) if broadcast else full
    axes = ("z1",) if broadcast else ("z0", "z1")
    nodes = [
        AscNode("x0", "Data", (), dtype, full, wide, (Attr("index", 0),)),
        AscNode("b0", "Data", (), dtype, one, narrow, (Attr("index", 1),)),
        AscNode("l0", "Load", ("x0",), dtype, full, wide, (), access(full, ("z0", "z1"))),
        AscNode("l1", "Load", ("b0",), dtype, one, narrow, (), access(data, axes)),
    ]
    second = "l1"
    if broadcast:
        nodes.append(AscNode("b1", "Broadcast", ("l1",), dtype, full, wide, (Attr("axis", "z0"),)))
        second = "b1"
    nodes += [
        AscNode("a", "Add", ("l0", second), dtype, full, wide, source=("/mlp/Add",)),
        AscNode("s", "Store", ("a",), dtype, full, wide, (), access(full, ("z0", "z1"))),
        AscNode("y0", "Output", ("s",), dtype, full, wide, (Attr("index", 0),)),
    ]
    graph = AscGraph(
        "bias_add", (Axis("z0", AxisKind.ORIGINAL, rows), Axis("z1", AxisKind.ORIGINAL, columns)), tuple(nodes)
    )
    values = (ValueFact("x", dtype, full), ValueFact("b", dtype, data), ValueFact("y", dtype, full))
    facts = SymbolFacts(
        (SymbolFact("rows", 0, 512, 64, (InputDim("x", 0),)), SymbolFact("columns", 0, 4096, 64, ())), values
    )
    return AscBackend("bias_add", ("x", "b"), ("y",), graph, ("/mlp/Add",)), facts


@pytest.fixture
def make_bias_add() -> Callable[..., tuple[AscBackend, SymbolFacts]]:
    return bias_add


@pytest.fixture
def rows() -> Dim:
    return symbol("rows")


@pytest.fixture
def columns() -> Dim:
    return symbol("columns")


@pytest.fixture
def cpu() -> TargetSpec:
    return load_target("cpu")


@pytest.fixture
def unified_buffer_machine(cpu: TargetSpec) -> TargetSpec:
    """A machine with one node a segment and 4 KiB of local memory, as NPUs have it, only smaller."""
    memory = Memory("UB", 4096, 0, "made up for tests")
    limits = evolve(cpu.limits, segment_nodes=1)
    return evolve(cpu, kind=TargetKind.ASCEND, limits=limits, block_bytes=32, cores=40, local_memory=memory)
