"""Execute a ScheduleResult as planned: its groups one by one, in an order drawn among those that ``after`` allows.

Internal values lie in workspace of exactly the planned bytes, poisoned, where each byte knows which value it is of. A
group is given only what was made before it: reading what nobody made yet, or what another value or a group's own
workspace took over, is a fault. Inside a group, `interpret_impl` draws the order of blocks and tiles.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.dims import Dim, total
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.graph import Attr
from autofuse_ir.kernel_memory import Memory, Source, source_of, workspace_plan
from autofuse_ir.schedule import Alternative, ImplGraph, KernelArgument, Location, ScheduleGroup, ScheduleResult

from autofuse_reference.arrays import Array, numpy_dtype
from autofuse_reference.errors import EvaluationError
from autofuse_reference.impl_graph.faults import InterpreterFault
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_reference.impl_graph.memory import NOBODY, POISON

_OWN = -2
"""Whose bytes a group's own workspace is: nobody's that another group may read."""


@frozen
class Chosen:
    """The implementation of a group that runs, by name, and its tile sizes."""

    implementation: str
    tile_sizes: Mapping[str, int]


def interpret_schedule(
    schedule: ScheduleResult,
    inputs: Sequence[Array],
    sizes: Mapping[str, int],
    chosen: Mapping[str, Chosen],
    seed: int = 0,
) -> list[Array]:
    """Return the outputs of ``schedule``, by output index, for ``inputs`` by input index.

    ``sizes`` binds the size symbols, ``chosen`` says for each group by name what runs (`autofuse_tiling.evaluate`): the
    alternative is the one that has those implementations. Results have the shapes of the kernel's arguments. Raises
    ``InterpreterFault`` as `interpret_impl` does, and for a group that reads a value before it was made or after it was
    overwritten, or takes more workspace than it is given; ``EvaluationError`` where no alternative is what was chosen.
    """
    return _Launch(schedule, _chosen_alternative(schedule, chosen), inputs, sizes).outputs(chosen, seed)


def _chosen_alternative(schedule: ScheduleResult, chosen: Mapping[str, Chosen]) -> Alternative:
    for alternative in schedule.alternatives:
        names = {group.name: {impl.name for impl in group.implementations} for group in alternative.groups}
        if names.keys() == chosen.keys() and all(chosen[group].implementation in names[group] for group in names):
            return alternative
    listed = ", ".join(f"{each.implementation} for group {name}" for name, each in chosen.items())
    raise EvaluationError(f"no alternative runs {listed}", where=f"kernel {schedule.name}")


class _Launch:
    """One launch: outputs made so far, and workspace whose bytes know the internal value they are of."""

    def __init__(
        self, schedule: ScheduleResult, alternative: Alternative, inputs: Sequence[Array], sizes: Mapping[str, int]
    ) -> None:
        self.schedule = schedule
        self.alternative = alternative
        self.inputs = inputs
        self.sizes = sizes
        self.plan = workspace_plan(schedule.internals, alternative)
        count = self._size(schedule.workspace_bytes)
        self.content = np.full(count, POISON, np.uint8)
        self.writer = np.full(count, NOBODY)
        self.made: dict[int, Array] = {}

    def outputs(self, chosen: Mapping[str, Chosen], seed: int) -> list[Array]:
        """Run all groups and return what they made."""
        random = np.random.default_rng(seed)
        waiting, done = list(self.alternative.groups), set[str]()
        while waiting:
            ready = [group for group in waiting if done.issuperset(group.after)]
            group = ready[int(random.integers(len(ready)))]
            self._run(group, chosen[group.name], int(random.integers(2**31)))
            done.add(group.name)
            waiting.remove(group)
        outputs = [argument for argument in self.schedule.arguments if argument.is_output]
        return [self.made[argument.index].reshape(self._shape(argument)) for argument in outputs]

    def _run(self, group: ScheduleGroup, chosen: Chosen, seed: int) -> None:
        impl = next(i for i in group.implementations if i.name == chosen.implementation)
        read = _sources(impl, "Data")
        given = [self._value(source, impl) for source in read]
        self._take_workspace(group, impl)
        made = _sources(impl, "Output")
        results = interpret_impl(_by_itself(impl, read, made), given, self.sizes, chosen.tile_sizes, seed)
        for source, result in zip(made, results, strict=True):
            self._make(source, result)

    def _value(self, source: Source, impl: ImplGraph) -> Array:
        if source.memory is Memory.ARGUMENT:
            return self.inputs[source.index]
        if source.memory is Memory.OUTPUT:
            if source.index not in self.made:
                raise _fault(f"reads output {source.index}, which no group has made yet", impl)
            return self.made[source.index]
        value = self.schedule.internals[source.index]
        start, end = self._place(value)
        wrong = self.writer[start:end] != value.index
        if wrong.any():
            writer = int(self.writer[start:end][wrong][0])
            how = "no group has made yet" if writer == NOBODY else "another one has overwritten"
            raise _fault(f"reads internal value {value.name}, which {how}", impl)
        content: Array = self.content[start:end].copy().view(numpy_dtype(value.dtype))
        return content.reshape(self._shape(value))

    def _make(self, source: Source, result: Array) -> None:
        if source.memory is Memory.ARGUMENT:
            self.made[source.index] = result
            return
        value = self.schedule.internals[source.index]
        start, end = self._place(value)
        self.content[start:end] = np.ascontiguousarray(result).reshape(-1).view(np.uint8)
        self.writer[start:end] = value.index

    def _take_workspace(self, group: ScheduleGroup, impl: ImplGraph) -> None:
        """Leave nothing of what lay where ``group`` has workspace of its own."""
        own = (buffer.bytes * buffer.copies for buffer in impl.buffers if buffer.location is Location.WORKSPACE)
        need, given = self._size(total(own)), self._size(group.workspace_bytes)
        if need > given:
            raise _fault(f"takes {need} bytes of workspace, its group is given {given}", impl)
        start = self._size(self.plan.of_group(group.name)) if given else 0
        self.content[start : start + given] = POISON
        self.writer[start : start + given] = _OWN

    def _place(self, value: KernelArgument) -> tuple[int, int]:
        start = self._size(self.plan.internals[value.index])
        end = start + int(np.prod(self._shape(value), dtype=np.int64)) * value.dtype.itemsize
        if end > self.content.size:
            raise InterpreterFault(
                f"its bytes {start} to {end} lie outside of {self.content.size} bytes of workspace",
                kernel=self.schedule.name,
                node=value.name,
            )
        return start, end

    def _shape(self, value: KernelArgument) -> tuple[int, ...]:
        return tuple(self._size(dim) for dim in value.shape)

    def _size(self, dim: Dim) -> int:
        return evaluate(dim, self.sizes)


def _sources(impl: ImplGraph, op: str) -> tuple[Source, ...]:
    """Return what the ``op`` nodes stand for, each once, in node order."""
    return tuple(
        dict.fromkeys(source for node in impl.nodes if node.op == op and (source := source_of(node)) is not None)
    )


def _by_itself(impl: ImplGraph, read: tuple[Source, ...], made: tuple[Source, ...]) -> ImplGraph:
    """Return ``impl`` with its inputs and outputs numbered as a kernel of one group would."""

    def renumbered(node: AscNode) -> AscNode:
        if node.op not in ("Data", "Output"):
            return node
        source = source_of(node)
        assert source is not None
        number = (read if node.op == "Data" else made).index(source)
        return evolve(node, attrs=(Attr(Memory.ARGUMENT.value, number),))

    return evolve(impl, nodes=tuple(map(renumbered, impl.nodes)))


def _fault(what: str, impl: ImplGraph) -> InterpreterFault:
    return InterpreterFault(what, kernel=impl.name, node=impl.nodes[0].name)
