"""The Ascend C emitter: ScheduleResult and TilingModel -> kernel, tiling function, tiling data, shape inference."""

from autofuse_ir.comment import comment_text
from autofuse_ir.dims import const, symbol
from autofuse_ir.dims_c import c_text
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.status import STATUS_BYTES
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import TilingModel

from autofuse_codegen.kernel.aliases import safe_aliases
from autofuse_codegen.kernel.bundles import SOLVER_SOURCE, STATUS_MESSAGES
from autofuse_codegen.kernel.names import identifier
from autofuse_codegen.kernel.several_groups import has_choice, is_joint
from autofuse_codegen.render import render, source_file
from autofuse_codegen.targets.ascendc.arguments import parameters_of
from autofuse_codegen.targets.ascendc.headers import headers_of, support_files
from autofuse_codegen.targets.ascendc.joint import layout_of
from autofuse_codegen.targets.ascendc.limits import MOST_SIZE, check_sizes, check_tiling_data, check_workspace
from autofuse_codegen.targets.ascendc.parts import field_names
from autofuse_codegen.targets.ascendc.tiling_data import bytes_of, constant_of, fields_of
from autofuse_codegen.targets.ascendc.views import BundleView, OutputView, SymbolView

TEMPLATES = "targets/ascendc/templates"

FLAGS = ("-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti")

ARCHITECTURES = {"ascend-a2": "dav-2201", "ascend-a3": "dav-2201", "ascend-350": "dav-3510"}

TILING_UB, TILING_WORKSPACE, TILING_SIZE = -1, -2, -3
"""Results of tiling functions beside those of the solver: less UB than tiles are sized for; a workspace that the 32-bit
field for its size cannot state; a size below 0 or too large."""


def emit_ascendc(schedule: ScheduleResult, model: TilingModel, facts: SymbolFacts, target: TargetSpec) -> KernelBundle:
    """Write the sources of one backend node; everything about order and place comes from ``schedule``.

    Raises ``CodegenError`` where there is more tiling data, or more workspace, than a kernel of the target may have.
    """
    check_sizes(schedule, facts)
    kernel = identifier(schedule.name)
    parameters = parameters_of(schedule)
    names = field_names(schedule.symbols, () if is_joint(schedule) else model.cases)
    layout = layout_of(kernel, schedule, model, target, parameters, names)
    fields = fields_of(layout.parts, names, has_choice(model))
    tiling_bytes = bytes_of(fields, layout.parts)
    check_tiling_data(tiling_bytes, schedule, target)
    steps = [each.steps for each in layout.alternatives]
    waits = any(len(each) > 1 for each in steps) or any(part.waits for part in layout.parts)
    has_status = any(part.has_status for part in layout.parts)
    # Where all blocks wait for one another, a workspace of some bytes has to be there.
    head = STATUS_BYTES * (target.cores if has_status else int(waits))
    workspace = schedule.workspace_bytes + head
    check_workspace(workspace, schedule, facts)
    arguments = tuple(name for (kind, _), name in parameters.items() if kind != "internal")
    parts = tuple(part.view for part in layout.parts)
    has_places = any(each.places for each in layout.alternatives)
    uses_workspace = has_places or any("GM_ADDR workspace" in part.parameters for part in parts)
    extra = tuple(name for name, is_used in (("status", has_status), ("workspace", uses_workspace)) if is_used)
    functions = [function for part in parts for case in part.cases for function in case.functions]
    headers = headers_of("\n".join(line for function in functions for line in (*function.setup, *function.body)))
    constant_format, constant_values = constant_of(fields, layout.parts)
    view = BundleView(
        kernel=kernel,
        entry=f"af_{kernel}",
        title=comment_text(schedule.name),
        sources=tuple(comment_text(line) for line in _sources(schedule)),
        headers=headers,
        parameters=tuple(f"GM_ADDR {name}" for name in arguments),
        call=", ".join(arguments),
        argument_names=arguments,
        tiling_type=f"AfTiling_{kernel}",
        fields=fields,
        symbols=_symbols(schedule, names),
        size_lines=_size_lines(schedule, names),
        parts=parts,
        alternatives=layout.alternatives,
        has_choice=has_choice(model),
        place_sizes=tuple(
            f"const af_i64 {names[s]} = t->{names[s]};" for s in schedule.symbols if s in layout.place_symbols
        ),
        shares=any(len(step.parts) > 1 for each in steps for step in each),
        run_parameters=tuple(f"GM_ADDR {name}" for name in (*arguments, *extra)),
        run_call=", ".join((*arguments, *extra)),
        task_type="KERNEL_TYPE_MIX_AIV_1_0" if waits else "KERNEL_TYPE_AIV_ONLY",
        may_be_empty=all(part.is_empty for part in parts),
        head_bytes=head,
        has_status=has_status,
        uses_workspace=uses_workspace,
        has_workspace=workspace != const(0),
        outputs=tuple(
            OutputView(comment_text(a.name), tuple(c_text(d, names.__getitem__) for d in a.shape))
            for a in schedule.arguments
            if a.is_output
        ),
        output_rank=sum(len(a.shape) for a in schedule.arguments if a.is_output),
        solver_header=model.support_files[0].name,
        models_header=model.support_files[1].name,
        models=f"af_models_{kernel}",
        value_count=len(model.symbols) + 1 + max(len(case.variables) for case in model.cases),
        cores=target.cores,
        ub_bytes=target.local_memory.usable,
        workspace_bytes=c_text(workspace, names.__getitem__),
        arch=ARCHITECTURES.get(target.name, ""),
        is_static=not schedule.symbols,
        constant_format=constant_format,
        constant_values=constant_values,
        code_size=TILING_SIZE,
        most_size=MOST_SIZE,
        code_workspace=TILING_WORKSPACE,
        code_ub=TILING_UB,
    )
    return KernelBundle(
        name=schedule.name,
        target=target.name,
        arguments=schedule.arguments,
        symbols=schedule.symbols,
        launch=view.entry,
        tiling=f"af_{kernel}_tiling",
        tiling_bytes=tiling_bytes,
        workspace_bytes=workspace,
        files=_files(kernel, view),
        support_files=(*support_files(headers), *model.support_files),
        flags=(*FLAGS, f"--npu-arch={view.arch}"),
        safe_aliases=safe_aliases(schedule),
        status_messages=STATUS_MESSAGES if has_status else (),
    )


def _files(kernel: str, view: BundleView) -> tuple[SourceFile, ...]:
    def rendered(path: str, role: FileRole, template: str) -> SourceFile:
        return source_file(path, role, render(TEMPLATES, template, view))

    return (
        rendered(f"{kernel}.cpp", FileRole.KERNEL, "kernel.cpp.jinja"),
        rendered(f"{kernel}_tiling_func.cpp", FileRole.TILING_FUNCTION, "tiling_func.cpp.jinja"),
        rendered(f"{kernel}_tiling_data.h", FileRole.TILING_DATA, "tiling_data.h.jinja"),
        rendered(f"{kernel}_infer_shape.cpp", FileRole.INFER_SHAPE, "infer_shape.cpp.jinja"),
        rendered(f"{kernel}_autofuse_tiling_data.h", FileRole.TILING_DATA, "autofuse_tiling_data.h.jinja"),
        rendered(f"{kernel}_host.cpp", FileRole.SUPPORT, "host.cpp.jinja"),
        rendered(f"{kernel}_candidates.cpp", FileRole.SUPPORT, "candidates.cpp.jinja"),
        rendered(f"{kernel}_launch.cpp", FileRole.SUPPORT, "launch.cpp.jinja"),
        rendered(f"{kernel}/CMakeLists.txt", FileRole.SUPPORT, "CMakeLists.txt.jinja"),
        source_file("af_tiling_solver.cpp", FileRole.SUPPORT, SOLVER_SOURCE),
    )


def _symbols(schedule: ScheduleResult, names: dict[str, str]) -> tuple[SymbolView, ...]:
    return tuple(
        SymbolView(names[name], comment_text(name), names[name], position, *_source(schedule, name))
        for position, name in enumerate(schedule.symbols)
    )


def _source(schedule: ScheduleResult, name: str) -> tuple[int, int]:
    """The kernel input and dim that is size ``name`` as it stands."""
    for argument in schedule.arguments:
        if not argument.is_output and symbol(name) in argument.shape:
            return argument.index, argument.shape.index(symbol(name))
    return -1, -1


def _size_lines(schedule: ScheduleResult, names: dict[str, str]) -> tuple[str, ...]:
    used = {s for a in schedule.arguments if a.is_output for d in a.shape for s in free_symbols(d)}
    return tuple(f"const af_i64 {names[s]} = sizes[{i}];" for i, s in enumerate(schedule.symbols) if s in used)


def _sources(schedule: ScheduleResult) -> tuple[str, ...]:
    firsts = (group.implementations[0] for group in schedule.alternatives[0].groups)
    return tuple(dict.fromkeys(s for impl in firsts for n in impl.nodes for s in n.source))
