"""The text of one phase in the making: its lines so far, and how they name what they work on."""

from attrs import define, field
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscNode
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim
from autofuse_ir.dims_c import c_text
from autofuse_ir.schedule import ImplGraph, Phase

from autofuse_codegen.targets.ascendc.arguments import place_of
from autofuse_codegen.targets.ascendc.layout import Layouts
from autofuse_codegen.targets.ascendc.lines import Item, Line
from autofuse_codegen.targets.ascendc.literals import literal, type_name
from autofuse_codegen.targets.ascendc.margins import Margins
from autofuse_codegen.targets.ascendc.memory import Memory
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.nest import Nest
from autofuse_codegen.targets.ascendc.operands import Number, Operand, Tensor
from autofuse_codegen.targets.ascendc.places import Loops


@define
class Draft:
    """``tensors`` are the names of values in UB, of all phases; ``bits`` the truth values that are a bit each.

    ``opened`` are reductions of the phase that get their elements in pieces: room for them is taken outside of it.
    """

    impl: ImplGraph
    names: Names
    sizes: dict[str, str]
    parameters: dict[tuple[str, int], str]
    phase: Phase
    nest: Nest
    layouts: Layouts
    memory: Memory
    bits: frozenset[str]
    margins: Margins
    nodes: dict[str, AscNode]
    tensors: dict[str, str]
    opened: frozenset[str] = frozenset()
    lines: list[Item] = field(factory=list)
    _numbers: dict[str, Number] = field(factory=dict)

    @property
    def order(self) -> tuple[AscNode, ...]:
        """The nodes of the phase, in order."""
        return tuple(self.nodes[name] for segment in self.phase.segments for name in segment.nodes)

    def makes(self, name: str) -> bool:
        """True where the phase evaluates node ``name``."""
        return any(name in segment.nodes for segment in self.phase.segments)

    def put(self, *texts: str) -> None:
        """Add lines that are none of the vector unit."""
        self.lines += [Line(text) for text in texts]

    def say(self, node: AscNode, text: str) -> None:
        """Add a comment: what follows, and the operators of the model it came from."""
        result = "" if node.op == "Store" else f"{self.tensor(node)} = "
        source = f"  [{', '.join(node.source)}]" if node.source else ""
        last = self.lines[-1] if self.lines else None
        if isinstance(last, Line) and not last.text.startswith("//"):
            self.lines.append(Line(""))
        self.lines.append(Line(f"// {comment_text(result + text + source)}"))

    def tensor(self, node: AscNode) -> str:
        """Return the name of the tensor that holds the value of ``node``."""
        if node.name not in self.tensors:
            self.tensors[node.name] = self.names.of(f"value {node.name}", node.name)
        return self.tensors[node.name]

    def partials(self, node: AscNode) -> str:
        """Return the name of the tensor that holds partial results of ``node``."""
        return self.names.of(f"partials {node.name}", f"{node.name}_acc")

    def leaves(self, node: AscNode) -> str:
        """Return the name of the global tensor for the results of the leaves of ``node``."""
        return self.names.of(f"leaves {node.name}", f"{node.name}_leaves")

    def spoken(self, name: str) -> str:
        """Return what comments call the value of node ``name``."""
        node = self.nodes[name]
        value = node.attr("value")
        return str(value) if node.op == "Scalar" else self.names.of(f"value {name}", name)

    def gm(self, node: AscNode) -> tuple[str, tuple[str, int]]:
        """Return the global tensor that a Load or Store touches: its name, and the key of its parameter."""
        if node.op == "Load":
            key = place_of(self.nodes[node.inputs[0]])
        else:
            key = place_of(next(n for n in self.impl.nodes if n.op == "Output" and node.name in n.inputs))
        return self.names.of(f"gm {key}", f"{self.parameters[key]}_gm"), key

    def operand(self, name: str, reader: AscNode) -> Operand:
        """Return the value of node ``name`` as ``reader`` takes it: one number where only that varies more."""
        node = self.nodes[name]
        if self.is_number(node):
            return self.number(name)
        is_shared = not self.layouts.axes_of(node) and self.layouts.axes_of(reader)
        if is_shared and reader.op != "Store":
            return self.number(name)
        return Tensor(self.tensor(node), node.dtype, self.memory.memory_of(name) or name)

    def number(self, name: str) -> Number:
        """Return the one value of node ``name`` for the scalar unit."""
        if name not in self._numbers:
            node = self.nodes[name]
            value = node.attr("value")
            if node.op == "Scalar" and isinstance(value, (bool, int, float)):
                self._numbers[name] = Number(literal(value, node.dtype), node.dtype, value)
            elif node.op == "IndexExpr":
                expression = node.attr("expression")
                assert isinstance(expression, Dim)
                text = c_text(expression, self.sizes.__getitem__)
                self._numbers[name] = Number(f"static_cast<{type_name(node.dtype)}>({text})", node.dtype)
            elif self.is_number(node):
                number = self.number(node.inputs[0])
                self._numbers[name] = Number(f"static_cast<{type_name(node.dtype)}>({number.text})", node.dtype)
            else:
                wish = self.names.of(f"number {name}", f"{name}_value")
                kind = type_name(node.dtype)
                text = f"const {kind} {wish} = af_scalar_of({self.tensor(node)});"
                self.lines.append(Line(text, settles=True))
                self._numbers[name] = Number(wish, node.dtype)
        return self._numbers[name]

    def index(self, name: str, counted: dict[str, str]) -> str:
        """Return the value of node ``name`` at one point of the tile: ``counted`` has its index by root axis."""
        node = self.nodes[name]
        if self.is_number(node):
            return self.number(name).text
        place = Loops(self.nest, self.layouts, counted=counted).place(self.layouts.axes_of(node))
        return f"{self.tensor(node)}.GetValue({place or '0'})"

    def indices(self, name: str, counted: dict[str, str]) -> str | None:
        """Return the values of index node ``name`` from point ``counted`` on; None where they are no row of words."""
        node = self.nodes[name]
        if self.is_number(node) or node.dtype not in (dt.int32, dt.int64):
            return None
        place = Loops(self.nest, self.layouts, counted=counted).place(self.layouts.axes_of(node))
        return f"{self.tensor(node)}[{place}]" if place else self.tensor(node)

    def is_number(self, node: AscNode) -> bool:
        """True for constants and sizes, in whatever type: the scalar unit has them."""
        if node.op != "Cast":
            return node.op in ("Scalar", "IndexExpr")
        is_stored = any(n.op == "Store" and node.name in n.inputs for n in self.impl.nodes)
        return self.nodes[node.inputs[0]].op == "IndexExpr" and not is_stored
