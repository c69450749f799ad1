"""The text form of a TilingModel."""

from collections.abc import Iterator

from autofuse_ir.text.asc_graph import words
from autofuse_ir.text.values import word
from autofuse_ir.tiling import CaseModel, CostTerm, TilingModel


def tiling_lines(model: TilingModel) -> Iterator[str]:
    """Yield the lines of ``model``."""
    yield f"tiling {word(model.name)} for {model.target}  symbols ({words(model.symbols)})"
    for condition in model.conditions:
        yield f"  alternative {word(condition.alternative)} where {condition.applies}"
    for case in model.cases:
        yield from _case_lines(case)
    for file in model.support_files:
        yield f"  support {file.name}  {len(file.text.splitlines())} lines  sha256 {file.sha256}"


def _case_lines(case: CaseModel) -> Iterator[str]:
    yield f"  case {case.key}: {word(case.implementation)} of {word(case.alternative)}/{word(case.group)}"
    for variable in case.variables:
        yield f"    {word(variable.name)} in [{variable.lo}, {variable.hi}], multiple of {variable.multiple}"
    for constraint in case.constraints:
        yield f"    {word(constraint.resource)}: {constraint.need} <= {constraint.limit}  else {constraint.message}"
    yield f"    blocks {case.blocks}"
    yield f"    cycles {_sum(case.head)} + max over pipes of"
    for cost in case.costs:
        yield f"      {word(cost.pipe)}: {_sum(cost.terms)}"


def _sum(terms: tuple[CostTerm, ...]) -> str:
    return " + ".join(_term(term) for term in terms) or "0"


def _term(term: CostTerm) -> str:
    count = f"{term.coefficient!r}*({term.count})"
    return count if term.divisor == 1 else f"{count}/({term.divisor})"
