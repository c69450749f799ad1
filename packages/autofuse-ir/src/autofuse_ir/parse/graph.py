"""Reads the text form of a Graph (`autofuse_ir.text.graph` shows one)."""

from collections.abc import Mapping

from attrs import define, field

from autofuse_ir.dims import free_symbols
from autofuse_ir.graph import (
    LARGEST_SIZE,
    Constant,
    Graph,
    GraphOutput,
    Node,
    Payload,
    Symbol,
    Value,
)
from autofuse_ir.parse.reader import Reader
from autofuse_ir.parse.values import attributes, content
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.text.graph import default_name


def read_graph(reader: Reader, constants: Mapping[str, TensorData]) -> Graph:
    """Return the graph after the word ``graph``. Symbols of its inputs that it does not declare get the full range."""
    return _GraphReader(reader, constants).read()


@define
class _GraphReader:
    """What has been read so far."""

    reader: Reader
    content: Mapping[str, TensorData]
    symbols: list[Symbol] = field(factory=list)
    constants: list[Constant] = field(factory=list)
    payloads: list[Payload] = field(factory=list)
    declared: list[Value] = field(factory=list)
    nodes: list[Node] = field(factory=list)

    def read(self) -> Graph:
        reader = self.reader
        name = reader.name("the name of the graph")
        inputs = reader.many("(", ")", self._typed)
        reader.expect("->")
        outputs = reader.many("(", ")", self._output) if reader.peek("(") else (self._output(),)
        while self._line():
            pass
        known = {symbol.name for symbol in self.symbols}
        implied = {s: None for value in inputs for dim in value.shape or () for s in free_symbols(dim)}
        self._check_payloads()
        return Graph(
            name=name,
            inputs=inputs,
            outputs=outputs,
            nodes=tuple(self.nodes),
            constants=tuple(self.constants),
            symbols=(*self.symbols, *(Symbol(s) for s in sorted(implied) if s not in known)),
            declared=tuple(self.declared),
            payloads=tuple(self.payloads),
        )

    def _line(self) -> bool:
        """Read one declaration or node; false where there is none."""
        reader = self.reader
        if reader.accept_word("symbols"):
            reader.expect(":")
            self.symbols.append(self._symbol())
            while reader.accept(","):
                self.symbols.append(self._symbol())
        elif reader.accept_word("constant"):
            name = reader.value()
            reader.expect(":")
            self.constants.append(Constant(name, content(reader, self.content)))
        elif reader.accept_word("payload"):
            reader.expect("@")
            name, form = reader.name("the name of a payload"), reader.string()
            reader.expect(":")
            self.payloads.append(Payload(name, form, content(reader, self.content)))
        elif reader.accept_word("declare"):
            self.declared.append(self._typed())
        elif reader.peek("%") or reader.peek("_") or reader.peek("("):
            self._node()
        else:
            return False
        return True

    def _node(self) -> None:
        reader = self.reader
        if reader.accept("("):
            reader.expect(")")
            outputs: tuple[str, ...] = ()
        else:
            outputs = (self._value_or_missing() or "",)
            while reader.accept(","):
                outputs = (*outputs, self._value_or_missing() or "")
        reader.expect("=")
        op = reader.name("an operator")
        inputs = reader.many("(", ")", self._value_or_missing)
        attrs = attributes(reader)
        if reader.accept(":"):
            self._types(outputs)
        name, payload, source = default_name(outputs), None, ""
        if reader.accept_word("as"):
            name = reader.string()
        if reader.accept_word("payload"):
            reader.expect("@")
            payload = reader.name("the name of a payload")
        if reader.accept_word("from"):
            source = reader.string()
        self.nodes.append(Node(name, op, inputs, outputs, attrs, source, payload))

    def _types(self, outputs: tuple[str, ...]) -> None:
        for position, output in enumerate(outputs):
            if position:
                self.reader.expect(",")
            if not self.reader.accept_word("_"):
                self.declared.append(Value(output, *self.reader.tensor_type()))

    def _value_or_missing(self) -> str | None:
        return None if self.reader.accept_word("_") else self.reader.value()

    def _typed(self) -> Value:
        name = self.reader.value()
        self.reader.expect(":")
        return Value(name, *self.reader.tensor_type())

    def _output(self) -> GraphOutput:
        if self.reader.peek("%"):
            name = self.reader.value()
            return GraphOutput(name, name)
        name = self.reader.name("the name of an output")
        self.reader.expect("=")
        return GraphOutput(name, self.reader.value())

    def _symbol(self) -> Symbol:
        reader = self.reader
        name = reader.name("the name of a symbol")
        lo, hi, hint = 0, LARGEST_SIZE, None
        if reader.accept_word("in"):
            lo, hi = self._range()
        if reader.accept_word("hint"):
            hint = reader.integer()
        return Symbol(name, lo, hi, hint)

    def _range(self) -> tuple[int, int]:
        bounds = self.reader.many("[", "]", self.reader.integer)
        if len(bounds) != 2:
            raise self.reader.error("a range has two ends, [lo, hi]")
        return bounds[0], bounds[1]

    def _check_payloads(self) -> None:
        known = {payload.name for payload in self.payloads}
        for node in self.nodes:
            if node.payload is not None and node.payload not in known:
                raise self.reader.error(
                    f"node {node.name!r} refers to the payload {node.payload!r}, which is not in this text",
                    "add its 'payload' line, or read the graph from its JSON",
                )
