"""The names of the templates for reductions."""

from enum import Enum


class Reach(Enum):
    """How much of a row one block has at hand; the value is the template's name."""

    ALL_LOAD = "all-load"
    COMMON = "common"
    R_CORE = "r-core"
