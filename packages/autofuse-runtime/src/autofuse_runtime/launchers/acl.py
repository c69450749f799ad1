"""A device through CANN's runtime library (AscendCL): memory, copies and a stream. Names and numbers as documented."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from autofuse_runtime.arrays import Array
from autofuse_runtime.errors import BuildError, InternalError, MemoryExhaustedError

_INITIALISED_BEFORE = 100002
_NO_MEMORY = (207001, 507013)
_HUGE_PAGES_FIRST = 0
_TO_DEVICE, _FROM_DEVICE = 1, 2
_VECTOR_CORES = 1
"""Numbers of ``acl.h``."""


@cache
def device_of(library: Path, number: int = 0) -> "AclDevice":
    """Return device ``number`` through ``library``: the same one for all programs of the process."""
    return AclDevice(library, number)


class AclDevice:
    """Device ``number`` with a stream of its own. Raises ``InternalError`` where the library reports an error."""

    def __init__(self, library: Path, number: int = 0) -> None:
        try:
            self._acl = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise BuildError(
                f"the runtime library of CANN cannot be loaded: {error}",
                where=str(library),
                fix="source CANN's set_env.sh, which names the folders that it needs",
            ) from error
        self.number = number
        self.stream = ctypes.c_void_p()
        status = self._acl.aclInit(None)
        if status not in (0, _INITIALISED_BEFORE):
            self._fail("aclInit", status)
        self.use()
        self._call("aclrtCreateStream", ctypes.byref(self.stream))

    def use(self) -> None:
        """Make it the device of this thread, as every thread that calls the library has to."""
        self._call("aclrtSetDevice", ctypes.c_int32(self.number))

    def vector_cores(self, otherwise: int) -> int:
        """Return how many vector cores the device has; ``otherwise`` where it does not say."""
        value = ctypes.c_int64()
        number, what = ctypes.c_uint32(self.number), ctypes.c_int32(_VECTOR_CORES)
        status = self._acl.aclGetDeviceCapability(number, what, ctypes.byref(value))
        return value.value if status == 0 and value.value > 0 else otherwise

    @contextmanager
    def memory(self) -> Iterator["DeviceMemory"]:
        """Give memory that is freed at the end, to this thread."""
        self.use()
        memory = DeviceMemory(self)
        try:
            yield memory
        finally:
            memory.free()

    def wait(self) -> None:
        """Wait until all that the stream was given is done."""
        self._call("aclrtSynchronizeStream", self.stream)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._acl, name)(*arguments)
        if status != 0:
            self._fail(name, status)

    def _fail(self, name: str, status: int) -> None:
        if status in _NO_MEMORY:
            raise MemoryExhaustedError("the device has no memory left", where=name, fix="give smaller inputs")
        raise InternalError(
            f"{name} of CANN's runtime library returned {status}",
            where=f"Ascend device {self.number}",
            fix="look the number up in CANN's documentation; its log has more",
        )


class DeviceMemory:
    """What one launch takes of a device's memory."""

    def __init__(self, device: AclDevice) -> None:
        self._device = device
        self._taken: list[ctypes.c_void_p] = []

    def put(self, array: Array) -> ctypes.c_void_p:
        """Return the address of a copy of ``array``; of nothing where it has no bytes."""
        address = self.take(array.nbytes)
        if array.nbytes:
            size = ctypes.c_size_t(array.nbytes)
            source = ctypes.c_void_p(array.ctypes.data)
            self._device._call("aclrtMemcpy", address, size, source, size, ctypes.c_int32(_TO_DEVICE))
        return address

    def take(self, count: int) -> ctypes.c_void_p:
        """Return the address of ``count`` bytes; of nothing where there are none."""
        address = ctypes.c_void_p()
        if count:
            policy = ctypes.c_int32(_HUGE_PAGES_FIRST)
            self._device._call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(count), policy)
            self._taken.append(address)
        return address

    def zero(self, address: ctypes.c_void_p, count: int) -> None:
        """Set ``count`` bytes at ``address`` to zero."""
        if count:
            size = ctypes.c_size_t(count)
            self._device._call("aclrtMemset", address, size, ctypes.c_int32(0), size)

    def get(self, address: ctypes.c_void_p, into: Array) -> None:
        """Copy as many bytes as ``into`` has from ``address``."""
        if into.nbytes:
            size = ctypes.c_size_t(into.nbytes)
            target = ctypes.c_void_p(into.ctypes.data)
            self._device._call("aclrtMemcpy", target, size, address, size, ctypes.c_int32(_FROM_DEVICE))

    def free(self) -> None:
        """Give all back."""
        while self._taken:
            self._device._call("aclrtFree", self._taken.pop())
