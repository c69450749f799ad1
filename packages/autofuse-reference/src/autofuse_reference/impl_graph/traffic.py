"""Bytes that a plan moves between global and local memory: what its Loads read and its Stores write, tile by tile.

A Load fetches each element of its value once in every run of its segment, however many points of the tile share it.
What is outside of its data (`Bounds.FILL`) is not fetched.
"""

from collections import Counter

import numpy as np
from attrs import define, field
from autofuse_ir.asc_graph import AscNode

from autofuse_reference.arrays import Array


@define
class Traffic:
    """Bytes by node, over all tiles: ``read`` by Loads, ``written`` by Stores. ``transfers`` counts their runs."""

    read: Counter[str] = field(factory=Counter)
    written: Counter[str] = field(factory=Counter)
    transfers: Counter[str] = field(factory=Counter)

    def add(self, node: AscNode, places: list[Array]) -> None:
        """Count one run of ``node`` that touched the elements at ``places`` of its value."""
        count = np.unique(np.concatenate(places)).size if places else 0
        moved = self.read if node.op == "Load" else self.written
        moved[node.name] += int(count) * node.dtype.itemsize
        self.transfers[node.name] += count > 0

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(self.read.values()) + sum(self.written.values())
