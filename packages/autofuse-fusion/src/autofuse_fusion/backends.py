"""Which host backend can run an operator."""

from autofuse_ir.fused_graph import Reason
from autofuse_ir.graph import Node
from autofuse_reference.operators.table import has_meaning

from autofuse_fusion.errors import FusionError

KERNELS = "kernels"
"""The runner of everything that is not for the host."""


def possible_backend(node: Node) -> str | None:
    """Return ONNX Runtime for a ``node`` with a payload, else the NumPy reference where it has a meaning, else None."""
    if node.payload is not None:
        return "onnxruntime"
    return "reference" if has_meaning(node.op) else None


def backend_of(node: Node, reason: Reason) -> str:
    """Return the backend that can run ``node``, which is for the host for ``reason``; an error when none can."""
    backend = possible_backend(node)
    if backend is not None:
        return backend
    source = f" ({node.source})" if node.source else ""
    raise FusionError(
        f"nothing can run the operator {node.op}: it has no kernel ({reason.value}), no ONNX payload, no NumPy meaning",
        where=f"node {node.name!r}{source}",
        fix="import the model from ONNX, so that ONNX Runtime can run it, or compute it outside",
    )
