"""Errors of the schedule stage."""

from autofuse_ir.errors import AutofuseError


class ScheduleError(AutofuseError):
    """A backend node cannot be scheduled for the target."""
