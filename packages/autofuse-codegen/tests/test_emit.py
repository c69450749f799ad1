"""The CPU emitter on stored schedules: golden sources, laws of the text, and that it compiles without warnings."""

import subprocess
from pathlib import Path

import pytest
from attrs import evolve
from autofuse_codegen.stage import emit
from autofuse_ir.artefact import read
from autofuse_ir.target import load_target

CASES = Path(__file__).parent / "cases"
NAMES = ("bias_gelu", "columns", "joined", "mixed", "softmax", "spilled")


def bundle_of(name: str, change=lambda schedule: schedule):
    schedule, tiling, facts = (read(CASES / name / f"{part}.json") for part in ("schedule", "tiling", "facts"))
    return emit(change(schedule), tiling, facts, load_target("cpu"))


def text_of(bundle, suffix: str) -> str:
    return next(f.text for f in bundle.files if f.path.endswith(suffix))


@pytest.mark.parametrize("name", NAMES)
def test_sources_are_what_was_reviewed(name, golden):
    bundle = bundle_of(name)
    own = [f for f in bundle.files if f.path.startswith(name)]
    golden("\n".join(f"==== {f.path}\n{f.text}" for f in own), f"{name}.txt")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_schedule_gives_the_same_bytes(name):
    assert bundle_of(name) == bundle_of(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_sources_compile_without_a_warning_or_a_system_header(name, compiler, tmp_path):
    try:
        subprocess.run([compiler, "--version"], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip(f"{compiler} is not installed")
    bundle = bundle_of(name)
    for path, text in [(f.path, f.text) for f in bundle.files] + [(f.name, f.text) for f in bundle.support_files]:
        (tmp_path / path).write_text(text)
    for file in bundle.files:
        if file.path.endswith(".cpp"):
            command = [
                compiler,
                *bundle.flags,
                "-march=native",
                "-nostdinc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-c",
                file.path,
            ]
            run = subprocess.run([*command, "-o", "out.o"], cwd=tmp_path, capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stderr[:3000]


def test_the_emitter_follows_the_loops_it_is_given():
    def swap_loops(schedule):
        (alternative,) = schedule.alternatives
        (group,) = alternative.groups

        def swapped(impl):
            (phase,) = impl.phases
            segments = tuple(evolve(s, axes=s.axes[::-1]) for s in phase.segments)
            return evolve(impl, phases=(evolve(phase, segments=segments),))

        group = evolve(group, implementations=tuple(map(swapped, group.implementations)))
        return evolve(schedule, alternatives=(evolve(alternative, groups=(group,)),))

    plain, permuted = (text_of(bundle_of("bias_gelu", c), "bias_gelu.cpp") for c in (lambda s: s, swap_loops))
    assert "for (af_i64 z0t" in plain
    assert "for (af_i64 z1" in permuted
    assert "for (af_i64 z0t" not in permuted.split("bias_gelu_z1")[0]


def test_an_output_may_share_memory_with_an_input_read_the_same_way():
    assert bundle_of("bias_gelu").safe_aliases == ((0, 0),)


def change_implementations(change):
    def changed(schedule):
        (alternative,) = schedule.alternatives
        (group,) = alternative.groups
        group = evolve(group, implementations=tuple(map(change, group.implementations)))
        return evolve(schedule, alternatives=(evolve(alternative, groups=(group,)),))

    return changed


def test_an_input_that_an_earlier_segment_of_the_tile_reads_may_be_overwritten():
    assert bundle_of("spilled").safe_aliases == ((0, 0),)


def test_an_input_that_a_later_segment_reads_again_may_not_be_overwritten():
    def read_again(impl):
        load = next(node for node in impl.nodes if node.name == "l0")
        clone = evolve(load, name="l0.1")
        phase = impl.phases[0]
        last = evolve(phase.segments[-1], nodes=("l0.1",))
        phase = evolve(phase, segments=(*phase.segments, last))
        return evolve(impl, nodes=(*impl.nodes, clone), phases=(phase,))

    assert bundle_of("spilled", change_implementations(read_again)).safe_aliases == ()


def test_integer_division_reports_through_the_status_word():
    text = text_of(bundle_of("mixed"), "mixed.cpp")
    assert "af_int_div_floor(l1, l2, &raised, strip.live())" in text
    assert "__atomic_fetch_or(&launch->status->bits, raised, __ATOMIC_RELAXED)" in text


def test_tile_sizes_reach_the_kernel_through_tiling_data_alone():
    bundle = bundle_of("bias_gelu")
    data = text_of(bundle, "_tiling_data.h")
    assert bundle.tiling_bytes == 8 * data.count("af_i64 ")
    assert "af_solve(af_models_bias_gelu, 2, values, &outcome)" in text_of(bundle, "_tiling_func.cpp")
