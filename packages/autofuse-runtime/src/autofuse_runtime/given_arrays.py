"""Arrays that callers give, as arguments or as out=."""

from typing import Any

import numpy as np

from autofuse_runtime.arrays import Array, as_array, records_gradient
from autofuse_runtime.errors import InputTypeError

CPU = 1
READABLE = (CPU, 3, 11)
"""DLPack's numbers of devices whose memory the CPU reads: its own, pinned by CUDA, pinned by ROCm."""


def given_array(given: object, what: str, where: str) -> Array:
    """Return what a caller gave as ``what`` as an array over the same memory; else raises `InputTypeError`."""
    device = getattr(given, "__dlpack_device__", None)
    kind = CPU if device is None or isinstance(given, np.ndarray) else _device_type(device)
    if kind not in READABLE:
        raise InputTypeError(
            f"{what} lives on a device (DLPack device type {kind}), but the program runs on the CPU",
            where=where,
            fix="copy it to the CPU first",
        )
    array = as_array(given)
    if array is None and records_gradient(given):
        raise InputTypeError(
            f"{what} requires a gradient, but results carry none",
            where=where,
            fix="give it as .detach(), or call under torch.no_grad()",
        )
    if array is None:
        raise InputTypeError(
            f"{what} is a {type(given).__name__}, not an array",
            where=where,
            fix="give a NumPy array or a dense tensor that speaks DLPack",
        )
    return array


def _device_type(device: Any) -> int:
    try:
        return int(device()[0])
    except Exception:  # what an object of the caller's does when asked is not ours to limit
        return CPU  # reading it will fail, and says so
