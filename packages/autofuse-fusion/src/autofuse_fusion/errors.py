"""The error of autofuse-fusion."""

from autofuse_ir.errors import AutofuseError


class FusionError(AutofuseError):
    """An operator that nothing can run, or a graph whose facts do not fit it."""
