"""``autofuse.program``: a whole model as steps over buffers."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

from attrs import field, frozen

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.dims import Cond, Dim
from autofuse_ir.dtypes import DType
from autofuse_ir.facts import Guard, SymbolFact
from autofuse_ir.graph import Constant, GraphOutput, Node, Payload, Value
from autofuse_ir.kernels import StatusMessage
from autofuse_ir.schedule import KernelArgument


class BufferKind(Enum):
    """Who owns a buffer's memory: caller (input, output), the program (constant), or the call's arena."""

    INPUT = "input"
    OUTPUT = "output"
    INTERMEDIATE = "intermediate"
    CONSTANT = "constant"
    WORKSPACE = "workspace"
    OBJECT = "object"
    """A value only host backends understand, or whose rank is unknown: a Python object, no memory of ours."""


@frozen
class ProgramBuffer:
    """A value of the program: row-major tensor of ``dtype`` and ``shape``.

    ``alias_of`` names the buffer whose bytes it shares (a view under another shape). Workspace is uint8.
    """

    name: str
    kind: BufferKind
    dtype: DType
    shape: tuple[Dim, ...]
    alias_of: str | None = None


def root_of(name: str, buffers: Mapping[str, ProgramBuffer]) -> str:
    """Return the buffer that owns the bytes of ``name``: itself, or what it is a view of in the end.

    ``buffers`` are those of one program by name; views must not make a cycle (``checks`` finds those).
    """
    while (parent := buffers[name].alias_of) is not None:
        name = parent
    return name


@frozen
class KernelCall:
    """Launch ``kernel`` on buffers ``inputs`` and ``outputs`` (argument table order)."""

    kernel: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    workspace: str | None = None


@frozen
class HostCall:
    """Run host region ``region``; its results become ``outputs``."""

    region: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@frozen
class Alias:
    """``output`` is a view of ``input``: no bytes move."""

    input: str
    output: str


@frozen
class Copy:
    """Copy the bytes of ``input`` to ``output`` (a graph output that is an input or a constant, say)."""

    input: str
    output: str


@frozen
class WriteSizes:
    """Write the values of ``elements`` to the small integer buffer ``output``."""

    output: str
    elements: tuple[Dim, ...]


@frozen
class BindSymbol:
    """Bind ``symbol`` from dim ``dim`` (or element ``element``) of buffer ``buffer``, within ``lo..hi``.

    A symbol that is bound already must agree. Exactly one of ``dim`` and ``element`` is set.
    """

    symbol: str
    buffer: str
    dim: int | None
    element: int | None
    lo: int
    hi: int


@frozen
class AssertGuard:
    """Check a guard that could not be checked at entry, because it needs unbacked symbols."""

    guard: Guard


@frozen
class Free:
    """The last use of ``buffer`` is over."""

    buffer: str


Step: TypeAlias = KernelCall | HostCall | Alias | Copy | WriteSizes | BindSymbol | AssertGuard | Free


@frozen
class Variant:
    """One precompiled step list, taken when ``condition`` holds. The last variant of a program has ``TRUE``."""

    condition: Cond
    steps: tuple[Step, ...]


@frozen
class GraphCall:
    """What one of several graphs of a kernel reads and makes, by name, in ``Data`` and ``Output`` index order.

    Names are those of the kernel's arguments, or of values that pass between its graphs.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@frozen
class ProgramKernel:
    """A kernel the program calls: its C entry points, call table, and its AscGraphs for the interpreter tier.

    Of several graphs, ``calls`` says what each one reads and makes; they stand in an order that respects this. The
    values of a single graph are the arguments themselves.
    """

    name: str
    launch: str
    tiling: str
    tiling_bytes: int
    workspace_bytes: Dim
    arguments: tuple[KernelArgument, ...]
    symbols: tuple[str, ...]
    safe_aliases: tuple[tuple[int, int], ...]
    status_messages: tuple[StatusMessage, ...]
    graphs: tuple[AscGraph, ...]
    calls: tuple[GraphCall, ...] = ()


@frozen
class ProgramRegion:
    """A host region the program calls."""

    name: str
    backend: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    operators: tuple[Node, ...]


@frozen
class Program:
    """A whole model: what to bind, check, allocate and run, in order.

    ``symbols`` and their sources are bound from the arguments at entry, then ``guards`` are checked. ``peak_bytes`` is
    the largest sum of live intermediate and workspace sizes over the steps, as a formula.
    """

    name: str
    target: str
    inputs: tuple[Value, ...]
    outputs: tuple[GraphOutput, ...]
    symbols: tuple[SymbolFact, ...]
    guards: tuple[Guard, ...]
    buffers: tuple[ProgramBuffer, ...]
    variants: tuple[Variant, ...]
    kernels: tuple[ProgramKernel, ...]
    regions: tuple[ProgramRegion, ...]
    peak_bytes: Dim
    numerics: str
    constants: tuple[Constant, ...] = field(default=(), repr=False)
    payloads: tuple[Payload, ...] = field(default=(), repr=False)
