import re
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest

HERE = Path(__file__).parent
SOURCES = ("queues", "memory", "sync")
ENTRY = re.compile(r"^KERNEL\((\w+)\)", re.MULTILINE)

# Kernel -> rule and operand. Every kernel that ends in _bad has an entry here.
EXPECTED = {
    "capacity_bad": ("ub_capacity", "len"),
    "capacity_queues_bad": ("ub_capacity", "len"),
    "reserved_bad": ("ub_capacity", ""),
    "buffers_bad": ("buffer", "num"),
    "all_buffers_bad": ("buffer", "buffers"),
    "depth_bad": ("queue_depth", "tensor"),
    "alloc_bad": ("queue_depth", ""),
    "dequeue_empty_bad": ("queue_order", ""),
    "free_twice_bad": ("queue_order", "tensor"),
    "free_queued_bad": ("queue_order", "tensor"),
    "wrong_queue_bad": ("queue_order", "tensor"),
    "use_after_free_bad": ("queue_order", "dst"),
    "use_while_queued_bad": ("queue_order", "src0"),
    "leak_bad": ("queue_leak", "tensor"),
    "leak_queued_bad": ("queue_leak", "tensor"),
    "no_buffers_bad": ("usage", ""),
    "two_pipes_bad": ("usage", ""),
    "no_memory_bad": ("usage", "dst"),
    "ub_bounds_bad": ("ub_bounds", "dst"),
    "ub_bounds_stride_bad": ("ub_bounds", "dst"),
    "ub_end_bad": ("ub_capacity", "tileSize"),
    "ub_scalar_bad": ("ub_bounds", "this"),
    "ub_offset_bad": ("ub_bounds", "this"),
    "gm_bounds_bad": ("gm_bounds", "src"),
    "gm_argument_bad": ("gm_bounds", "src"),
    "gm_unsized_bad": ("gm_bounds", "src"),
    "gm_store_bad": ("gm_bounds", "dst"),
    "gm_scalar_bad": ("gm_bounds", "this"),
    "align_bad": ("alignment", "dst"),
    "align_count_bad": ("alignment", "count"),
    "align_address_bad": ("alignment", "addr"),
    "align_compare_bad": ("alignment", "count"),
    "overlap_partial_bad": ("overlap", "src"),
    "overlap_later_repeat_bad": ("overlap", "src"),
    "overlap_accumulate_div_bad": ("overlap", "src1"),
    "overlap_widening_bad": ("overlap", "src"),
    "mask_bad": ("limit", "mask"),
    "mask_bits_bad": ("limit", "mask[1]"),
    "repeat_bad": ("limit", "repeatTime"),
    "dst_stride_bad": ("limit", "dst"),
    "block_count_bad": ("limit", "blockCount"),
    "block_len_bad": ("limit", "blockLen"),
    "block_len_odd_bad": ("limit", "blockLen"),
    "padding_bad": ("limit", "rightPadding"),
    "rounding_bad": ("limit", "roundMode"),
    "compare_int_bad": ("limit", "cmpMode"),
    "event_id_bad": ("limit", "eventID"),
    "gather_bad": ("ub_bounds", "srcOffset"),
    "uninitialised_bad": ("uninitialised_read", "src"),
    "uninitialised_tail_bad": ("uninitialised_read", "src"),
    "uninitialised_alloc_bad": ("uninitialised_read", "src"),
    "uninitialised_store_bad": ("uninitialised_read", "src"),
    "assertion_bad": ("assertion", ""),
    "v_after_mte2_bad": ("missing_sync", "src"),
    "wrong_event_bad": ("missing_sync", "src"),
    "flag_before_copy_bad": ("missing_sync", "src"),
    "v_after_v_bad": ("missing_sync", "src"),
    "mte3_after_v_bad": ("missing_sync", "src"),
    "v_overwrites_mte3_bad": ("missing_sync", "dst"),
    "mte2_overwrites_v_bad": ("missing_sync", "dst"),
    "mte2_twice_bad": ("missing_sync", "dst"),
    "scalar_read_bad": ("missing_sync", "this"),
    "scalar_write_bad": ("missing_sync", "src"),
    "barrier_v_is_not_enough_bad": ("missing_sync", "src"),
    "gm_round_trip_bad": ("missing_sync", "src"),
    "set_twice_bad": ("unpaired_flag", "eventID"),
    "wait_unset_bad": ("unpaired_flag", "eventID"),
    "open_flag_bad": ("unpaired_flag", "eventID"),
    "queue_id_bad": ("unpaired_flag", "eventID"),
    "blocks_overlap_bad": ("block_conflict", "args[1]"),
    "atomic_type_bad": ("dtype", "src"),
    "atomic_after_plain_bad": ("missing_sync", "dst"),
    "blocks_mixed_bad": ("block_conflict", "args[1]"),
    "blocks_no_sync_bad": ("block_conflict", "args[1]"),
    "sync_all_missing_bad": ("sync_all", ""),
    "soft_sync_workspace_bad": ("gm_bounds", "gmWorkspace"),
    "sync_all_without_workspace_bad": ("sync_all", "workspace"),
    "sync_all_vector_only_bad": ("sync_all", ""),
    "capacity_rounding_bad": ("ub_capacity", "len"),
    "capacity_queue_rounding_bad": ("ub_capacity", "len"),
    "arange_negative_bad": ("ub_bounds", "dst"),
    "pool_inner_bad": ("ub_capacity", "len"),
    "pool_outer_bad": ("ub_capacity", "len"),
    "pool_shared_bad": ("ub_capacity", "len"),
    "count_negative_bad": ("ub_bounds", "dst"),
    "count_overflow_bad": ("ub_bounds", "dst"),
    "dump_unset_bad": ("usage", "tensor"),
    "dump_local_bad": ("ub_bounds", "tensor"),
    "dump_global_bad": ("gm_bounds", "tensor"),
    "load_stride_bad": ("limit", "srcStride"),
    "load_local_stride_bad": ("limit", "dstStride"),
    "load_huge_stride_bad": ("limit", "srcStride"),
    "store_stride_bad": ("limit", "dstStride"),
    "dimension_size_bad": ("limit", "loopSize"),
}
# 350 reserves no UB, compares any number of elements, and integers in every mode; and has copies of its own.
ONLY_ON_A2 = {"reserved_bad", "align_compare_bad", "compare_int_bad"}
ONLY_ON_350 = {
    "load_stride_bad",
    "load_local_stride_bad",
    "load_huge_stride_bad",
    "store_stride_bad",
    "dimension_size_bad",
}
NOT_ON = {"ascend-a2": ONLY_ON_350, "ascend-350": ONLY_ON_A2}
SOCS = tuple(NOT_ON)


def launch(library, entry, **options):
    blocks = 2 if entry.startswith(("blocks_", "sync_all_", "soft_sync_")) else 1
    x, y = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    workspace = 32 if entry.endswith("_with_workspace_ok") else None
    return sim.run(library, entry, [x, y], None, blocks, workspace, **options)


def kernels_of(source):
    """Name -> line of the marked statement (0 where there is none)."""
    text = source.read_text()
    found = {}
    starts = [(m.group(1), m.start()) for m in ENTRY.finditer(text)]
    for (name, start), end in zip(starts, [s for _, s in starts[1:]] + [len(text)], strict=True):
        marked = text[start:end].find("// BAD")
        found[name] = 0 if marked < 0 else text[: start + marked].count("\n") + 1
    return found


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", SOURCES)
def test_every_violation_is_caught_at_its_line_with_its_operand(library_of, name, soc):
    source, library = HERE / f"{name}.cpp", library_of(name, soc)
    wrong = []
    for entry, line in kernels_of(source).items():
        if not entry.endswith("_bad") or entry in NOT_ON[soc]:
            continue
        rule, operand = EXPECTED[entry]
        try:
            launch(library, entry)
            wrong.append(f"{entry}: not caught")
        except sim.RuleError as error:
            got = (error.rule, error.operand, Path(error.place.file).name, error.place.line)
            if got != (rule, operand, source.name, line):
                wrong.append(f"{entry}: expected {(rule, operand, source.name, line)}, got {got}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("soc", SOCS)
@pytest.mark.parametrize("name", SOURCES)
def test_what_comes_close_to_a_violation_is_accepted(library_of, name, soc):
    source, library = HERE / f"{name}.cpp", library_of(name, soc)
    wrong = []
    for entry in kernels_of(source):
        if entry.endswith("_bad") or (soc == "ascend-a2" and entry == "load_repeats_block_ok"):
            continue
        try:
            launch(library, entry)
        except sim.RuleError as error:
            wrong.append(f"{entry}: {error}")
    assert not wrong, "\n".join(wrong)


def test_every_bad_kernel_is_expected_and_every_rule_has_one():
    entries = {name for path in HERE.glob("*.cpp") for name in kernels_of(path)}
    assert {e for e in entries if e.endswith("_bad")} == set(EXPECTED)
    covered = {rule for rule, _ in EXPECTED.values()}
    # block_dim is found before any block runs: test_launch.py
    assert covered | {"block_dim"} == set(sim.RULE_ERRORS)


def test_an_error_names_kernel_line_api_operand_bytes_and_limit(library_of):
    source, library = HERE / "memory.cpp", library_of("memory")
    with pytest.raises(sim.RuleError) as caught:
        launch(library, "ub_bounds_bad")
    error = caught.value
    assert (error.place.api, error.operand, error.bytes, error.limit, error.block) == ("Duplicate", "dst", 420, 416, 0)
    assert f"memory.cpp:{kernels_of(source)['ub_bounds_bad']}" in str(error)


def test_a_missing_sync_names_the_other_call(library_of):
    source, library = HERE / "sync.cpp", library_of("sync")
    with pytest.raises(sim.RuleError) as caught:
        launch(library, "v_after_mte2_bad")
    line = kernels_of(source)["v_after_mte2_bad"]
    assert (caught.value.other.api, caught.value.other.line) == ("DataCopy", line - 1)


def test_a_missing_sync_in_gm_names_the_argument_and_its_byte(library_of):
    with pytest.raises(sim.RuleError, match=r"at args\[1\] byte 0 \(256 bytes\)"):
        launch(library_of("sync"), "gm_round_trip_bad")


def test_static_checks_leave_out_what_needs_clocks(library_of):
    library = library_of("sync")
    launch(library, "v_after_mte2_bad", checks="static")
    launch(library, "blocks_overlap_bad", checks="static")
    with pytest.raises(sim.RuleError):
        launch(library, "set_twice_bad", checks="static")
