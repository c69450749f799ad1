"""What users may say about fusion."""

from attrs import field, frozen
from attrs.validators import ge, in_
from autofuse_ir.operators import Family, operator
from autofuse_ir.target import TargetSpec

NUMERICS = ("strict", "fp32", "auto")
"""``strict`` rounds after every source operator; ``fp32`` only at kernel borders; ``auto`` is fp32 except in front of
operators that jump (comparisons, rounding, casts to integers), where every rounding of the program is kept."""


@frozen
class FusionOptions:
    """The configuration of the fusion scope.

    * ``numerics``: one of ``NUMERICS``.
    * ``on_specialize``: "refuse" a fusion that needs a variant of the program of its own for some sizes, or make it an
      "error". No fusion does: kernels take their strides and sizes from the run, so both mean the same.
    * ``enable``: False gives every operator a kernel of its own, the baseline that fusion is measured against.
    * ``families``: the operator families that may share kernels; empty means all.
    * ``skip_operators``, ``skip_types``: node names and operator types that stay alone.
    * ``scopes``: where not empty, operators fuse only inside these name prefixes, and only with operators of the same.
    * ``max_operators``: most source operators in one kernel.
    * ``max_parts``: most kernels that run as parts of one launch.
    * ``recomputation_threshold``: most readers that each repeat a widening operator (``Expand``, ``Fill``) for
      themselves instead of reading its stored result.
    * ``max_inputs``, ``max_outputs``: most tensors a kernel reads and writes; None takes the target's limits.
    """

    numerics: str = field(default="auto", validator=in_(NUMERICS))
    on_specialize: str = field(default="refuse", validator=in_(("refuse", "error")))
    enable: bool = True
    families: tuple[Family, ...] = ()
    skip_operators: tuple[str, ...] = ()
    skip_types: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    max_operators: int = field(default=128, validator=ge(1))
    recomputation_threshold: int = field(default=64, validator=ge(0))
    max_parts: int = field(default=8, validator=ge(1))
    max_inputs: int | None = None
    max_outputs: int | None = None

    def allows(self, name: str, op: str) -> bool:
        """True when the operator ``name`` of type ``op`` may share a kernel."""
        if not self.enable or name in self.skip_operators or op in self.skip_types:
            return False
        return not self.families or operator(op).family in self.families

    def most_inputs(self, target: TargetSpec) -> int:
        """Return the most tensors that a kernel may read."""
        return target.limits.inputs if self.max_inputs is None else self.max_inputs

    def most_outputs(self, target: TargetSpec) -> int:
        """Return the most tensors that a kernel may write."""
        return target.limits.outputs if self.max_outputs is None else self.max_outputs

    def scope_of(self, name: str) -> str | None:
        """Return the longest scope that holds the operator ``name``; None where there is none."""
        inside = [scope for scope in self.scopes if name == scope or name.startswith(scope.rstrip("/") + "/")]
        return max(inside, key=len) if inside else None
