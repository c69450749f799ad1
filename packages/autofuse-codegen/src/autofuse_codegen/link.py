"""Link: a FusedGraph and its kernels -> the Program of the whole model."""

from attrs import define, evolve, field
from autofuse_ir.dims import TRUE, const
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.dtypes import uint8
from autofuse_ir.facts import Guard, ResultDim, ResultElement, SymbolFact, SymbolFacts, ValueFact
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend, FusedGraph, HostRegion, SizesNode, ViewNode
from autofuse_ir.given import check_kinds, check_same
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    GraphCall,
    HostCall,
    KernelCall,
    Program,
    ProgramBuffer,
    ProgramKernel,
    ProgramRegion,
    Step,
    Variant,
    WriteSizes,
    root_of,
)
from autofuse_ir.target import TargetSpec

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.lifetimes import peak_bytes, with_frees
from autofuse_codegen.origins import Origins, output_owners


def link(fused_graph: FusedGraph, bundles: tuple[KernelBundle, ...], facts: SymbolFacts, target: TargetSpec) -> Program:
    """Return the program that runs ``fused_graph`` with the kernels ``bundles`` (one per backend node, by name)."""
    check_kinds(
        "link",
        fused_graph=(fused_graph, FusedGraph),
        bundles=(bundles, (tuple, list)),
        facts=(facts, SymbolFacts),
        target=(target, TargetSpec),
    )
    for bundle in bundles:
        check_kinds("link", bundles=(bundle, KernelBundle))
        check_same("link", "target", bundle=bundle.target, target=target.name)
    linker = _Linker(fused_graph, {b.name: b for b in bundles}, facts)
    linker.run()
    buffers = tuple(linker.buffers.values())
    steps = with_frees(tuple(linker.steps), buffers)
    unbacked = linker.unbacked
    return Program(
        name=fused_graph.name,
        target=target.name,
        inputs=fused_graph.inputs,
        outputs=tuple(evolve(o, value=linker.result_of(o.name)) for o in fused_graph.outputs),
        symbols=tuple(s for s in facts.symbols if s.name not in unbacked),
        guards=tuple(g for g in facts.guards if not _needs(g, unbacked)),
        buffers=buffers,
        variants=(Variant(TRUE, steps),),
        kernels=tuple(linker.kernels),
        regions=tuple(linker.regions),
        peak_bytes=peak_bytes(steps, buffers),
        numerics=fused_graph.numerics,
        constants=fused_graph.constants,
        payloads=fused_graph.payloads,
    )


def _needs(guard: Guard, symbols: set[str]) -> bool:
    return any(s in symbols for s in free_symbols(guard.condition))


@define
class _Linker:
    """Collects buffers and steps in the order of the graph's nodes."""

    graph: FusedGraph
    bundles: dict[str, KernelBundle]
    facts: SymbolFacts
    buffers: dict[str, ProgramBuffer] = field(factory=dict)
    steps: list[Step] = field(factory=list)
    kernels: list[ProgramKernel] = field(factory=list)
    regions: list[ProgramRegion] = field(factory=list)
    unbacked: set[str] = field(factory=set)
    _values: dict[str, ValueFact] = field(factory=dict)
    _results: dict[str, str] = field(factory=dict)
    _origins: Origins = field(init=False)
    _written_by_kernels: set[str] = field(factory=set)
    _bound: set[str] = field(factory=set)
    _asserted: set[Guard] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        self._origins = Origins.of(self.graph)

    def run(self) -> None:
        """Link everything."""
        self._values = {v.name: v for v in self.facts.values}
        self.unbacked = {s.name for s in self.facts.symbols if s.sources and all(_made_by_a_step(x) for x in s.sources)}
        for value in self.graph.inputs:
            kind = BufferKind.INPUT
            if value.dtype.is_opaque or value.shape is None:
                kind = BufferKind.OBJECT
            self._add(ProgramBuffer(value.name, kind, value.dtype, value.shape or ()))
        for constant in self.graph.constants:
            shape = tuple(const(d) for d in constant.data.shape)
            self._add(ProgramBuffer(constant.name, BufferKind.CONSTANT, constant.data.dtype, shape))
        owners = output_owners(self.graph, self._origins)
        for node in self.graph.nodes:
            match node:
                case AscBackend() | FusedAscBackend():
                    self._kernel(node, owners)
                case HostRegion():
                    self._region(node, owners)
                case ViewNode():
                    self._view(node)
                case SizesNode():
                    self._make(node.output, owners)
                    self.steps.append(WriteSizes(node.output, node.elements))
        self._outputs()

    def result_of(self, output: str) -> str:
        """Return the buffer that holds graph output ``output``."""
        return self._results[output]

    def _make(self, name: str, owners: dict[str, str]) -> None:
        """Add the buffer of a value that a step makes."""
        fact = self._value(name)
        if fact.shape is None or fact.dtype.is_opaque:
            self._add(ProgramBuffer(name, BufferKind.OBJECT, fact.dtype, fact.shape or ()))
            return
        owner = owners.get(name)
        if owner is None:
            self._add(ProgramBuffer(name, BufferKind.INTERMEDIATE, fact.dtype, fact.shape))
        elif owner == name:
            self._add(ProgramBuffer(name, BufferKind.OUTPUT, fact.dtype, fact.shape))
        else:
            whole = self._value(owner)
            self._add(ProgramBuffer(owner, BufferKind.OUTPUT, whole.dtype, whole.shape or ()))
            self._add(ProgramBuffer(name, BufferKind.INTERMEDIATE, fact.dtype, fact.shape, alias_of=owner))

    def _kernel(self, node: AscBackend | FusedAscBackend, owners: dict[str, str]) -> None:
        bundle = self.bundles.get(node.name)
        if bundle is None:
            raise CodegenError(
                f"no kernel was given for backend node {node.name!r}", where="link", fix="emit every backend node first"
            )
        taken: set[str] = set()
        for position, output in enumerate(node.outputs):
            source = None if output in owners else self._overwritten(node, bundle, position, taken)
            if source is None:
                self._make(output, owners)
            else:
                taken.add(source)
                fact = self._value(output)
                shape = fact.shape or ()
                self._add(ProgramBuffer(output, BufferKind.INTERMEDIATE, fact.dtype, shape, alias_of=source))
        self._written_by_kernels.update(node.outputs)
        workspace = None
        if bundle.workspace_bytes != const(0):
            workspace = f"{node.name}.workspace"
            self._add(ProgramBuffer(workspace, BufferKind.WORKSPACE, uint8, (bundle.workspace_bytes,)))
        parts = node.parts if isinstance(node, FusedAscBackend) else (node,)
        self.kernels.append(
            ProgramKernel(
                name=bundle.name,
                launch=bundle.launch,
                tiling=bundle.tiling,
                tiling_bytes=bundle.tiling_bytes,
                workspace_bytes=bundle.workspace_bytes,
                arguments=bundle.arguments,
                symbols=bundle.symbols,
                safe_aliases=bundle.safe_aliases,
                status_messages=bundle.status_messages,
                graphs=tuple(part.graph for part in parts),
                calls=tuple(GraphCall(part.inputs, part.outputs) for part in parts) if len(parts) > 1 else (),
            )
        )
        self.steps.append(KernelCall(bundle.name, node.inputs, node.outputs, workspace))
        self._learn(set(node.outputs))

    def _overwritten(
        self, node: AscBackend | FusedAscBackend, bundle: KernelBundle, position: int, taken: set[str]
    ) -> str | None:
        """Return the input whose bytes output ``position`` may take over.

        Nobody reads it afterwards, and a kernel wrote it: what the host gives may be somebody else's memory.
        """
        fact = self._value(node.outputs[position])
        for name in node.inputs:
            buffer = self.buffers[name]
            alike = [
                k for k, other in enumerate(node.inputs) if self._origins.source(other) == self._origins.source(name)
            ]
            if (
                name not in taken
                and name in self._written_by_kernels
                and self.buffers[root_of(name, self.buffers)].kind is BufferKind.INTERMEDIATE
                and (buffer.dtype, buffer.shape) == (fact.dtype, fact.shape)
                and self._origins.last_reader[name] == node.name
                and all((position, k) in bundle.safe_aliases for k in alike)
            ):
                return name
        return None

    def _region(self, node: HostRegion, owners: dict[str, str]) -> None:
        for output in node.outputs:
            self._make(output, owners)
        self.regions.append(ProgramRegion(node.name, node.backend, node.inputs, node.outputs, node.operators))
        self.steps.append(HostCall(node.name, node.inputs, node.outputs))
        self._learn(set(node.outputs))

    def _learn(self, made: set[str]) -> None:
        """Bind the symbols that the values ``made`` tell, and check what could not be checked before."""
        for symbol in self.facts.symbols:
            self._bind(symbol, made)
        for guard in self.facts.guards:
            needs = [s for s in free_symbols(guard.condition) if s in self.unbacked]
            if needs and guard not in self._asserted and all(s in self._bound for s in needs):
                self._asserted.add(guard)
                self.steps.append(AssertGuard(guard))

    def _bind(self, symbol: SymbolFact, made: set[str]) -> None:
        for source in symbol.sources:
            match source:
                case ResultDim(value, dim) if value in made:
                    self.steps.append(BindSymbol(symbol.name, value, dim, None, symbol.lo, symbol.hi))
                case ResultElement(value, element) if value in made:
                    self.steps.append(BindSymbol(symbol.name, value, None, element, symbol.lo, symbol.hi))
                case _:
                    continue
            self._bound.add(symbol.name)

    def _view(self, node: ViewNode) -> None:
        if node.output in self.buffers:
            return  # a graph output: the maker of what it shows, maybe views ago, wrote into it already
        fact = self._value(node.output)
        self._add(
            ProgramBuffer(node.output, BufferKind.INTERMEDIATE, fact.dtype, fact.shape or (), alias_of=node.input)
        )
        self.steps.append(Alias(node.input, node.output))
        self._learn({node.output})

    def _outputs(self) -> None:
        """Give every graph output a buffer of its own; what cannot be written in place is copied."""
        taken: set[str] = set()
        for output in self.graph.outputs:
            buffer = self.buffers[output.value]
            if buffer.kind is BufferKind.OBJECT:
                self._results[output.name] = buffer.name
                continue
            if buffer.kind is BufferKind.OUTPUT and buffer.name not in taken:
                taken.add(buffer.name)
                self._results[output.name] = buffer.name
                continue
            name = _unused(f"{output.name}.out", self.buffers)
            self._add(ProgramBuffer(name, BufferKind.OUTPUT, buffer.dtype, buffer.shape))
            self.steps.append(Copy(buffer.name, name))
            self._results[output.name] = name

    def _add(self, buffer: ProgramBuffer) -> None:
        if buffer.name not in self.buffers:
            self.buffers[buffer.name] = buffer

    def _value(self, name: str) -> ValueFact:
        if name not in self._values:
            raise CodegenError(
                f"nothing is known of the value {name!r}", where="link", fix="pass the facts of the fused graph"
            )
        return self._values[name]


def _made_by_a_step(source: object) -> bool:
    return isinstance(source, (ResultDim, ResultElement))


def _unused(wish: str, taken: dict[str, ProgramBuffer]) -> str:
    name, number = wish, 2
    while name in taken:
        name, number = f"{wish}_{number}", number + 1
    return name
