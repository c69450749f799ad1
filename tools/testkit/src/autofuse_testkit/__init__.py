"""The pytest plug-in that the packages of this repository share."""

from autofuse_testkit.cases import Case, cases
from autofuse_testkit.compile_and_run import CompileAndRun
from autofuse_testkit.golden import Golden

__all__ = ["Case", "CompileAndRun", "Golden", "cases"]
