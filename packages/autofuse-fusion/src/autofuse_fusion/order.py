"""A topological order of a graph whose nodes are contracted two by two.

Contracting two nodes makes a cycle exactly when a path through a third one joins them. Such a path lies between the two
in the order, so it is looked for there, from both ends in turns; the end whose reach is exhausted first tells which few
nodes have to step aside. (Bidirectional search after Bender, Fineman, Gilbert and Tarjan, "A new approach to
incremental cycle detection and related problems", 2016.)
"""

from collections.abc import Iterable

_GAP = 1 << 128


class ContractionOrder:
    """Nodes 0..n-1, given in topological order, and their edges."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        self.after: list[set[int]] = [set() for _ in range(count)]
        self.before: list[set[int]] = [set() for _ in range(count)]
        for source, target in edges:
            if source != target:
                self.after[source].add(target)
                self.before[target].add(source)
        self._label = [(k + 1) * _GAP for k in range(count)]
        self._next = [*range(1, count), -1] if count else []
        self._previous = list(range(-1, count - 1))

    def position(self, node: int) -> int:
        """Return a number that grows along the order."""
        return self._label[node]

    def contract(self, a: int, b: int) -> int | None:
        """Make one node of ``a`` and ``b`` and return which of the two it is; None where that would make a cycle."""
        first, second = (a, b) if self._label[a] < self._label[b] else (b, a)
        aside = self._stepping_aside(first, second)
        if aside is None:
            return None
        forward, nodes = aside
        stays = second if forward else first
        for node in nodes:
            self._unlink(node)
        if forward:
            self._insert(nodes, second, self._next[second])
        else:
            self._insert(nodes, self._previous[first], first)
        goes = first if stays == second else second
        self._unlink(goes)
        kept, gone = (stays, goes) if self._degree(stays) >= self._degree(goes) else (goes, stays)
        if kept != stays:
            self._take_place(kept, stays)
        self._rewire(kept, gone)
        return kept

    def would_cycle(self, a: int, b: int) -> bool:
        """True when a path through a third node joins ``a`` and ``b``."""
        first, second = (a, b) if self._label[a] < self._label[b] else (b, a)
        return self._stepping_aside(first, second) is None

    def _stepping_aside(self, first: int, second: int) -> tuple[bool, list[int]] | None:
        """Return the nodes reachable from ``first`` (True) or reaching ``second`` (False) between them, in order."""
        low, high = self._label[first], self._label[second]
        ahead = [n for n in self.after[first] if n != second and self._label[n] < high]
        behind = [n for n in self.before[second] if n != first and self._label[n] > low]
        seen_ahead, seen_behind = set(ahead), set(behind)
        if not seen_ahead.isdisjoint(seen_behind):
            return None
        while ahead and behind:
            for node in self.after[ahead.pop()]:
                if node in seen_behind:
                    return None
                if node not in seen_ahead and self._label[node] < high:
                    seen_ahead.add(node)
                    ahead.append(node)
            for node in self.before[behind.pop()]:
                if node in seen_ahead:
                    return None
                if node not in seen_behind and self._label[node] > low:
                    seen_behind.add(node)
                    behind.append(node)
        if not ahead:
            return True, sorted(seen_ahead, key=self._label.__getitem__)
        return False, sorted(seen_behind, key=self._label.__getitem__)

    def _degree(self, node: int) -> int:
        return len(self.after[node]) + len(self.before[node])

    def _rewire(self, kept: int, gone: int) -> None:
        for node in self.after[gone]:
            self.before[node].discard(gone)
            if node != kept:
                self.before[node].add(kept)
                self.after[kept].add(node)
        for node in self.before[gone]:
            self.after[node].discard(gone)
            if node != kept:
                self.after[node].add(kept)
                self.before[kept].add(node)
        self.after[gone], self.before[gone] = set(), set()

    def _unlink(self, node: int) -> None:
        before, after = self._previous[node], self._next[node]
        if before >= 0:
            self._next[before] = after
        if after >= 0:
            self._previous[after] = before

    def _take_place(self, node: int, other: int) -> None:
        """Put ``node``, which is unlinked, where ``other`` is."""
        self._label[node] = self._label[other]
        self._previous[node], self._next[node] = self._previous[other], self._next[other]
        if self._previous[node] >= 0:
            self._next[self._previous[node]] = node
        if self._next[node] >= 0:
            self._previous[self._next[node]] = node

    def _insert(self, nodes: list[int], left: int, right: int) -> None:
        """Link ``nodes`` between the neighbours ``left`` and ``right`` (-1: the ends)."""
        if not nodes:
            return
        low = self._label[left] if left >= 0 else (self._label[right] - _GAP * (len(nodes) + 1))
        high = self._label[right] if right >= 0 else low + _GAP * (len(nodes) + 1)
        step = (high - low) // (len(nodes) + 1)
        if step == 0:
            self._spread(left if left >= 0 else right)
            self._insert(nodes, left, right)
            return
        for number, node in enumerate(nodes, start=1):
            self._label[node] = low + step * number
            self._previous[node] = left
            if left >= 0:
                self._next[left] = node
            left = node
        self._next[left] = right
        if right >= 0:
            self._previous[right] = left

    def _spread(self, member: int) -> None:
        """Renumber the whole order with equal gaps."""
        while self._previous[member] >= 0:
            member = self._previous[member]
        label = 0
        while member >= 0:
            label += _GAP
            self._label[member] = label
            member = self._next[member]
