"""Run a Program on arrays, with all checks: what a compiled module does, without a compiler."""

from collections.abc import Mapping, Sequence
from typing import Any

from autofuse_ir.dims_eval import free_symbols, holds
from autofuse_ir.facts import GuardKind
from autofuse_ir.program import Program

from autofuse_reference.bindings import bind_inputs
from autofuse_reference.errors import EvaluationError
from autofuse_reference.executor import HostBackend, ProgramExecutor
from autofuse_reference.host import ReferenceBackend


def interpret_program(
    program: Program, arrays: Sequence[object], hosts: Mapping[str, HostBackend] | None = None
) -> list[Any]:
    """Return the outputs of ``program`` for ``arrays`` in input order.

    ``hosts`` are host backends by name; "reference" is always there. Freed buffers are poisoned. Raises
    ``EvaluationError`` for arguments that do not fit, a guard that does not hold, and a program that uses what it has
    freed or never made.
    """
    where = f"calling {program.name}"
    if len(arrays) != len(program.inputs):
        raise EvaluationError(
            f"{len(arrays)} inputs were given, but the program has {len(program.inputs)}",
            where=where,
            fix=f"the inputs are: {', '.join(v.name for v in program.inputs) or 'none'}",
        )
    sizes = bind_inputs(where, program.inputs, program.symbols, arrays)
    for guard in program.guards:
        is_checked_now = guard.kind is GuardKind.ASSERT and all(s in sizes for s in free_symbols(guard.condition))
        if is_checked_now and not holds(guard.condition, sizes):
            raise EvaluationError(guard.message, where=f"{where}, operator {guard.operator}")
    executor = ProgramExecutor(program, {"reference": ReferenceBackend(), **(hosts or {})}, poison=True)
    return list(executor(arrays, sizes))
