"""``autofuse cache``: what it lists, why something would be compiled, its check-up, and moving it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test alone."""
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def filled(root: Path, call: Any, affine_file: Path, tmp_path: Path) -> Path:
    """The cache after compiling the affine model; a process loads only one extension, so it is not in here."""
    assert call("compile", affine_file, "-o", tmp_path / "b").code == 0
    return root


def other_affine() -> Graph:
    """The affine model with another operator."""
    b = GraphBuilder("affine")
    x = b.input("x", ("batch", 6), dt.float32)
    return b.build(outputs={"y": b.op("Sub", x, b.input("bias", (6,), dt.float32))})


def library_of(root: Path) -> Path:
    (found,) = (root / "library").glob("??/*")
    return found


def damage(file: Path) -> None:
    """Put another file in its place: this process has the old one mapped."""
    file.unlink()
    file.write_bytes(b"damaged")


def test_the_cache_is_listed_in_80_columns(call: Any, filled: Path) -> None:
    answer = call("cache", "ls")
    assert answer.code == 0
    assert "kernels of affine" in answer.out
    # The last line names the folder, which may be as long as it likes.
    assert max(len(line) for line in answer.out.splitlines()[:-1]) <= 80
    data = json.loads(call("cache", "ls", "--json").out)
    assert data["cache"] == str(filled)
    assert {entry["entry"].partition("/")[0] for entry in data["entries"]} >= {"library", "object"}
    assert sum(entry["bytes"] for entry in data["entries"]) > 1000


def test_an_empty_cache_lists_nothing_and_is_not_made(call: Any, root: Path) -> None:
    for words in (("ls",), ("doctor",), ("clear",)):
        assert call("cache", *words).code == 0
    assert not root.exists()


def test_the_cache_is_cleared_of_entries_alone(call: Any, filled: Path) -> None:
    (filled / "mine").write_text("kept", encoding="utf-8")
    assert call("cache", "clear").code == 0
    assert "kernels of affine" not in call("cache", "ls").out
    assert (filled / "mine").exists()


def test_a_model_can_be_saved_after_the_cache_was_cleared(call: Any, root: Path, affine: Graph, tmp_path: Path) -> None:
    import autofuse  # noqa: PLC0415 - the command line is what the other tests import

    fn = autofuse.compile(affine)
    assert call("cache", "clear").code == 0
    fn.save(tmp_path / "saved")
    x, bias = np.ones((2, 6), np.float32), np.ones(6, np.float32)
    np.testing.assert_array_equal(autofuse.load(tmp_path / "saved")(x, bias), fn(x, bias))


def test_why_miss_tells_hits_from_misses(call: Any, root: Path, affine_file: Path, tmp_path: Path) -> None:
    cold = call("cache", "why-miss", affine_file)
    assert cold.code == 1
    assert "no entry of kind library" in cold.out
    assert not (root / "library").exists()
    assert call("compile", affine_file, "-o", tmp_path / "b").code == 0
    facts = json.loads(call("cache", "why-miss", affine_file, "--json").out)
    # Where the library is there, nobody asks for objects.
    assert {fact["what"]: fact["hit"] for fact in facts if fact["what"] != "runtime extension"} == {
        "kernels of affine": True
    }


def test_why_miss_names_what_differs(call: Any, filled: Path, tmp_path: Path) -> None:
    answer = call("cache", "why-miss", write(other_affine(), tmp_path / "other.json"))
    assert answer.code == 1
    assert f"nearest: library/{library_of(filled).name[:8]}" in answer.out
    assert "cpp: changed" in answer.out
    assert "compiler" not in answer.out
    assert max(len(line) for line in answer.out.splitlines()) <= 80
    facts = json.loads(call("cache", "why-miss", tmp_path / "other.json", "--json").out)
    (library,) = [fact for fact in facts if fact["what"] == "kernels of affine"]
    assert not library["hit"]
    assert {change["part"].partition(" ")[0] for change in library["changed"]} == {"source"}


def test_why_miss_names_another_compiler(call: Any, filled: Path, affine_file: Path) -> None:
    record = library_of(filled) / "entry.json"
    data = json.loads(record.read_text(encoding="utf-8"))
    data["parts"]["compiler"] = data["about"]["made by"] = "gcc 1.0"
    data["key"] = "0" * 64
    record.write_text(json.dumps(data), encoding="utf-8")
    old = library_of(filled).parent.parent / "00"
    old.mkdir()
    library_of(filled).rename(old / ("0" * 64))
    answer = call("cache", "why-miss", affine_file)
    assert answer.code == 1
    assert "compiler: 'gcc 1.0' -> 'gcc" in answer.out


def test_why_miss_names_a_damaged_file_and_compiling_mends_it(
    call: Any, filled: Path, affine_file: Path, tmp_path: Path
) -> None:
    damage(library_of(filled) / "kernels.so")
    answer = call("cache", "why-miss", affine_file)
    assert answer.code == 1
    assert "kernels.so is not what was written" in answer.out
    assert call("compile", affine_file, "-o", tmp_path / "again").code == 0
    assert "miss" not in "".join(
        line for line in call("cache", "why-miss", affine_file).out.splitlines() if "extension" not in line
    )


def test_why_miss_without_a_compiler_is_a_missing_tool(
    call: Any, filled: Path, affine_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = call("cache", "why-miss", affine_file)
    assert answer.code == 3
    assert "g++" in answer.err


def test_why_miss_is_about_this_machine(call: Any, root: Path, affine_file: Path) -> None:
    answer = call("cache", "why-miss", affine_file, "--target", "ascend-a2")
    assert answer.code in (2, 3)
    assert "ascend-a2" in answer.err
    assert answer.out == ""


def test_doctor_finds_damage_and_removes_it_when_told(call: Any, filled: Path) -> None:
    assert call("cache", "doctor").code == 0
    damage(library_of(filled) / "kernels.so")
    found = call("cache", "doctor")
    assert found.code == 1
    assert "kernels of affine" in found.out
    assert "kernels.so" in found.out
    assert str(library_of(filled)) in found.out
    fixed = call("cache", "doctor", "--fix")
    assert fixed.code == 0
    assert "removed: damaged entry" in fixed.out
    assert list((filled / "library").glob("??/*")) == []
    assert call("cache", "doctor").code == 0


def test_doctor_names_what_it_cannot_mend(call: Any, filled: Path) -> None:
    filled.chmod(0o777)
    answer = call("cache", "doctor", "--fix")
    assert answer.code == 1
    assert "chmod o-w" in answer.out


def test_an_exported_cache_is_imported_elsewhere(
    call: Any, filled: Path, affine_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = call("cache", "export", tmp_path / "cache.tgz").out
    digest = out.split()[-1]
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "elsewhere"))
    wrong = call("cache", "import", tmp_path / "cache.tgz", "--sha256", "0" * 64)
    assert wrong.code == 2
    assert not (tmp_path / "elsewhere").exists()
    assert call("cache", "import", tmp_path / "cache.tgz", "--sha256", digest).code == 0
    facts = json.loads(call("cache", "why-miss", affine_file, "--json").out)
    assert [fact["hit"] for fact in facts if fact["what"] == "kernels of affine"] == [True]
    again = call("cache", "import", tmp_path / "cache.tgz")
    assert again.out.startswith("added 0 entries")


def test_export_takes_a_choice_of_entries(call: Any, filled: Path, tmp_path: Path) -> None:
    one = call("cache", "export", tmp_path / "one", "--kind", "library", "--only", "affine")
    assert one.code == 0
    assert "1 entries" in one.out
    none = call("cache", "export", tmp_path / "none", "--only", "nothing like it")
    assert none.code == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("change", ["cut", "changed", "foreign", "missing"])
def test_an_archive_that_is_not_right_is_refused_in_one_paragraph(
    call: Any, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    archive = tmp_path / "cache.tgz"
    assert call("cache", "export", archive).code == 0
    raw = archive.read_bytes()
    match change:
        case "cut":
            archive.write_bytes(raw[: len(raw) // 2])
        case "changed":
            archive.write_bytes(raw[: len(raw) // 2] + bytes([raw[len(raw) // 2] ^ 255]) + raw[len(raw) // 2 + 1 :])
        case "foreign":
            archive.write_bytes(b"PK\3\4 something else")
        case "missing":
            archive.unlink()
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "elsewhere"))
    answer = call("cache", "import", archive)
    assert answer.code == 2
    assert answer.out == ""
    assert "cache.tgz" in answer.err
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) <= 3
    if change in ("cut", "changed"):
        assert "entry " in answer.err
    assert not [path for path in (tmp_path / "elsewhere").glob("*") if path.name != "locks"]


def test_a_cache_that_is_no_folder_is_named(call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("AUTOFUSE_CACHE", str(tmp_path / "file"))
    answer = call("cache", "doctor")
    assert answer.code == 1
    assert "no folder" in answer.out
    assert call("cache", "ls").code == 0
    assert call("cache", "clear").code == 0
    assert call("cache", "export", tmp_path / "archive").code == 2
