"""One well-formed artefact of every contract, all about one kernel: y = Add(x, bias) with a dynamic batch."""

import hashlib
import sys
from pathlib import Path

import pytest
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscGraph, Axis, AxisKind
from autofuse_ir.builder import AscGraphBuilder, GraphBuilder
from autofuse_ir.dims import TRUE, ceildiv, const, dim_max, eq, symbol
from autofuse_ir.facts import Divisible, Guard, GuardKind, InputDim, ResultDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import (
    AscBackend,
    FusedGraph,
    HostReason,
    HostRegion,
    Reason,
    Refusal,
    RemovedRounding,
    SizesNode,
    ViewNode,
)
from autofuse_ir.graph import Constant, Graph, GraphOutput, Node, Payload, Value
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile, StatusMessage
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    HostCall,
    KernelCall,
    Program,
    ProgramBuffer,
    ProgramKernel,
    ProgramRegion,
    Variant,
    WriteSizes,
)
from autofuse_ir.schedule import (
    Alternative,
    Buffer,
    Dropped,
    ImplGraph,
    KernelArgument,
    Location,
    Phase,
    Placement,
    QueuePosition,
    ScheduleGroup,
    ScheduleResult,
    Segment,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.tiling import CaseModel, Constraint, CostTerm, PipeCost, SupportFile, TilingModel

BATCH, PICKED = symbol("batch"), symbol("picked")
WIDE, ROW = (BATCH, const(8)), (const(8),)
TEXT = "// a file\n"

sys.path.insert(0, str(Path(__file__).parent))


@frozen
class Artefacts:
    """Well-formed artefacts, one of each kind."""

    graph: Graph
    facts: SymbolFacts
    asc_graph: AscGraph
    fused_graph: FusedGraph
    impl_graph: ImplGraph
    schedule: ScheduleResult
    tiling: TilingModel
    kernels: KernelBundle
    program: Program

    @property
    def contracts(self) -> tuple[object, ...]:
        """The seven that are artefacts."""
        return (
            self.graph,
            self.facts,
            self.fused_graph,
            self.schedule,
            self.tiling,
            self.kernels,
            self.program,
        )


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    graph, facts, asc = _graph(), _facts(), _asc_graph()
    impl = _impl_graph(asc)
    schedule = ScheduleResult(
        name="k0",
        target="ascend-a2",
        arguments=_arguments(),
        symbols=("batch",),
        alternatives=(Alternative("general", (ScheduleGroup("k0", (impl,)),), TRUE),),
        workspace_bytes=const(0),
        dropped=(Dropped("general", "z1", "a row never fits", BATCH * 32, 1024),),
    )
    return Artefacts(
        graph,
        facts,
        asc,
        _fused_graph(graph, facts, asc),
        impl,
        schedule,
        _tiling(impl),
        _kernels(),
        _program(graph, facts, asc),
    )


def _graph() -> Graph:
    b = GraphBuilder("add_bias")
    b.symbol("batch", 0, 512, 64)
    x = b.input("x", ("batch", 8), dt.float32)
    bias = b.constant(TensorData(dt.float32, (8,), bytes(32)), "bias")
    b.payload(Payload("p0", "onnx.NodeProto", TensorData(dt.uint8, (3,), b"abc")))
    total = b.op("Add", x, bias, name="/mlp/Add")
    b.symbol("picked")
    b.node(Node("pick", "HostCall", (total,), ("picked_rows",), (), "model.onnx, node pick", "p0"))
    b.declare(Value("picked_rows", dt.float32, (PICKED, const(8))))
    return b.build({"y": total, "rows": "picked_rows"})


def _facts() -> SymbolFacts:
    return SymbolFacts(
        symbols=(
            SymbolFact("batch", 0, 512, 64, (InputDim("x", 0),)),
            SymbolFact("picked", 0, 2**31 - 1, 1, (ResultDim("picked_rows", 0),)),
        ),
        values=(
            ValueFact("x", dt.float32, WIDE),
            ValueFact("bias", dt.float32, ROW),
            ValueFact("/mlp/Add", dt.float32, WIDE),
            ValueFact("flat", dt.float32, (BATCH * 8,)),
            ValueFact("shape", dt.int64, (const(2),), WIDE),
            ValueFact("picked_rows", dt.float32, (PICKED, const(8))),
        ),
        guards=(Guard(GuardKind.ASSERT, eq(BATCH % 2, 0), "/mlp/Add", "the batch must be even"),),
        equalities=(eq(BATCH % 2, 0),),
        divisible=(Divisible(BATCH, 2),),
    )


def _asc_graph() -> AscGraph:
    b = AscGraphBuilder("k0", {"z0": "batch", "z1": 8})
    x = b.load(b.input("in0", dt.float32), WIDE, ("z0", "z1"), "x")
    bias = b.broadcast(b.load(b.input("in1", dt.float32), ROW, ("z1",), "row"), "z0", "bias")
    total = b.op("Add", x, bias, name="sum")
    b.store(b.op("Mul", total, b.scalar(1.0, dt.float32, "one"), name="scaled"), "out0", WIDE, ("z0", "z1"))
    return b.build()


def _arguments() -> tuple[KernelArgument, ...]:
    return (
        KernelArgument("x", False, 0, dt.float32, WIDE),
        KernelArgument("bias", False, 1, dt.float32, ROW),
        KernelArgument("/mlp/Add", True, 0, dt.float32, WIDE),
    )


def _fused_graph(graph: Graph, facts: SymbolFacts, asc: AscGraph) -> FusedGraph:
    return FusedGraph(
        name="add_bias",
        inputs=graph.inputs,
        outputs=graph.outputs,
        nodes=(
            AscBackend("k0", ("x", "bias"), ("/mlp/Add",), asc, ("/mlp/Add",)),
            ViewNode("v0", "/mlp/Add", "flat", ("reshape",)),
            SizesNode("s0", "shape", WIDE, ("shape_of",)),
            HostRegion(
                "h0",
                "onnxruntime",
                ("/mlp/Add",),
                ("picked_rows",),
                (graph.nodes[1],),
                (HostReason("pick", Reason.HOST_OPERATOR),),
            ),
        ),
        facts=facts,
        constants=graph.constants,
        refusals=(Refusal("/mlp/Add", "pick", "/mlp/Add", Reason.HOST_OPERATOR, "", WIDE, BATCH * 64),),
        removed_roundings=(RemovedRounding("k0", "/mlp/Add", "float16"),),
        payloads=graph.payloads,
    )


def _impl_graph(asc: AscGraph) -> ImplGraph:
    tile, share = symbol("z0t_size"), symbol("z0Tb_size")
    outer = ceildiv(BATCH, tile)
    local = ("x", "row", "bias", "sum", "scaled")
    return ImplGraph(
        name="k0_general_z0",
        case=TilingCase("z0", ("z0",)),
        template="general",
        group=TilingGroup(y=("z0", "z1")),
        roots=("z0", "z1"),
        axes=(
            *asc.axes,
            Axis("z0T", AxisKind.TILE_OUTER, outer, ("z0",)),
            Axis("z0t", AxisKind.TILE_INNER, tile, ("z0",)),
            Axis("z0TB", AxisKind.BLOCK_OUTER, ceildiv(outer, share), ("z0T",)),
            Axis("z0Tb", AxisKind.BLOCK_INNER, share, ("z0T",)),
        ),
        nodes=asc.nodes,
        tile_variables=(
            TileVariable("z0t_size", "z0t", TileRole.LOCAL, 1, dim_max(BATCH, 1), 1),
            TileVariable("z0Tb_size", "z0Tb", TileRole.MULTICORE, 1, dim_max(outer, 1), 1),
        ),
        phases=(
            Phase(
                ("z0TB", "z0Tb"),
                "z0TB",
                tuple(Segment((name,), ("z0t", "z1")) for name in (*local, "out0_store")),
            ),
        ),
        buffers=(
            Buffer("x_buf", Location.LOCAL, QueuePosition.VECIN, tile * 32, 2),
            Buffer("row_buf", Location.LOCAL, QueuePosition.VECIN, const(32), 2),
            Buffer("bias_buf", Location.LOCAL, QueuePosition.VECCALC, tile * 32, 1),
            Buffer("sum_buf", Location.LOCAL, QueuePosition.VECCALC, tile * 32, 1, "bias_buf"),
            Buffer("scaled_buf", Location.LOCAL, QueuePosition.VECOUT, tile * 32, 2),
        ),
        placements=(
            *(Placement(name, Location.LOCAL, f"{name}_buf") for name in local),
            Placement("out0_store", Location.GLOBAL),
        ),
        index_bits=32,
    )


def _tiling(impl: ImplGraph) -> TilingModel:
    tile, share = symbol("z0t_size"), symbol("z0Tb_size")
    return TilingModel(
        name="k0",
        target="ascend-a2",
        symbols=("batch",),
        cases=(
            CaseModel(
                key=0,
                alternative="general",
                group="k0",
                implementation=impl.name,
                variables=impl.tile_variables,
                constraints=(Constraint("local_memory", tile * 160, const(196608), "the tile must fit"),),
                costs=(PipeCost("VEC", (CostTerm(0.125, tile * share, const(2)),)),),
                head=(CostTerm(20.0, const(1), const(1)),),
                blocks=ceildiv(ceildiv(BATCH, tile), share),
            ),
        ),
        support_files=(SupportFile("solver.h", TEXT, _sha256(TEXT)),),
    )


def _kernels() -> KernelBundle:
    return KernelBundle(
        name="k0",
        target="cpu",
        arguments=_arguments(),
        symbols=("batch",),
        launch="af_k0_launch",
        tiling="af_k0_tiling",
        tiling_bytes=48,
        workspace_bytes=const(0),
        files=(SourceFile("k0.cpp", FileRole.KERNEL, TEXT, _sha256(TEXT)),),
        support_files=(SupportFile("solver.h", TEXT, _sha256(TEXT)),),
        flags=("-O3",),
        safe_aliases=((0, 0),),
        status_messages=(StatusMessage(0, "an integer was divided by zero"),),
    )


def _program(graph: Graph, facts: SymbolFacts, asc: AscGraph) -> Program:
    steps = (
        KernelCall("k0", ("x", "bias"), ("/mlp/Add",), "space"),
        Free("space"),
        Alias("/mlp/Add", "flat"),
        WriteSizes("shape", WIDE),
        Free("shape"),
        HostCall("h0", ("/mlp/Add",), ("picked_rows",)),
        BindSymbol("picked", "picked_rows", 0, None, 0, 2**31 - 1),
        AssertGuard(Guard(GuardKind.ASSERT, eq(PICKED % 2, 0), "pick", "an even number of rows")),
        Copy("picked_rows", "rows"),
        Free("picked_rows"),
    )
    return Program(
        name="add_bias",
        target="cpu",
        inputs=graph.inputs,
        outputs=(GraphOutput("y", "/mlp/Add"), GraphOutput("rows", "rows")),
        symbols=facts.symbols[:1],
        guards=facts.guards,
        buffers=(
            ProgramBuffer("x", BufferKind.INPUT, dt.float32, WIDE),
            ProgramBuffer("bias", BufferKind.CONSTANT, dt.float32, ROW),
            ProgramBuffer("/mlp/Add", BufferKind.OUTPUT, dt.float32, WIDE),
            ProgramBuffer("space", BufferKind.WORKSPACE, dt.uint8, (const(64),)),
            ProgramBuffer("flat", BufferKind.INTERMEDIATE, dt.float32, (BATCH * 8,), "/mlp/Add"),
            ProgramBuffer("shape", BufferKind.INTERMEDIATE, dt.int64, (const(2),)),
            ProgramBuffer("picked_rows", BufferKind.INTERMEDIATE, dt.float32, (PICKED, const(8))),
            ProgramBuffer("rows", BufferKind.OUTPUT, dt.float32, (PICKED, const(8))),
        ),
        variants=(Variant(TRUE, steps),),
        kernels=(
            ProgramKernel(
                name="k0",
                launch="af_k0_launch",
                tiling="af_k0_tiling",
                tiling_bytes=48,
                workspace_bytes=const(64),
                arguments=_arguments(),
                symbols=("batch",),
                safe_aliases=((0, 0),),
                status_messages=(),
                graphs=(asc,),
            ),
        ),
        regions=(ProgramRegion("h0", "onnxruntime", ("/mlp/Add",), ("picked_rows",), (graph.nodes[1],)),),
        peak_bytes=PICKED * 32,
        numerics="auto",
        constants=(Constant("bias", graph.constants[0].data),),
        payloads=graph.payloads,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
