"""The command line given bad input: one paragraph, the right exit code, no traceback, nothing half-written."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from autofuse.cli import exit_code_of
from onnx import TensorProto, helper, parser

Done = subprocess.CompletedProcess[str]
MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[n,4] x, float[4] y) => (float[n,4] z) { s = Add(x, y) z = Mul(s, x) }"""
START = "import sys; from autofuse.cli import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model and files that are none."""
    folder = tmp_path_factory.mktemp("bad")
    onnx.save(parser.parse_model(MODEL), folder / "m.onnx")
    good = (folder / "m.onnx").read_bytes()
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "truncated.onnx").write_bytes(good[: len(good) // 2])
    (folder / "random.onnx").write_bytes(np.random.default_rng(0).bytes(3000))
    (folder / "text.onnx").write_text("hello\n")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "newer.json").write_text('{"schema":"autofuse.graph","version":[99,0]}')
    (folder / "folder").mkdir()
    (folder / "no_tools").mkdir()
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [2], [1.0, 2.0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [tensor])
    (folder / "escaping.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    return folder


@pytest.fixture(scope="module")
def cli(place: Path) -> Callable[..., Done]:
    """Return a function that runs the command line in ``place``; keywords are environment variables."""

    def run(*words: str, limit: int | None = None, **environment: str) -> Done:
        def limited() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        env = {**os.environ, "AUTOFUSE_CACHE": str(place / "cache"), **environment}
        command = [sys.executable, "-c", START, *words]
        return subprocess.run(
            command, cwd=place, env=env, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited
        )

    return run


@pytest.fixture
def called(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Return a function that runs the command line in this process, which spares the imports of another one."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("AUTOFUSE_CACHE", str(place / "cache"))

    def call(*words: str) -> Done:
        capfd.readouterr()
        code = exit_code_of(words)
        return Done(words, code, *capfd.readouterr())

    return call


def refused(done: Done, *words: str, code: int = 2) -> None:
    """Assert that the command said what is wrong, in one paragraph, and wrote no result."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "bug:" not in done.stderr
    assert done.stdout == ""
    paragraphs = [p for p in done.stderr.strip().split("\n\n") if not p.startswith("Usage")]
    assert len(paragraphs) == 1
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("missing.onnx", "no such file"),
        ("folder", "no bundle"),
        ("empty.onnx", "not an ONNX model"),
        ("truncated.onnx", "truncated"),
        ("random.onnx", "not an ONNX model"),
        ("text.onnx", "not an ONNX model"),
        ("deep.json", "nested too deeply"),
        ("newer.json", "upgrade"),
        ("escaping.onnx", "outside the folder"),
        ("n" * 5000, "too long"),
    ],
)
def test_files_that_are_no_model_are_named(called: Callable[..., Done], model: str, words: str) -> None:
    refused(called("run", model, "--random", "1"), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--frobnicate",), "--frobnicate"),
        (("--random", "x"), "'x'"),
        (("--dim", "n"), "NAME=LO..HI"),
        (("--dim", "n=a..b"), "NAME=LO..HI"),
        (("--dim", "n=5..2"), "'n'"),
        (("--dim", "q=1..2"), "'q'"),
        (("--dim", "n=-1"), "-1"),
        (("--dim", "n=0..99999999999999999999"), "99999999999999999999"),
        (("--hint", "n=x"), "NAME=N"),
        (("--hint", "n=-4"), "-4"),
        (("--input", "x"), "NAME=FILE"),
        (("--input", "x=missing.npy"), "missing.npy"),
        (("--input", "x=m.onnx"), ".npy"),
        (("--target", "abacus"), "abacus"),
        (("--output", "m.onnx"), "m.onnx"),
    ],
)
def test_options_that_make_no_sense_are_named(
    called: Callable[..., Done], options: tuple[str, ...], words: str
) -> None:
    seed = () if options[0] == "--random" else ("--random", "1")
    refused(called("run", "m.onnx", *seed, *options), words)


def test_unknown_commands_and_missing_arguments_are_wrong_input(called: Callable[..., Done]) -> None:
    refused(called("frobnicate"), "frobnicate")
    refused(called("run"), "MODEL")
    refused(called("stage", "infer", "m.onnx", "-o", "m.onnx/x"), "m.onnx/x")
    refused(called("show", "text.onnx"), "not an ONNX model")


def test_without_a_compiler_the_interpreter_runs_and_says_so_in_one_line(
    cli: Callable[..., Done], called: Callable[..., Done], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = str(place / "no_tools")
    done = cli("run", "m.onnx", "--random", "1", PATH=tools)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "interpreter" in done.stderr
    assert done.stdout == called("run", "m.onnx", "--random", "1").stdout
    monkeypatch.setenv("PATH", tools)
    assert called("verify", "m.onnx", "--samples", "2").returncode == 0
    refused(called("compile", "m.onnx", "-o", "none"), "apt-get install g++", code=3)
    assert not (place / "none").exists()
    emulated = ("run", "m.onnx", "--random", "1", "--target", "ascend-a2")
    done = called(*emulated)
    assert done.returncode == 0
    assert "interpreter" in done.stderr
    refused(called(*emulated, "--device", "sim"), "g++", code=3)


def test_a_compiler_that_makes_nothing_is_none(cli: Callable[..., Done], place: Path) -> None:
    silent = place / "silent_compiler"
    silent.write_text('#!/bin/sh\ncase "$*" in --version) echo silent 1.0;; esac\n', encoding="utf-8")
    silent.chmod(0o755)
    mine = {"CXX": str(silent), "AUTOFUSE_CACHE": str(place / "silent_cache")}
    done = cli("run", "m.onnx", "--random", "1", **mine)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "made nothing" in done.stderr
    refused(cli("compile", "m.onnx", "-o", "none", **mine), "made nothing", code=3)


def test_a_full_disk_leaves_nothing_behind(cli: Callable[..., Done], place: Path) -> None:
    cli("run", "m.onnx", "--random", "1")  # what the cache holds needs no disk
    before = sorted(place.iterdir())
    refused(cli("compile", "m.onnx", "-o", "full", limit=3000), "written")
    assert sorted(place.iterdir()) == before
    done = cli("run", "m.onnx", "--random", "1", "--dim", "n=9000", "--output", "results", limit=3000)
    refused(done, "results")
    assert list((place / "results").iterdir()) == []


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["explain m.onnx", "verify m.onnx --samples 1"])
def test_streams_that_are_closed_are_done_without(words: str, closed: str, place: Path) -> None:
    """So are those of jobs that nobody looks at."""
    script = f'"$0" -c "$1" {words} {closed}'
    env = {**os.environ, "AUTOFUSE_CACHE": str(place / "cache")}
    command = ["sh", "-c", script, sys.executable, START]
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_cache_that_cannot_be_written_only_warns(cli: Callable[..., Done], place: Path) -> None:
    done = cli("run", "m.onnx", "--random", "1", AUTOFUSE_CACHE=str(place / "m.onnx"))
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "cannot be written" in done.stderr


def test_two_processes_compile_the_same_model_at_once(place: Path) -> None:
    env = {**os.environ, "AUTOFUSE_CACHE": str(place / "shared_cache")}
    command = [sys.executable, "-c", START, "compile", "m.onnx", "-o"]
    started = [
        subprocess.Popen([*command, f"twin{k}"], cwd=place, env=env, stdout=subprocess.DEVNULL) for k in range(2)
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    first, second = (json.loads((place / f"twin{k}" / "manifest.json").read_text())["files"] for k in range(2))
    assert first == second


HEED_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""A shell starts what runs in the background with interrupts ignored, which all that is started from there inherits."""


@pytest.mark.parametrize("whole_group", [True, False], ids=["as_from_a_terminal", "as_from_another_process"])
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_an_interrupt_ends_compilers_and_leaves_nothing_half_written(
    place: Path, tmp_path: Path, twice: bool, whole_group: bool
) -> None:
    """The compiler would go on for an hour, by a child of its own as real ones have.

    The second interrupt comes while the first one waits for compilers that do not end when asked to.
    """
    begun, compiler = tmp_path / "begun", tmp_path / "slow_compiler"
    sources = '*.cpp*) sleep 3600 & echo $$ $! > "$BEGUN.new"; mv "$BEGUN.new" "$BEGUN"; wait;;'
    stubborn = "trap '' TERM" if twice else ""
    compiler.write_text(f'#!/bin/sh\n{stubborn}\ncase "$*" in {sources} esac\nexec g++ "$@"\n', encoding="utf-8")
    compiler.chmod(0o755)
    cache = tmp_path / "interrupted_cache"
    mine = {"AUTOFUSE_CACHE": str(cache), "CXX": str(compiler), "BEGUN": str(begun)}
    process = subprocess.Popen(
        [sys.executable, "-c", f"{HEED_INTERRUPTS}\n{START}", "compile", "m.onnx", "-o", "interrupted"],
        cwd=place,
        env={**os.environ, **mine},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    send = os.killpg if whole_group else os.kill
    send(process.pid, signal.SIGINT)
    if twice:
        time.sleep(0.2)
        send(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    assert not (place / "interrupted").exists()
    assert not [path for path in cache.rglob("*/.*") if path.is_dir()]
    for number in begun.read_text(encoding="utf-8").split():
        assert not is_running(int(number))


def is_running(process: int) -> bool:
    """Whether a process is there; one that has ended and that nobody waited for is not."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def damaged(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change one file of the bundle ``folder``."""
    (folder / name).write_bytes(change((folder / name).read_bytes()))


def test_damaged_bundles_are_refused_before_anything_is_loaded(called: Callable[..., Done], place: Path) -> None:
    assert called("compile", "m.onnx", "-o", "bundle").returncode == 0
    flipped: Callable[[bytes], bytes] = lambda raw: raw[:100] + bytes([raw[100] ^ 1]) + raw[101:]  # noqa: E731
    cases: list[tuple[str, Callable[[bytes], bytes], str]] = [
        ("manifest.json", lambda raw: raw[:50], "manifest"),
        ("manifest.json", lambda raw: b"[" * 100_000, "manifest"),
        ("manifest.json", lambda raw: raw.replace(b'"version": [\n  1,', b'"version": [\n  9,'), "upgrade"),
        ("manifest.json", lambda raw: raw.replace(b'"program.json"', b'"../program.json"'), "program.json"),
        ("program.json", lambda raw: raw[:-100], "sha256"),
        ("program.json", flipped, "sha256"),
        ("lib/m_onnx.so", flipped, "sha256"),
    ]
    for number, (name, change, words) in enumerate(cases):
        copy = place / f"damaged{number}"
        shutil.copytree(place / "bundle", copy)
        damaged(copy, name, change)
        refused(called("run", copy.name, "--random", "1"), words)
