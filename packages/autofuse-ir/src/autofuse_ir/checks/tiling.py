"""Invariants of a TilingModel."""

from collections.abc import Iterator
from itertools import groupby
from math import isfinite

from autofuse_ir.checks.finding import Finding, duplicates
from autofuse_ir.checks.support_files import check_support_files
from autofuse_ir.checks.symbols import unknown_symbols
from autofuse_ir.dims import Dim
from autofuse_ir.tiling import CORES_SYMBOL, CaseModel, CostTerm, TilingModel

RESOURCES = ("local_memory", "workspace", "cores")


def tiling_findings(model: TilingModel) -> Iterator[Finding]:
    """Yield every broken invariant of ``model``."""
    if not model.cases:
        yield Finding("cases", "there is none", "a kernel needs at least one tiling case")
    for key in duplicates(str(case.key) for case in model.cases):
        yield Finding(f"case {key}", "there are two of them", "give each its own key", f"case {key}: ")
    for case in model.cases:
        yield from check_variables(case)
        yield from check_costs(case)
        yield from check_symbols(case, model.symbols)
    yield from check_groups(model)
    yield from check_conditions(model)
    yield from check_support_files(model.support_files)


def check_groups(model: TilingModel) -> Iterator[Finding]:
    """The cases of a group, among which one solve decides, have keys that follow one another."""
    order = sorted(model.cases, key=lambda case: case.key)
    runs = [key for key, _ in groupby((case.alternative, case.group) for case in order)]
    for _, name in dict.fromkeys(key for key in runs if runs.count(key) > 1):
        yield Finding(f"group {name!r}", "cases of other groups stand between its own", "number them in a row", "case ")


def check_conditions(model: TilingModel) -> Iterator[Finding]:
    """Several alternatives have a condition each, in order."""
    order = sorted(model.cases, key=lambda case: case.key)
    used = [name for name, _ in groupby(case.alternative for case in order)]
    listed = [condition.alternative for condition in model.conditions]
    if listed != used and (listed or len(used) > 1):
        what = f"conditions are those of {listed}, cases of {used}"
        yield Finding("alternatives", what, "give each of several alternatives its condition", "alternative ")
    for condition in model.conditions:
        where = f"alternative {condition.alternative!r}"
        yield from unknown_symbols((condition.applies,), {*model.symbols}, where, "alternative ")


def check_variables(case: CaseModel) -> Iterator[Finding]:
    """Variables have names of their own, bounds from 1 up, and positive steps."""
    for name in duplicates(variable.name for variable in case.variables):
        yield Finding(_where(case), f"the variable {name!r} is listed twice", "", _anchor(case))
    for variable in case.variables:
        if variable.lo < 1 or variable.multiple < 1:
            what = f"{variable.name} has lo {variable.lo} and multiple {variable.multiple}"
            yield Finding(_where(case), what, "both must be 1 or more", _anchor(case))


def check_costs(case: CaseModel) -> Iterator[Finding]:
    """Costs are finite and not negative, divisors not zero, resources known."""
    for term in terms_of(case):
        if not isfinite(term.coefficient) or term.coefficient < 0:
            yield Finding(_where(case), f"a cost has the coefficient {term.coefficient}", "", _anchor(case))
        if term.divisor == 0:
            yield Finding(_where(case), "a cost divides by 0", "", _anchor(case))
    for name in duplicates(cost.pipe for cost in case.costs):
        yield Finding(_where(case), f"the pipe {name!r} has two costs", "add their terms", _anchor(case))
    for constraint in case.constraints:
        if constraint.resource not in RESOURCES:
            what = f"there is no resource {constraint.resource!r}"
            yield Finding(_where(case), what, f"use {' or '.join(RESOURCES)}", _anchor(case))


def check_symbols(case: CaseModel, symbols: tuple[str, ...]) -> Iterator[Finding]:
    """Sizes use the kernel's symbols, the case's variables and the number of cores."""
    known = {*symbols, *(variable.name for variable in case.variables), CORES_SYMBOL}
    sizes: list[Dim] = [case.blocks, *(variable.hi for variable in case.variables)]
    sizes += [size for constraint in case.constraints for size in (constraint.need, constraint.limit)]
    sizes += [size for term in terms_of(case) for size in (term.count, term.divisor)]
    yield from unknown_symbols(sizes, known, _where(case), _anchor(case))


def terms_of(case: CaseModel) -> tuple[CostTerm, ...]:
    """Return all cost terms of ``case``."""
    return (*case.head, *(term for cost in case.costs for term in cost.terms))


def _where(case: CaseModel) -> str:
    return f"case {case.key}, {case.implementation}"


def _anchor(case: CaseModel) -> str:
    return f"case {case.key}: "
