"""Bandwidths of a target in the form in which cost terms hold them."""

from autofuse_ir.dims import Dim, const
from autofuse_ir.target import TargetSpec

SCALE = 1000
"""Bandwidths enter as integers per mille, since divisors of cost terms are exact sizes."""


def speed(target: TargetSpec, name: str) -> Dim:
    """Return quantity ``name`` of ``target``, in bytes per cycle, times ``SCALE``; at least 1."""
    return const(max(1, round(target.quantity(name) * SCALE)))
