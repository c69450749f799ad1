"""What the bundle of a kernel holds whatever its target: the solver's source, and what status bits mean."""

from autofuse_ir.kernels import StatusMessage
from autofuse_ir.status import MESSAGES, NO_MEMORY

SOLVER_SOURCE = """// The tiling solver, compiled once for all kernels of a library.
#define AF_TILING_SOLVER_DEFINE
#include "af_tiling_solver.h"
"""

STATUS_MESSAGES = (
    *(StatusMessage(status, message) for status, message in MESSAGES.items()),
    StatusMessage(NO_MEMORY, "there was no memory for a tile"),
)
"""The bits of ``autofuse_ir.status`` are raised by the vector headers (``AF_STATUS_*``)."""
