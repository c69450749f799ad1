"""Numbers that tiling models predict with are those that the headers of Ascend kernels decide by.

Neither package imports the other, so that each states them.
"""

import re
from importlib.resources import files

import pytest
from autofuse_tiling.model import copies, scans

INCLUDE = files("autofuse_codegen") / "targets" / "ascendc" / "include"
SHARED = {
    ("af_npu_pick.h", "AF_PICKED"): copies.PICKED,
    ("af_npu_stage.h", "AF_STAGE_COLUMNS"): copies.STAGE_COLUMNS,
    ("af_npu_stage.h", "AF_STAGE_READ"): copies.STAGE_READ_BYTES,
    ("af_npu_scan.h", "AF_SCAN_ROWS"): scans.TURNED_ROWS,
    ("af_npu_scan.h", "AF_SCAN_FEW"): scans.FEW_ROWS,
    ("af_npu_scan.h", "AF_SCAN_PIECES"): scans.PIECES_FROM,
}


@pytest.mark.parametrize(("header", "name"), SHARED)
def test_tiling_models_and_headers_state_one_number(header: str, name: str) -> None:
    text = (INCLUDE / header).read_text(encoding="utf-8")
    (stated,) = re.findall(rf"^constexpr \w+ {name} = (\d+);", text, re.MULTILINE)
    assert int(stated) == SHARED[header, name]
