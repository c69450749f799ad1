"""Several AscGraphs in one launch on Ascend: the bits of separate kernels, in the emulator with all of its rules on."""

import ctypes
import re
from pathlib import Path
from typing import Any

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from autofuse.compiler import load_lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.graph import Graph
from autofuse_ir.target import load_target
from autofuse_runtime.launchers.tilings import Tilings, compile_tilings, sources_of, write_sources
from autofuse_runtime.toolchain import find_toolchain
from autofuse_testkit.joint import APART, GRAPHS, Array, bits, lowered, values_for

TARGETS = ("ascend-a2", "ascend-350")
ONE_BY_ONE = FusionOptions(numerics="strict", enable=False, max_parts=1)


def steps() -> Graph:
    """Four steps: two operators side by side, two more that read theirs, then two that follow one another.

    One value that passes between them is an output as well, and two share workspace.
    """
    b = GraphBuilder("steps")
    x, y = b.input("x", ("n", "m"), dt.float32), b.input("y", ("m",), dt.float32)
    left, right = b.op("Exp", x), b.op("Neg", y)
    total, square = b.op("Add", left, right), b.op("Mul", left, left)
    return b.build({"total": total, "right": right, "y": b.op("Abs", b.op("Sub", total, square))})


@pytest.mark.parametrize("target", TARGETS)
def test_steps_of_parts_give_the_bits_of_separate_kernels(target: str) -> None:
    apart, together = (lowered(steps(), joined, target, ONE_BY_ONE) for joined in (False, True))
    assert len(apart.bundles) == 6
    assert len(together.bundles) == 1
    one, other = (load_lowered(made, load_target(target)) for made in (apart, together))
    for n, m in ((1, 1), (0, 4), (4, 0), (3, 5), (300, 70), (2000, 300)):
        arrays = values_for(apart.source, {"n": n, "m": m})
        assert bits(list(other(*arrays))) == bits(list(one(*arrays))), (n, m)


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, TARGETS[number % 2]) for number, name in enumerate(GRAPHS)],  # each chip has half of them
)
def test_kernels_that_reduce_pass_values_to_one_another(name: str, target: str) -> None:
    graph = GRAPHS[name]()
    apart, together = (lowered(graph, joined, target, APART) for joined in (False, True))
    one, other = (load_lowered(made, load_target(target)) for made in (apart, together))
    for n, m in ((0, 5), (5, 0), (1, 1), (2, 3), (64, 900), (3, 20_000), (700, 33)):
        arrays = values_for(graph, {"n": n, "m": m})
        assert bits(_listed(other(*arrays))) == bits(_listed(one(*arrays))), (n, m)


def _listed(results: Any) -> list[Array]:
    return list(results) if isinstance(results, (tuple, list)) else [results]


SITE = re.compile(r"^  (?:SyncAll\(\);|PipeBarrier<PIPE_ALL>\(\);.*)$", re.MULTILINE)


def test_each_wait_between_parts_is_needed(tmp_path: Path) -> None:
    """Without any one of them the emulator reports a race: between blocks, or of two parts in one local memory."""
    made = lowered(steps(), True, "ascend-a2", ONE_BY_ONE)
    (bundle,) = made.bundles
    text = next(file.text for file in bundle.files if file.path == "joint.cpp")
    sites = list(SITE.finditer(text))
    assert len(sites) == 5
    sizes = {"n": 300, "m": 70}
    arrays = values_for(made.source, sizes)
    outputs = [np.zeros([evaluate(d, sizes) for d in a.shape], np.float32) for a in bundle.arguments if a.is_output]
    write_sources(sources_of([bundle]), tmp_path)
    compile_tilings(tmp_path, [bundle], find_toolchain(), tmp_path / "tiling.so")
    launch = Tilings(ctypes.CDLL(str(tmp_path / "tiling.so")), "ascend-a2", 4).decide(bundle, sizes)
    assert launch.block_dim == 4  # fewer than the parts have together: blocks have several

    def run(changed: str) -> None:
        source = tmp_path / "changed.cpp"
        source.write_text(changed)
        library = sim.compile(source, "ascend-a2", output=tmp_path / "k.so", include_dirs=[tmp_path], flags=["-O0"])
        need = evaluate(bundle.workspace_bytes, sizes)
        options = {"tiling": launch.data, "block_dim": launch.block_dim, "workspace": need}
        sim.run(library, bundle.launch, [*arrays, *outputs], **options)

    run(text)
    for site in sites:
        with pytest.raises(sim.RuleError):
            run(text[: site.start()] + text[site.end() :])
