"""Errors of the driver."""

from autofuse_ir.errors import AutofuseError


class DriverError(AutofuseError):
    """What the user asked for cannot be done with what is installed or given."""


class PluginMissingError(DriverError):
    """A package that brings a front end, a host backend or an integration is not installed."""

    exit_code = 3
