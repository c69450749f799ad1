"""The source file that lists a library's kernels for launchers (``af_library``) and holds its C functions."""

import json

from autofuse_ir.comment import comment_text
from autofuse_ir.program import Program

from autofuse_runtime.c_model import model_source


def library_source(program: Program) -> str:
    """Return C++ text that declares the kernels' entry points, exports their table and defines the C functions."""
    lines = [
        f"// Kernels of {comment_text(program.name)}: the one symbol that launchers look up.",
        '#include "af_abi.h"',
        "",
        'extern "C" {',
    ]
    for kernel in {(kernel.launch, kernel.tiling): kernel for kernel in program.kernels}.values():
        lines += [
            f"int {kernel.tiling}(const af_i64* sizes, af_i64 cores, void* tiling);",
            f"void {kernel.launch}(const AfHost* host, const af_i64* sizes, const AfBuffer* inputs,",
            "    const AfBuffer* outputs, const void* tiling, void* workspace, AfStatus* status);",
        ]
    lines += ["}", ""]
    for number, kernel in enumerate(program.kernels):
        outputs = sum(argument.is_output for argument in kernel.arguments)
        counts = (len(kernel.symbols), len(kernel.arguments) - outputs, outputs, kernel.tiling_bytes)
        sources = dict.fromkeys(source for graph in kernel.graphs for node in graph.nodes for source in node.source)
        lines += [f"//   {comment_text(source)}" for source in sources]
        lines += [
            f"static const AfKernel af_kernel_{number} = {{",
            f"    {json.dumps(kernel.name)}, {', '.join(str(count) for count in counts)}, "
            f"{kernel.tiling}, {kernel.launch}}};",
        ]
    table = ", ".join(f"&af_kernel_{number}" for number in range(len(program.kernels))) or "nullptr"
    lines += [
        "",
        f"static const AfKernel* const af_kernels[] = {{{table}}};",
        'extern "C" __attribute__((visibility("default"))) const AfLibrary af_library = {',
        f"    AF_ABI_VERSION, {len(program.kernels)}, af_kernels}};",
    ]
    return "\n".join(lines) + model_source(program)
