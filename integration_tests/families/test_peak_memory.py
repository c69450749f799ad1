"""Fusing keeps no more memory alive: plan and workspace of fused kernels against one kernel an operator.

The plan is a formula of the sizes. The memory pool counts what calls really take; the two are compared, so that the
formula is no mere claim.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import autofuse
import numpy as np
import pytest
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse.example_inputs import call_sizes, random_inputs
from autofuse.front_end import import_graph
from autofuse.options import settings
from autofuse.pipeline import Lowered
from autofuse_fusion.options import FusionOptions
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.graph import Graph
from autofuse_ir.schedule import local_bytes
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.extension import load_extension
from autofuse_testkit.patterns import PATTERNS, Pattern
from autofuse_tiling.evaluate import choose_groups

Array = np.ndarray[Any, Any]

LINE = 64
"""Workspace is handed out in cache lines: tensors smaller than that can cost one for each level of a reduction."""
WASTE = 1.25
"""The pool has four classes for each power of two."""
MEASURED = ("softmax-primitives", "layer-norm-residual", "rotary", "concat-of-three", "int8-dequantise-relu-quantise")
MODELS = (
    ("magika", "magika/models/standard_v3_3/model.onnx"),
    ("silero-vad", "silero_vad/data/silero_vad_16k_sequence.onnx"),
)


def both(graph: Graph) -> tuple[Lowered, Lowered]:
    """The graph fused, and one kernel an operator."""
    target = chosen_target("cpu")
    fused, single = (
        lower_graph(graph, target, chosen_options(options))
        for options in (FusionOptions(), FusionOptions(enable=False))
    )
    return fused, single


def planned(lowered: Lowered, sizes: Mapping[str, int]) -> int:
    return evaluate(lowered.program.peak_bytes, sizes)


def output_bytes(results: Any) -> int:
    listed = results if isinstance(results, tuple) else (results,)
    return sum(result.nbytes for result in listed)


def local(lowered: Lowered, sizes: Mapping[str, int]) -> int:
    """The local memory of one block of the kernel that has most: rows that a cache holds, in memory of the pool."""
    found = [0]
    for scheduled, model in zip(lowered.schedules, lowered.tilings, strict=True):
        known = {symbol: sizes[symbol] for symbol in model.symbols}
        implementations = [i for a in scheduled.alternatives for g in a.groups for i in g.implementations]
        for choice in choose_groups(model, known, 1).values():
            buffers = implementations[choice.key].buffers
            found.append(evaluate(local_bytes(buffers), {**known, **choice.sizes}))
    return max(found)


def measured(lowered: Lowered, values: list[Array]) -> tuple[int, int]:
    """Return the most bytes that a call takes from the pool, and the bytes of its results."""
    autofuse.set_num_threads(1)
    fn = load_lowered(lowered, chosen_target("cpu"), "jit")
    pool = load_extension(ArtefactCache(settings().cache))
    fn(*values)
    before = pool.memory_stats(True)["bytes_in_use"]
    results = fn(*values)
    return pool.memory_stats(False)["peak_bytes_in_use"] - before, output_bytes(results)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_the_plan_of_fused_kernels_is_no_larger(pattern: Pattern) -> None:
    fused, single = both(pattern.build())
    hints = {symbol.name: symbol.hint for symbol in fused.facts.symbols}
    assert planned(fused, hints) <= planned(single, hints)
    rng = np.random.default_rng(17)
    for number in range(12):
        point = pattern.sizes(rng, tiny=number < 2)
        assert planned(fused, point) <= planned(single, point) + 2 * LINE, point


@pytest.mark.parametrize("name", MEASURED)
def test_calls_take_what_is_planned(name: str) -> None:
    (pattern,) = (pattern for pattern in PATTERNS if pattern.name == name)
    rng = np.random.default_rng(3)
    point = {size: max(most // 2, 1) for size, (_, most) in pattern.symbols.items()}
    values = list(pattern.inputs(point, rng).values())
    taken = []
    for lowered in both(pattern.build()):
        most, results = measured(lowered, values)
        plan = planned(lowered, point)
        allowed = WASTE * (plan + results + local(lowered, point)) + LINE * len(lowered.program.buffers)
        assert most <= allowed, (most, plan, results)
        assert most >= plan, "the plan counts what no call takes"
        taken.append(most)
    assert taken[0] <= taken[1] + 2 * LINE + WASTE * local(both(pattern.build())[0], point)


@pytest.mark.parametrize(("distribution", "path"), MODELS, ids=[Path(path).stem for _, path in MODELS])
def test_models_take_no_more_than_before(distribution: str, path: str, model_file: Callable[[str, str], Path]) -> None:
    graph = import_graph(str(model_file(distribution, path)))
    fused, single = both(graph)
    sizes = call_sizes(fused.facts, {}, 32)
    values = random_inputs(fused.graph, fused.facts, sizes, 5)
    taken = []
    for lowered in (fused, single):
        most, results = measured(lowered, list(values.values()))
        plan = planned(lowered, sizes)
        allowed = WASTE * (plan + results + local(lowered, sizes)) + LINE * len(lowered.program.buffers)
        assert most <= allowed, (most, plan, results)
        taken.append(most)
    assert planned(fused, sizes) <= planned(single, sizes)
    assert taken[0] <= taken[1]
