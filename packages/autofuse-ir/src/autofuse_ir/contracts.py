"""The seven contracts between the stages: name, model class, version, and how older versions are brought up to date."""

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen

from autofuse_ir.errors import IrError
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import FusedGraph
from autofuse_ir.graph import Graph
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.program import Program
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.tiling import TilingModel

Artefact: TypeAlias = Graph | SymbolFacts | FusedGraph | ScheduleResult | TilingModel | KernelBundle | Program
"""What a stage takes or makes."""

Version: TypeAlias = tuple[int, int]
"""(major, minor): a new optional field moves the minor number, every other change the major one."""

Upgrade: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Brings the JSON of one major version to the next; pure."""


@frozen
class Contract:
    """One kind of artefact.

    ``upgrades[i]`` turns the JSON of major version ``i + 1`` into that of ``i + 2``.
    """

    name: str
    model: type[Any]
    version: Version
    upgrades: tuple[Upgrade, ...] = ()

    @property
    def stem(self) -> str:
        """The name of this version's schema and sample files."""
        major, minor = self.version
        return f"{self.name}-{major}.{minor}"


CONTRACTS: tuple[Contract, ...] = (
    Contract("autofuse.graph", Graph, (1, 0)),
    Contract("autofuse.facts", SymbolFacts, (1, 0)),
    Contract("autofuse.fused_graph", FusedGraph, (1, 0)),
    Contract("autofuse.schedule", ScheduleResult, (1, 0)),
    Contract("autofuse.tiling", TilingModel, (1, 0)),
    Contract("autofuse.kernels", KernelBundle, (1, 0)),
    Contract("autofuse.program", Program, (1, 0)),
)


def contract_named(name: str) -> Contract | None:
    """Return the contract called ``name`` ("autofuse.graph", ...), or None when there is none."""
    return next((contract for contract in CONTRACTS if contract.name == name), None)


def contract_of(artefact: object) -> Contract:
    """Return the contract that ``artefact`` is an instance of; ``IrError`` for anything else."""
    for contract in CONTRACTS:
        if type(artefact) is contract.model:
            return contract
    raise IrError(
        f"{type(artefact).__name__} is no artefact",
        fix=f"an artefact is one of {', '.join(contract.model.__name__ for contract in CONTRACTS)}",
    )


def upgrade(contract: Contract, data: dict[str, Any], version: Version) -> dict[str, Any]:
    """Return ``data``, of ``version`` and without its head, in the form of the contract's own major version.

    Raises ``IrError`` for a version that is newer than the contract's, or that never was.
    """
    if version > contract.version:
        raise IrError(
            f"it is {contract.name} version {_dotted(version)}, but this autofuse-ir reads up to "
            f"{_dotted(contract.version)}",
            fix="a newer release wrote it: pip install --upgrade autofuse-ir",
        )
    major = version[0]
    if major < 1 or version[1] < 0:
        raise IrError(f"{contract.name} never had a version {_dotted(version)}", fix="make the artefact again")
    for step in contract.upgrades[major - 1 :]:
        data = step(data)
    return data


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
