"""Tests that run Ascend kernels in the emulator; modules beside this one build and launch them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: sweeps that take minutes; run them with `-m thorough`")


def pytest_collection_modifyitems(config, items):
    """Leave the long sweeps out unless they are asked for."""
    if "thorough" in config.option.markexpr:
        return
    sweeps = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=sweeps)
    items[:] = [item for item in items if not item.get_closest_marker("thorough")]
