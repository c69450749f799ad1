"""What fusion makes of the real models: kernels, guards and reasons, pinned. Nothing is compiled here.

A change that makes a pinned figure better changes the pin; one that makes it worse needs a reason in its commit.
"""

import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autofuse_fusion.options import FusionOptions
from autofuse_fusion.stage import fuse
from autofuse_ir.dims_eval import holds
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, HostRegion, Reason
from autofuse_ir.operators import Flag, has_operator, operator
from autofuse_ir.target import load_target
from autofuse_onnx.frontend import import_model
from autofuse_symshape.sample import witness
from autofuse_symshape.stage import infer

FOLDER = Path(__file__).parent
MODELS = tomllib.loads((FOLDER / "corpus.toml").read_text())["models"]
PINS: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "corpus_pins.toml").read_text())


@pytest.mark.parametrize("model", MODELS, ids=[m["path"].rpartition("/")[2] for m in MODELS])
def test_a_model_fuses_as_it_did(model: dict[str, Any], model_file: Callable[[str, str], Path]) -> None:
    graph, facts = infer(import_model(str(model_file(model["distribution"], model["path"]))))
    target = load_target("cpu")
    fused = fuse(graph, facts, target, FusionOptions())
    unfused = fuse(graph, facts, target, FusionOptions(enable=False))
    found = {
        "kernels": kernels(fused),
        "kernels_unfused": kernels(unfused),
        "guards": len(facts.guards),
        "vector_on_host": dict(sorted(vector_on_host(fused).items())),
    }
    assert found == PINS[model["path"]], f"pin it in corpus_pins.toml: {found}"
    for guard in facts.guards:
        broken = witness(facts, guard)
        assert broken is not None, guard.message
        assert not holds(guard.condition, broken)


def kernels(fused: Any) -> int:
    return sum(isinstance(n, AscBackend | FusedAscBackend) for n in fused.nodes)


def vector_on_host(fused: Any) -> Counter[str]:
    """Vector operators inside host regions by reason and type; being a host operator is no reason for them."""
    counts: Counter[str] = Counter()
    for region in (n for n in fused.nodes if isinstance(n, HostRegion)):
        reasons = {r.operator: r.reason for r in region.reasons}
        for node in region.operators:
            if has_operator(node.op) and Flag.VECTOR in operator(node.op).flags:
                assert reasons[node.name] is not Reason.HOST_OPERATOR, node.name
                counts[f"{reasons[node.name].value}: {node.op}"] += 1
    return counts
