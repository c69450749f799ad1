"""Errors of code generation."""

from autofuse_ir.errors import AutofuseError


class CodegenError(AutofuseError):
    """A schedule cannot be written for the target."""
