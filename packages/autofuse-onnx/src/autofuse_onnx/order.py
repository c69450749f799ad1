"""Puts the nodes of a graph in an order in which every value is made before it is read."""

import heapq
from collections.abc import Iterable, Sequence

import onnx

from autofuse_onnx.errors import OnnxError
from autofuse_onnx.infer import reads_of


def in_order(nodes: Sequence[onnx.NodeProto], given: Iterable[str], where: str) -> list[onnx.NodeProto]:
    """Return ``nodes`` sorted (stably) so that each reads only ``given`` values and what earlier nodes make.

    Raises ``OnnxError`` for values that nothing makes, that are made twice, and for cycles.
    """
    makers: dict[str, int] = dict.fromkeys(given, -1)
    for i, node in enumerate(nodes):
        for name in node.output:
            if name and name in makers:
                raise OnnxError(f"the value {name!r} is made twice", where=where, fix="export the model again")
            if name:
                makers[name] = i
    needs: list[set[int]] = []
    readers: dict[int, list[int]] = {}
    for i, node in enumerate(nodes):
        reads = reads_of(node)
        for name in reads:
            if name not in makers:
                raise OnnxError(
                    f"node {node.name or node.op_type!r} reads {name!r}, which nothing makes",
                    where=where,
                    fix="export the model again",
                )
        needs.append({makers[name] for name in reads} - {-1})
        for maker in needs[i]:
            readers.setdefault(maker, []).append(i)
    ready = [i for i, need in enumerate(needs) if not need]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        i = heapq.heappop(ready)
        order.append(i)
        for reader in readers.get(i, ()):
            needs[reader].discard(i)
            if not needs[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        stuck = next(node for i, node in enumerate(nodes) if needs[i])
        raise OnnxError(
            f"node {stuck.name or stuck.op_type!r} lies on a cycle", where=where, fix="export the model again"
        )
    return [nodes[i] for i in order]
