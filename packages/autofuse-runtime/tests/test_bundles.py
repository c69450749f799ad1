"""Bundles: written whole or not at all, movable, checked before anything of them is loaded."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.graph import Constant
from autofuse_ir.program import KernelCall
from autofuse_ir.target import TargetKind, load_target
from autofuse_ir.tensor_data import TensorData
from autofuse_runtime import open as open_file
from autofuse_runtime.build import build
from autofuse_runtime.bundle import read_manifest
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import BuildError, BundleError, DiskError, ToolMissingError
from autofuse_runtime.extension import carried_name, extension_file
from autofuse_runtime.open import open_bundle
from autofuse_runtime.toolchain import find_toolchain

COUNT = 100
"""Elements of the constant: enough to live in a file of its own."""


@pytest.fixture(scope="session")
def program(kit: Any) -> Any:
    buffers = [
        kit.buffer("a", "input", str(COUNT)),
        kit.buffer("k", "constant", str(COUNT)),
        kit.buffer("c", "output", str(COUNT)),
    ]
    kernel = kit.kernel("add_float32", [str(COUNT)] * 2, [str(COUNT)], symbols=["size"])
    data = np.arange(COUNT, dtype=np.float32)
    return kit.program(
        buffers,
        [KernelCall("add_float32", ("a", "k"), ("c",))],
        ["c"],
        [kit.fact("size", lo=COUNT, hi=COUNT)],
        [kernel],
        constants=(Constant("k", TensorData(dt.float32, (COUNT,), data.tobytes())),),
    )


@pytest.fixture
def bundle(kit: Any, program: Any, tmp_path: Path) -> Path:
    return build(
        program, kit.bundle(program), load_target("cpu"), tmp_path / "bundle", cache=kit.cache, toolchain=kit.toolchain
    )


def opened(kit: Any, path: Path, **options: Any) -> Callable[..., Any]:
    return open_bundle(path, cache=kit.cache, toolchain=kit.toolchain, **options)


A = np.ones(COUNT, np.float32)


def test_a_bundle_holds_what_it_promises_and_runs(kit: Any, bundle: Path) -> None:
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert {"program.json", "manifest.json", "lib/test.so", "include/test.h", "include/af_abi.h"} <= names
    assert {"src/add_float32.cpp", "src/library.cpp", "src/CMakeLists.txt"} <= names
    assert len([name for name in names if name.startswith("constants/")]) == 1
    np.testing.assert_array_equal(opened(kit, bundle)(A), 1 + np.arange(COUNT))


def test_a_bundle_moves(kit: Any, bundle: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "b"
    moved.parent.mkdir()
    shutil.move(bundle, moved)
    np.testing.assert_array_equal(opened(kit, moved)(A), 1 + np.arange(COUNT))
    for path in moved.rglob("*"):
        assert not path.is_file() or str(tmp_path).encode() not in path.read_bytes(), path


def test_two_builds_of_one_program_are_the_same_bytes(kit: Any, program: Any, bundle: Path, tmp_path: Path) -> None:
    other = build(program, kit.bundle(program), load_target("cpu"), tmp_path / "other", cache=kit.cache)
    for path in bundle.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (other / path.relative_to(bundle)).read_bytes()


@pytest.mark.parametrize("name", ["program.json", "lib/test.so", "src/add_float32.cpp", "constants/*"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_changed_file_is_named_and_nothing_is_loaded(kit: Any, bundle: Path, name: str, damage: str) -> None:
    (path,) = bundle.glob(name)
    match damage:
        case "flip":
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        case "truncate":
            path.write_bytes(path.read_bytes()[:-1])
        case "remove":
            path.unlink()
    with pytest.raises(BundleError, match=path.name) as caught:
        opened(kit, bundle)
    assert caught.value.exit_code == 2


def changed(bundle: Path, **fields: Any) -> None:
    path = bundle / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | fields), encoding="utf-8")


MANIFESTS = [
    ({"isa": {"architecture": "pdp11", "level": "pdp11", "features": []}}, "was built for pdp11"),
    ({"abi_version": 99}, "ABI version 99"),
    ({"version": [2, 0]}, "format version 2.0"),
    ({"version": [1, 7]}, "format version 1.7"),
    ({"format": "other"}, "the manifest cannot be read"),
    ({"files": {"../../etc/passwd": "0"}}, "does not list program.json"),
    ({"files": 3}, "the manifest cannot be read"),
    ({"library": "lib/other.so"}, "does not list lib/other.so"),
]


@pytest.mark.parametrize(("fields", "words"), MANIFESTS, ids=[words for _, words in MANIFESTS])
def test_a_manifest_that_does_not_fit_is_refused_by_name(kit: Any, bundle: Path, fields: Any, words: str) -> None:
    changed(bundle, **fields)
    with pytest.raises(BundleError, match=words):
        opened(kit, bundle)


def test_a_file_outside_the_bundle_is_never_read(kit: Any, bundle: Path) -> None:
    files = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["files"]
    changed(bundle, files={**files, "../outside": "0"})
    with pytest.raises(BundleError, match="outside the bundle"):
        opened(kit, bundle)


def test_a_machine_without_a_feature_is_told_which(kit: Any, bundle: Path) -> None:
    isa = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["isa"]
    changed(bundle, isa={**isa, "features": [*isa["features"], "avx9000"]})
    with pytest.raises(BundleError, match="lacks avx9000"):
        opened(kit, bundle)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", '{"format": "autofuse.bundle"}', "[" * 100_000])
def test_a_broken_manifest_is_one_clear_error(kit: Any, bundle: Path, text: str) -> None:
    (bundle / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(BundleError, match="manifest"):
        opened(kit, bundle)


def test_no_bundle_at_all_is_said(kit: Any, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="there is no bundle here"):
        opened(kit, tmp_path / "nothing")


def test_an_existing_bundle_is_replaced_whole(kit: Any, program: Any, bundle: Path) -> None:
    (bundle / "old.txt").write_text("old", encoding="utf-8")
    build(
        program,
        kit.bundle(program),
        load_target("cpu"),
        bundle,
        cache=kit.cache,
        extra_files={"report.json": "{}\n"},
    )
    assert not (bundle / "old.txt").exists()
    assert "report.json" in dict(read_manifest(bundle).files)
    assert [path.name for path in bundle.parent.iterdir()] == [bundle.name]


def test_what_is_no_bundle_is_not_replaced(kit: Any, program: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("work", encoding="utf-8")
    with pytest.raises(BundleError, match="something that is no bundle is here"):
        build(program, kit.bundle(program), load_target("cpu"), tmp_path / "mine", cache=kit.cache)
    assert (tmp_path / "mine" / "work.txt").exists()


def test_a_failed_build_leaves_nothing(kit: Any, program: Any, tmp_path: Path) -> None:
    broken = tuple(evolve(b, files=tuple(evolve(f, text="int (") for f in b.files)) for b in kit.bundle(program))
    with pytest.raises(BuildError):
        build(program, broken, load_target("cpu"), tmp_path / "bundle", cache=kit.cache)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DiskError, match="cannot be written"):
        build(program, kit.bundle(program), load_target("cpu"), tmp_path / "file" / "bundle", cache=kit.cache)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_other_targets_are_not_built_here(kit: Any, program: Any, tmp_path: Path) -> None:
    target = evolve(load_target("cpu"), name="ascend-a2", kind=TargetKind.ASCEND)
    with pytest.raises(BuildError, match="not for ascend-a2"):
        build(program, kit.bundle(program), target, tmp_path / "b", cache=kit.cache)


def test_without_a_compiler_building_is_exit_code_3(
    kit: Any, program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolMissingError) as caught:
        build(program, kit.bundle(program), load_target("cpu"), tmp_path / "b", cache=ArtefactCache(tmp_path / "c"))
    assert caught.value.exit_code == 3
    assert not (tmp_path / "b").exists()


class Adds:
    tier = "interpreter"

    def __call__(self, values: Any, symbols: dict[str, int]) -> list[Any]:
        return [values[0] + np.arange(COUNT, dtype=np.float32)]


def test_without_a_compiler_the_interpreter_runs_after_one_line(
    kit: Any, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any, **__: Any) -> Any:
        raise ToolMissingError("no C++ compiler: neither g++ nor clang++ was found")

    monkeypatch.setattr(open_file, "load_extension", missing)
    with pytest.raises(ToolMissingError):
        opened(kit, bundle)
    with pytest.warns(RuntimeWarning, match="test runs on the interpreter") as caught:
        fn = opened(kit, bundle, interpreter=lambda program, hosts: Adds())
    assert "\n" not in str(caught[0].message)
    np.testing.assert_array_equal(fn(A), 1 + np.arange(COUNT))
    assert fn.stats.calls_by_tier == (("interpreter", 1),)


RUNS = f"""
import sys; from pathlib import Path
import numpy as np
from autofuse_runtime.cache import ArtefactCache; from autofuse_runtime.open import open_bundle
fn = open_bundle(sys.argv[1], cache=ArtefactCache(Path(sys.argv[2])))
np.testing.assert_array_equal(fn(np.ones({COUNT}, np.float32)), 1 + np.arange({COUNT}))
print(dict(fn.stats.calls_by_tier))
"""


def without_a_compiler(bundle: Path, cache: Path) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "CXX"} | {"PATH": "/nowhere"}
    command = [sys.executable, "-c", RUNS, str(bundle), str(cache)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_bundle_runs_its_kernels_on_a_machine_that_never_had_a_compiler(bundle: Path, tmp_path: Path) -> None:
    done = without_a_compiler(bundle, tmp_path / "cache")
    assert (done.returncode, done.stdout) == (0, "{'native': 1}\n"), done.stderr


def test_an_extension_that_the_manifest_does_not_list_is_not_loaded(bundle: Path, tmp_path: Path) -> None:
    files = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["files"]
    changed(bundle, files={name: digest for name, digest in files.items() if name != carried_name()})
    assert "ToolMissingError" in without_a_compiler(bundle, tmp_path / "cache").stderr


def test_an_extension_that_does_not_load_here_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    (tmp_path / "other.so").write_bytes(b"of another machine")
    with pytest.raises(ToolMissingError):
        extension_file(ArtefactCache(tmp_path / "cache"), carried=tmp_path / "other.so")
    assert not list((tmp_path / "cache").rglob("*.so"))


def test_a_bundle_opens_without_sympy_jinja_or_other_stages(bundle: Path, cache_directory: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from autofuse_runtime.open import open_bundle; from autofuse_runtime.cache import ArtefactCache\n"
        "import numpy as np\n"
        f"fn = open_bundle(sys.argv[1], cache=ArtefactCache(Path(sys.argv[2])))\n"
        f"assert fn(np.ones({COUNT}, np.float32))[3] == 4\n"
        "others = {'sympy', 'jinja2', 'autofuse_symshape', 'autofuse_fusion', 'autofuse_reference'}\n"
        "assert not others & set(sys.modules), others & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(bundle), str(cache_directory)], check=True)


def test_toolchains_differ_in_the_cache_key(kit: Any, program: Any, tmp_path: Path) -> None:
    clang = shutil.which("clang++")
    if clang is None:
        pytest.skip("clang++ is not installed here")
    other = find_toolchain(clang)
    assert other.is_clang
    path = build(program, kit.bundle(program), load_target("cpu"), tmp_path / "b", cache=kit.cache, toolchain=other)
    assert "clang" in read_manifest(path).compiler
    np.testing.assert_array_equal(opened(kit, path)(A), 1 + np.arange(COUNT))
