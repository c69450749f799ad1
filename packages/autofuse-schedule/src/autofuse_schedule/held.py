"""Values that are the same in many tiles, made once for all of them in a phase with fewer loops.

y[z0, z1] = x[z0, z1] + bias[z1], a tile of some rows:   once a block    b = Load bias; w = Broadcast b over z0
                                                         for each tile   x = Load; y = Add x, w; Store y
"""

from collections.abc import Iterable

from autofuse_ir.asc_graph import AscNode
from autofuse_ir.asc_ops import NOT_EVALUATED, AscKind, asc_op
from autofuse_ir.dependence import dependences

_NEVER_HELD = (AscKind.STORE, AscKind.REDUCE, AscKind.SCAN)


def depths(nodes: Iterable[AscNode], walks: tuple[frozenset[str], ...]) -> dict[str, int]:
    """Return by node name how many of the loops must be around it; the first one, over blocks, always is.

    ``walks`` has the root axes that each loop decides about, outer to inner. Loads, broadcasts and what is computed
    from them element by element go as far out as the axes allow that their elements depend on; Stores, reductions and
    scans, and whatever reads them, stay inside of all loops.
    """
    listed = tuple(nodes)
    needs = dependences(listed)
    found: dict[str, int] = {}
    for node in listed:
        if node.op in NOT_EVALUATED:
            continue
        rule = asc_op(node.op)
        if rule is None or rule.kind in _NEVER_HELD:
            found[node.name] = len(walks)
            continue
        own = max((at + 1 for at, roots in enumerate(walks) if roots & needs[node.name]), default=1)
        found[node.name] = max([own, *(found[name] for name in node.inputs if name in found)])
    return found


def held_nodes(nodes: Iterable[AscNode], walks: tuple[frozenset[str], ...]) -> dict[str, int]:
    """Return the depths of those nodes alone that are made outside of some loop."""
    return {name: depth for name, depth in depths(nodes, walks).items() if depth < len(walks)}
