"""What staged loads cost: lines of global memory along the axis of their neighbours, whatever is used of each."""

from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import AscGraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.facts import SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.target import load_target
from autofuse_schedule.stage import schedule
from autofuse_tiling.evaluate import choose
from autofuse_tiling.model.copies import copies_of
from autofuse_tiling.model.walks import walks_of
from autofuse_tiling.stage import tile

A2 = load_target("ascend-a2")


def scheduled(memory, at):
    """A copy of data of shape ``memory`` as rows of n x m."""
    b = AscGraphBuilder("g", {"z0": "n", "z1": "m"})
    x = b.load(b.input("x", dt.float32), memory, at)
    b.store(b.op("Abs", x), "y", ("n", "m"), ("z0", "z1"))
    graph = b.build()
    values = tuple(ValueFact(n.name, n.dtype, n.access.memory) for n in graph.nodes if n.access is not None)
    facts = SymbolFacts(
        tuple(SymbolFact(s, 1, 2**20, 64, ()) for s in ("m", "n")),
        (evolve(values[0], name="x"), evolve(values[1], name="y")),
    )
    return schedule(AscBackend("g", ("x",), ("y",), graph, ()), facts, A2), facts


def bytes_of(impl, sizes):
    walk = next(walk for walk in walks_of(impl) if any(node.op == "Load" for node in walk.nodes))
    copies = copies_of(walk, next(node for node in walk.nodes if node.op == "Load"), A2)
    return evaluate(copies.bytes, sizes) / evaluate(copies.of, sizes)


def test_a_transposed_tile_pays_for_whole_lines():
    made, _ = scheduled(("m", "n"), ("z1", "z0"))
    square = next(i for i in made.alternatives[0].groups[0].implementations if len(i.case.split) == 2)
    sizes = {"n": 4096, "m": 4096, "z0z1Tb_size": 1, "z0Tz1Tb_size": 1}
    assert bytes_of(square, {**sizes, "z0t_size": 128, "z1t_size": 64}) == 128 * 64 * 4
    assert bytes_of(square, {**sizes, "z0t_size": 16, "z1t_size": 512}) == 512 * 512


def test_steps_pay_for_what_lies_between():
    made, _ = scheduled(("n", "3*m"), ("z0", ("z1", 3, 0)))
    rows = next(i for i in made.alternatives[0].groups[0].implementations if i.case.split == ("z1",))
    assert bytes_of(rows, {"n": 4096, "m": 4096, "z1t_size": 64, "z0z1Tb_size": 1}) == 64 * 3 * 4


def test_the_solver_takes_square_tiles_for_a_transpose():
    made, facts = scheduled(("m", "n"), ("z1", "z0"))
    chosen = choose(tile(made, facts, A2), {"n": 2048, "m": 1024}, A2.cores)
    assert chosen.sizes["z0t_size"] >= 64
    assert chosen.sizes["z1t_size"] >= 64
