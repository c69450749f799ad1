"""Contraction order against a plain search: the same answers, and always topological."""

import random

from autofuse_fusion.order import ContractionOrder
from hypothesis import given, settings
from hypothesis import strategies as st


def reaches(edges: set[tuple[int, int]], source: int, target: int, without_direct: bool) -> bool:
    pending = [b for a, b in edges if a == source and not (without_direct and b == target)]
    seen = set(pending)
    while pending:
        node = pending.pop()
        if node == target:
            return True
        for a, b in edges:
            if a == node and b not in seen:
                seen.add(b)
                pending.append(b)
    return False


@given(st.integers(0, 2**32), st.integers(2, 14))
@settings(max_examples=150)
def test_contraction_is_refused_exactly_when_it_would_make_a_cycle(seed: int, count: int) -> None:
    draw = random.Random(seed)
    edges = {(a, b) for b in range(count) for a in range(b) if draw.random() < 0.25}
    order = ContractionOrder(count, edges)
    live = list(range(count))
    for _ in range(3 * count):
        if len(live) < 2:
            break
        a, b = draw.sample(live, 2)
        cycle = reaches(edges, a, b, True) or reaches(edges, b, a, True)
        assert order.would_cycle(a, b) == cycle
        kept = order.contract(a, b)
        assert (kept is None) == cycle
        if kept is None:
            continue
        gone = b if kept == a else a
        live.remove(gone)
        edges = {(kept if x == gone else x, kept if y == gone else y) for x, y in edges}
        edges = {(x, y) for x, y in edges if x != y}
        assert all(order.position(x) < order.position(y) for x, y in edges)
        assert {(x, y) for x in live for y in order.after[x]} == edges


def test_many_insertions_at_one_place_renumber_the_order() -> None:
    # 0 -> 1 with a long row of others aside; each contraction squeezes nodes into the same gap.
    count = 400
    edges = {(0, k) for k in range(1, count)}
    order = ContractionOrder(count, edges)
    node = 0
    for k in range(count - 1, 0, -1):
        kept = order.contract(node, k)
        assert kept is not None
        node = kept
        assert all(order.position(node) < order.position(x) for x in order.after[node])
