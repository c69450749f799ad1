"""Sizes that are made up for a call: small ones, larger ones where it takes those, an error where none are found."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from autofuse_reference.arrays import to_tensor_data


@pytest.fixture
def rows_of_fifty(tmp_path: Path) -> Path:
    """y = Abs(x) in rows of 50: it takes multiples of 50 only."""
    b = GraphBuilder("rows")
    x = b.input("x", ("n",), dt.float32)
    rows = b.op("Reshape", x, b.constant(to_tensor_data(np.array([-1, 50]))))
    return write(b.build(outputs={"y": b.op("Abs", rows)}), tmp_path / "rows.json")


def test_sizes_grow_where_the_model_takes_no_small_ones(call: Any, rows_of_fifty: Path) -> None:
    ran = call("run", rows_of_fifty, "--random", 1)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("y: float32 [")
    assert ", 50]" in ran.out


def test_where_no_sizes_do_the_demand_is_told(call: Any, rows_of_fifty: Path) -> None:
    refused = call("run", rows_of_fifty, "--random", 1, "--dim", "n=7")
    assert refused.code == 2
    assert "n=7" in refused.err
    assert "50 does not divide" in refused.err
    assert "--dim NAME=N" in refused.err
