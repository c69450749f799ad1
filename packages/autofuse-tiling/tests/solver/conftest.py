"""Compiled solvers, one per compiler on this machine."""

import shutil

import pytest
from autofuse_tiling.solver.native import NativeSolver, build

COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]


@pytest.fixture(scope="session", params=COMPILERS)
def native(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NativeSolver:
    return build(tmp_path_factory.mktemp("solver"), request.param)
