"""The text forms people read: ``show`` for every contract, and for the graphs inside them.

`autofuse_ir.parse` reads the forms of Graph and AscGraph back. The others are for people alone.
"""

from typing import TypeAlias, assert_never

from autofuse_ir.asc_graph import AscGraph
from autofuse_ir.contracts import Artefact
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import ImplGraph, ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.text.asc_graph import asc_graph_lines
from autofuse_ir.text.facts import facts_lines
from autofuse_ir.text.fused_graph import fused_graph_lines
from autofuse_ir.text.graph import graph_lines
from autofuse_ir.text.kernels import kernels_lines
from autofuse_ir.text.program import program_lines
from autofuse_ir.text.schedule import impl_graph_lines, schedule_lines
from autofuse_ir.text.target import target_lines
from autofuse_ir.text.tiling import tiling_lines
from autofuse_ir.tiling import TilingModel

__all__ = ["Showable", "show"]

Showable: TypeAlias = Artefact | AscGraph | ImplGraph | TargetSpec


def show(artefact: Showable, *, brief: bool = False) -> str:
    """Return the text form of ``artefact``, ending in a newline.

    Tensor content over 64 elements is shown by its sha256. In ``brief``, content over 8 elements is shown by its size,
    and payloads are counted, not listed; what is brief cannot be read back.
    """
    match artefact:
        case Graph():
            lines = graph_lines(artefact, brief)
        case SymbolFacts():
            lines = facts_lines(artefact)
        case FusedGraph():
            lines = fused_graph_lines(artefact, brief)
        case ScheduleResult():
            lines = schedule_lines(artefact)
        case TilingModel():
            lines = tiling_lines(artefact)
        case KernelBundle():
            lines = kernels_lines(artefact)
        case Program():
            lines = program_lines(artefact, brief)
        case AscGraph():
            lines = asc_graph_lines(artefact)
        case ImplGraph():
            lines = impl_graph_lines(artefact)
        case TargetSpec():
            lines = target_lines(artefact)
        case never:
            assert_never(never)
    return "\n".join(lines) + "\n"
