"""The cases of every vector operator: its ranks and element types, from the operator table."""

from collections.abc import Iterator

from autofuse_ir.dtypes import DType
from autofuse_ir.operators import Family, Flag, Operator, all_operators

from autofuse_testkit.operator_matrix import norms, pieces, reduce, scaled, views
from autofuse_testkit.operator_matrix.call import Call, Case
from autofuse_testkit.operator_matrix.elementwise import elementwise
from autofuse_testkit.operator_matrix.form import Form

FORMS: dict[str, Form] = {**reduce.FORMS, **views.FORMS, **pieces.FORMS, **scaled.FORMS, **norms.FORMS}
OPERATORS: tuple[Operator, ...] = tuple(op for op in all_operators() if op.has(Flag.VECTOR))


def form_of(op: Operator) -> Form:
    """Return how ``op`` is called; operators of one element at a position need no form of their own."""
    return FORMS.get(op.name) or Form(elementwise)


def types_of(op: Operator) -> tuple[DType, ...]:
    """Return the element types that the cases of ``op`` go through."""
    params = [param for param in op.inputs if param.variable == "T"] or list(op.inputs)
    found = form_of(op).types or (params[0].types if params else ())
    return tuple(dtype for dtype in found if not dtype.is_opaque)


def families() -> tuple[Family, ...]:
    """Return the families that have vector operators."""
    return tuple(dict.fromkeys(op.family for op in OPERATORS))


def case_of(op: Operator, rank: int, dtype: DType, turn: int) -> Case:
    """Return one case."""
    call = Call(op, rank, dtype, turn)
    return call.case(form_of(op).build(call), f"{op.name}_{dtype.name}_rank{rank}")


def cases_of(op: Operator, every: int = 3) -> Iterator[Case]:
    """Yield one in ``every`` combinations of rank and element type, so that each rank and each type occurs.

    Another third for the next operator of the table: three operators of a family have all combinations.
    """
    form, number = form_of(op), OPERATORS.index(op)
    ranks, types = range(form.least, form.most + 1), types_of(op)
    turn = number
    for r, rank in enumerate(ranks):
        for t, dtype in enumerate(types):
            if (r + t + number) % every and len(ranks) * len(types) > every:
                continue
            yield case_of(op, rank, dtype, turn)
            turn += 1


def slice_of(op: Operator) -> Case:
    """Return one case, of another rank and type for each operator."""
    form, number = form_of(op), OPERATORS.index(op)
    ranks, types = range(form.least, form.most + 1), types_of(op)
    return case_of(op, ranks[5 * number % len(ranks)], types[number % len(types)], number)
