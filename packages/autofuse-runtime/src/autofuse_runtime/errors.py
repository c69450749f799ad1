"""Errors of the runtime: what is wrong, where, what to do."""

from autofuse_ir.errors import AutofuseError


class RuntimeInputError(AutofuseError):
    """What the user gave (arguments, a bundle) is wrong."""

    exit_code = 2


class InputTypeError(RuntimeInputError, TypeError):
    """An argument is of the wrong kind: dtype, count, name, not an array."""


class InputValueError(RuntimeInputError, ValueError):
    """An argument is of the right kind but has a wrong rank, size or content."""


class BundleError(RuntimeInputError):
    """A bundle is incomplete, changed, or built for another machine or version."""


class CacheError(RuntimeInputError):
    """An archive of cache entries is not what it should be, or the cache is in use."""


class ToolMissingError(AutofuseError):
    """A program that is needed to build is not on this machine."""

    exit_code = 3


class BuildError(AutofuseError):
    """A compiler refused generated source: a bug of AutoFuse or a broken compiler."""

    exit_code = 4


class InternalError(AutofuseError):
    """A program that contradicts itself: a bug of AutoFuse."""

    exit_code = 4


class MemoryExhaustedError(AutofuseError, MemoryError):
    """There was no memory for a buffer."""

    exit_code = 2


class DiskError(AutofuseError, OSError):
    """A file could not be written or read."""

    exit_code = 2
