"""Every covered API computes what NumPy computes: element types, forms, counts with tails, special values."""

from collections.abc import Sequence
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from autofuse_ascend_sim.conformance import lanes
from autofuse_ascend_sim.conformance.all_cases import all_cases
from autofuse_ascend_sim.conformance.case import Case
from autofuse_ascend_sim.conformance.kernels import translation_unit
from autofuse_ascend_sim.signatures.table import ARCHITECTURE_OF_SOC

SOCS = ("ascend-a2", "ascend-350")
PER_UNIT = 150


def wrong(cases: Sequence[Case], soc: str, folder: Path, compiler: str | None = None) -> list[str]:
    """Compiles and runs the cases; one line for every result that is not what NumPy says."""
    source = folder / "cases.cpp"
    source.write_text(translation_unit(cases))
    library = sim.compile([source], soc, compiler=compiler, flags=["-O0", "-Werror"])
    found = []
    for number, case in enumerate(cases):
        arrays = case.arguments()
        try:
            sim.run(library, f"case_{number}", arrays, tiling=b"", workspace=0, timeline=False)
        except sim.AscendSimError as error:
            found.append(f"{case.label}: {error}")
            continue
        found += case.differences(arrays[1 + len(case.inputs) :])
    return found


def sample(soc: str) -> list[Case]:
    """One case of every API and form; on 350 only what differs from A2."""
    cases = list(all_cases(ARCHITECTURE_OF_SOC[soc], (1, 17, 64, 129, 1000)))
    if soc == "ascend-350":
        shared = {(case.api, case.form, case.types) for case in all_cases("2201", (1,))}
        cases = [case for case in cases if (case.api, case.form, case.types) not in shared]
    chosen: dict[tuple[str, str], Case] = {}
    for case in cases:
        chosen.setdefault((case.api, case.form.split()[0] if soc == "ascend-350" else case.form), case)
    return list(chosen.values())


@pytest.mark.parametrize("soc", SOCS)
def test_one_case_of_every_api_and_form_is_right(soc: str, tmp_path: Path) -> None:
    cases = sample(soc)
    assert len(cases) > 100
    assert wrong(cases, soc, tmp_path) == []


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("soc", SOCS)
def test_every_case_is_right_at_every_count(soc: str, part: int, tmp_path: Path) -> None:
    cases = list(all_cases(ARCHITECTURE_OF_SOC[soc], lanes.ALL_COUNTS))[part::16]
    assert cases
    for start in range(0, len(cases), PER_UNIT):
        assert wrong(cases[start : start + PER_UNIT], soc, tmp_path) == []


def test_a_wrong_element_is_found() -> None:
    case = next(all_cases("2201", (5,)))
    outputs = [np.tile(operand.values, len(case.steps)) for operand in case.outputs]
    right = [np.concatenate([case.expected(step)[0][0] for step in case.steps])]
    assert case.differences(right) == []
    assert len(case.differences(outputs)) == len(case.steps)
    right[0][3] = np.nan
    assert "1 wrong in dst, the first at 3" in case.differences(right)[0]


def test_a_lane_beyond_the_count_is_compared() -> None:
    case = next(all_cases("2201", (5,)))
    touched = [np.concatenate([case.expected(step)[0][0] for step in case.steps])]
    touched[0][5] += 1
    assert "the first at 5" in case.differences(touched)[0]
