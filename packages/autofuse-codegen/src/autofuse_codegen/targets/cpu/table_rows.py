"""Filling the tables of a function: the operators of each, once for all values of its index."""

from autofuse_ir.schedule import Phase

from autofuse_codegen.kernel.program import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Integer,
    Member,
    Name,
    Statement,
    Strips,
    Variable,
)
from autofuse_codegen.targets.cpu.lanes import LANES
from autofuse_codegen.targets.cpu.literals import type_name
from autofuse_codegen.targets.cpu.operators import as_bools, call
from autofuse_codegen.targets.cpu.row_text import ACCESS, POSITION
from autofuse_codegen.targets.cpu.scope import KernelScope
from autofuse_codegen.targets.cpu.tables import ENTRIES, Table


def tables_filled(scope: KernelScope, phases: tuple[Phase, ...]) -> tuple[Statement, ...]:
    """Return the declarations of the tables that ``phases`` look values up in, and the loops that fill them."""
    used = {name for phase in phases for segment in phase.segments for name in segment.nodes}
    found: list[Statement] = []
    for table in scope.tables.values():
        if table.result in used:
            kind = type_name(scope.nodes[table.result].dtype)
            found.append(Variable(scope.table(table.result), Call("af_table", (), (kind,))))
            found.append(_filled(scope, table))
    return tuple(found)


def _filled(scope: KernelScope, table: Table) -> Strips:
    index, result = scope.nodes[table.index], scope.nodes[table.result]
    kind = type_name(index.dtype)
    lanes = Call("af_iota", (Call(f"({kind})", (Name(POSITION),)), Call(f"({kind})", (Integer(1),))), (kind, LANES))
    body: list[Statement] = [Declare("auto", scope.value(table.index), lanes)]
    for name in table.nodes:
        node = scope.nodes[name]
        operands = tuple(Name(scope.value(each)) for each in node.inputs)
        dtypes = tuple(scope.nodes[each].dtype for each in node.inputs)
        body.append(Declare("auto", scope.value(name), call(node, operands, dtypes, ACCESS)))
    place = Binary("+", Member(Name(scope.table(table.result)), "values"), Name(POSITION))
    value = as_bools(Name(scope.value(table.result)), result.dtype)
    body.append(Evaluate(Call(f"{ACCESS}.store", (place, value))))
    return Strips(POSITION, ACCESS, Integer(ENTRIES), LANES, tuple(body), None)
