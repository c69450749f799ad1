"""What ONNX's node tests say about a compiler that fuses: which have to run in kernels, how each is compiled, and the
same tests at other sizes. Needs the packages onnx and autofuse-onnx.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen
from autofuse_onnx.node_tests import NodeTest, symbolic

HOST_OPERATORS = {
    "convolution": "Conv ConvInteger ConvTranspose DeformConv Col2Im QLinearConv CausalConvWithState",
    "matrix product": "MatMul Gemm Einsum MatMulInteger QLinearMatMul",
    "attention": "Attention FlexAttention LinearAttention",
    "determinant": "Det",
    "pooling": """AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool LpPool MaxPool MaxRoiPool MaxUnpool""",
    "recurrent": "RNN LSTM GRU",
    "scatter": "Scatter ScatterElements ScatterND TensorScatter",
    "image": "ImageDecoder Resize Upsample GridSample RoiAlign",
    "search": "NonMaxSuppression TopK Unique NonZero Compress TfIdfVectorizer",
    "Fourier": "DFT STFT",
    "random": """Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike""",
    "string": "StringConcat StringSplit StringNormalizer RegexFullMatch LabelEncoder",
    "sequence": """SequenceConstruct SequenceEmpty SequenceAt SequenceInsert SequenceErase SequenceLength SequenceMap
        SplitToSequence ConcatFromSequence""",
    "optional": "Optional OptionalHasElement OptionalGetElement",
    "control flow": "If Loop Scan",
    "training": "Gradient Adagrad Adam Momentum",
}
"""The operators that stay on the host, by kind; everything else is for kernels."""

_KIND_OF = {op: kind for kind, ops in HOST_OPERATORS.items() for op in ops.split()}

STRUCTURE = frozenset(
    (
        *("axes", "axis", "delta", "depth", "ends", "k", "limit", "new_shape", "pads", "repeats", "shape", "split"),
        *("start", "starts", "steps", "x"),
    )
)
"""Names that the tests give to inputs whose content decides shapes or the order of work."""

_BY_CONTENT = frozenset(("ConstantOfShape", "CumProd", "CumSum", "OneHot", "Range"))
"""Operators whose tests have such an input under a name, or of a dtype or rank, that others use for data."""

WAYS = ("given", "symbolic", "run time")
"""How a test is compiled: for its own sizes; with a symbol for every input dim; and so, with the structure unknown too.
"""


def host_kind(test: NodeTest) -> str | None:
    """Return the kind of the first operator of ``test`` that stays on the host, or None: kernels have to run all."""
    for node in test.model.graph.node:
        attrs = {attribute.name: attribute.i for attribute in node.attribute}
        if node.op_type in _KIND_OF:
            return _KIND_OF[node.op_type]
        if node.op_type == "BatchNormalization" and attrs.get("training_mode"):
            return "training"
    if "training_dropout" in test.name:
        return "random"
    for value in (*test.model.graph.input, *test.model.graph.output):
        if not value.type.HasField("tensor_type"):
            return "sequence" if value.type.HasField("sequence_type") else "optional"
    if any(np.asarray(value).dtype.kind in "OUS" for value in (*test.inputs, *test.outputs)):
        return "string"
    return None


def structure(test: NodeTest) -> dict[str, Any]:
    """Return the inputs that decide shapes, with their content."""
    names = [value.name for value in test.model.graph.input]
    by_content = any(op in _BY_CONTENT for op in test.op_types)
    found = {names[1]: test.inputs[1]} if test.op_types == ("Tile",) else {}
    for name, value in zip(names, test.inputs, strict=True):
        if name not in STRUCTURE or not isinstance(value, np.ndarray) or value.ndim > 1:
            continue
        if by_content or (value.dtype.kind in "iu" and len(names) > 1):
            found[name] = value
    return found


def ways(test: NodeTest) -> tuple[str, ...]:
    """Return how ``test`` is compiled; without structure among the inputs the third way is the second."""
    return WAYS if structure(test) else WAYS[:2]


@frozen(eq=False)
class Compilation:
    """A model, the inputs that are known when it is compiled, and the others, which it is called with."""

    model: Any
    known: dict[str, Any]
    arguments: tuple[Any, ...]


def compilation(test: NodeTest, way: str) -> Compilation:
    """Return what ``way`` of compiling ``test`` means."""
    known = {} if way == "run time" else structure(test)
    names = [value.name for value in test.model.graph.input]
    arguments = tuple(value for name, value in zip(names, test.inputs, strict=True) if name not in known)
    return Compilation(test.model if way == "given" else symbolic(test.model), known, arguments)


def other_sizes(arguments: tuple[Any, ...]) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """Yield odd, prime and large sizes with inputs of those: equal sizes stay equal, 0 and 1 stay, contents repeat.

    Indices stay in range, since no size shrinks. Nothing says that a test's operators allow the new sizes.
    """
    arrays = [np.asarray(value) for value in arguments]
    sizes = sorted({size for array in arrays for size in array.shape if size > 1})
    if not sizes:
        return
    largest = sizes[-1]
    changes: tuple[tuple[str, dict[int, int]], ...] = (
        ("odd", {size: 2 * size + 1 for size in sizes}),
        ("prime", _primes(arrays, sizes)),
        ("large", {largest: _large(arrays, largest)}),
    )
    for kind, change in changes:
        yield kind, tuple(np.resize(a, _changed(a.shape, change)) for a in arrays)


def _changed(shape: tuple[int, ...], change: dict[int, int]) -> tuple[int, ...]:
    return tuple(change.get(size, size) for size in shape)


def _prime_from(number: int) -> int:
    return next(n for n in itertools.count(number) if all(n % k for k in range(2, int(n**0.5) + 1)))


def _primes(arrays: list[np.ndarray], sizes: list[int], most: int = 1 << 24) -> dict[int, int]:
    """A prime past three times each size, or past less where an array would have more than ``most`` elements."""
    for factor in (3, 2, 1):
        change = {size: _prime_from(factor * size + 2) for size in sizes}
        if all(math.prod(_changed(array.shape, change)) <= most for array in arrays):
            break
    return change


def _large(arrays: list[np.ndarray], largest: int, most: int = 100_000) -> int:
    """The size for ``largest`` with which the biggest array has about ``most`` elements, 4099 at the most."""
    repeats = max((a.shape.count(largest) for a in arrays), default=1)
    rest = max((a.size // largest ** a.shape.count(largest) for a in arrays if largest in a.shape), default=1)
    return max(largest, min(4099, int((most / max(rest, 1)) ** (1 / repeats))))
