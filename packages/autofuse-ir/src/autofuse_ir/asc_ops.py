"""The operators of AscIR, the loop-level language inside a fused kernel.

Every operator here is a primitive: composite operators of Ascend IR (Gelu, Softmax, ...) are decomposed before.
Arithmetic operators take inputs of one dtype and give that dtype; comparisons give bool; ``Cast`` gives its node's.
"""

from enum import Enum

from attrs import frozen

from autofuse_ir.dtypes import DType, DTypeKind


class AscKind(Enum):
    """What an AscIR operator does to memory, which decides where the schedule may place it."""

    DATA = "data"
    """A tensor in global memory that the kernel reads (Data) or writes (Output)."""
    SCALAR = "scalar"
    """One value known when compiling (Scalar), or an expression of sizes (IndexExpr)."""
    LOAD = "load"
    STORE = "store"
    BROADCAST = "broadcast"
    ELEMENTWISE = "elementwise"
    REDUCE = "reduce"
    """Joins all elements along the axes of attribute ``axes`` by the reduction tree (`autofuse_ir.reduction`)."""
    SCAN = "scan"
    """Joins each element with those before it along attribute ``axis``, one after the other."""
    INDEX = "index"
    """The position along an axis (AxisIndex)."""


class AscResult(Enum):
    """How the dtype of the result follows from the inputs."""

    SAME = "same"
    BOOL = "bool"
    SECOND = "second"
    """The dtype of the second input (``Select``: its first is the mask)."""
    ANY = "any"
    """Stated by the node."""


@frozen
class AscOp:
    """One AscIR operator: name, kind, number of inputs, and dtype rule.

    ``more_inputs``: a Load may have index operands after its data. ``dtypes`` says which element types it computes on:
    "all", "float", "integer", "number" (no bool), "logical" (bool), "bits" (integers and bool).
    """

    name: str
    kind: AscKind
    arity: int
    result: AscResult
    dtypes: str
    commutative: bool = False
    more_inputs: bool = False

    def takes(self, inputs: int) -> bool:
        """Return whether a node may have that number of inputs."""
        return inputs == self.arity or (self.more_inputs and inputs > self.arity)

    def computes_on(self, dtype: DType) -> bool:
        """Return whether the operator is defined on elements of ``dtype``."""
        match self.dtypes:
            case "all":
                return not dtype.is_opaque
            case "float":
                return dtype.is_float
            case "integer":
                return dtype.is_integer
            case "number":
                return dtype.is_float or dtype.is_integer
            case "logical":
                return dtype.kind is DTypeKind.BOOL
            case _:
                return dtype.is_integer or dtype.kind is DTypeKind.BOOL


def _floats(*names: str) -> tuple[AscOp, ...]:
    return tuple(AscOp(n, AscKind.ELEMENTWISE, 1, AscResult.SAME, "float") for n in names)


def _compares(*names: str) -> tuple[AscOp, ...]:
    return tuple(AscOp(n, AscKind.ELEMENTWISE, 2, AscResult.BOOL, "all", n in ("Eq", "Ne")) for n in names)


def _binaries(dtypes: str, commutative: bool, *names: str) -> tuple[AscOp, ...]:
    return tuple(AscOp(n, AscKind.ELEMENTWISE, 2, AscResult.SAME, dtypes, commutative) for n in names)


ASC_OPS: tuple[AscOp, ...] = (
    AscOp("Data", AscKind.DATA, 0, AscResult.ANY, "all"),
    AscOp("Output", AscKind.DATA, 1, AscResult.SAME, "all"),
    AscOp("Scalar", AscKind.SCALAR, 0, AscResult.ANY, "all"),
    AscOp("IndexExpr", AscKind.SCALAR, 0, AscResult.ANY, "integer"),
    AscOp("AxisIndex", AscKind.INDEX, 0, AscResult.ANY, "integer"),
    AscOp("Load", AscKind.LOAD, 1, AscResult.SAME, "all", more_inputs=True),
    AscOp("Store", AscKind.STORE, 1, AscResult.SAME, "all"),
    AscOp("Broadcast", AscKind.BROADCAST, 1, AscResult.SAME, "all"),
    *(AscOp(n, AscKind.REDUCE, 1, AscResult.SAME, "number") for n in ("Sum", "Prod")),
    *(AscOp(n, AscKind.REDUCE, 1, AscResult.SAME, "all") for n in ("Max", "Min")),
    *(AscOp(n, AscKind.REDUCE, 1, AscResult.SAME, "logical") for n in ("Any", "All")),
    *(AscOp(n, AscKind.SCAN, 1, AscResult.SAME, "number") for n in ("CumSum", "CumProd")),
    AscOp("Cast", AscKind.ELEMENTWISE, 1, AscResult.ANY, "all"),
    AscOp("Select", AscKind.ELEMENTWISE, 3, AscResult.SECOND, "all"),
    AscOp("Abs", AscKind.ELEMENTWISE, 1, AscResult.SAME, "number"),
    AscOp("Neg", AscKind.ELEMENTWISE, 1, AscResult.SAME, "number"),
    AscOp("Sign", AscKind.ELEMENTWISE, 1, AscResult.SAME, "number"),
    *_floats("Sqrt", "Rsqrt", "Reciprocal"),
    *_floats("Exp", "Exp2", "Expm1", "Ln", "Log2", "Log10", "Log1p"),
    *_floats("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"),
    *_floats("Erf", "Erfc", "Sigmoid"),
    *_floats("Floor", "Ceil", "Trunc", "Round"),
    *(AscOp(n, AscKind.ELEMENTWISE, 1, AscResult.BOOL, "float") for n in ("IsNan", "IsInf", "IsFinite")),
    AscOp("LogicalNot", AscKind.ELEMENTWISE, 1, AscResult.SAME, "logical"),
    AscOp("BitwiseNot", AscKind.ELEMENTWISE, 1, AscResult.SAME, "bits"),
    *_binaries("number", True, "Add", "Mul"),
    *_binaries("number", False, "Sub"),
    *_binaries("float", False, "Div", "Atan2"),
    *_binaries("integer", False, "TruncDiv"),
    *_binaries("number", False, "FloorDiv", "Mod", "Fmod", "Pow"),
    *_binaries("all", True, "Minimum", "Maximum"),
    *_binaries("bits", True, "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *_binaries("integer", False, "LeftShift", "RightShift"),
    *_binaries("logical", True, "LogicalAnd", "LogicalOr", "LogicalXor"),
    *_compares("Eq", "Ne", "Lt", "Le", "Gt", "Ge"),
)

NOT_EVALUATED: tuple[str, ...] = tuple(op.name for op in ASC_OPS if op.kind in (AscKind.DATA, AscKind.SCALAR))
"""Operators without a place in a segment: arguments, and values known before the loops."""

REDUCTIONS: tuple[str, ...] = tuple(op.name for op in ASC_OPS if op.kind is AscKind.REDUCE)

_BY_NAME = {op.name: op for op in ASC_OPS}


def asc_op(name: str) -> AscOp | None:
    """Return the AscIR operator called ``name``, or None when there is none."""
    return _BY_NAME.get(name)
