"""The error of tiling."""

from autofuse_ir.errors import AutofuseError


class TilingError(AutofuseError):
    """A tiling problem is malformed, or a tool that checks the solver is missing."""
