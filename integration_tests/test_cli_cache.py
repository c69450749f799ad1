"""The cache commands in processes of their own: side by side, ended half-way, and carried to another cache."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder

COMMAND = str(Path(sys.executable).parent / "autofuse")
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    b = GraphBuilder("shifted")
    x = b.input("x", ("n", 8), dt.float32)
    graph = b.build(outputs={"y": b.op("Relu", b.op("Add", x, b.input("bias", (8,), dt.float32)))})
    return write(graph, tmp_path_factory.mktemp("model") / "shifted.json")


@pytest.fixture(scope="module")
def compiled(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with all that running the model takes."""
    root = tmp_path_factory.mktemp("compiled")
    started(root, "run", model, "--random", 1).wait(timeout=120)
    return root


def started(root: Path, *words: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [COMMAND, *map(str, words)],
        env={**os.environ, "AUTOFUSE_CACHE": str(root)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process: "subprocess.Popen[str]", code: int = 0) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert "Traceback" not in err
    return out


def test_a_cache_carried_elsewhere_serves_without_compiling(compiled: Path, model: Path, tmp_path: Path) -> None:
    assert done(started(compiled, "cache", "why-miss", model)).count("hit ") == 2
    said = done(started(compiled, "cache", "export", tmp_path / "cache.tgz"))
    elsewhere = tmp_path / "elsewhere"
    done(started(elsewhere, "cache", "import", tmp_path / "cache.tgz", "--sha256", said.split()[-1]))
    facts = json.loads(done(started(elsewhere, "cache", "why-miss", model, "--json")))
    assert [fact["hit"] for fact in facts] == [True, True]
    before = sorted(path.stat().st_ino for path in elsewhere.rglob("*.so"))
    ran = done(started(elsewhere, "run", model, "--random", 1))
    assert ran == done(started(compiled, "run", model, "--random", 1))
    assert sorted(path.stat().st_ino for path in elsewhere.rglob("*.so")) == before


def test_clearing_exporting_and_running_side_by_side_all_succeed(compiled: Path, model: Path, tmp_path: Path) -> None:
    done(started(compiled, "cache", "export", tmp_path / "cache.tgz"))
    root = tmp_path / "shared"
    wanted = done(started(compiled, "run", model, "--random", 1))
    runs = [started(root, "run", model, "--random", 1) for _ in range(2)]
    others = [started(root, "cache", *words) for words in (("import", tmp_path / "cache.tgz"), ("clear",), ("ls",))]
    assert [done(process) for process in runs] == [wanted] * 2
    for process in others:
        done(process)
    done(started(root, "cache", "doctor"))


def test_an_import_that_is_killed_leaves_a_sound_cache(compiled: Path, tmp_path: Path) -> None:
    done(started(compiled, "cache", "export", tmp_path / "cache.tgz"))
    root = tmp_path / "killed"
    process = started(root, "cache", "import", tmp_path / "cache.tgz")
    while process.poll() is None and not list(root.glob(".import-*/*")):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    done(started(root, "cache", "doctor"))  # what it left is young, and no entry
    done(started(root, "cache", "import", tmp_path / "cache.tgz"))
    assert sorted(p.name for p in root.glob("*/??/*")) == sorted(p.name for p in compiled.glob("*/??/*"))
    done(started(root, "cache", "clear"))
    assert not [path for path in root.iterdir() if path.name.startswith(".")]
