"""Several AscGraphs in one kernel: each becomes a group of its own, that waits for those whose results it reads."""

from attrs import evolve, field, frozen
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.graph import Attr
from autofuse_ir.kernel_memory import Memory, Source
from autofuse_ir.schedule import ImplGraph


@frozen
class Wiring:
    """What the parts of ``node`` read and make, as the whole kernel numbers it."""

    node: FusedAscBackend
    _sources: dict[str, Source] = field(init=False)
    _makers: dict[str, str] = field(init=False)

    @_sources.default
    def _number(self) -> dict[str, Source]:
        found = {name: Source(Memory.OUTPUT, index) for index, name in enumerate(self.node.outputs)}
        found |= {name: Source(Memory.INTERNAL, index) for index, name in enumerate(self.node.internal)}
        return found | {name: Source(Memory.ARGUMENT, index) for index, name in enumerate(self.node.inputs)}

    @_makers.default
    def _name(self) -> dict[str, str]:
        return {name: part.name for part in self.node.parts for name in part.outputs}

    def after(self, part: AscBackend) -> tuple[str, ...]:
        """Return the names of the parts that make what ``part`` reads."""
        return tuple(dict.fromkeys(self._makers[name] for name in part.inputs if name in self._makers))

    def __call__(self, impl: ImplGraph, part: AscBackend) -> ImplGraph:
        """Return ``impl`` of ``part`` with the arguments of the whole kernel in place of the part's own."""
        return evolve(impl, nodes=tuple(self._wired(node, part) for node in impl.nodes))

    def _wired(self, node: AscNode, part: AscBackend) -> AscNode:
        match node.op:
            case "Data":
                source = self._sources[part.inputs[node.argument_index]]
            case "Output":
                source = self._sources[part.outputs[node.argument_index]]
                if source.memory is Memory.OUTPUT:
                    source = Source(Memory.ARGUMENT, source.index)
            case _:
                return node
        kept = tuple(attr for attr in node.attrs if attr.name != Memory.ARGUMENT.value)
        return evolve(node, attrs=(*kept, Attr(source.memory.value, source.index)))
