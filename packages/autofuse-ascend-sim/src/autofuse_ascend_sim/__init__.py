"""An Ascend vector core on any machine: Ascend C headers, rule checks and timing."""

from autofuse_ascend_sim.errors import (
    RULE_ERRORS,
    AscendSimError,
    BlockError,
    CompileError,
    CrashError,
    EntryError,
    HangError,
    LaunchError,
    Place,
    RuleError,
    SocError,
    ToolchainError,
)
from autofuse_ascend_sim.launch import run
from autofuse_ascend_sim.library import Library, compile, kernel_names
from autofuse_ascend_sim.report import SimReport
from autofuse_ascend_sim.soc import Soc, load_soc, soc_names
from autofuse_ascend_sim.toolchain import include_dir

__all__ = [
    "RULE_ERRORS",
    "AscendSimError",
    "BlockError",
    "CompileError",
    "CrashError",
    "EntryError",
    "HangError",
    "LaunchError",
    "Library",
    "Place",
    "RuleError",
    "SimReport",
    "Soc",
    "SocError",
    "ToolchainError",
    "compile",
    "include_dir",
    "kernel_names",
    "load_soc",
    "run",
    "soc_names",
]
