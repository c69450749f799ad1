"""A program as the flat tuples that the extension runs (``native/af_plan.c`` reads them)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, assert_never

from attrs import frozen
from autofuse_ir.dims import const
from autofuse_ir.dims_eval import free_symbols
from autofuse_ir.dtypes import TENSOR_DTYPES
from autofuse_ir.facts import Guard, GuardKind, InputDim, InputElement
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    HostCall,
    KernelCall,
    Program,
    Step,
    Variant,
    WriteSizes,
)

from autofuse_runtime.arrays import bfloat16_type, bits_of, constant_array, dtype_code, numpy_dtype
from autofuse_runtime.buffers import BufferTable, buffer_table, last_uses
from autofuse_runtime.errors import InternalError
from autofuse_runtime.out_aliasing import safe_aliases
from autofuse_runtime.plan_expressions import ExpressionTable, int32s, int64s

Region: TypeAlias = Callable[[list[Any]], tuple[Any, ...]]
Row: TypeAlias = tuple[Any, ...]

KERNEL, HOST, ALIAS, COPY, SIZES, BIND, GUARD, FREE = range(8)


@frozen
class SymbolRange:
    """A size of the program and its range (inclusive)."""

    name: str
    lo: int
    hi: int


@frozen
class Plan:
    """``source`` is what the extension reads; the rest is what its faults count through."""

    source: tuple[Any, ...]
    symbols: tuple[SymbolRange, ...]
    guards: tuple[Guard, ...]
    buffers: BufferTable


def all_symbols(program: Program) -> tuple[SymbolRange, ...]:
    """Return the program's symbols, and after them those that only its steps bind."""
    ranges = {fact.name: SymbolRange(fact.name, fact.lo, fact.hi) for fact in program.symbols}
    for variant in program.variants:
        for step in variant.steps:
            if isinstance(step, BindSymbol):
                ranges.setdefault(step.symbol, SymbolRange(step.symbol, step.lo, step.hi))
    return tuple(ranges.values())


def entry_symbols(program: Program) -> frozenset[str]:
    """Return the symbols that have a value before the first step: bound from arguments, or fixed."""
    bound = set()
    for fact in program.symbols:
        from_arguments = any(isinstance(source, InputDim | InputElement) for source in fact.sources)
        if from_arguments or (not fact.sources and fact.lo == fact.hi):
            bound.add(fact.name)
    return frozenset(bound)


def entry_guards(program: Program) -> tuple[Guard, ...]:
    """Return the guards that are checked before the first step."""
    bound = entry_symbols(program)
    return tuple(
        guard
        for guard in program.guards
        if guard.kind is GuardKind.ASSERT and bound.issuperset(free_symbols(guard.condition))
    )


def make_plan(program: Program, library: object, regions: Sequence[Region]) -> Plan:
    """Return the plan of ``program``: kernels from ``library`` (None without kernels), regions in program order.

    Raises `InternalError` where a step needs a size that nothing has bound.
    """
    symbols = all_symbols(program)
    slots = {symbol.name: slot for slot, symbol in enumerate(symbols)}
    fixed = {fact.name: fact.lo for fact in program.symbols if not fact.sources and fact.lo == fact.hi}
    table = buffer_table(program)
    expressions = ExpressionTable(slots)
    guards = list(entry_guards(program))
    entry_guard_count = len(guards)
    for variant in program.variants:
        guards.extend(step.guard for step in variant.steps if isinstance(step, AssertGuard))
    inputs = _inputs(program, table, expressions)
    variants = tuple(_variant(program, table, expressions, guards, variant) for variant in program.variants)
    source = (
        library,
        tuple(numpy_dtype(dtype) for dtype in TENSOR_DTYPES),
        tuple(regions),
        int64s(fixed.get(symbol.name, 0) for symbol in symbols),
        expressions.rows,
        inputs,
        _bindings(program, slots),
        int32s(expressions.cond(guard.condition) for guard in guards),
        entry_guard_count,
        _buffers(program, table, expressions),
        tuple(
            (table.numbers[output.value], int(table.owners.get(table.root(output.value)) == position))
            for position, output in enumerate(program.outputs)
        ),
        _kernels(program, expressions, slots),
        variants,
        expressions.depth,
        int(bfloat16_type() is None),
    )
    whole = tuple(tuple(part) if part is expressions.rows else part for part in source)
    return Plan(whole, symbols, tuple(guards), table)


def _inputs(program: Program, table: BufferTable, expressions: ExpressionTable) -> tuple[Row, ...]:
    binding = {
        (source.input, source.dim)
        for fact in program.symbols
        for source in fact.sources
        if isinstance(source, InputDim)
    }
    rows = []
    for value in program.inputs:
        number = table.numbers[value.name]
        shape = value.shape or ()
        if table.is_object(number):
            # Its shape is read where sizes come from it alone: what is no array has none.
            gives_sizes = any(name == value.name for name, _ in binding)
            rank = len(shape) if gives_sizes else 0
            rows.append((value.name, -1, rank, number, int32s([-1] * rank)))
            continue
        dims = (-1 if (value.name, axis) in binding else expressions.dim(dim) for axis, dim in enumerate(shape))
        rows.append((value.name, dtype_code(value.dtype), len(shape), number, int32s(dims)))
    return tuple(rows)


def _bindings(program: Program, slots: Mapping[str, int]) -> tuple[Row, ...]:
    numbers = {value.name: number for number, value in enumerate(program.inputs)}
    rows = []
    for fact in program.symbols:
        for source in fact.sources:
            match source:
                case InputDim(name, dim):
                    rows.append((slots[fact.name], numbers[name], dim, 0, fact.lo, fact.hi))
                case InputElement(name, element):
                    rows.append((slots[fact.name], numbers[name], -1, element, fact.lo, fact.hi))
    return tuple(rows)


def _buffers(program: Program, table: BufferTable, expressions: ExpressionTable) -> tuple[Row, ...]:
    bound = entry_symbols(program)
    constants = {constant.name: constant.data for constant in program.constants}
    inputs = {value.name: number for number, value in enumerate(program.inputs)}
    rows = []
    for number, buffer in enumerate(table.buffers):
        constant = None
        if buffer.kind is BufferKind.CONSTANT and number == table.roots[number]:
            array = constant_array(constants[buffer.name])
            constant = (bits_of(array), array)
        is_object = table.is_object(number)
        needs_workspace_only = buffer.kind is BufferKind.WORKSPACE
        known = not is_object and all(bound.issuperset(free_symbols(dim)) for dim in buffer.shape)
        rows.append(
            (
                -1 if is_object else dtype_code(buffer.dtype),
                table.roots[number],
                int(known and not needs_workspace_only),
                table.owners.get(number, -1) if number == table.roots[number] else -1,
                inputs.get(buffer.name, -1),
                b"" if is_object else int32s(expressions.dim(dim) for dim in buffer.shape),
                constant,
            )
        )
    return tuple(rows)


def _kernels(program: Program, expressions: ExpressionTable, slots: Mapping[str, int]) -> tuple[Row, ...]:
    return tuple(
        (
            kernel.name,
            -1 if kernel.workspace_bytes == const(0) else expressions.dim(kernel.workspace_bytes),
            int32s(slots[name] for name in kernel.symbols),
        )
        for kernel in program.kernels
    )


def _variant(
    program: Program, table: BufferTable, expressions: ExpressionTable, guards: list[Guard], variant: Variant
) -> Row:
    steps = tuple(step for step in variant.steps if not isinstance(step, Free))
    frees = last_uses(program, table, steps)
    bound = set(entry_symbols(program))
    rows = []
    for position, step in enumerate(steps):
        _check_bound(program, step, bound)
        rows.append(_step(program, table, expressions, guards, step, bound))
        rows.extend((FREE, root, b"", b"", None) for root in frees.get(position, ()))
    return (expressions.cond(variant.condition), tuple(rows), safe_aliases(program, table, steps))


def _check_bound(program: Program, step: Step, bound: set[str]) -> None:
    needed: set[str] = set()
    if isinstance(step, KernelCall):
        needed = set(next(kernel.symbols for kernel in program.kernels if kernel.name == step.kernel))
    elif isinstance(step, AssertGuard):
        needed = set(free_symbols(step.guard.condition))
    elif isinstance(step, WriteSizes):
        needed = {name for dim in step.elements for name in free_symbols(dim)}
    missing = sorted(needed - bound)
    if missing:
        raise InternalError(
            f"a step needs the size {missing[0]} before anything binds it",
            where=f"program {program.name}, {step}",
            fix="report this with the program",
        )


def _step(
    program: Program,
    table: BufferTable,
    expressions: ExpressionTable,
    guards: list[Guard],
    step: Step,
    bound: set[str],
) -> Row:
    def numbers(names: Sequence[str]) -> bytes:
        return int32s(table.numbers[name] for name in names)

    match step:
        case KernelCall():
            kernel = [kernel.name for kernel in program.kernels].index(step.kernel)
            return (KERNEL, kernel, numbers(step.inputs), numbers(step.outputs), None)
        case HostCall():
            region = [region.name for region in program.regions].index(step.region)
            return (HOST, region, numbers(step.inputs), numbers(step.outputs), None)
        case Alias():
            return (ALIAS, 0, numbers([step.input]), numbers([step.output]), None)
        case Copy():
            return (COPY, 0, numbers([step.input]), numbers([step.output]), None)
        case WriteSizes():
            return (SIZES, 0, int32s(expressions.dim(dim) for dim in step.elements), numbers([step.output]), None)
        case BindSymbol():
            slot = expressions.slots[step.symbol]
            was_bound = step.symbol in bound
            bound.add(step.symbol)
            dim = -1 if step.dim is None else step.dim
            row = (slot, table.numbers[step.buffer], dim, step.element or 0, step.lo, step.hi)
            return (BIND, int(was_bound), b"", b"", row)
        case AssertGuard():
            return (GUARD, guards.index(step.guard), b"", b"", None)
        case Free():
            return (FREE, table.root(step.buffer), b"", b"", None)
        case never:
            assert_never(never)
