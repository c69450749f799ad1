from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest

SOURCE = Path(__file__).parent / "cases" / "operators.cpp"


@pytest.fixture(scope="module")
def library():
    return sim.compile(SOURCE, "ascend-a2", flags=["-Werror"])


def test_operators_are_the_count_forms(library):
    a, b = np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)
    y, bits = np.zeros((4, 64), np.float32), np.zeros(192, np.uint8)
    sim.run(library, "operators", [np.stack([a, b]), y, bits])
    np.testing.assert_array_equal(y, np.stack([a + b, a - b, a * b, a / b]))
    unpacked = np.unpackbits(bits[:16], bitorder="little").reshape(2, 64).astype(bool)
    np.testing.assert_array_equal(unpacked, np.stack([a < b, a >= b]))


def test_an_error_in_an_operator_names_the_api_and_the_kernel_line(library):
    with pytest.raises(sim.RuleError) as caught:
        sim.run(library, "unordered", [np.zeros(8, np.float32)])
    line = SOURCE.read_text().split("// BAD")[0].count("\n") + 1
    assert (caught.value.rule, caught.value.place.api, caught.value.place.line) == ("missing_sync", "Add", line)


def test_a_kernel_for_the_cube_unit_does_not_compile(tmp_path):
    source = tmp_path / "cube.cpp"
    source.write_text(
        '#include "kernel_operator.h"\nusing namespace AscendC;\n'
        'extern "C" __global__ void k(GM_ADDR) {\n    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);\n}\n'
    )
    with pytest.raises(sim.CompileError, match=r"cube\.cpp:4: .*KERNEL_TYPE_MIX_AIC_1_2 kernels use the cube unit"):
        sim.compile(source, "ascend-a2")
