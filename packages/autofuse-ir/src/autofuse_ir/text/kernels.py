"""The text form of a KernelBundle: its call table, then its sources."""

from collections.abc import Iterator

from autofuse_ir.kernels import KernelBundle
from autofuse_ir.text.fused_graph import indented
from autofuse_ir.text.schedule import argument_lines
from autofuse_ir.text.values import word


def kernels_lines(bundle: KernelBundle) -> Iterator[str]:
    """Yield the lines of ``bundle``."""
    yield f"kernel {word(bundle.name)} for {bundle.target}"
    yield from argument_lines(bundle.arguments, bundle.symbols)
    yield f"  launch {bundle.launch}  tiling {bundle.tiling}  tiling data {bundle.tiling_bytes} bytes"
    yield f"  workspace {bundle.workspace_bytes} bytes  flags {' '.join(bundle.flags) or 'none'}"
    for output, source in bundle.safe_aliases:
        yield f"  output {output} may be input {source}"
    for status in bundle.status_messages:
        yield f"  status bit {status.bit}: {status.message}"
    for support in bundle.support_files:
        yield f"  support {support.name}  {len(support.text.splitlines())} lines  sha256 {support.sha256}"
    for file in bundle.files:
        yield f"  {file.role.value} {file.path}  sha256 {file.sha256}"
        yield from indented(indented(file.text.splitlines()))
