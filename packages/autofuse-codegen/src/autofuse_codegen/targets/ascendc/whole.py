"""One Ascend kernel as a whole: what its parts take together, and the view that its files show."""

from attrs import frozen
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, const, symbol
from autofuse_ir.dims_c import c_text
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.status import STATUS_BYTES

from autofuse_codegen.kernel.several_groups import has_choice
from autofuse_codegen.targets.ascendc.headers import headers_of
from autofuse_codegen.targets.ascendc.joint import Layout
from autofuse_codegen.targets.ascendc.limits import MOST_SIZE
from autofuse_codegen.targets.ascendc.request import Request
from autofuse_codegen.targets.ascendc.tiling_data import bytes_of, constant_of, fields_of
from autofuse_codegen.targets.ascendc.views import BundleView, FieldView, OutputView, SymbolView

ARCHITECTURES = {"ascend-a2": "dav-2201", "ascend-a3": "dav-2201", "ascend-350": "dav-3510"}

TILING_UB, TILING_WORKSPACE, TILING_SIZE = -1, -2, -3
"""Results of tiling functions beside those of the solver: less UB than tiles are sized for; a workspace that the 32-bit
field for its size cannot state; a size below 0 or too large."""


@frozen
class Whole:
    """What all parts take together: the tiling data, and a workspace whose first ``head_bytes`` no part has.

    ``waits``: all blocks wait for one another somewhere.
    """

    fields: tuple[FieldView, ...]
    tiling_bytes: int
    waits: bool
    has_status: bool
    head_bytes: int
    workspace: Dim


def measured(request: Request, layout: Layout) -> Whole:
    """Return what the parts of ``layout`` take together."""
    fields = fields_of(layout.parts, request.names, has_choice(request.model))
    waits = any(len(each.steps) > 1 for each in layout.alternatives) or any(part.waits for part in layout.parts)
    has_status = any(part.has_status for part in layout.parts)
    # Where all blocks wait for one another, a workspace of some bytes has to be there.
    head = STATUS_BYTES * (request.target.cores if has_status else int(waits))
    workspace = request.schedule.workspace_bytes + head
    return Whole(fields, bytes_of(fields, layout.parts), waits, has_status, head, workspace)


def view_of(request: Request, layout: Layout, whole: Whole) -> BundleView:
    """Return the view that the templates of all files take."""
    kernel, schedule, model, names = request.kernel, request.schedule, request.model, request.names
    arguments = tuple(name for (kind, _), name in request.parameters.items() if kind != "internal")
    parts = tuple(part.view for part in layout.parts)
    has_places = any(each.places for each in layout.alternatives)
    uses_workspace = has_places or any("GM_ADDR workspace" in part.parameters for part in parts)
    extra = tuple(n for n, is_used in (("status", whole.has_status), ("workspace", uses_workspace)) if is_used)
    constant_format, constant_values = constant_of(whole.fields, layout.parts)
    return BundleView(
        kernel=kernel,
        entry=f"af_{kernel}",
        title=comment_text(schedule.name),
        sources=tuple(comment_text(line) for line in _sources(schedule)),
        headers=_headers(layout),
        parameters=tuple(f"GM_ADDR {name}" for name in arguments),
        call=", ".join(arguments),
        argument_names=arguments,
        tiling_type=f"AfTiling_{kernel}",
        fields=whole.fields,
        symbols=_symbols(schedule, names),
        size_lines=_size_lines(schedule, names),
        parts=parts,
        alternatives=layout.alternatives,
        has_choice=has_choice(model),
        place_sizes=tuple(
            f"const af_i64 {names[s]} = t->{names[s]};" for s in schedule.symbols if s in layout.place_symbols
        ),
        shares=any(len(step.parts) > 1 for each in layout.alternatives for step in each.steps),
        run_parameters=tuple(f"GM_ADDR {name}" for name in (*arguments, *extra)),
        run_call=", ".join((*arguments, *extra)),
        task_type="KERNEL_TYPE_MIX_AIV_1_0" if whole.waits else "KERNEL_TYPE_AIV_ONLY",
        may_be_empty=all(part.is_empty for part in parts),
        head_bytes=whole.head_bytes,
        has_status=whole.has_status,
        uses_workspace=uses_workspace,
        has_workspace=whole.workspace != const(0),
        outputs=_outputs(schedule, names),
        output_rank=sum(len(a.shape) for a in schedule.arguments if a.is_output),
        solver_header=model.support_files[0].name,
        models_header=model.support_files[1].name,
        models=f"af_models_{kernel}",
        value_count=len(model.symbols) + 1 + max(len(case.variables) for case in model.cases),
        cores=request.target.cores,
        ub_bytes=request.target.local_memory.usable,
        workspace_bytes=c_text(whole.workspace, names.__getitem__),
        arch=ARCHITECTURES.get(request.target.name, ""),
        is_static=not schedule.symbols,
        constant_format=constant_format,
        constant_values=constant_values,
        code_size=TILING_SIZE,
        most_size=MOST_SIZE,
        code_workspace=TILING_WORKSPACE,
        code_ub=TILING_UB,
    )


def _headers(layout: Layout) -> tuple[str, ...]:
    functions = [function for part in layout.parts for case in part.view.cases for function in case.functions]
    return headers_of("\n".join(line for function in functions for line in (*function.setup, *function.body)))


def _outputs(schedule: ScheduleResult, names: dict[str, str]) -> tuple[OutputView, ...]:
    return tuple(
        OutputView(comment_text(a.name), tuple(c_text(d, names.__getitem__) for d in a.shape))
        for a in schedule.arguments
        if a.is_output
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
