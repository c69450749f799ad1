"""``autofuse.kernels``: the sources of one backend node and how to call what they build to."""

from enum import Enum

from attrs import frozen

from autofuse_ir.dims import Dim
from autofuse_ir.schedule import KernelArgument
from autofuse_ir.tiling import SupportFile


class FileRole(Enum):
    """What a generated file is for."""

    KERNEL = "kernel"
    TILING_FUNCTION = "tiling_function"
    TILING_DATA = "tiling_data"
    INFER_SHAPE = "infer_shape"
    SUPPORT = "support"


@frozen
class SourceFile:
    """A generated source file: path inside the bundle's ``src/``, text, and the sha256 of its UTF-8 bytes."""

    path: str
    role: FileRole
    text: str
    sha256: str


@frozen
class StatusMessage:
    """What bit ``bit`` of the status word means when a launch returns it set."""

    bit: int
    message: str


@frozen
class KernelBundle:
    """Sources and call table of one backend node.

    ``launch`` and ``tiling`` are the names of the C entry points (ABI: ``autofuse_ir.abi``); ``symbols`` the order of
    the sizes they take; ``tiling_bytes`` the size of TilingData; ``workspace_bytes`` what a launch needs besides.
    ``safe_aliases`` lists (output index, input index) pairs that may be the same memory.
    """

    name: str
    target: str
    arguments: tuple[KernelArgument, ...]
    symbols: tuple[str, ...]
    launch: str
    tiling: str
    tiling_bytes: int
    workspace_bytes: Dim
    files: tuple[SourceFile, ...]
    support_files: tuple[SupportFile, ...]
    flags: tuple[str, ...]
    safe_aliases: tuple[tuple[int, int], ...]
    status_messages: tuple[StatusMessage, ...]
