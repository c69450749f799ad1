"""Cases of an Ascend kernel: their functions, and the part of the tiling data that they read."""

import re

from attrs import frozen
from autofuse_ir.comment import comment_text
from autofuse_ir.dims import Dim, const, dim_max, product, total
from autofuse_ir.dims_c import c_text
from autofuse_ir.dims_eval import bounds, free_symbols
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.tiling import CaseModel

from autofuse_codegen.kernel.names import identifier
from autofuse_codegen.targets.ascendc.arguments import Place, place_of
from autofuse_codegen.targets.ascendc.case import Written, write_case
from autofuse_codegen.targets.ascendc.names import Names
from autofuse_codegen.targets.ascendc.request import Request
from autofuse_codegen.targets.ascendc.vector_unit import BLOCK_BYTES
from autofuse_codegen.targets.ascendc.views import CaseView, FieldView, FunctionView, PartView, SettingView

WORDS = """
    aiv_num alternative block_dim blockDim config_file context cores corenum dims hbm_size info key outcome platform
    res_limit reserved reserved2 size sizes status text tiling tiling_key ub_size values workspaceSize
"""
"""Names that the tiling data and host code use themselves."""
PART_FIELDS = (
    FieldView("uint32_t", "block_dim", "blocks of this part"),
    FieldView("uint32_t", "tiling_key", "its tiling case"),
)
MOST = 2**31 - 1
"""The largest size of a dim."""
OWN = ("status", "workspace")
"""Parameters that the functions of a part have where they mention them: the status word, and its own workspace."""


@frozen
class Spot:
    """Where in kernel and tiling data a part stands: ``number`` is None for a kernel of one part."""

    kernel: str
    number: int | None = None

    @property
    def type(self) -> str:
        """The struct of what is decided for the part."""
        return f"AfTiling_{self.kernel}" + ("" if self.number is None else f"_graph{self.number}")

    @property
    def member(self) -> str:
        """How the tiling data names it; empty for the whole."""
        return "" if self.number is None else f"graph{self.number}_result0_g0_tiling_data"

    @property
    def key_field(self) -> str:
        """The field of the tiling data that holds its tiling key."""
        return "tiling_key" if self.number is None else f"graph{self.number}_tiling_key"

    def function(self, case: int, step: int | None) -> str:
        """The name of a function: step ``step`` of case ``case``; None where the case has one."""
        graph = "" if self.number is None else f"_graph{self.number}"
        return f"{self.kernel}{graph}_case{case}" + ("" if step is None else f"_{step + 1}")


@frozen
class Part:
    """A view of a part, and what its cases need: to wait for all blocks in between, the status word."""

    view: PartView
    waits: bool
    has_status: bool


def part_of(
    spot: Spot,
    name: str,
    implementations: tuple[ImplGraph, ...],
    first: int,
    request: Request,
    workspace: str,
) -> Part:
    """Return the part whose cases are ``implementations``, models ``first`` and following.

    ``workspace`` is where its own workspace starts.
    """
    schedule, model, parameters = request.schedule, request.model, request.parameters
    models = model.cases[first : first + len(implementations)]
    fields = field_names(schedule.symbols, models)
    written = tuple(_written(impl, request) for impl in implementations)
    texts = "\n".join(line for case, _ in written for each in case for line in (*each.setup, *each.body))
    own = tuple(name for name in OWN if re.search(rf"\b{name}\b", texts))
    used = _arguments_of(implementations, parameters) if spot.number is not None else tuple(parameters.values())
    passed = {"status": "status", "workspace": workspace}
    cases = tuple(
        CaseView(
            key=key,
            comment=(comment_text(f"Template {i.template}, case {i.case.name}: split {', '.join(i.case.split)}"),),
            functions=_functions(spot, key, case, sizes, fields),
            settings=_settings(case, models[key], len(model.symbols) + 1, fields, spot),
            tiles=tuple(fields[variable.name] for variable in models[key].variables),
        )
        for key, (i, (case, sizes)) in enumerate(zip(implementations, written, strict=True))
    )
    symbols = schedule.symbols
    head = () if spot.number is None else PART_FIELDS
    if spot.number is not None:
        lines = "\n".join(line for case in cases for function in case.functions for line in function.sizes)
        symbols = tuple(s for s in symbols if re.search(rf"t->{fields[s]};", lines))
    view = PartView(
        name=comment_text(name),
        number=spot.number or 0,
        type=spot.type,
        place=spot.member,
        key_field=spot.key_field,
        first=first,
        count=len(models),
        fields=(*head, *_fields(fields, symbols, models, tuple(each for case, _ in written for each in case))),
        symbols=tuple(fields[s] for s in symbols),
        parameters=tuple(f"GM_ADDR {name}" for name in (*used, *own)),
        call=", ".join((*used, *(passed[name] for name in own))),
        is_empty=_is_empty(implementations, schedule, fields),
        cases=cases,
    )
    return Part(view, any(len(case) > 1 for case, _ in written), "status" in own)


def _written(impl: ImplGraph, request: Request) -> tuple[tuple[Written, ...], dict[str, str]]:
    """Return the functions of ``impl``, and the names of sizes in them."""
    names = Names()
    for place, name in request.parameters.items():
        names.of(str(place), name)
    sizes = {s: names.of(f"size {s}", s) for s in (*request.schedule.symbols, *(v.name for v in impl.tile_variables))}
    narrowest = min((n.dtype.itemsize for n in impl.nodes if n.op not in ("Scalar", "IndexExpr")), default=1)
    return write_case(impl, names, sizes, request.parameters, request.target.vector_bytes // narrowest), sizes


def _arguments_of(implementations: tuple[ImplGraph, ...], parameters: dict[Place, str]) -> tuple[str, ...]:
    """Return the parameters that the cases read or write, in the order of the kernel's."""
    used = {place_of(node) for impl in implementations for node in impl.nodes if node.op in ("Data", "Output")}
    return tuple(name for place, name in parameters.items() if place in used)


def _is_empty(implementations: tuple[ImplGraph, ...], schedule: ScheduleResult, fields: dict[str, str]) -> str:
    """Return the condition under which no value that the cases store has an element; "" where there is none."""
    shapes = {("Output" if a.is_output else "Data", a.index): a.shape for a in schedule.arguments}
    shapes |= {("internal", value.index): value.shape for value in schedule.internals}
    made = dict.fromkeys(place_of(node) for impl in implementations for node in impl.nodes if node.op == "Output")
    counts = [product(shapes[place]) for place in made]
    if any(count.constant_value for count in counts):
        return ""
    return " && ".join(f"({c_text(count, fields.__getitem__)}) == 0" for count in dict.fromkeys(counts))


def _functions(
    spot: Spot, key: int, written: tuple[Written, ...], sizes: dict[str, str], fields: dict[str, str]
) -> tuple[FunctionView, ...]:
    found = []
    for step, each in enumerate(written):
        text = "\n".join((*each.setup, *each.body))
        lines = tuple(
            f"const af_i64 {name} = t->{fields[size]};"
            for size, name in sizes.items()
            if re.search(rf"\b{re.escape(name)}\b", text)
        )
        name = spot.function(key, step if len(written) > 1 else None)
        found.append(FunctionView(name, lines, each.setup, each.body))
    return tuple(found)


def field_names(symbols: tuple[str, ...], models: tuple[CaseModel, ...] = ()) -> dict[str, str]:
    """Return the fields of sizes of the model and of tiles."""
    names = Names()
    for word in WORDS.split():
        names.of(word, word)
    fields = {s: names.of(f"size {s}", _plain(s)) for s in symbols}
    for variable in (variable for case in models for variable in case.variables):
        fields.setdefault(variable.name, names.of(f"size {variable.name}", variable.name))
    return fields


def _plain(symbol: str) -> str:
    """Return a wish for the field of ``symbol`` that no queue, buffer or part has."""
    return f"{symbol}_dim" if re.match(r"[qb]\d+_size$|graph\d+_", identifier(symbol)) else symbol


def _fields(
    fields: dict[str, str], symbols: tuple[str, ...], models: tuple[CaseModel, ...], written: tuple[Written, ...]
) -> tuple[FieldView, ...]:
    """Return the fields of sizes, tiles, queues and buffers: 64-bit ones first, an even number of 32-bit ones."""
    tiles = dict.fromkeys(variable.name for case in models for variable in case.variables)
    found = [FieldView("int64_t", fields[s], f"size {comment_text(s)}") for s in symbols]
    found += [FieldView("int64_t", fields[name], "tile size") for name in tiles]
    queues = {queue.size_field for each in written for queue in each.memory.queues}
    buffers = {space.size_field for each in written for space in each.memory.spaces}
    small = [FieldView("uint32_t", name, "bytes of a queue's buffer") for name in sorted(queues, key=_numbered)]
    small += [FieldView("uint32_t", name, "bytes of a buffer") for name in sorted(buffers, key=_numbered)]
    if len(small) % 2:
        small.append(FieldView("uint32_t", "reserved2", ""))
    return (*found, *small)


def _numbered(field: str) -> tuple[int, str]:
    return len(field), field


def _settings(
    written: tuple[Written, ...], model: CaseModel, first_value: int, fields: dict[str, str], spot: Spot
) -> tuple[SettingView, ...]:
    """What the tiling function stores for one case, as statements."""
    to = f"t->{spot.member}." if spot.member else "t->"
    found = []
    for at, variable in enumerate(model.variables):
        name = fields[variable.name]
        found.append(SettingView(name, f"const af_i64 {name} = {to}{name} = values[{first_value + at}];"))
    used: set[str] = set()

    def put(field: str, size: Dim) -> None:
        used.update(free_symbols(size))
        # Tiles have an element at least, dims of the model may have none; a buffer has some bytes even so.
        tiles = {variable.name: (1, MOST) for variable in model.variables}
        least, _ = bounds(size, {**dict.fromkeys(free_symbols(size), (0, MOST)), **tiles})
        text = c_text(size if least > 0 else dim_max(size, const(BLOCK_BYTES)), fields.__getitem__)
        found.append(SettingView(field, f"{to}{field} = static_cast<uint32_t>({text});"))

    for each in written:
        for queue in each.memory.queues:
            put(queue.size_field, total(member.bytes for member in queue.members))
        for space in each.memory.spaces:
            put(space.size_field, space.buffer.bytes)
    unread = [fields[v.name] for v in model.variables if v.name not in used]
    return (*found, *(SettingView(name, f"(void){name};") for name in unread))
