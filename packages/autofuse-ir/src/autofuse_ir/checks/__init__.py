"""Verifiers: each invariant of a contract is a ``check_*`` function that yields what breaks it.

``verify`` runs all of them and raises one error with everything found.
"""

from typing import assert_never

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.checks.asc_graph import asc_graph_findings
from autofuse_ir.checks.facts import facts_findings
from autofuse_ir.checks.finding import Finding, error_of
from autofuse_ir.checks.fused_graph import fused_graph_findings
from autofuse_ir.checks.graph import graph_findings, structure_findings
from autofuse_ir.checks.impl_graph import impl_graph_findings
from autofuse_ir.checks.kernels import kernels_findings
from autofuse_ir.checks.program import program_findings
from autofuse_ir.checks.schedule import schedule_findings
from autofuse_ir.checks.target import target_findings
from autofuse_ir.checks.tiling import tiling_findings
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.text import Showable, show
from autofuse_ir.tiling import TilingModel

__all__ = ["Finding", "findings", "verify", "verify_structure"]


def verify(artefact: Showable) -> None:
    """Raise ``IrError`` with all findings, and the text around each, unless every invariant of ``artefact`` holds."""
    found = findings(artefact)
    if found:
        name = artefact.name if not isinstance(artefact, SymbolFacts) else ""
        raise error_of(found, show(artefact), f"{type(artefact).__name__} {name}".rstrip())


def verify_structure(graph: Graph) -> None:
    """Raise ``IrError`` unless ``graph`` holds together; stages that begin with graphs look at operators themselves."""
    found = tuple(structure_findings(graph))
    if found:
        raise error_of(found, show(graph), f"Graph {graph.name}".rstrip())


def findings(artefact: Showable) -> tuple[Finding, ...]:
    """Return every broken invariant of ``artefact``; empty when it is well formed."""
    match artefact:
        case Graph():
            found = graph_findings(artefact)
        case SymbolFacts():
            found = facts_findings(artefact)
        case FusedGraph():
            found = fused_graph_findings(artefact)
        case ScheduleResult():
            found = schedule_findings(artefact)
        case TilingModel():
            found = tiling_findings(artefact)
        case KernelBundle():
            found = kernels_findings(artefact)
        case Program():
            found = program_findings(artefact)
        case AscGraph():
            found = asc_graph_findings(artefact)
        case ImplGraph():
            found = impl_graph_findings(artefact)
        case TargetSpec():
            found = target_findings(artefact)
        case never:
            assert_never(never)
    return tuple(found)
