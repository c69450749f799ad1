"""What a launch on Ascend is given besides inputs, and what comes back: outputs, workspace, the status word."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.dtypes import DType, bfloat16
from autofuse_ir.program import ProgramKernel
from autofuse_ir.status import STATUS_BYTES, Status, StatusError

from autofuse_runtime.arrays import Array, numpy_dtype
from autofuse_runtime.errors import InternalError


def outputs_of(kernel: ProgramKernel, sizes: Mapping[str, int]) -> list[Array]:
    """Return zeroed arrays for the outputs, bfloat16 as its bits."""
    made = (argument for argument in kernel.arguments if argument.is_output)
    return [np.zeros([evaluate(dim, sizes) for dim in a.shape], _stored_as(a.dtype)) for a in made]


def inputs_of(arrays: Sequence[Array]) -> list[Array]:
    """Return ``arrays`` as a launch takes them: row-major, bfloat16 as its bits."""
    whole = (np.ascontiguousarray(array) for array in arrays)
    return [a.view(np.uint16) if a.dtype.name == "bfloat16" else a for a in whole]


def results_of(kernel: ProgramKernel, outputs: Sequence[Array]) -> list[Array]:
    """Return outputs in the types that they hold."""
    made = (argument for argument in kernel.arguments if argument.is_output)
    return [output.view(numpy_dtype(a.dtype)) for output, a in zip(outputs, made, strict=True)]


def workspace_of(kernel: ProgramKernel, sizes: Mapping[str, int]) -> Array:
    """Return zeroed memory for the workspace."""
    return np.zeros(evaluate(kernel.workspace_bytes, sizes), np.uint8)


def check_status(kernel: ProgramKernel, workspace: Array, blocks: int) -> None:
    """Raise ``StatusError`` where one of ``blocks`` blocks met values that have no result."""
    if not kernel.status_messages:
        return
    words = workspace[: blocks * STATUS_BYTES].view(np.uint32)[:: STATUS_BYTES // 4]
    bits = int(np.bitwise_or.reduce(words))
    if bits == 0:
        return
    where = f"kernel {kernel.name}"
    for status in Status:
        if bits >> status & 1:
            raise StatusError(status, where=where)
    raise InternalError(f"it returned the unknown status {bits:#x}", where=where, fix="report this with the model")


def _stored_as(dtype: DType) -> Any:
    return np.dtype(np.uint16) if dtype == bfloat16 else numpy_dtype(dtype)
