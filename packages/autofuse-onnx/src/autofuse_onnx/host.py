"""Runs host regions in ONNX Runtime (extra ``onnx``)."""

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from attrs import frozen
from autofuse_ir.graph import Payload
from autofuse_ir.program import ProgramRegion
from autofuse_ir.tensor_data import TensorData
from onnx import TensorProto, helper

from autofuse_onnx.errors import OnnxError, OnnxRuntimeMissingError
from autofuse_onnx.payload import without_dims
from autofuse_onnx.region_model import RegionModel, region_model
from autofuse_onnx.tensors import Array, to_array

NOT_IN_NUMPY = {
    "bfloat16": TensorProto.BFLOAT16,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
}
"""Element types that ONNX Runtime does not take as NumPy arrays, by the name of their ml_dtypes type."""

_CODES = re.compile(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ")
_WHILE_RUNNING = re.compile(r"Non-zero status code returned while running (\w+) node\. Name:'([^']*)' Status Message: ")

_BITS: dict[int, "np.dtype[Any]"] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16)}


@frozen
class OnnxRuntimeBackend:
    """Host backend "onnxruntime": one session a region, made once.

    ``threads`` is the number of threads inside one operator; like our kernels it runs single-threaded unless told.
    """

    threads: int = 1

    def compile(
        self,
        region: ProgramRegion,
        payloads: Mapping[str, Payload],
        constants: Mapping[str, TensorData] | None = None,
    ) -> Callable[[list[Any]], list[Any]]:
        """Return a callable: values of ``region.inputs`` in, values of ``region.outputs`` out.

        Values are NumPy arrays; sequences are lists, optional values may be None. ``constants`` are inputs whose
        content never changes: ONNX Runtime prepares weights once when it knows them. Raises ``OnnxError`` when an
        operator has no payload or ONNX Runtime does not have it.
        """
        content = {name: to_array(data) for name, data in (constants or {}).items()}
        call = RegionCall(region, region_model(region, payloads, content), self.threads)
        call.prepare()
        return call


class RegionCall:
    """A host region, ready to be called."""

    def __init__(self, region: ProgramRegion, model: RegionModel, threads: int) -> None:
        self._region = region
        self._model = model
        self._threads = threads
        self._where = f"host region {region.name}"
        self._fed = tuple((i, name) for i, name in enumerate(model.inputs) if name is not None)
        passed = dict(zip(model.outputs, region.outputs, strict=True))
        self._made = tuple(name for name in dict.fromkeys(model.outputs) if passed[name] not in region.inputs)
        self._session: Any = None
        self._exotic_outputs: frozenset[str] = frozenset()

    def prepare(self) -> None:
        """Make the session now if the types of all inputs are known, else at the first call."""
        if all(name in self._model.types for _, name in self._fed):
            self._open({})

    def __call__(self, values: list[Any]) -> list[Any]:
        """Return the region's outputs for the values of its inputs."""
        if self._session is None and self._made:
            self._open({name: _type_of(values[i], self._where) for i, name in self._fed})
        made = dict(zip(self._made, self._run(values), strict=True)) if self._made else {}
        results = []
        for name, ours in zip(self._model.outputs, self._region.outputs, strict=True):
            results.append(made[name] if name in made else values[self._region.inputs.index(ours)])
        return results

    def _run(self, values: list[Any]) -> Sequence[Any]:
        feeds = {name: _contiguous(values[i]) for i, name in self._fed}
        exotic = any(isinstance(v, np.ndarray) and v.dtype.name in NOT_IN_NUMPY for v in feeds.values())
        try:
            if not exotic and not self._exotic_outputs:
                results: Sequence[Any] = self._session.run(self._made, feeds)
                return results
            ort_values = {name: _ort_value(value) for name, value in feeds.items()}
            return [_array(result) for result in self._session.run_with_ort_values(self._made, ort_values)]
        except Exception as error:  # ONNX Runtime's errors have no common class
            raise OnnxError(
                f"ONNX Runtime refused to run it: {_told(error)}",
                where=self._where,
                fix=f"check the inputs of its operators: {_operators(self._region)}",
            ) from error

    def _open(self, found: Mapping[str, onnx.TypeProto]) -> None:
        try:
            import onnxruntime  # noqa: PLC0415  an extra: only calls of host regions need it
        except ModuleNotFoundError:
            raise OnnxRuntimeMissingError(
                f"it needs ONNX Runtime for {_operators(self._region)}, which is not installed",
                where=self._where,
                fix="install 'autofuse-onnx[onnx]'",
            ) from None
        proto = onnx.ModelProto()
        proto.CopyFrom(self._model.proto)
        for _, name in self._fed:
            type_ = found.get(name) or self._model.types[name]
            if name not in {value.name for value in proto.graph.input}:
                proto.graph.input.append(helper.make_value_info(name, type_))
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self._made)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        if not self._made:
            return
        failures: list[Exception] = []
        for attempt in _attempts(proto, self._model.opsets):
            try:
                self._session = onnxruntime.InferenceSession(
                    attempt, options, providers=["CPUExecutionProvider"], enable_fallback=0
                )
                break
            except Exception as error:  # ONNX Runtime's errors have no common class
                failures.append(error)
        else:
            raise OnnxError(
                f"ONNX Runtime {onnxruntime.__version__} cannot run {_operators(self._region)}: {_told(failures[0])}",
                where=self._where,
                fix="upgrade onnxruntime, or replace these operators in the model",
            ) from failures[0]
        exotic = {f"tensor({name})" for name in ("bfloat16", *_ORT_FLOAT8)}
        self._exotic_outputs = frozenset(o.name for o in self._session.get_outputs() if o.type in exotic)


_ORT_FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")


def _attempts(proto: onnx.ModelProto, opsets: Sequence[int]) -> Iterator[bytes]:
    """Yield the model in the versions it may have; then without dims, which mislead some rules of ONNX Runtime."""
    for has_dims in (True, False):
        for value in proto.graph.input:
            if not has_dims:
                value.type.CopyFrom(without_dims(value.type))
        for version in opsets:
            for item in proto.opset_import:
                if item.domain == "":
                    item.version = version
            yield proto.SerializeToString()


def _operators(region: ProgramRegion) -> str:
    names = dict.fromkeys(str(node.attr("operator") or node.op) for node in region.operators)
    shown = list(names)[:8]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def _told(error: Exception) -> str:
    """What ONNX Runtime says, in one line and without its codes: the operator that failed, and why."""
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    return _WHILE_RUNNING.sub(r"\1 \2: ", _CODES.sub("", lines[0]))[:300]


def _contiguous(value: Any) -> Any:
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.asarray(value)
    # NumPy makes rank 0 rank 1 here.
    return np.ascontiguousarray(array).reshape(array.shape)


def _type_of(value: Any, where: str) -> onnx.TypeProto:
    """Return the ONNX type of a value whose type nobody stated."""
    if isinstance(value, np.ndarray | np.generic):
        name = np.asarray(value).dtype.name
        code = NOT_IN_NUMPY.get(name) or helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
        return helper.make_tensor_type_proto(code, None)
    if isinstance(value, list) and value:
        return helper.make_sequence_type_proto(_type_of(value[0], where))
    raise OnnxError(
        f"the type of a value ({type(value).__name__}) is not known",
        where=where,
        fix="pass NumPy arrays, or lists of at least one",
    )


def _ort_value(value: Any) -> Any:
    import onnxruntime  # noqa: PLC0415  an extra

    if isinstance(value, np.ndarray) and value.dtype.name in NOT_IN_NUMPY:
        code = NOT_IN_NUMPY[value.dtype.name]
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(_bits(value), code)
    return onnxruntime.OrtValue.ortvalue_from_numpy(value)


def _bits(array: Array) -> Array:
    return array.view(_BITS[array.dtype.itemsize])


def _array(value: Any) -> Any:
    """Return the content of an OrtValue; types that NumPy does not have are copied bit by bit."""
    names = {code: name for name, code in NOT_IN_NUMPY.items()}
    if not value.is_tensor() or value.element_type() not in names:
        return value.numpy()
    stored = np.dtype(getattr(ml_dtypes, names[value.element_type()]))
    size = value.tensor_size_in_bytes()
    raw = ctypes.string_at(value.data_ptr(), size) if size else b""
    return np.frombuffer(raw, stored).reshape(value.shape()).copy()
