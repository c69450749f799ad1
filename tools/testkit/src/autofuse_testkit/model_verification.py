"""``autofuse verify`` on a model file, in a process of its own: host backends end the process at some inputs."""

import json
import subprocess
import sys
from pathlib import Path

SECONDS = 600


def check_model(file: Path, samples: int, *words: str) -> None:
    """Assert that the fused model passes at ``samples`` sizes, and gives the bits of the unfused one.

    ``words`` are further arguments of the command. These models have no rounding that fusing removes. The promise of
    equal bits counts most for quantised ones, whose error against float64 says little: one step of a quantisation taken
    the other way changes everything behind it.
    """
    found = _verified(file, "--samples", str(samples), *words)
    checks = found["checks"]
    assert isinstance(checks, list)
    assert [check for check in checks if not check["passed"]] == []
    assert found["passed"], found["skipped"]
    assert [check for check in checks if not check["same_bits"]] == []
    assert len({str(check["sizes"]) for check in checks}) == samples, found["skipped"]


def _verified(file: Path, *words: str) -> dict[str, object]:
    command = [sys.executable, "-m", "autofuse", "verify", str(file), "--json", *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert answer.returncode in (0, 1), answer.stderr
    found: dict[str, object] = json.loads(answer.stdout)
    assert (answer.returncode == 0) == found["passed"]
    return found
