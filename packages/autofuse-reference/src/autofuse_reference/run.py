"""Run any artefact on NumPy arrays: Graph, AscGraph, ImplGraph or Program."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, assert_never

import numpy as np
from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks import verify_structure
from autofuse_ir.given import check_kinds
from autofuse_ir.graph import Graph
from autofuse_ir.program import Program
from autofuse_ir.schedule import ImplGraph

from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.bindings import load_equations, solve
from autofuse_reference.errors import EvaluationError
from autofuse_reference.executor import HostBackend
from autofuse_reference.graph.run import run_graph
from autofuse_reference.impl_graph.interpret import interpret_impl
from autofuse_reference.operators.precision import Precision
from autofuse_reference.program import interpret_program

Artefact: TypeAlias = Graph | AscGraph | ImplGraph | Program
Arrays: TypeAlias = Sequence[Any] | Mapping[str, Any]


def run(
    artefact: Artefact,
    arrays: Arrays,
    tile_sizes: Mapping[str, int] | None = None,
    *,
    sizes: Mapping[str, int] | None = None,
    precision: Precision = "declared",
    hosts: Mapping[str, HostBackend] | None = None,
    seed: int = 0,
) -> list[Any]:
    """Return the outputs of ``artefact`` for its inputs ``arrays``, by position or by name (``Data`` nodes' names).

    * ``tile_sizes``: the tile sizes of an ImplGraph by name, from ``autofuse_tiling.evaluate``.
    * ``sizes``: size symbols of an AscGraph or ImplGraph that the shapes of its inputs do not decide.
    * ``precision`` "float64" computes Graphs and AscGraphs without rounding; host operators still get declared dtypes.
    * ``hosts``: host backends by name for the operators of Graphs and Programs that have no NumPy meaning.
    * ``seed``: of the order in which an ImplGraph's blocks, tiles and strips run; results do not depend on it.

    An ImplGraph's axes may be merged: its outputs have as many elements as its AscGraph's, in the same order.
    Raises ``EvaluationError`` for arguments that do not fit, ``InterpreterFault`` for a plan that does
    not hold together, ``IrError`` for a graph that does not.
    """
    check_kinds("run", artefact=(artefact, (Graph, AscGraph, ImplGraph, Program)))
    match artefact:
        case Graph():
            verify_structure(artefact)
            return run_graph(
                artefact, _ordered(artefact.name, [v.name for v in artefact.inputs], arrays), precision, hosts
            )
        case Program():
            names = [value.name for value in artefact.inputs]
            return interpret_program(artefact, _ordered(artefact.name, names, arrays), hosts)
        case AscGraph():
            given = _kernel_inputs(artefact, arrays)
            return list(interpret(artefact, given, _sizes(artefact, given, sizes), precision))
        case ImplGraph():
            given = _kernel_inputs(artefact, arrays)
            tiles = tile_sizes or {}
            return list(interpret_impl(artefact, given, _sizes(artefact, given, sizes), tiles, seed))
        case never:
            assert_never(never)


def _ordered(where: str, names: Sequence[str], arrays: Arrays) -> list[Any]:
    if not isinstance(arrays, Mapping):
        if len(arrays) != len(names):
            raise EvaluationError(
                f"{len(arrays)} inputs were given, but there are {len(names)}",
                where=f"calling {where}",
                fix=f"the inputs are: {', '.join(names) or 'none'}",
            )
        return list(arrays)
    for name in [*arrays, *names]:
        if name not in names or name not in arrays:
            what = f"input {name!r} is missing" if name in names else f"there is no input {name!r}"
            raise EvaluationError(what, where=f"calling {where}", fix=f"the inputs are: {', '.join(names) or 'none'}")
    return [arrays[name] for name in names]


def _kernel_inputs(kernel: AscGraph | ImplGraph, arrays: Arrays) -> list[Any]:
    data = sorted((n for n in kernel.nodes if n.op == "Data"), key=lambda n: n.argument_index)
    return [np.asarray(a) for a in _ordered(kernel.name, [n.name for n in data], arrays)]


def _sizes(kernel: AscGraph | ImplGraph, arrays: Sequence[Any], sizes: Mapping[str, int] | None) -> dict[str, int]:
    return solve(load_equations(kernel.nodes, arrays), sizes or {})
