"""Tiling models of scheduled kernels: what the solver makes of them."""

import subprocess

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AccessDim, AccessMap, AscNode, Axis, AxisKind
from autofuse_ir.dims import TRUE, as_dim, const
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.schedule import (
    Alternative,
    Buffer,
    ImplGraph,
    KernelArgument,
    Location,
    Phase,
    QueuePosition,
    ScheduleGroup,
    ScheduleResult,
    Segment,
    TileRole,
    TileVariable,
    TilingCase,
    TilingGroup,
)
from autofuse_ir.target import load_target
from autofuse_tiling.evaluate import choose
from autofuse_tiling.solver.errors import TilingError
from autofuse_tiling.stage import tile


def copy_kernel(buffers: tuple[Buffer, ...] = ()) -> ScheduleResult:
    """A one-axis copy of n floats, tile and block split."""
    n = as_dim("n")
    tiles = as_dim("ceildiv(n, z0t_size)")
    axes = (
        Axis("z0", AxisKind.ORIGINAL, n),
        Axis("z0T", AxisKind.TILE_OUTER, tiles, ("z0",)),
        Axis("z0t", AxisKind.TILE_INNER, as_dim("z0t_size"), ("z0",)),
        Axis("z0TB", AxisKind.BLOCK_OUTER, as_dim("ceildiv(ceildiv(n, z0t_size), z0Tb_size)"), ("z0T",)),
        Axis("z0Tb", AxisKind.BLOCK_INNER, as_dim("z0Tb_size"), ("z0T",)),
    )
    access = AccessMap((n,), (AccessDim("z0", const(1), const(0)),))
    nodes = (
        AscNode("load", "Load", ("x",), dt.float32, (n,), (const(1),), (), access),
        AscNode("store", "Store", ("load",), dt.float32, (n,), (const(1),), (), access),
    )
    impl = ImplGraph(
        name="copy",
        case=TilingCase("z0", ("z0",)),
        template="general",
        group=TilingGroup(y=("z0",)),
        roots=("z0",),
        axes=axes,
        nodes=nodes,
        tile_variables=(
            TileVariable("z0t_size", "z0t", TileRole.LOCAL, 1, as_dim("max(n, 1)"), 8),
            TileVariable("z0Tb_size", "z0Tb", TileRole.MULTICORE, 1, as_dim("max(ceildiv(n, z0t_size), 1)"), 1),
        ),
        phases=(Phase(("z0TB", "z0Tb"), "z0TB", (Segment(("load", "store"), ("z0t",)),)),),
        buffers=buffers,
        placements=(),
        index_bits=64,
    )
    arguments = (KernelArgument("x", False, 0, dt.float32, (n,)), KernelArgument("y", True, 0, dt.float32, (n,)))
    group = ScheduleGroup("copy", (impl,))
    return ScheduleResult("copy", "cpu", arguments, ("n",), (Alternative("general", (group,), TRUE),), const(0))


NO_FACTS = SymbolFacts((), ())


def test_little_work_stays_in_one_block_and_much_work_takes_every_core():
    model = tile(copy_kernel(), NO_FACTS, load_target("cpu"))
    assert [choose(model, {"n": n}, 4).blocks for n in (1, 100, 1_000)] == [1, 1, 1]
    assert [choose(model, {"n": n}, c).blocks for n, c in ((1 << 22, 2), (1 << 22, 4), (1 << 26, 16))] == [2, 4, 16]


def test_an_empty_axis_launches_no_block():
    assert choose(tile(copy_kernel(), NO_FACTS, load_target("cpu")), {"n": 0}, 4).blocks == 0


def test_tiles_cover_the_axis_exactly_once():
    model = tile(copy_kernel(), NO_FACTS, load_target("cpu"))
    for n in (1, 7, 8, 1_000_003, (1 << 31) - 1):
        sizes = choose(model, {"n": n}, 3).sizes
        assert 1 <= sizes["z0t_size"] <= n
        assert sizes["z0t_size"] % 8 == 0 or sizes["z0t_size"] == n
        assert sizes["z0t_size"] * sizes["z0Tb_size"] * 3 >= n


def test_local_buffers_bound_the_tile():
    buffer = Buffer("b", Location.LOCAL, QueuePosition.VECIN, as_dim("32*ceildiv(z0t_size, 8)"), 2)
    target = load_target("cpu")
    caches = tuple(evolve(q, value=0.0) if q.name == "last_level_bytes" else q for q in target.quantities)
    target = evolve(target, local_memory=evolve(target.local_memory, bytes=8192, reserved=0), quantities=caches)
    model = tile(copy_kernel((buffer,)), NO_FACTS, target)
    assert choose(model, {"n": 1 << 20}, 1).sizes["z0t_size"] <= 1024
    (case,) = model.cases
    assert [c.resource for c in case.constraints] == ["local_memory", "cores"]
    assert evaluate(case.constraints[0].need, {"z0t_size": 1024}) == 8192


def test_a_tile_that_cannot_fit_names_the_memory():
    buffer = Buffer("b", Location.LOCAL, QueuePosition.VECIN, as_dim("64*n"), 1)
    model = tile(copy_kernel((buffer,)), NO_FACTS, load_target("cpu"))
    with pytest.raises(TilingError, match=r"usable bytes of local memory \(L2\)"):
        choose(model, {"n": 1 << 20}, 1)


def test_a_buffer_that_takes_over_another_costs_nothing():
    first = Buffer("a", Location.LOCAL, QueuePosition.VECCALC, as_dim("4*z0t_size"), 1)
    second = evolve(first, name="b", reuses="a")
    model = tile(copy_kernel((first, second)), NO_FACTS, load_target("cpu"))
    assert evaluate(model.cases[0].constraints[0].need, {"z0t_size": 10}) == 40


def test_more_cores_are_never_slower():
    model = tile(copy_kernel(), NO_FACTS, load_target("cpu"))
    for n in (1_000, 100_000, 10_000_000):
        cycles = [choose(model, {"n": n}, cores).cycles for cores in (1, 2, 4, 8)]
        assert cycles == sorted(cycles, reverse=True)


def test_the_compiled_models_and_the_twin_decide_alike(tmp_path):
    model = tile(copy_kernel(), NO_FACTS, load_target("cpu"))
    for file in model.support_files:
        (tmp_path / file.name).write_text(file.text)
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include <cstdlib>\n#include "af_tiling_solver.h"\n#include "copy_tiling_model.h"\n'
        "int main(int c, char** v) {\n"
        "  for (int i = 1; i + 1 < c; i += 2) {\n"
        "    af_i64 values[4] = {atoll(v[i]), atoll(v[i + 1]), 0, 0};\n    AfOutcome o;\n"
        "    af_solve(af_models_copy, 1, values, &o);\n"
        '    std::printf("%d %lld %lld %lld\\n", o.status, o.blocks, values[2], values[3]);\n  }\n}\n'
    )
    command = ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "main.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    asked = [(n, c) for n in (0, 1, 9, 12345, 1 << 20, (1 << 31) - 1) for c in (1, 2, 7)]
    words = [str(x) for pair in asked for x in pair]
    out = subprocess.run([tmp_path / "main", *words], capture_output=True, text=True, check=True).stdout.split("\n")
    for (n, cores), line in zip(asked, out, strict=False):
        choice = choose(model, {"n": n}, cores)
        assert line == f"0 {choice.blocks} {choice.sizes['z0t_size']} {choice.sizes['z0Tb_size']}"
