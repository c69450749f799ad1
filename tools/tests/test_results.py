from pathlib import Path

import results
import sizes


def write(root: Path, name: str, **counts: int) -> None:
    numbers = " ".join(f'{key}="{value}"' for key, value in counts.items())
    results.folder(root).mkdir(parents=True, exist_ok=True)
    (results.folder(root) / f"{name}.xml").write_text(f"<testsuites><testsuite {numbers}/></testsuites>")


def test_the_last_line_counts_all_runs(tmp_path: Path) -> None:
    write(tmp_path, "tests-a", tests=10, failures=1, errors=2, skipped=3)
    write(tmp_path, "tests-b", tests=5, failures=0, errors=0, skipped=0)
    lines = results.closing_lines(tmp_path)
    assert "tests-a  4 passed, 3 failed, 3 skipped" in lines
    assert lines[-1] == "9 passed, 3 failed, 3 skipped"


def test_a_new_run_forgets_the_old_one(tmp_path: Path) -> None:
    write(tmp_path, "tests-a", tests=1, failures=0, errors=0, skipped=0)
    results.clear(tmp_path)
    assert results.closing_lines(tmp_path) == []


def test_sizes_are_listed_longest_first(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("x\n" * 301)
    (tmp_path / "short.py").write_text("x\n" * 2)
    first, second, total = sizes.table(tmp_path.glob("*.py"), tmp_path)
    assert first.split() == ["301", "?", "long.py"]
    assert second.split() == ["2", "short.py"]
    assert total.endswith("303    lines in 2 files; 1 of them past 300")
