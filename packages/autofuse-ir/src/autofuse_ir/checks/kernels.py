"""Invariants of a KernelBundle."""

from collections.abc import Iterator

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.schedule import check_arguments
from autofuse_ir.checks.support_files import check_path, check_sha256, check_support_files
from autofuse_ir.checks.symbols import unknown_symbols
from autofuse_ir.kernels import FileRole, KernelBundle

STATUS_BITS = 64
"""Bits of a status word (``af_abi.h``)."""


def kernels_findings(bundle: KernelBundle) -> Iterator[Finding]:
    """Yield every broken invariant of ``bundle``."""
    yield from check_files(bundle)
    yield from check_support_files(bundle.support_files)
    yield from check_arguments(bundle.arguments)
    yield from check_aliases(bundle.safe_aliases, *_counts(bundle))
    yield from check_entry_points(bundle)
    yield from unknown_symbols((bundle.workspace_bytes,), bundle.symbols, "workspace", "workspace ")
    for argument in bundle.arguments:
        yield from unknown_symbols(argument.shape, bundle.symbols, f"argument {argument.name!r}")


def check_files(bundle: KernelBundle) -> Iterator[Finding]:
    """Files have paths of their own inside the bundle and their sha256; one of them is the kernel."""
    for path in duplicates(file.path for file in bundle.files):
        yield Finding(f"file {path!r}", "there are two of them", "give each its own path")
    for file in bundle.files:
        yield from check_path(file.path)
        yield from check_sha256(file.path, file.text, file.sha256)
    if not any(file.role is FileRole.KERNEL for file in bundle.files):
        yield Finding("files", "none of them is the kernel", "add a file with the role kernel")


def check_aliases(aliases: tuple[tuple[int, int], ...], inputs: int, outputs: int) -> Iterator[Finding]:
    """Safe aliases pair an output with an input that exists."""
    for output, source in aliases:
        if not (0 <= output < outputs and 0 <= source < inputs):
            what = f"output {output} with input {source}, of {outputs} and {inputs}"
            yield Finding("safe aliases", what, "pair (output index, input index)", f"output {output} may be")


def check_entry_points(bundle: KernelBundle) -> Iterator[Finding]:
    """Entry points are C identifiers, sizes not negative, status bits of the status word."""
    for name in (bundle.launch, bundle.tiling):
        if not (name.isidentifier() and name.isascii()):
            yield Finding("entry points", f"{name!r} is no C identifier", "", "launch ")
    if bundle.tiling_bytes < 0:
        yield Finding("tiling data", f"{bundle.tiling_bytes} bytes", "", "launch ")
    for bit in duplicates(str(status.bit) for status in bundle.status_messages):
        yield Finding(f"status bit {bit}", "it has two messages", "", f"status bit {bit}: ")
    for status in bundle.status_messages:
        if not 0 <= status.bit < STATUS_BITS:
            yield Finding(f"status bit {status.bit}", f"the status word has {STATUS_BITS} bits", "", "status bit ")


def _counts(bundle: KernelBundle) -> tuple[int, int]:
    outputs = sum(argument.is_output for argument in bundle.arguments)
    return len(bundle.arguments) - outputs, outputs
