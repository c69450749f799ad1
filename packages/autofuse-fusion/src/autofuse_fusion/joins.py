"""The nest of two kernels in one.

Axes unite where a tensor says so: one that passes from the first to the second, or one that both read. Each such tensor
is a *relation*: how it lies on either nest. All relations are taken together, so a reader of a reduced tensor that also
reads what was reduced has the reduced axis in common with the reduction. Axes that no tensor relates stay apart.
"""

from collections.abc import Iterable
from typing import TypeAlias

from attrs import frozen
from autofuse_ir.dims import Dim

from autofuse_fusion.axes import Layout, Nest, factorise
from autofuse_fusion.moves import Move, Path, recut, staying
from autofuse_fusion.size_facts import SizeFacts

Relation: TypeAlias = tuple[Layout, Layout]
"""How one tensor lies on the first nest, and on the second."""


@frozen
class Join:
    """Two kernels' nests as one."""

    nest: Nest
    first: Path
    second: Path


@frozen
class _Alignment:
    """Both nests cut alike as far as the relations so far say.

    ``pairs`` are (axis of the first, axis of the second): is the tensor that relates them as long as the axis there?
    """

    first: Path
    second: Path
    pairs: dict[tuple[int, int], tuple[bool, bool]]


def join(
    first: Nest, second: Nest, passed: Iterable[Relation], shared: Iterable[Relation], sizes: SizeFacts
) -> Join | None:
    """Return the nest of a kernel over ``first`` and ``second``; None where the ``passed`` tensors do not allow one.

    ``shared`` tensors unite axes where that fits: a tensor may also be read twice.
    """
    passed, shared = sorted(passed, key=_breadth), sorted(shared, key=_breadth)
    if first == second and _is_same(first, passed, shared):
        return Join(first, staying(first), staying(second))
    aligned = _Alignment(staying(first), staying(second), {})
    for relation in passed:
        found = _related(aligned, relation, sizes)
        if found is None:
            return None
        aligned = found
    joined = _joined(aligned, sizes)
    for relation in shared:
        found = _related(aligned, relation, sizes)
        if found is None or found == aligned:
            continue
        wider = _joined(found, sizes)
        if wider is not None:
            aligned, joined = found, wider
    return joined


def _breadth(relation: Relation) -> int:
    """Sort relations that tell most first."""
    return -sum(entry is not None for entry in relation[0])


def _is_same(nest: Nest, passed: list[Relation], shared: list[Relation]) -> bool:
    """True where the tensors relate every axis of two equal nests to itself."""
    if any(first != second for first, second in passed):
        return False
    related = {
        k
        for first, second in (*passed, *shared)
        if first == second
        for k, entry in enumerate(first)
        if entry is not None and entry == nest[k]
    }
    return len(related) == len(nest)


def _related(aligned: _Alignment, relation: Relation, sizes: SizeFacts) -> _Alignment | None:
    """Return the alignment with one more relation; None where it contradicts those so far."""
    a, b = aligned.first(relation[0]), aligned.second(relation[1])
    if a is None or b is None:
        return None
    at_a = [k for k, entry in enumerate(a) if entry is not None]
    at_b = [k for k, entry in enumerate(b) if entry is not None]
    pieces = factorise(
        tuple(entry for entry in a if entry is not None), tuple(entry for entry in b if entry is not None), sizes
    )
    if pieces is None:
        return None
    nest_a, nest_b = aligned.first.new, aligned.second.new
    known_a, known_b = {i for i, _ in aligned.pairs}, {j for _, j in aligned.pairs}
    cuts_a: list[tuple[tuple[int, ...], tuple[Dim, ...]]] = []
    cuts_b: list[tuple[tuple[int, ...], tuple[Dim, ...]]] = []
    for piece in pieces:
        axes_a, axes_b = tuple(at_a[k] for k in piece.first), tuple(at_b[k] for k in piece.second)
        if not len(axes_a) == len(axes_b) == len(piece.sizes) == 1:
            if any(a[k] != nest_a[k] for k in axes_a) or any(b[k] != nest_b[k] for k in axes_b):
                return None
            # What another tensor relates already is cut on both sides or on none.
            if len(axes_a) != len(piece.sizes) and known_a.intersection(axes_a):
                return None
            if len(axes_b) != len(piece.sizes) and known_b.intersection(axes_b):
                return None
        cuts_a.append((axes_a, piece.sizes))
        cuts_b.append((axes_b, piece.sizes))
    move_a, move_b = recut(nest_a, tuple(cuts_a)), recut(nest_b, tuple(cuts_b))
    if move_a is None or move_b is None:
        return None
    pairs: dict[tuple[int, int], tuple[bool, bool]] = {}
    for (i, j), full in aligned.pairs.items():
        pairs[_at(move_a, i), _at(move_b, j)] = full
    for (axes_a, _), (axes_b, _) in zip(cuts_a, cuts_b, strict=True):
        news_a, news_b = move_a.follow(axes_a), move_b.follow(axes_b)
        assert news_a is not None
        assert news_b is not None
        full = (all(a[k] == nest_a[k] for k in axes_a), all(b[k] == nest_b[k] for k in axes_b))
        for pair in zip(news_a, news_b, strict=True):
            known = pairs.get(pair, (False, False))
            pairs[pair] = (known[0] or full[0], known[1] or full[1])
    if len({i for i, _ in pairs}) < len(pairs) or len({j for _, j in pairs}) < len(pairs):
        return None
    return _Alignment(aligned.first.then(move_a), aligned.second.then(move_b), pairs)


def _at(move: Move, axis: int) -> int:
    """Return where an axis that is neither cut nor united went."""
    found = move.follow((axis,))
    assert found is not None
    return found[0]


def _joined(aligned: _Alignment, sizes: SizeFacts) -> Join | None:
    """Return one nest: related axes united, the others between them; None where the related ones cross."""
    a, b = aligned.first.new, aligned.second.new
    partner = dict(aligned.pairs)
    to_b = dict(partner.keys())
    related_b = set(to_b.values())
    nest: list[Dim] = []
    at_a: dict[int, int] = {}
    at_b: dict[int, int] = {}
    stretched_a: set[int] = set()
    stretched_b: set[int] = set()
    i = j = 0
    while i < len(a) or j < len(b):
        place = len(nest)
        if i < len(a) and i not in to_b:
            at_a[i] = place
            nest.append(a[i])
            i += 1
        elif j < len(b) and j not in related_b:
            at_b[j] = place
            nest.append(b[j])
            j += 1
        elif i < len(a) and to_b[i] == j:
            full_a, full_b = partner[i, j]
            if a[i] == b[j] or sizes.equal(a[i], b[j]):
                nest.append(b[j])
            elif full_a and not full_b:
                stretched_a.add(place)
                nest.append(b[j])
            elif full_b and not full_a:
                stretched_b.add(place)
                nest.append(a[i])
            else:
                return None
            at_a[i] = at_b[j] = place
            i, j = i + 1, j + 1
        else:
            return None
    joined = tuple(nest)
    return Join(
        joined,
        aligned.first.then(Move(_pairs(at_a), a, joined, frozenset(stretched_a))),
        aligned.second.then(Move(_pairs(at_b), b, joined, frozenset(stretched_b))),
    )


def _pairs(at: dict[int, int]) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    return tuple(((axis,), (place,)) for axis, place in sorted(at.items()))
