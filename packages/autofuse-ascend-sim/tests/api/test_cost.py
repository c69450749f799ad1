"""The timing model charges composed functions for what is behind them."""

from pathlib import Path

import autofuse_ascend_sim as sim
from autofuse_ascend_sim.conformance.all_cases import all_cases
from autofuse_ascend_sim.conformance.kernels import translation_unit


def test_a_composed_function_takes_longer_than_an_instruction(tmp_path: Path) -> None:
    wanted = {("Abs", "unary_count"), ("Acos", "u4_tmp_count"), ("Erf", "u4_tmp_count")}
    cases = [c for c in all_cases("2201", (1024,)) if (c.api, c.form) in wanted and c.types == ("float",)]
    assert len(cases) == len(wanted)
    source = tmp_path / "cases.cpp"
    source.write_text(translation_unit(cases))
    library = sim.compile(source, "ascend-a2", flags=["-O0"])
    cycles = {}
    for number, case in enumerate(cases):
        report = sim.run(library, f"case_{number}", case.arguments(), tiling=b"", workspace=0)
        cycles[case.api] = dict(report.busy_cycles)["V"]
    assert cycles["Acos"] > 4 * cycles["Abs"]
    assert cycles["Erf"] > 4 * cycles["Abs"]
