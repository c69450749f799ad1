"""Compiling kernels: what is found, what is counted, what is reused, what is refused."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from autofuse_ir.kernels import FileRole, SourceFile
from autofuse_ir.program import KernelCall
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.cache_survey import entries, miss_of
from autofuse_runtime.compile_kernels import CHARACTERS_PER_UNIT, compile_library, kernel_sources, library_recipes
from autofuse_runtime.errors import BuildError, DiskError, ToolMissingError
from autofuse_runtime.extension import load_extension, sources
from autofuse_runtime.isa import MachineIsa, isa_named, missing_features, this_machine
from autofuse_runtime.load import load_program
from autofuse_runtime.toolchain import KERNEL_FLAGS, Toolchain, find_toolchain, in_parallel

KERNEL = """#include "af_abi.h"
static int helper() {{ return {value}; }}
extern "C" int tiling_{name}(const af_i64*, af_i64, void*) {{ return helper() - {value}; }}
extern "C" void launch_{name}(const AfHost*, const af_i64* s, const AfBuffer*, const AfBuffer* out, const void*, void*,
                              AfStatus*) {{
  for (af_i64 i = 0; i < s[0]; ++i) static_cast<float*>(out[0].data)[i] = {value};
}}
"""


def fills(kit: Any, count: int) -> tuple[Any, Any]:
    """A program with ``count`` kernels, k-th writes k; each in a source file of its own."""
    buffers = [kit.buffer("a", "input"), *[kit.buffer(f"c{k}", "output") for k in range(count)]]
    kernels = [kit.kernel(f"fill{k}", ["n"], ["n"]) for k in range(count)]
    steps = [KernelCall(f"fill{k}", ("a",), (f"c{k}",)) for k in range(count)]
    program = kit.program(buffers, steps, [f"c{k}" for k in range(count)], [kit.fact("n", ("a", 0))], kernels)
    bundles = tuple(
        evolve(
            bundle,
            files=(SourceFile(f"fill{k}.cpp", FileRole.KERNEL, KERNEL.format(name=f"fill{k}", value=k), ""),),
        )
        for k, bundle in enumerate(kit.bundle(program))
    )
    return program, bundles


def test_no_compiler_is_said_with_exit_code_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ToolMissingError, match="neither g\\+\\+ nor clang\\+\\+ was found") as caught:
        find_toolchain()
    assert caught.value.exit_code == 3
    assert "apt-get install g++" in str(caught.value)


def test_the_compiler_asked_for_is_taken_or_missed(toolchain: Toolchain) -> None:
    assert find_toolchain(toolchain.driver).driver == toolchain.driver
    with pytest.raises(ToolMissingError, match="no-such-compiler does not run"):
        find_toolchain("no-such-compiler")


def test_the_environment_may_name_the_compiler(monkeypatch: pytest.MonkeyPatch, toolchain: Toolchain) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolMissingError, match="no-such-compiler does not run"):
        find_toolchain()
    assert find_toolchain(toolchain.driver).driver == toolchain.driver
    monkeypatch.setenv("CXX", toolchain.driver)
    assert find_toolchain().driver == toolchain.driver


def test_flags_keep_ieee_results() -> None:
    banned = {"-ffast-math", "-Ofast", "-fno-signed-zeros", "-funsafe-math-optimizations", "-ffinite-math-only"}
    assert not banned & set(KERNEL_FLAGS)
    assert "-ffp-contract=off" in KERNEL_FLAGS


def test_kernels_whose_names_collide_in_one_unit_still_build(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 3)  # each defines helper(): one unit of all three does not compile
    built = compile_library(program, bundles, ArtefactCache(tmp_path), kit.toolchain)
    fn = load_program(program, built.path, kit.extension).function
    assert [result.tolist() for result in fn(np.zeros(2, np.float32))] == [[0, 0], [1, 1], [2, 2]]


def test_a_second_build_starts_no_compiler(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 1)
    first = find_toolchain()
    built = compile_library(program, bundles, ArtefactCache(tmp_path), first)
    assert first.processes_started > 0
    second, cache = find_toolchain(), ArtefactCache(tmp_path)
    assert compile_library(program, bundles, cache, second).path == built.path
    assert second.processes_started == 0
    assert cache.hits == 1


def test_one_changed_kernel_of_many_compiles_its_unit_only(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 9)
    bundles = tuple(
        evolve(b, files=(evolve(b.files[0], text=b.files[0].text.replace("helper", f"helper{k}")),))
        for k, b in enumerate(bundles)
    )
    cache = ArtefactCache(tmp_path)
    compile_library(program, bundles, cache, find_toolchain())
    changed = evolve(bundles[8].files[0], text=bundles[8].files[0].text.replace("] = 8", "] = 9"))
    toolchain = find_toolchain()
    compile_library(program, (*bundles[:8], evolve(bundles[8], files=(changed,))), cache, toolchain)
    assert toolchain.processes_started == 2  # one unit, one link


def test_a_long_kernel_is_a_unit_of_its_own(kit: Any) -> None:
    program, bundles = fills(kit, 5)
    assert [recipe.kind for recipe in library_recipes(program, bundles, find_toolchain())] == ["library", "object"]
    (source,) = bundles[2].files
    long = evolve(source, text=f"// {'-' * CHARACTERS_PER_UNIT}\n{source.text}")
    bundles = (*bundles[:2], evolve(bundles[2], files=(long,)), *bundles[3:])
    files = [dict(recipe.parts).get("files") for recipe in library_recipes(program, bundles, find_toolchain())[1:]]
    assert files == ["fill0.cpp fill1.cpp", "fill2.cpp", "fill3.cpp fill4.cpp", "library.cpp"]


def test_what_the_compiler_refuses_is_a_build_error(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 1)
    broken = evolve(bundles[0], files=(evolve(bundles[0].files[0], text="int f( {"),))
    with pytest.raises(BuildError, match=r"compiling fill0.cpp failed: .*error") as caught:
        compile_library(program, (broken,), ArtefactCache(tmp_path), kit.toolchain)
    assert caught.value.exit_code == 4
    assert not list(tmp_path.rglob("*.so"))


def test_sources_stay_in_their_folder(kit: Any) -> None:
    program, bundles = fills(kit, 1)
    outside = evolve(bundles[0], files=(evolve(bundles[0].files[0], path="../../outside.cpp"),))
    with pytest.raises(BuildError, match="outside its folder"):
        kernel_sources(program, (outside,))


def test_a_full_disk_during_a_compile_is_a_disk_error(tmp_path: Path) -> None:
    script = tmp_path / "compiler"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "gcc test" && exit 0\n'
        'echo "fatal: No space left on device" >&2\nexit 1\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    with pytest.raises(DiskError, match="the disk is full"):
        find_toolchain(str(script)).compile_cpp(tmp_path / "a.cpp", tmp_path / "a.o", ())


def test_the_library_does_not_name_the_place_it_was_built_in(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 1)
    built = compile_library(program, bundles, ArtefactCache(tmp_path / "one"), kit.toolchain)
    other = compile_library(program, bundles, ArtefactCache(tmp_path / "two"), kit.toolchain)
    assert built.path.read_bytes() == other.path.read_bytes()
    assert str(tmp_path).encode() not in built.path.read_bytes()


def _build(root: str, program: Any, bundles: Any) -> None:
    compile_library(program, bundles, ArtefactCache(Path(root)), find_toolchain())


def test_builders_in_several_processes_share_one_cache(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 2)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_build, args=(str(tmp_path), program, bundles)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(list((tmp_path / "library").glob("*/*"))) == 1
    cache = ArtefactCache(tmp_path)
    compile_library(program, bundles, cache, kit.toolchain)
    assert (cache.hits, cache.misses) == (1, 0)


def test_recipes_are_those_that_compiling_asks_for(kit: Any, tmp_path: Path) -> None:
    program, bundles = fills(kit, 10)  # two groups, so two units
    recipes = library_recipes(program, bundles, kit.toolchain)
    assert all(miss_of(tmp_path, recipe) is not None for recipe in recipes)
    compile_library(program, bundles, ArtefactCache(tmp_path), kit.toolchain)
    assert [miss_of(tmp_path, recipe) for recipe in recipes] == [None] * len(recipes)
    assert {entry.name for entry in entries(tmp_path)} == {f"{recipe.kind}/{recipe.key}" for recipe in recipes}


@pytest.mark.skipif("AUTOFUSE_TEST_SANITIZE" in os.environ, reason="what is cached then is the instrumented extension")
def test_a_cached_extension_needs_no_compiler(kit: Any, cache_directory: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from autofuse_runtime.cache import ArtefactCache\n"
        "from autofuse_runtime.extension import load_extension\n"
        "print(load_extension(ArtefactCache(Path(sys.argv[1]))).ABI_VERSION)"
    )
    environment = {**os.environ, "PATH": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache_directory)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr


def test_the_extension_compiles_without_a_warning(tmp_path: Path, toolchain: Toolchain) -> None:
    for name, text in sources().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    include = sysconfig.get_path("include")
    flags = ("-std=c11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{include}")

    def compile_unit(path: Path) -> None:
        toolchain.compile_c(path, path.with_suffix(".o"), flags)

    in_parallel(compile_unit, sorted(tmp_path.glob("*.c")), toolchain)


def test_instruction_sets_are_compared_by_feature() -> None:
    machine = this_machine()
    assert missing_features(machine, machine) == ()
    assert missing_features(MachineIsa("pdp11", "pdp11", ()), machine) == ("pdp11",)
    assert missing_features(evolve(machine, features=(*machine.features, "avx9000")), machine) == ("avx9000",)
    if machine.architecture == "x86_64":
        assert missing_features(isa_named("x86-64-v2"), machine) == ()


def test_loading_the_extension_twice_gives_one_module(kit: Any, tmp_path: Path) -> None:
    assert load_extension(ArtefactCache(tmp_path)) is kit.extension
