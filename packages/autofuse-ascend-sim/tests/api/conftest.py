"""The marker of sweeps that take minutes."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "thorough: sweeps that take minutes; run them with `-m thorough`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves sweeps out unless the command line asks for them."""
    if "thorough" in config.option.markexpr:
        return
    sweeps = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=sweeps)
    items[:] = [item for item in items if item not in sweeps]
