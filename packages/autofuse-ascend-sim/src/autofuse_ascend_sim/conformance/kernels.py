"""C++ text of the conformance kernels."""

from collections.abc import Sequence

from autofuse_ascend_sim.conformance.case import PARAMETERS, Case, Operand

PRELUDE = f"""\
#include "kernel_operator.h"
using namespace AscendC;
constexpr uint32_t kWords = {PARAMETERS};
"""


def translation_unit(cases: Sequence[Case], first: int = 0) -> str:
    """Kernels `case_<number>` for the cases, numbered from `first`."""
    return PRELUDE + "".join(kernel(case, f"case_{number}") for number, case in enumerate(cases, first))


def kernel(case: Case, name: str) -> str:
    """A kernel that loads the operands, runs the case's code once a step and stores the outputs into the step's slot.

    Everything around the code is ordered by barriers of all pipes: the case is about values.
    """
    operands = (*case.inputs, *case.outputs)
    arguments = ", ".join(f"GM_ADDR {operand.name}_gm" for operand in operands)
    parameters = f"GM_ADDR steps_gm, {arguments}, GM_ADDR workspace, GM_ADDR tiling"
    lines = [f'extern "C" __global__ __aicore__ void {name}({parameters})']
    lines += ["{", f"    // {case.label}", "    TPipe pipe;", "    GlobalTensor<uint32_t> steps;"]
    lines.append(f"    steps.SetGlobalBuffer((__gm__ uint32_t*)steps_gm, {len(case.steps)} * kWords);")
    for operand in operands:
        lines += _declaration(operand, len(case.steps) if operand in case.outputs else 1)
    lines += [
        "    TBuf<TPosition::VECCALC> tmp_buffer;",
        f"    pipe.InitBuffer(tmp_buffer, {max(case.tmp_bytes, 32)});",
    ]
    lines += ["    LocalTensor<uint8_t> tmp = tmp_buffer.Get<uint8_t>();", "    static_cast<void>(tmp);"]
    lines += [_load(operand, "") for operand in case.inputs]
    lines.append(f"    for (uint32_t step = 0; step < {len(case.steps)}; ++step) {{")
    lines += ["        uint32_t p[kWords];", "        for (uint32_t i = 0; i < kWords; ++i) {"]
    lines += ["            p[i] = steps.GetValue(step * kWords + i);", "        }", "        static_cast<void>(p);"]
    lines += [_load(operand, "step") for operand in case.outputs]
    lines += ["        PipeBarrier<PIPE_ALL>();", *(f"        {line}" for line in case.code.splitlines())]
    lines += ["        PipeBarrier<PIPE_ALL>();", *(_store(operand) for operand in case.outputs)]
    lines += ["        PipeBarrier<PIPE_ALL>();", "    }", "}", ""]
    return "\n".join(lines)


def _count(operand: Operand) -> int:
    return operand.bytes // operand.element.size


def _declaration(operand: Operand, slots: int) -> list[str]:
    name, kind, count = operand.name, operand.element.name, _count(operand)
    stored = "uint8_t" if kind == "bool" else kind  # bool has no copy instruction on every SoC
    return [
        f"    GlobalTensor<{stored}> {name}_global;",
        f"    {name}_global.SetGlobalBuffer((__gm__ {stored}*){name}_gm, {slots * count});",
        f"    TBuf<TPosition::VECCALC> {name}_buffer;",
        f"    pipe.InitBuffer({name}_buffer, {operand.bytes});",
        f"    LocalTensor<{kind}> {name} = {name}_buffer.Get<{kind}>();",
    ]


def _local(operand: Operand) -> str:
    return f"{operand.name}.ReinterpretCast<uint8_t>()" if operand.element.name == "bool" else operand.name


def _load(operand: Operand, step: str) -> str:
    indent = "        " if step else "    "
    offset = f"step * {_count(operand)}" if step else "0"
    count = f"static_cast<uint32_t>({_count(operand)})"
    return f"{indent}DataCopy({_local(operand)}, {operand.name}_global[{offset}], {count});"


def _store(operand: Operand) -> str:
    count = _count(operand)
    return (
        f"        DataCopy({operand.name}_global[step * {count}], {_local(operand)}, static_cast<uint32_t>({count}));"
    )
