"""What an operator of Ascend IR is: its inputs, outputs, attributes, element types and flags."""

from enum import Enum
from typing import TypeAlias

from attrs import frozen

from autofuse_ir.dtypes import DType
from autofuse_ir.graph import AttrValue


class Family(Enum):
    """The file of the operator table an operator stands in; lowerings and references are split the same way."""

    ELEMENTWISE = "elementwise"
    ACTIVATION = "activation"
    GRADIENT = "gradient"
    BINARY = "binary"
    COMPARE_LOGIC = "compare_logic"
    REDUCE = "reduce"
    SHAPE_VIEW = "shape_view"
    CONCAT_SPLIT_SLICE_PAD = "concat_split_slice_pad"
    GATHER_SCATTER = "gather_scatter"
    NORM_LOSS = "norm_loss"
    OPTIMIZER = "optimizer"
    QUANTISE = "quantise"
    CUBE = "cube"
    HOST = "host"
    RANDOM = "random"


class Flag(Enum):
    """A property that passes ask for. Every operator has exactly one of VECTOR, CUBE and HOST."""

    VECTOR = "vector"
    """Vector kernels can compute it."""
    CUBE = "cube"
    """Matrix multiplications and convolutions: run by a host backend or a matrix unit."""
    HOST = "host"
    """Only a host backend runs it."""
    ELEMENTWISE = "elementwise"
    """Each output element depends on the input elements at the same (broadcast) position alone."""
    COMMUTATIVE = "commutative"
    """The first two inputs may be exchanged."""
    SHAPE_ONLY = "shape_only"
    """A view: the output holds the first data input's elements in the same order; moves nothing when contiguous."""
    REDUCTION = "reduction"
    COMPOSITE = "composite"
    """Decomposes into simpler operators; inside it 16-bit floats are computed in fp32 and rounded once at the end."""
    DISCONTINUOUS = "discontinuous"
    """A last-bit change of the input can change the result by more than that (comparison, rounding, index)."""
    DATA_DEPENDENT = "data_dependent"
    """The shape of a result depends on the content of an input that is not a shape operand."""
    RANDOM = "random"
    IN_PLACE = "in_place"
    """Outputs named like an input are that input, updated."""
    EXTENSION = "extension"
    """Not an operator of Ascend IR: named and defined as in ONNX (or, for ``HostCall``, by AutoFuse)."""


class ParamKind(Enum):
    """How often an input or output occurs in a node."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    DYNAMIC = "dynamic"
    """A list: its values are spread in place."""


@frozen
class Param:
    """An input. ``types`` are the element types it accepts; inputs with one ``variable`` must share their type."""

    name: str
    kind: ParamKind
    types: tuple[DType, ...]
    variable: str = ""


class CodeTable(Enum):
    """What the value of an attribute that chooses an element type is: a number of an enumeration, or a type."""

    ASCEND = "ascend"
    ONNX = "onnx"
    DTYPE = "dtype"


@frozen
class SameAs:
    """The dtype of input ``param``; nothing when that optional input is missing."""

    param: str


@frozen
class Fixed:
    """Always ``dtype``."""

    dtype: DType


@frozen
class FixedIf:
    """``dtype`` when the boolean attribute ``attr`` is true."""

    attr: str
    dtype: DType


@frozen
class FromAttr:
    """The dtype that attribute ``attr`` names; nothing when it is missing (for ONNX codes: missing or 0)."""

    attr: str
    codes: CodeTable


@frozen
class Promote:
    """The promotion of the dtypes of ``params`` (see ``promote``)."""

    params: tuple[str, ...]


@frozen
class FloatOf:
    """The dtype of ``param`` when it is a float, else float32."""

    param: str


@frozen
class FirstOf:
    """The first of ``rules`` that says something."""

    rules: tuple["DTypeRule", ...]


@frozen
class Declared:
    """Only the front end knows: ``Graph.declared`` holds it."""


DTypeRule: TypeAlias = SameAs | Fixed | FixedIf | FromAttr | Promote | FloatOf | FirstOf | Declared
"""How the dtype of an output follows from the inputs and attributes."""


@frozen
class Result:
    """An output and the rule of its dtype."""

    name: str
    kind: ParamKind
    rule: DTypeRule


class AttrKind(Enum):
    """The type of an attribute. Where an int is asked for, a size (``Dim``) is accepted too."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STR = "str"
    DTYPE = "dtype"
    INTS = "int[]"
    FLOATS = "float[]"
    STRS = "str[]"
    INT_LISTS = "int[][]"


@frozen
class AttrSpec:
    """An attribute: ``required`` ones must be set; an optional one without ``default`` may be absent (None)."""

    name: str
    kind: AttrKind
    required: bool
    default: AttrValue | None = None


@frozen
class Operator:
    """One operator: the columns of the operator table that ``autofuse_ir`` holds."""

    name: str
    family: Family
    inputs: tuple[Param, ...]
    outputs: tuple[Result, ...]
    attrs: tuple[AttrSpec, ...]
    flags: frozenset[Flag]
    meaning: str = ""

    def attr_spec(self, name: str) -> AttrSpec | None:
        """Return the attribute called ``name``, or None when the operator has none."""
        return next((spec for spec in self.attrs if spec.name == name), None)

    def input(self, name: str) -> Param | None:
        """Return the input called ``name``, or None when the operator has none."""
        return next((param for param in self.inputs if param.name == name), None)

    def has(self, flag: Flag) -> bool:
        """True when the operator carries ``flag``."""
        return flag in self.flags
