import subprocess
from pathlib import Path

import pytest
import release

CHANGELOG = "# Changelog\n\n## 0.2.0 (2026-01-31)\n\n- Something for users.\n\n## 0.1.0 (2025-12-01)\n\n- First.\n"


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(root: Path, name: str, version: str, needs: str = "") -> None:
    folder = root / "packages" / name
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "{version}"\ndependencies = [{needs}]\n'
    )
    (folder / "CHANGELOG.md").write_text(CHANGELOG)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "x-base", "0.2.0")
    write(tmp_path, "x-top", "0.2.0", '"x-base>=0.2,<0.3"')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "Begin")
    return tmp_path


def commit(root: Path, file: str, text: str) -> None:
    (root / file).write_text(text)
    git(root, "commit", "--quiet", "-a", "-m", "Change")


def test_a_dry_run_says_what_would_be_done_and_does_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["x-top", "--dry-run"], root) == 0
    assert "tag x-top-v0.2.0" in capsys.readouterr().out
    assert git(root, "tag") == ""
    assert not (root / "dist").exists()


@pytest.mark.parametrize(
    ("changelog", "complaint"),
    [
        (CHANGELOG.replace("2026-01-31", "unreleased"), "has to be the day"),
        (CHANGELOG.replace("0.2.0", "0.3.0"), "does not begin with `## 0.2.0"),
        (CHANGELOG.replace("- Something for users.\n", ""), "has no entry"),
        ("", "does not begin with"),
    ],
)
def test_a_changelog_that_is_not_ready_refuses(
    root: Path, capsys: pytest.CaptureFixture[str], changelog: str, complaint: str
) -> None:
    commit(root, "packages/x-top/CHANGELOG.md", changelog)
    assert release.main(["x-top", "--dry-run"], root) == 1
    assert complaint in capsys.readouterr().err
    assert release.main(["x-base", "--dry-run"], root) == 0  # one package alone


def test_a_tree_with_changes_refuses(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "left.txt").touch()
    assert release.main(["x-top", "--dry-run"], root) == 1
    assert "left.txt" in capsys.readouterr().err


def test_a_version_is_released_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(root, "tag", "x-top-v0.2.0")
    assert release.main(["x-top", "--dry-run"], root) == 1
    assert "tagged already" in capsys.readouterr().err


@pytest.mark.parametrize("needs", ['"x-base>=0.1,<0.2"', '"x-base>=0.1"', '"x-base"'])
def test_ranges_on_siblings_are_narrow_and_admit_what_is_here(root: Path, needs: str) -> None:
    file = "packages/x-top/pyproject.toml"
    commit(root, file, (root / file).read_text().replace('"x-base>=0.2,<0.3"', needs))
    assert release.main(["x-top", "--dry-run"], root) == 1


def test_an_unknown_package_is_the_users_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main(["x-tpo"], root) == 2
    assert "x-base, x-top" in capsys.readouterr().err
