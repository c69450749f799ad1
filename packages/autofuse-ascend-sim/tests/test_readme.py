import re
from pathlib import Path

import autofuse_ascend_sim as sim
from autofuse_ascend_sim.benchmark import measure
from autofuse_ascend_sim.coverage import with_table

README = Path(__file__).parent.parent / "README.md"


def test_the_example_of_the_readme_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], str(README), "exec"), {"__name__": "readme"})
    assert "queue_order" in capsys.readouterr().out


def test_the_coverage_table_is_that_of_the_conformance_set():
    text = README.read_text()
    assert with_table(text) == text, "run python -m autofuse_ascend_sim.coverage README.md"


def test_every_rule_is_in_the_readme():
    text = README.read_text()
    assert all(f"`{rule}`" in text for rule in sim.RULE_ERRORS)


def test_speed_is_measured():
    speed = measure(elements=1 << 18, repeats=1)
    assert min(speed.compile_seconds, speed.static_bytes_per_second, speed.full_bytes_per_second) > 0
