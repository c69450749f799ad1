"""The C header of a bundle: how a C or C++ program calls the kernels without Python."""

from collections.abc import Sequence

from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim
from autofuse_ir.program import Program, ProgramKernel

from autofuse_runtime.c_model import file_stem, kernel_signature, model_signature, whole_model_obstacle


def c_header(program: Program) -> str:
    """Return the text of ``include/<name>.h``."""
    stem = file_stem(program)
    guard = f"AF_{stem.upper()}_H"
    obstacle = whole_model_obstacle(program)
    scope = "The model is one function." if obstacle is None else f"One function a kernel: {obstacle}."
    lines = [
        f"/* {comment_text(program.name)} for C and C++; link with lib/{stem}.so. {comment_text(scope)}",
        "",
        "   Sizes and pointers go in, a result comes out: 0 done, 1 no memory, 2 no tile sizes (a bug), 3 a",
        "   kernel met values it has no result for (its bits are in *status), 4 sizes the model was not compiled for.",
        "   Tensors are row-major, best 64-byte aligned; an output may not overlap an input. AfHost lends",
        "   threads and memory; the kernels by themselves are in the table `af_library`. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "af_abi.h"',
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    if obstacle is None:
        lines += _model(program)
    else:
        for number, kernel in enumerate(program.kernels):
            lines += _kernel(program, number, kernel)
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""])


def _model(program: Program) -> list[str]:
    buffers = {buffer.name: buffer for buffer in program.buffers}
    lines = ["/* The whole model."]
    lines += [
        f"   sizes[{k}]: {comment_text(fact.name)}, {fact.lo}..{fact.hi}" for k, fact in enumerate(program.symbols)
    ]
    for k, value in enumerate(program.inputs):
        lines.append(f"   inputs[{k}]: {value.dtype.name}[{_shape(value.shape or ())}], {comment_text(value.name)}")
    for k, output in enumerate(program.outputs):
        buffer = buffers[output.value]
        lines.append(f"   outputs[{k}]: {buffer.dtype.name}[{_shape(buffer.shape)}], {comment_text(output.name)}")
    for k, constant in enumerate(program.constants):
        shape = ", ".join(str(dim) for dim in constant.data.shape)
        lines.append(f"   constants[{k}]: {constant.data.dtype.name}[{shape}], sha256 {constant.data.sha256}")
    lines[-1] += " */"
    return [*lines, f"{model_signature(program)};", ""]


def _kernel(program: Program, number: int, kernel: ProgramKernel) -> list[str]:
    lines = [f"/* {comment_text(kernel.name)}: af_library.kernels[{number}]"]
    lines += [f"   sizes[{position}]: {comment_text(symbol)}" for position, symbol in enumerate(kernel.symbols)]
    for argument in sorted(kernel.arguments, key=lambda argument: (argument.is_output, argument.index)):
        role = "outputs" if argument.is_output else "inputs"
        shape = ", ".join(str(dim) for dim in argument.shape)
        lines.append(
            f"   {role}[{argument.index}]: {argument.dtype.name}[{comment_text(shape)}], {comment_text(argument.name)}"
        )
    lines.append(
        f"   tiling: {kernel.tiling_bytes} bytes; workspace: {comment_text(str(kernel.workspace_bytes))} bytes"
    )
    for message in kernel.status_messages:
        lines.append(f"   status bit {message.bit}: {comment_text(message.message)}")
    lines[-1] += " */"
    return [*lines, f"{kernel_signature(program, number)};", ""]


def _shape(shape: Sequence[Dim]) -> str:
    return comment_text(", ".join(str(dim) for dim in shape))
