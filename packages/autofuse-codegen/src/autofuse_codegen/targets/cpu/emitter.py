"""The CPU emitter: ScheduleResult and TilingModel -> C++ kernel, tiling function, TilingData and shape inference."""

from attrs import AttrsInstance, evolve
from autofuse_ir.abi import header_text as abi_text
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, const, product
from autofuse_ir.dims_c import C_PRELUDE
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_ir.schedule import KernelArgument, Location, ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import SupportFile, TilingModel, support_file

from autofuse_codegen.kernel.aliases import safe_aliases
from autofuse_codegen.kernel.bundles import SOLVER_SOURCE, STATUS_MESSAGES
from autofuse_codegen.kernel.constants import Constants, constants_of, implementations_of
from autofuse_codegen.kernel.names import Names, identifier
from autofuse_codegen.kernel.several_groups import has_choice, is_joint
from autofuse_codegen.printers.cpp import size
from autofuse_codegen.render import render, source_file
from autofuse_codegen.targets.cpu.borders import Borders
from autofuse_codegen.targets.cpu.functions import case_view, launch_symbols
from autofuse_codegen.targets.cpu.headers import closure, header_texts
from autofuse_codegen.targets.cpu.joint import KernelFunctions, joint_functions
from autofuse_codegen.targets.cpu.literals import literal, type_name
from autofuse_codegen.targets.cpu.tiling import field_count, tiling_view
from autofuse_codegen.targets.cpu.views import InferShapeView, KernelView, LaunchView, TilingView

TEMPLATES = "targets/cpu/templates"

FLAGS = (
    "-O3",
    "-std=c++17",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility=hidden",
)


def emit_cpu(
    alike: tuple[ScheduleResult, ...], model: TilingModel, facts: SymbolFacts, target: TargetSpec
) -> tuple[KernelBundle, ...]:
    """Write the sources of backend nodes that differ in names and floating-point constants only, one bundle each.

    Everything about order and place comes from the schedules. The bundles hold the same files and differ in what is
    launched, where their constants do.
    """
    del facts
    schedule = alike[0]
    kernel = identifier(schedule.name)
    constants = constants_of(alike, literal)
    names = _size_names(schedule.symbols)
    if is_joint(schedule):
        written = joint_functions(schedule, constants, names)
    else:
        written = _functions(kernel, schedule, constants, names)
    view = _kernel_view(alike, model, constants, written, names)
    tiling = tiling_view(kernel, schedule, model, view.tiling_data_header)
    first = KernelBundle(
        name=schedule.name,
        target=target.name,
        arguments=schedule.arguments,
        symbols=schedule.symbols,
        launch=view.launches[0].function,
        tiling=tiling.tiling,
        tiling_bytes=8 * field_count(tiling),
        workspace_bytes=schedule.workspace_bytes,
        files=_files(view, tiling, _shape_view(schedule, names), "joint_" if is_joint(schedule) else ""),
        support_files=(*_headers(view.headers), *model.support_files),
        flags=FLAGS,
        safe_aliases=safe_aliases(schedule),
        status_messages=STATUS_MESSAGES,
    )
    return tuple(
        evolve(first, name=each.name, arguments=each.arguments, launch=view.launches[number].function)
        for each, number in zip(alike, constants.set_of, strict=True)
    )


def _kernel_view(
    alike: tuple[ScheduleResult, ...],
    model: TilingModel,
    constants: Constants,
    written: KernelFunctions,
    names: dict[str, str],
) -> KernelView:
    """Return the view of the code that ``alike`` share, with a launch for each set of constants."""
    schedule = alike[0]
    kernel = identifier(schedule.name)
    output_bytes = sum((product(a.shape) * a.dtype.itemsize for a in _outputs(schedule)), const(0))
    launch_uses = _used((output_bytes,)).union(*map(launch_symbols, implementations_of(schedule)))
    launches = tuple(
        LaunchView(_launch(kernel, number), comment_text(alike[constants.set_of.index(number)].name), values)
        for number, values in enumerate(constants.sets)
    )
    return KernelView(
        kernel=kernel,
        sources=tuple(comment_text(line) for line in _sources(schedule)),
        headers=closure(set(written.called)),
        tiling_data_header=f"{kernel}_tiling_data.h",
        launch_type=f"Launch_{kernel}",
        tiling_type=f"AfTiling_{kernel}",
        shared_launch=f"launch_{kernel}",
        constants_type=f"Constants_{kernel}",
        constants=tuple(f"{type_name(dtype)} {name}" for dtype, name in constants.members),
        launches=launches,
        launch_sizes=_size_lines(launch_uses, schedule.symbols, names),
        output_bytes=size(output_bytes, names.__getitem__),
        has_workspace=_needs_workspace(schedule),
        cases=written.cases,
        alternatives=written.alternatives,
        has_choice=has_choice(model),
    )


def _shape_view(schedule: ScheduleResult, names: dict[str, str]) -> InferShapeView:
    """Return the view of shape inference: the dims of all outputs, one after the other."""
    kernel, dims = identifier(schedule.name), tuple(d for a in _outputs(schedule) for d in a.shape)
    return InferShapeView(
        kernel=kernel,
        symbols=tuple(comment_text(s) for s in schedule.symbols),
        infer_shape=f"af_{kernel}_infer_shape",
        size_lines=_size_lines(_used(dims), schedule.symbols, names),
        dims=tuple(size(d, names.__getitem__) for d in dims),
    )


def _files(view: KernelView, tiling: TilingView, shape: InferShapeView, form: str) -> tuple[SourceFile, ...]:
    """Return the sources of a kernel; ``form`` begins the names of the templates for its tiling."""
    kernel = view.kernel
    return (
        _rendered(f"{kernel}.cpp", FileRole.KERNEL, "kernel.cpp.jinja", view),
        _rendered(f"{kernel}_tiling_func.cpp", FileRole.TILING_FUNCTION, f"{form}tiling_func.cpp.jinja", tiling),
        _rendered(view.tiling_data_header, FileRole.TILING_DATA, f"{form}tiling_data.h.jinja", tiling),
        _rendered(f"{kernel}_infer_shape.cpp", FileRole.INFER_SHAPE, "infer_shape.cpp.jinja", shape),
        source_file("af_tiling_solver.cpp", FileRole.SUPPORT, SOLVER_SOURCE),
    )


def _launch(kernel: str, number: int) -> str:
    """Return the name of the launch with set ``number`` of constants."""
    return f"af_{kernel}_launch{number + 1 if number else ''}"


def _needs_workspace(schedule: ScheduleResult) -> bool:
    """Whether functions mention the workspace, which may be one of no bytes where values are known to be empty."""
    groups = (group for alternative in schedule.alternatives for group in alternative.groups)
    buffers = (buffer for group in groups for impl in group.implementations for buffer in impl.buffers)
    return bool(schedule.internals) or any(buffer.location is Location.WORKSPACE for buffer in buffers)


def _functions(kernel: str, schedule: ScheduleResult, constants: Constants, names: dict[str, str]) -> KernelFunctions:
    """Return the functions of a kernel of one group."""
    functions = Names()
    lowered = tuple(
        case_view(at, kernel, impl, schedule, functions, names, Borders(constants=constants.of(at)))
        for at, impl in enumerate(implementations_of(schedule))
    )
    called = frozenset(f for _, called in lowered for f in called)
    return KernelFunctions(tuple(view for view, _ in lowered), (), called)


def _rendered(path: str, role: FileRole, template: str, view: AttrsInstance) -> SourceFile:
    return source_file(path, role, render(TEMPLATES, template, view))


def _headers(names: tuple[str, ...]) -> tuple[SupportFile, ...]:
    texts = {name: f"#pragma once\n{header_texts()[name]}" for name in names}  # kernels share translation units
    texts["af_abi.h"] = abi_text()
    texts["af_sizes.h"] = f'#pragma once\n#include "af_abi.h"\n\n{C_PRELUDE}'
    return tuple(support_file(name, text) for name, text in sorted(texts.items()))


def _sources(schedule: ScheduleResult) -> tuple[str, ...]:
    firsts = (group.implementations[0] for group in schedule.alternatives[0].groups)
    return tuple(dict.fromkeys(source for impl in firsts for node in impl.nodes for source in node.source))


def _outputs(schedule: ScheduleResult) -> tuple[KernelArgument, ...]:
    return tuple(argument for argument in schedule.arguments if argument.is_output)


def _size_names(symbols: tuple[str, ...]) -> dict[str, str]:
    names = Names()
    return {s: names.of(s, s) for s in symbols}


def _used(dims: tuple[Dim, ...]) -> set[str]:
    return {s for d in dims for s in free_symbols(d)}


def _size_lines(used: set[str], symbols: tuple[str, ...], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(f"const af_i64 {names[s]} = sizes[{i}];" for i, s in enumerate(symbols) if s in used)
