"""Host regions: which backend runs them, and what it must hand back."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from autofuse_ir.dtypes import bfloat16
from autofuse_ir.graph import Payload
from autofuse_ir.program import Program, ProgramBuffer, ProgramRegion
from autofuse_ir.tensor_data import TensorData

from autofuse_runtime.arrays import Array, as_array, bits_of, numpy_dtype
from autofuse_runtime.buffers import buffer_table
from autofuse_runtime.errors import RuntimeInputError, ToolMissingError
from autofuse_runtime.plan import Region

ENTRY_POINTS = "autofuse.hosts"
"""Entry point group; the name is the backend's, the object a `HostBackend` or a class without arguments that is one."""


class HostBackend(Protocol):
    """Runs the operators that no kernel covers."""

    def compile(
        self,
        region: ProgramRegion,
        payloads: Mapping[str, Payload],
        constants: Mapping[str, TensorData] | None = None,
    ) -> Callable[[list[Any]], Sequence[Any]]:
        """Return a callable: values of ``region.inputs`` in, values of ``region.outputs`` out.

        ``constants`` holds the inputs whose content never changes, so that a backend can prepare them once; they are
        passed at every call all the same.
        Values are NumPy arrays, or objects only the backend understands. The callable must not write to its inputs;
        views of them stay valid as long as they are referenced.
        """
        ...


def find_backend(name: str, hosts: Mapping[str, HostBackend]) -> HostBackend:
    """Return the backend called ``name``: from ``hosts``, else installed; raises `ToolMissingError` naming it."""
    if name in hosts:
        return hosts[name]
    for point in entry_points(group=ENTRY_POINTS, name=name):
        found: Any = point.load()
        backend: HostBackend = found() if isinstance(found, type) else found
        return backend
    raise ToolMissingError(
        f"the program needs the host backend {name!r}, which is not installed",
        where="host regions",
        fix="install the package that brings it (onnxruntime: autofuse-onnx[onnx]; reference: autofuse-reference)",
    )


def compile_regions(program: Program, hosts: Mapping[str, HostBackend]) -> tuple[Region, ...]:
    """Return the callables of the program's regions, each checking what its backend returns."""
    payloads = {payload.name: payload for payload in program.payloads}
    constants = {constant.name: constant.data for constant in program.constants}
    table = buffer_table(program)
    regions = []
    for region in program.regions:
        compiled = find_backend(region.backend, hosts).compile(region, payloads, constants)
        numbers = [table.numbers[name] for name in region.outputs]
        outputs = tuple(
            _Expected(
                buffer=table.buffers[number],
                dtype=numpy_dtype(table.buffers[number].dtype),
                rank=len(table.buffers[number].shape),
                is_object=table.is_object(number),
                becomes_result=table.roots[number] in table.owners,
            )
            for number in numbers
        )
        regions.append(_checked(program, region, compiled, outputs))
    return tuple(regions)


@frozen
class _Expected:
    """What a region must hand back for one output; ``becomes_result`` where the memory goes to the caller."""

    buffer: ProgramBuffer
    dtype: np.dtype[Any]
    rank: int
    is_object: bool
    becomes_result: bool


def _checked(
    program: Program,
    region: ProgramRegion,
    compiled: Callable[[list[Any]], Sequence[Any]],
    outputs: tuple[_Expected, ...],
) -> Region:
    where = f"{program.name}, host region {region.name} ({region.backend})"

    def run(values: list[Any]) -> tuple[Any, ...]:
        results = list(compiled(values))
        if len(results) != len(outputs):
            raise RuntimeInputError(f"{len(results)} results came back, {len(outputs)} are expected", where=where)
        results.reverse()
        finished = []
        for expected in outputs:
            result = results.pop()
            if expected.is_object:
                finished.append(result)
                continue
            # Held by this frame alone: nobody else can see what the caller will do with it.
            is_ours = type(result) is np.ndarray and sys.getrefcount(result) == _ALONE and _owns_memory(result)
            # What shows an argument's memory would change with it, when out= overlaps that argument.
            copy = not is_ours and (expected.becomes_result or _shares_memory(result, values))
            finished.append(_tensor(result, expected, where, copy))
        return tuple(finished)

    return run


def _references_of_one_holder() -> int:
    held = [object()]
    item = held.pop()
    return sys.getrefcount(item)


_ALONE = _references_of_one_holder()
"""What `sys.getrefcount` says of an object that one local variable holds."""


def _owns_memory(array: Array) -> bool:
    return array.flags.writeable and not isinstance(array.base, np.ndarray | memoryview | bytes)


def _shares_memory(result: object, values: Sequence[object]) -> bool:
    array = as_array(result)
    return array is not None and any(
        isinstance(value, np.ndarray) and np.may_share_memory(array, value) for value in values
    )


def _tensor(result: object, expected: _Expected, where: str, copy: bool) -> Array:
    array = result if type(result) is np.ndarray else as_array(result)
    name = expected.buffer.name
    if array is None or array.dtype != expected.dtype:
        found = type(result).__name__ if array is None else f"dtype {array.dtype}"
        raise RuntimeInputError(f"value {name!r} came back as {found}, {expected.dtype} is expected", where=where)
    if array.ndim != expected.rank:
        raise RuntimeInputError(
            f"value {name!r} came back with {array.ndim} dims, {expected.rank} are expected", where=where
        )
    flags = array.flags
    if copy or not (flags.c_contiguous and flags.aligned):
        array = np.array(array, order="C", copy=True)
    return bits_of(array) if expected.buffer.dtype == bfloat16 else array
