"""``autofuse.tiling``: per ImplGraph the variables, constraints and costs from which tile sizes are solved."""

import hashlib

from attrs import frozen

from autofuse_ir.dims import Cond, Dim
from autofuse_ir.schedule import TileVariable

CORES_SYMBOL = "af_cores"
"""The size symbol that stands for the number of cores, where a target only knows it at run time."""


@frozen
class CostTerm:
    """``coefficient * count / divisor`` cycles (a double times an exact size expression)."""

    coefficient: float
    count: Dim
    divisor: Dim


@frozen
class PipeCost:
    """Predicted cycles of one pipe: the sum of ``terms`` in order, for the busiest block."""

    pipe: str
    terms: tuple[CostTerm, ...]


@frozen
class Constraint:
    """``need <= limit`` must hold for the chosen tile sizes. ``resource`` is "local_memory", "workspace" or "cores"."""

    resource: str
    need: Dim
    limit: Dim
    message: str


@frozen
class CaseModel:
    """The tiling problem of one ImplGraph.

    ``variables`` stand in priority order (the first is shrunk last). ``blocks`` is the number of blocks launched. The
    predicted time is ``head + max over pipes``; among feasible cases the smallest wins, ties go to the lower ``key``.
    """

    key: int
    alternative: str
    group: str
    implementation: str
    variables: tuple[TileVariable, ...]
    constraints: tuple[Constraint, ...]
    costs: tuple[PipeCost, ...]
    head: tuple[CostTerm, ...]
    blocks: Dim


@frozen
class Condition:
    """``applies`` says for which sizes the cases of ``alternative`` may run."""

    alternative: str
    applies: Cond


@frozen
class SupportFile:
    """Source text that generated code includes by ``name``; ``sha256`` of its UTF-8 bytes."""

    name: str
    text: str
    sha256: str


def support_file(name: str, text: str) -> SupportFile:
    """Return ``text`` as a support file, with its checksum."""
    return SupportFile(name, text, hashlib.sha256(text.encode("utf-8")).hexdigest())


@frozen
class TilingModel:
    """Everything the tiling function needs, as data, and the solver it uses as text.

    ``symbols`` are the run-time sizes in the order of the ScheduleResult. Where there are several alternatives,
    ``conditions`` has one for each, in order: of those that apply and whose groups all have a feasible case, the one
    with the least sum of predicted times is taken, the first of equals. Without conditions there is one, for all sizes.
    """

    name: str
    target: str
    symbols: tuple[str, ...]
    cases: tuple[CaseModel, ...]
    support_files: tuple[SupportFile, ...]
    conditions: tuple[Condition, ...] = ()
