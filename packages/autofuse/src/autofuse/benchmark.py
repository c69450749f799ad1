"""Peers to measure against."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from autofuse_reference.graph.interpret import GraphInterpreter

from autofuse import plugins
from autofuse.errors import DriverError, PluginMissingError
from autofuse.pipeline import Lowered

KNOWN = ("numpy", "onnxruntime")
"""``numpy`` runs the graph operator by operator on NumPy; ``onnxruntime`` runs the whole model on one thread."""

_ERRORS_ONLY = 3
"""ONNX Runtime's number of the messages that are shown."""


def peers(
    names: Sequence[str], model: Any, lowered: Lowered, arrays: Mapping[str, Any]
) -> dict[str, Callable[[], object]]:
    """Return a callable for each peer that runs ``model`` on ``arrays``."""
    found: dict[str, Callable[[], object]] = {}
    for name in (n.strip() for n in names):
        match name:
            case "numpy":
                dtypes = {v.name: v.dtype for v in lowered.facts.values}
                interpreter = GraphInterpreter(lowered.graph, dtypes, plugins.hosts())
                found[name] = partial(interpreter.outputs, arrays)
            case "onnxruntime":
                found[name] = _onnxruntime(model, arrays)
            case "":
                continue
            case _:
                raise DriverError(f"there is no peer {name!r}", where="--against", fix=f"use {', '.join(KNOWN)}")
    return found


def is_onnx(model: Any) -> bool:
    """Answer whether ``model`` is the path or the content of an ONNX file, not a graph or a bundle of ours."""
    if isinstance(model, (str, Path)):
        return Path(model).suffix != ".json" and not Path(model).is_dir()
    return isinstance(model, bytes)


def _onnxruntime(model: Any, arrays: Mapping[str, Any]) -> Callable[[], object]:
    try:
        import onnxruntime  # noqa: PLC0415 - a peer, not a dependency
    except ImportError:
        raise PluginMissingError(
            "the peer onnxruntime is not installed", where="bench", fix="pip install onnxruntime"
        ) from None
    if not is_onnx(model):
        raise DriverError(
            "onnxruntime runs ONNX files only", where="bench", fix="pass one, or leave onnxruntime out of --against"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    content = model if isinstance(model, bytes) else str(model)
    try:
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors have no common class
        raise DriverError(
            f"onnxruntime cannot load the model: {error}", where="bench", fix="leave onnxruntime out of --against"
        ) from error
    feeds = {i.name: arrays[i.name] for i in session.get_inputs()}
    return lambda: session.run(None, feeds)
