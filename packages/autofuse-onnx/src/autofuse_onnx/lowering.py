"""What a mapping returns: the Ascend IR operators that stand for one ONNX node."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from attrs import field, frozen
from autofuse_ir.graph import AttrValue

from autofuse_onnx.node import OnnxNode
from autofuse_onnx.tensors import Array

Operand: TypeAlias = "str | Array | None"
"""A value's name, the content of a constant that is made for it, or a missing optional input."""


@frozen
class Native:
    """The ONNX node that does what a step does: its inputs are the step's at ``inputs`` (None: missing).

    ``outputs`` is how many it has where these are not all of the step's; nobody reads the others.
    """

    op_type: str
    inputs: tuple[int | None, ...]
    attrs: Mapping[str, int | float | str | list[int]] = field(factory=dict)
    outputs: int | None = None


@frozen
class Step:
    """One Ascend IR operator. ``outputs`` default to those of the ONNX node; other names are fresh values.

    ``native`` says how a host backend runs it; without it the ONNX node itself does, where the step is its only one.
    """

    op: str
    inputs: tuple[Operand, ...]
    attrs: Mapping[str, AttrValue] = field(factory=dict)
    outputs: tuple[str, ...] | None = None
    native: Native | None = None


Lowering: TypeAlias = tuple[Step, ...]

Rule: TypeAlias = Callable[[OnnxNode], Lowering | None]
"""Returns the steps for a node, or None: a host backend must run the node."""


def one(op: str, *inputs: Operand, **attrs: AttrValue) -> Lowering:
    """Return the single step ``op``."""
    return (Step(op, inputs, attrs),)
