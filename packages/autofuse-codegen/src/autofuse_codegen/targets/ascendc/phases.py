"""The phases of one function: nests of loops, some of them shared, around the statements of each phase.

phase 0   for row: for piece: { x = Load; m = Max x }        for row:
phase 1   for row: for piece: { ... }, shares 1 loop           for piece: { x = Load; m = Max x }
                                                               for piece: { ... }
"""

import re
from collections.abc import Callable

from attrs import define, evolve, field, frozen
from autofuse_ir.asc_graph import AscNode, Axis
from autofuse_ir.schedule import ImplGraph, Phase

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.targets.ascendc.ahead import filled_ahead
from autofuse_codegen.targets.ascendc.draft import Draft
from autofuse_codegen.targets.ascendc.handovers import Handovers
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import AheadLoop, Item, Line, Loop, for_next, texts_of
from autofuse_codegen.targets.ascendc.memory import is_long
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.reductions import opened_by, opening
from autofuse_codegen.targets.ascendc.statements import write_node


@frozen
class Place:
    """Where the statements of a phase stand: what is known there, and how values lie."""

    nest: Nest
    layouts: Layouts


def places_of(impl: ImplGraph, numbers: tuple[int, ...], outside: Nest, granule: int) -> dict[int, Place]:
    """Return the places of phases ``numbers``, which the loops of each phase alone decide."""
    found = {}
    for number in numbers:
        nest = outside
        for axis in impl.phases[number].loops:
            nest, _, _ = nest.entered(axis)
        layouts = Layouts(impl, nest, nest.names, _vectorised(impl, impl.phases[number]), granule)
        found[number] = Place(nest, layouts)
    return found


def _vectorised(impl: ImplGraph, phase: Phase) -> tuple[Axis, ...]:
    """The axes that segments of ``phase`` walk, in the order of the roots."""
    walked = dict.fromkeys(a for s in phase.segments for a in s.axes)
    axes = {axis.name: axis for axis in impl.axes}
    position = {root: i for i, root in enumerate(impl.roots)}
    return tuple(sorted((axes[name] for name in walked), key=lambda axis: position[axis.root]))


@define
class Scope:
    """What stands between two braces: names that were declared, and what its end gives back."""

    declared: set[str] = field(factory=set)
    ends: list[str] = field(factory=list)


@define
class Function:
    """Writes phases ``numbers`` of ``impl``; ``draft_of`` makes an empty draft for each, which ``drafts`` keeps."""

    impl: ImplGraph
    outside: Nest
    draft_of: Callable[[int], Draft]
    drafts: list[Draft] = field(factory=list)

    def items(self, numbers: tuple[int, ...]) -> tuple[Item, ...]:
        """Return the loops and lines of the function."""
        return tuple(self._nested(numbers, 0, self.outside, Scope()))

    def _nested(self, numbers: tuple[int, ...], depth: int, nest: Nest, around: Scope) -> list[Item]:
        """Phases that share the ``depth`` loops around them, one after the other."""
        phases = self.impl.phases
        scope = Scope(set(around.declared))
        items: list[Item] = []
        while numbers:
            size = next((i for i in range(1, len(numbers)) if phases[numbers[i]].shared <= depth), len(numbers))
            sharing, numbers = numbers[:size], numbers[size:]
            phase = phases[sharing[0]]
            if depth == len(phase.loops):
                items += self._tile(sharing[0], scope)
                continue
            axis = phase.loops[depth]
            for number in sharing:
                for node in opened_by(self.impl, phases[number], axis):
                    items += self._opened(node, number, nest, scope)
            if axis != phase.block:
                is_over_tiles = depth + 1 == len(phase.loops) and len(sharing) == 1
                ahead = self._loaded_ahead(sharing[0], nest, scope) if is_over_tiles else None
                items.append(ahead or self._loop(sharing, depth, nest, scope))
                continue
            if numbers or items:
                raise CodegenError(
                    "blocks go through two nests without waiting for each other in between",
                    where=f"kernel {self.impl.name}, template {self.impl.template}",
                    fix="share the loop over blocks, or wait for all blocks",
                )
            inner, bound, derived = nest.entered(axis)
            index = nest.index_of(axis)
            guard = (f"const af_i64 {index} = block;", f"if ({index} >= {bound}) return;", *derived)
            items = [*(Line(text) for text in guard), *self._nested(sharing, depth + 1, inner, scope)]
        return [*items, *(Line(text) for text in scope.ends)]

    def _loop(self, sharing: tuple[int, ...], depth: int, nest: Nest, around: Scope) -> Loop:
        """The loop over axis ``depth`` of the phases that share it."""
        phase = self.impl.phases[sharing[0]]
        inner, _, derived = nest.entered(phase.loops[depth])
        return Loop(_head(phase, depth, nest), derived, tuple(self._nested(sharing, depth + 1, inner, around)))

    def _loaded_ahead(self, number: int, nest: Nest, around: Scope) -> AheadLoop | None:
        """The loop over the tiles of phase ``number``, each of which is loaded before the instructions of the last one.

        It has one iteration more, and each loads one tile and works on the one before it. None where a tile has few
        instructions, or none of its loads can be that early.
        """
        phase = self.impl.phases[number]
        axis = phase.loops[-1]
        index, begin = nest.index_of(axis), nest.begin(axis)
        draft = self.draft_of(number)
        if phase.backwards or not is_long(draft.order) or not filled_ahead(draft):
            return None
        _, bound, derived = nest.entered(axis)
        ahead = nest.names.of(f"ahead {axis}", f"{axis}_ahead")
        queues = Handovers(draft)
        queues.copy_in_ahead()
        fills = tuple(_for_next(item) for item in self._with_names(draft, _inside(around)))
        draft.lines = []
        scope = _inside(around)
        work = _without_unread((*self._worked_on(draft, queues, scope), *(Line(text) for text in scope.ends)))
        return AheadLoop(
            _head(phase, len(phase.loops) - 1, nest),
            f"for (af_i64 {ahead} = {begin}; {ahead} <= {bound}; ++{ahead}) {{",
            Loop(f"if ({ahead} < {bound}) {{", (f"const af_i64 {index} = {ahead};", *derived), fills),
            Loop(f"if ({ahead} > {begin}) {{", (f"const af_i64 {index} = {ahead} - 1;", *derived), work),
        )

    def _tile(self, number: int, scope: Scope) -> list[Item]:
        draft = self.draft_of(number)
        return self._worked_on(draft, Handovers(draft), scope)

    def _worked_on(self, draft: Draft, queues: Handovers, scope: Scope) -> list[Item]:
        self.drafts.append(draft)
        queues.copy_in()
        for node in draft.order:
            write_node(node, draft, queues)
        scope.ends += queues.finish()
        return self._with_names(draft, scope)

    def _opened(self, node: AscNode, number: int, nest: Nest, scope: Scope) -> list[Item]:
        """What stands before the outermost loop that takes elements of reduction ``node`` in pieces."""
        draft = self.draft_of(number)
        draft.nest = nest
        queues = Handovers(draft)
        queues.open(node)
        scope.ends += queues.finish()
        draft.lines += opening(node, draft)
        self.drafts.append(draft)
        return self._with_names(draft, scope)

    def _with_names(self, draft: Draft, scope: Scope) -> list[Item]:
        """The lines of ``draft`` behind declarations of the names of extents that the scope does not have yet."""
        fresh: list[str] = []
        for text in draft.layouts.declarations("\n".join(texts_of(draft.lines))):
            follows = any(re.search(rf"\b{_declared(other)}\b", text) for other in fresh)
            if follows or text not in scope.declared:  # or what it is made from has another value here
                fresh.append(text)
        scope.declared.update(fresh)
        return [*(Line(text) for text in fresh), *draft.lines]


def _head(phase: Phase, depth: int, nest: Nest) -> str:
    """How the loop over axis ``depth`` of ``phase`` begins."""
    axis = phase.loops[depth]
    index, bound = nest.index_of(axis), nest.entered(axis)[1]
    if axis in phase.backwards:
        return f"for (af_i64 {index} = {bound}; {index}-- > 0;) {{"
    return f"for (af_i64 {index} = {nest.begin(axis)}; {index} < {bound}; ++{index}) {{"


_VIEW = re.compile(r"^LocalTensor<\w+> (\w+) = ")


def _without_unread(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Return ``items`` without tensors that nothing mentions: indices are read where the tile is filled."""
    text = "\n".join(text for text in texts_of(items) if not text.lstrip().startswith("//"))
    views = {name for item in items if isinstance(item, Line) for name in _VIEW.findall(item.text)}
    unread = {name for name in views if len(re.findall(rf"\b{name}\b", text)) < 2}
    return tuple(i for i in items if not isinstance(i, Line) or not unread.intersection(_VIEW.findall(i.text)))


def _for_next(item: Item) -> Item:
    """Return ``item`` as it writes to the buffers of the next tile."""
    return evolve(item, writes=frozenset(map(for_next, item.writes))) if isinstance(item, Line) else item


def _inside(scope: Scope) -> Scope:
    """A scope in ``scope``, which knows its names."""
    return Scope(set(scope.declared))


def _declared(line: str) -> str:
    """The name that ``line`` declares."""
    return line.partition(" = ")[0].rpartition(" ")[2]
