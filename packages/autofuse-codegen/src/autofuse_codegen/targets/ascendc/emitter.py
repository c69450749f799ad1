"""The Ascend C emitter: ScheduleResult and TilingModel -> kernel, tiling function, tiling data, shape inference."""

from autofuse_ir.facts import SymbolFacts
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import TilingModel

from autofuse_codegen.kernel.aliases import safe_aliases
from autofuse_codegen.kernel.bundles import SOLVER_SOURCE, STATUS_MESSAGES
from autofuse_codegen.kernel.names import identifier
from autofuse_codegen.kernel.several_groups import is_joint
from autofuse_codegen.render import render, source_file
from autofuse_codegen.targets.ascendc.arguments import parameters_of
from autofuse_codegen.targets.ascendc.headers import support_files
from autofuse_codegen.targets.ascendc.joint import layout_of
from autofuse_codegen.targets.ascendc.limits import check_sizes, check_tiling_data, check_workspace
from autofuse_codegen.targets.ascendc.parts import field_names
from autofuse_codegen.targets.ascendc.request import Request
from autofuse_codegen.targets.ascendc.views import BundleView
from autofuse_codegen.targets.ascendc.whole import measured, view_of

TEMPLATES = "targets/ascendc/templates"

FLAGS = ("-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti")


def emit_ascendc(schedule: ScheduleResult, model: TilingModel, facts: SymbolFacts, target: TargetSpec) -> KernelBundle:
    """Write the sources of one backend node; everything about order and place comes from ``schedule``.

    Raises ``CodegenError`` where there is more tiling data, or more workspace, than a kernel of the target may have.
    """
    check_sizes(schedule, facts)
    names = field_names(schedule.symbols, () if is_joint(schedule) else model.cases)
    request = Request(identifier(schedule.name), schedule, model, target, parameters_of(schedule), names)
    layout = layout_of(request)
    whole = measured(request, layout)
    check_tiling_data(whole.tiling_bytes, schedule, target)
    check_workspace(whole.workspace, schedule, facts)
    view = view_of(request, layout, whole)
    return KernelBundle(
        name=schedule.name,
        target=target.name,
        arguments=schedule.arguments,
        symbols=schedule.symbols,
        launch=view.entry,
        tiling=f"af_{request.kernel}_tiling",
        tiling_bytes=whole.tiling_bytes,
        workspace_bytes=whole.workspace,
        files=_files(request.kernel, view),
        support_files=(*support_files(view.headers), *model.support_files),
        flags=(*FLAGS, f"--npu-arch={view.arch}"),
        safe_aliases=safe_aliases(schedule),
        status_messages=STATUS_MESSAGES if whole.has_status else (),
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
