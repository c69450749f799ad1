"""Tests that run Ascend kernels in the emulator; modules beside this one build and launch them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ascend_kernels import build, compile_all


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: sweeps that take minutes; run them with `-m thorough`")


def pytest_collection_modifyitems(config, items):
    """Leave the long sweeps out unless they are asked for."""
    if "thorough" in config.option.markexpr:
        return
    sweeps = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=sweeps)
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]


@pytest.fixture(scope="module")
def emulate(tmp_path_factory):
    """Build and compile kernels for a target."""

    def made(kernels, target="ascend-a2"):
        return compile_all(build(kernels, target), tmp_path_factory.mktemp("ascend"), target)

    return made
