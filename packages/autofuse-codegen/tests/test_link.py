"""Linking: which buffers a program has, and which of them share bytes."""

from autofuse_codegen.link import link
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks import findings
from autofuse_ir.dims import const, dim_max, symbol
from autofuse_ir.facts import InputDim, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend, FusedGraph, FusedNode, HostReason, HostRegion, Reason, ViewNode
from autofuse_ir.graph import GraphOutput, Node, Value
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import KernelArgument
from autofuse_ir.target import load_target

SHAPE = (symbol("n"), const(8))
EVERY = tuple((o, i) for o in range(3) for i in range(3))


def kernel(name: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> AscBackend:
    return AscBackend(name, inputs, outputs, AscGraph(name, (), ()), (name,))


def host(name: str, value: str, output: str) -> HostRegion:
    node = Node(name, "Lgamma", (value,), (output,))
    return HostRegion(name, "reference", (value,), (output,), (node,), (HostReason(name, Reason.HOST_OPERATOR),))


def linked(*nodes: FusedNode, outputs: tuple[str, ...], safe: tuple[tuple[int, int], ...] = EVERY) -> Program:
    """The program of ``nodes`` over values of one form; x is the graph's input."""
    names = {"x", *outputs}
    for node in nodes:
        names |= {node.output, node.input} if isinstance(node, ViewNode) else {*node.inputs, *node.outputs}
    facts = SymbolFacts(
        (SymbolFact("n", 0, 1 << 20, 64, (InputDim("x", 0),)),),
        tuple(ValueFact(name, dt.float32, SHAPE) for name in sorted(names)),
    )
    graph = FusedGraph(
        name="g",
        inputs=(Value("x", dt.float32, SHAPE),),
        outputs=tuple(GraphOutput(f"out_{name}", name) for name in outputs),
        nodes=nodes,
        facts=facts,
    )
    bundles = tuple(bundle(node, safe) for node in nodes if isinstance(node, AscBackend))
    program = link(graph, bundles, facts, load_target("cpu"))
    assert list(findings(program)) == []
    return program


def bundle(node: AscBackend, safe: tuple[tuple[int, int], ...]) -> KernelBundle:
    arguments = [KernelArgument(name, False, k, dt.float32, SHAPE) for k, name in enumerate(node.inputs)]
    arguments += [KernelArgument(name, True, k, dt.float32, SHAPE) for k, name in enumerate(node.outputs)]
    listed = tuple((o, i) for o, i in safe if o < len(node.outputs) and i < len(node.inputs))
    return KernelBundle(
        node.name, "cpu", tuple(arguments), ("n",), node.name, node.name, 0, const(0), (), (), (), listed, ()
    )


def shared(program: Program) -> dict[str, str]:
    return {buffer.name: buffer.alias_of for buffer in program.buffers if buffer.alias_of is not None}


def test_a_kernel_writes_over_what_it_is_the_last_to_read() -> None:
    a, b, c = kernel("a", ("x",), ("p",)), kernel("b", ("p",), ("q",)), kernel("c", ("q",), ("r",))
    program = linked(a, b, c, outputs=("r",))
    assert shared(program) == {"q": "p"}
    assert program.peak_bytes == dim_max(symbol("n") * 32, 0)


def test_what_is_read_later_is_kept() -> None:
    a, b = kernel("a", ("x",), ("p",)), kernel("b", ("p",), ("q",))
    assert shared(linked(a, b, kernel("c", ("q", "p"), ("r",)), outputs=("r",))) == {}
    assert shared(linked(a, b, host("h", "q", "r"), outputs=("r", "p"))) == {}


def test_a_view_that_is_read_later_keeps_the_bytes_behind_it() -> None:
    a, b = kernel("a", ("x",), ("p",)), kernel("b", ("p",), ("q",))
    program = linked(a, ViewNode("v", "p", "w", ("v",)), b, kernel("c", ("q", "w"), ("r",)), outputs=("r",))
    assert shared(program) == {"w": "p"}


def test_memory_of_the_host_and_of_the_caller_is_left_alone() -> None:
    b, c = kernel("b", ("p",), ("q",)), kernel("c", ("q",), ("r",))
    assert shared(linked(host("h", "x", "p"), b, c, outputs=("r",))) == {}
    assert shared(linked(kernel("a", ("x",), ("q",)), c, outputs=("r",))) == {}


def test_what_is_not_proved_safe_is_not_shared() -> None:
    a, b, c = kernel("a", ("x",), ("p",)), kernel("b", ("p",), ("q",)), kernel("c", ("q",), ("r",))
    assert shared(linked(a, b, c, outputs=("r",), safe=())) == {}
    twice = kernel("b", ("p", "w"), ("q",))
    program = linked(a, ViewNode("v", "p", "w", ("v",)), twice, c, outputs=("r",), safe=((0, 0),))
    assert shared(program) == {"w": "p"}


def test_two_results_take_two_inputs() -> None:
    a, b = kernel("a", ("x",), ("p", "q")), kernel("b", ("p", "q"), ("s", "t"))
    assert shared(linked(a, b, kernel("c", ("s", "t"), ("r",)), outputs=("r",))) == {"s": "p", "t": "q"}
