"""Libraries that several test files run, and the marker of sweeps that take minutes."""

from pathlib import Path

import autofuse_ascend_sim as sim
import pytest

CASES = Path(__file__).parent / "cases"
ADD_KERNEL = Path(sim.__file__).parent / "examples" / "add.cpp"


@pytest.fixture(scope="session")
def add_library():
    return sim.compile(ADD_KERNEL, "ascend-a2", flags=["-Werror", "-Wextra", "-Wno-unused-parameter"])


@pytest.fixture(scope="session")
def faults():
    return sim.compile(CASES / "faults.cpp", "ascend-a2", flags=["-Werror", "-Wno-unused-parameter"])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: sweeps that take minutes; run them with `-m thorough`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves sweeps out unless the command line asks for them."""
    if "thorough" in config.option.markexpr:
        return
    sweeps = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=sweeps)
    items[:] = [item for item in items if item not in sweeps]
