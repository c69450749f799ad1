"""The C header of a bundle: how a C or C++ program calls the kernels without Python."""

import re

from autofuse_ir.program import HostCall, Program, ProgramKernel


def file_stem(program: Program) -> str:
    """Return the program's name as a file name and C identifier."""
    stem = re.sub(r"[^A-Za-z0-9_]+", "_", program.name).strip("_") or "program"
    return f"p{stem}" if stem[0].isdigit() else stem


def c_header(program: Program) -> str:
    """Return the text of ``include/<name>.h``."""
    stem = file_stem(program)
    guard = f"AF_{stem.upper()}_H"
    hosts = sorted(
        {step.region for variant in program.variants for step in variant.steps if isinstance(step, HostCall)}
    )
    scope = (
        f"The model has host steps ({', '.join(hosts)}), so each kernel is called by itself."
        if hosts
        else "Each kernel is called by itself, in the order of program.json's steps."
    )
    lines = [
        f"/* Kernels of {_comment(program.name)} for C and C++. Link with lib/{stem}.so. {_comment(scope)}",
        "",
        "   For one call: write the sizes in the order given, let `tiling` fill TilingData (8-byte aligned), then",
        "   `launch` with an AfHost of your own (threads, memory) and a zeroed AfStatus. Tensors are row-major.",
        "   Entry points are also in the table `af_library`. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "af_abi.h"',
        "",
    ]
    for number, kernel in enumerate(program.kernels):
        lines += _kernel(number, kernel)
    lines += [f"#endif /* {guard} */", ""]
    return "\n".join(lines)


def _kernel(number: int, kernel: ProgramKernel) -> list[str]:
    lines = [f"/* {_comment(kernel.name)}: af_library.kernels[{number}]"]
    lines += [f"   sizes[{position}]: {_comment(symbol)}" for position, symbol in enumerate(kernel.symbols)]
    for argument in sorted(kernel.arguments, key=lambda argument: (argument.is_output, argument.index)):
        role = "outputs" if argument.is_output else "inputs"
        shape = ", ".join(str(dim) for dim in argument.shape)
        lines.append(
            f"   {role}[{argument.index}]: {argument.dtype.name}[{_comment(shape)}], {_comment(argument.name)}"
        )
    lines.append(f"   tiling: {kernel.tiling_bytes} bytes; workspace: {_comment(str(kernel.workspace_bytes))} bytes")
    for message in kernel.status_messages:
        lines.append(f"   status bit {message.bit}: {_comment(message.message)}")
    lines[-1] += " */"
    return [*lines, f"#define AF_KERNEL_{_identifier(kernel.name)} {number}", ""]


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _identifier(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "_", text).upper()
