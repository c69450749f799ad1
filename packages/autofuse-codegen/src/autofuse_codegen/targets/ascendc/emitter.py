"""The Ascend C emitter: ScheduleResult and TilingModel -> kernel, tiling function, tiling data, shape inference."""

import re
from importlib.resources import files

from attrs import frozen
from autofuse_ir.abi import header_text as abi_text
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, symbol
from autofuse_ir.dims_c import C_PRELUDE, c_text
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.kernels import FileRole, KernelBundle, SourceFile
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import SupportFile, TilingModel, support_file

from autofuse_codegen.errors import CodegenError
from autofuse_codegen.render import render, source_file
from autofuse_codegen.targets.ascendc.case import Written, write_case
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.views import (
    BundleView,
    CaseView,
    FieldView,
    OutputView,
    SettingView,
    SymbolView,
)
from autofuse_codegen.targets.cpu.aliases import safe_aliases
from autofuse_codegen.targets.cpu.names import identifier

TEMPLATES = "targets/ascendc/templates"
INCLUDE = "targets/ascendc/include"
HEADERS = ("af_npu_base.h", "af_npu_copy.h", "af_npu_fill.h")
OPTIONAL_HEADERS = ("af_npu_broadcast.h", "af_npu_constant.h", "af_npu_logic.h", "af_npu_cast.h")
SIZES = "af_npu_sizes.h"

FLAGS = ("-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti")

ARCHITECTURES = {"ascend-a2": "dav-2201", "ascend-a3": "dav-2201", "ascend-350": "dav-3510"}

SOLVER_SOURCE = """// The tiling solver, compiled once for all kernels of a library.
#define AF_TILING_SOLVER_DEFINE
#include "af_tiling_solver.h"
"""

FIXED_FIELDS = (
    FieldView("uint32_t", "block_dim", "blocks to launch"),
    FieldView("uint32_t", "corenum", "vector cores there are"),
    FieldView("uint32_t", "ub_size", "bytes of UB that tiles may fill"),
    FieldView("uint32_t", "hbm_size", "bytes of workspace"),
    FieldView("uint32_t", "tiling_key", "tiling case"),
    FieldView("uint32_t", "reserved", ""),
)


@frozen
class _Fields:
    """Names of fields of the tiling data: of symbols and tile sizes, and how many queues and buffers there are."""

    sizes: dict[str, str]
    queues: int
    buffers: int

    def views(self, symbols: tuple[str, ...]) -> tuple[FieldView, ...]:
        """Return all fields in order; 64-bit ones are aligned."""
        found = list(FIXED_FIELDS)
        for size, field in self.sizes.items():
            what = f"size {comment_text(size)}" if size in symbols else "tile size"
            found.append(FieldView("int64_t", field, what))
        found += [FieldView("uint32_t", f"q{i}_size", "bytes of a queue's buffer") for i in range(self.queues)]
        found += [FieldView("uint32_t", f"b{i}_size", "bytes of a buffer") for i in range(self.buffers)]
        if (self.queues + self.buffers) % 2:
            found.append(FieldView("uint32_t", "reserved2", ""))
        return tuple(found)


def emit_ascendc(schedule: ScheduleResult, model: TilingModel, facts: SymbolFacts, target: TargetSpec) -> KernelBundle:
    """Write the sources of one backend node; everything about order and place comes from ``schedule``."""
    del facts  # ranges are in the schedule already
    kernel = identifier(schedule.name)
    implementations = tuple(i for a in schedule.alternatives for g in a.groups for i in g.implementations)
    field_names = Names()
    for fixed in FIXED_FIELDS:
        field_names.of(fixed.name, fixed.name)
    sizes = {s: field_names.of(f"size {s}", s) for s in schedule.symbols}
    for case in model.cases:
        for variable in case.variables:
            sizes.setdefault(variable.name, field_names.of(f"size {variable.name}", variable.name))
    parameters = _parameters(schedule)
    cases = tuple(
        _case(kernel, key, impl, schedule, model, target, sizes, parameters) for key, impl in enumerate(implementations)
    )
    fields = _Fields(
        sizes,
        max((len(written.memory.queues) for _, written in cases), default=0),
        max((len(written.memory.spaces) for _, written in cases), default=0),
    )
    field_views = fields.views(schedule.symbols)
    tiling_bytes = sum(8 if view.type == "int64_t" else 4 for view in field_views)
    if tiling_bytes > target.limits.tiling_bytes:
        raise CodegenError(
            f"the tiling data takes {tiling_bytes} bytes, {target.limits.tiling_bytes} are the most",
            where=f"kernel {schedule.name}",
            fix="fuse fewer operators",
        )
    text = "\n".join(line for view, _ in cases for line in (*view.setup, *view.body))
    headers = (SIZES, *HEADERS, *(h for h in OPTIONAL_HEADERS if _mentions(text, h)))
    view = BundleView(
        kernel=kernel,
        entry=f"af_{kernel}",
        title=comment_text(schedule.name),
        sources=tuple(comment_text(line) for line in _sources(implementations)),
        headers=headers,
        parameters=tuple(f"GM_ADDR {name}" for name in parameters.values()),
        call=", ".join(parameters.values()),
        argument_names=tuple(parameters.values()),
        tiling_type=f"AfTiling_{kernel}",
        fields=field_views,
        symbols=_symbols(schedule, sizes),
        size_lines=_size_lines(schedule, sizes),
        cases=tuple(case for case, _ in cases),
        outputs=tuple(
            OutputView(comment_text(a.name), tuple(c_text(d, sizes.__getitem__) for d in a.shape))
            for a in schedule.arguments
            if a.is_output
        ),
        output_rank=sum(len(a.shape) for a in schedule.arguments if a.is_output),
        solver_header=model.support_files[0].name,
        models_header=model.support_files[1].name,
        value_count=len(model.symbols) + 1 + max(len(case.variables) for case in model.cases),
        cores=target.cores,
        ub_bytes=target.local_memory.usable,
        workspace_bytes=c_text(schedule.workspace_bytes, sizes.__getitem__),
        arch=ARCHITECTURES.get(target.name, ""),
        is_static=not schedule.symbols,
    )
    return KernelBundle(
        name=schedule.name,
        target=target.name,
        arguments=schedule.arguments,
        symbols=schedule.symbols,
        launch=view.entry,
        tiling=f"af_{kernel}_tiling",
        tiling_bytes=tiling_bytes,
        workspace_bytes=schedule.workspace_bytes,
        files=_files(kernel, view),
        support_files=(*_support(headers), *model.support_files),
        flags=FLAGS,
        safe_aliases=safe_aliases(schedule),
        status_messages=(),
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
        rendered(f"{kernel}_launch.cpp", FileRole.SUPPORT, "launch.cpp.jinja"),
        rendered(f"{kernel}/CMakeLists.txt", FileRole.SUPPORT, "CMakeLists.txt.jinja"),
        source_file("af_tiling_solver.cpp", FileRole.SUPPORT, SOLVER_SOURCE),
    )


def _support(headers: tuple[str, ...]) -> tuple[SupportFile, ...]:
    names = set(headers) - {SIZES}
    todo = list(names)
    texts: dict[str, str] = {}
    while todo:
        name = todo.pop()
        if name in texts:
            continue
        texts[name] = files("autofuse_codegen").joinpath(*INCLUDE.split("/"), name).read_text(encoding="utf-8")
        todo += re.findall(r'^#include "(af_npu_\w+\.h)"', texts[name], re.MULTILINE)
    texts[SIZES] = f'#pragma once\n#include "af_npu_base.h"\n\n#define AF_INLINE __aicore__ inline\n\n{C_PRELUDE}'
    texts["af_abi.h"] = abi_text()
    texts["af_sizes.h"] = f'#pragma once\n#include "af_abi.h"\n\n{C_PRELUDE}'
    return tuple(support_file(name, text) for name, text in sorted(texts.items()))


def _mentions(text: str, header: str) -> bool:
    source = files("autofuse_codegen").joinpath(*INCLUDE.split("/"), header).read_text(encoding="utf-8")
    names = set(re.findall(r"\b(af_\w+)\(", source)) | set(re.findall(r"_CONSTANT\((af_\w+),", source))
    return any(re.search(rf"\b{name}\b", text) for name in names)


def _parameters(schedule: ScheduleResult) -> dict[tuple[str, int], str]:
    names = Names()
    found = {}
    for argument in schedule.arguments:
        key = ("Output" if argument.is_output else "Data", argument.index)
        found[key] = names.of(str(key), argument.name)
    return found


def _case(
    kernel: str,
    key: int,
    impl: ImplGraph,
    schedule: ScheduleResult,
    model: TilingModel,
    target: TargetSpec,
    fields: dict[str, str],
    parameters: dict[tuple[str, int], str],
) -> tuple[CaseView, Written]:
    names = Names()
    for place, name in parameters.items():
        names.of(str(place), name)
    sizes = {s: names.of(f"size {s}", s) for s in (*schedule.symbols, *(v.name for v in impl.tile_variables))}
    narrowest = min((n.dtype.itemsize for n in impl.nodes if n.op not in ("Scalar", "IndexExpr")), default=1)
    (written,) = write_case(impl, names, sizes, parameters, target.vector_bytes // narrowest)
    text = "\n".join((*written.setup, *written.body))
    used = [s for s in sizes if re.search(rf"\b{re.escape(sizes[s])}\b", text)]
    view = CaseView(
        key=key,
        function=f"{kernel}_case{key}",
        comment=(comment_text(f"Template {impl.template}, case {impl.case.name}: split {', '.join(impl.case.split)}"),),
        sizes=tuple(f"const af_i64 {sizes[s]} = t->{fields[s]};" for s in used),
        setup=written.setup,
        body=written.body,
        settings=_settings(impl, written, schedule, model, key, fields),
    )
    return view, written


def _settings(
    impl: ImplGraph, written: Written, schedule: ScheduleResult, model: TilingModel, key: int, fields: dict[str, str]
) -> tuple[SettingView, ...]:
    """What the tiling function stores for one case, as statements."""
    first = len(model.symbols) + 1
    found = []
    for at, variable in enumerate(model.cases[key].variables):
        name = fields[variable.name]
        found.append(SettingView(name, f"const af_i64 {name} = t->{name} = values[{first + at}];"))

    def put(field: str, size: Dim) -> None:
        text = c_text(size, fields.__getitem__)
        found.append(SettingView(field, f"t->{field} = static_cast<uint32_t>({text});"))

    for queue in written.memory.queues:
        total = queue.members[0].bytes
        for member in queue.members[1:]:
            total = total + member.bytes
        put(queue.size_field, total)
    for space in written.memory.spaces:
        put(space.size_field, space.buffer.bytes)
    used = {s for q in written.memory.queues for m in q.members for s in free_symbols(m.bytes)}
    used |= {s for space in written.memory.spaces for s in free_symbols(space.buffer.bytes)}
    del impl, schedule
    for variable in model.cases[key].variables:
        if variable.name not in used:
            found.append(SettingView(fields[variable.name], f"(void){fields[variable.name]};"))
    return tuple(found)


def _symbols(schedule: ScheduleResult, sizes: dict[str, str]) -> tuple[SymbolView, ...]:
    return tuple(
        SymbolView(sizes[name], comment_text(name), sizes[name], position, *_source(schedule, name))
        for position, name in enumerate(schedule.symbols)
    )


def _source(schedule: ScheduleResult, name: str) -> tuple[int, int]:
    """The kernel input and dim that is size ``name`` as it stands."""
    for argument in schedule.arguments:
        if not argument.is_output and symbol(name) in argument.shape:
            return argument.index, argument.shape.index(symbol(name))
    return -1, -1


def _size_lines(schedule: ScheduleResult, sizes: dict[str, str]) -> tuple[str, ...]:
    used = {s for a in schedule.arguments if a.is_output for d in a.shape for s in free_symbols(d)}
    return tuple(f"const af_i64 {sizes[s]} = sizes[{i}];" for i, s in enumerate(schedule.symbols) if s in used)


def _sources(implementations: tuple[ImplGraph, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for n in implementations[0].nodes for s in n.source))
