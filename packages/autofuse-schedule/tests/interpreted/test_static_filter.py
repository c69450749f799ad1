"""What can never fit local memory is dropped before code is written, with its bytes; what may fit is kept."""

import pytest
from attrs import evolve
from autofuse_ir.dims_eval import evaluate, free_symbols
from autofuse_ir.schedule import local_bytes, resident_bytes
from autofuse_ir.target import load_target
from autofuse_schedule.errors import ScheduleError
from autofuse_schedule.fits import never_fits
from autofuse_schedule.force import template_names

USABLE = {"ascend-a2": 184 * 1024, "ascend-350": 248 * 1024}
"""Bytes of UB less what the chip's operators take for themselves."""


def narrowed(case, **ranges):
    """The case with other ranges of its sizes: (least, most)."""
    symbols = tuple(
        evolve(s, lo=ranges[s.name][0], hi=ranges[s.name][1]) if s.name in ranges else s for s in case.facts.symbols
    )
    return evolve(case, facts=evolve(case.facts, symbols=symbols))


def implementations(result):
    return result.alternatives[0].groups[0].implementations


def tile_names(dim):
    return [name for name in free_symbols(dim) if name.endswith("_size")]


def least_bytes(impl, sizes):
    tiles = {variable.name: variable.lo for variable in impl.tile_variables}
    return evaluate(local_bytes(impl.buffers) + resident_bytes(impl), {**sizes, **tiles})


@pytest.mark.parametrize(
    ("name", "template", "row_bytes"),
    [
        # a row of 300,000 float32 (1,200,000 bytes, a multiple of 256 is 1,200,128)
        ("softmax", "all-load", 1_200_128),
        ("layer_norm", "all-load-held", 1_200_128),
        ("bias", "held", 1_200_128),
    ],
)
def test_rows_that_are_always_too_long_drop_the_template_with_its_bytes(kernel_case, name, template, row_bytes):
    target = load_target("ascend-a2")
    case = narrowed(kernel_case, m=(300_000, 400_000))
    result = case.scheduled("ascend-a2")
    assert template not in template_names(result)
    found = [d for d in result.dropped if d.template == template and d.bytes_needed is not None]
    assert found
    for dropped in found:
        assert dropped.bytes_available == target.tile_bytes == USABLE["ascend-a2"]
        (number,) = (int(word) for word in dropped.reason.split() if word.isdigit() and int(word) > USABLE["ascend-a2"])
        assert number >= row_bytes
        assert f"needs {number} bytes of local memory, {USABLE['ascend-a2']} are usable" in dropped.reason


@pytest.mark.parametrize("name", ["running_both_ways"])
def test_a_row_that_fits_no_template_is_refused_with_number_and_limit(kernel_case, name):
    case = narrowed(kernel_case, m=(100_000, 200_000))
    with pytest.raises(ScheduleError, match=r"needs \d{7} bytes of local memory, 188416 are usable"):
        case.scheduled("ascend-a2")


@pytest.mark.parametrize(("target", "usable"), list(USABLE.items()))
@pytest.mark.parametrize("name", ["softmax", "layer_norm", "bias", "column_softmax", "group_norm", "full_sum"])
def test_what_is_kept_fits_and_in_a_byte_less_would_not(kernel_case, name, target, usable):
    spec = load_target(target)
    assert spec.tile_bytes == usable
    ranges = {symbol.name: (symbol.lo, symbol.hi) for symbol in kernel_case.facts.symbols}
    least = {name: lo for name, (lo, _) in ranges.items()}
    for impl in implementations(kernel_case.scheduled(target)):
        need = least_bytes(impl, least)
        assert need <= usable, impl.name
        tight = evolve(spec, local_memory=evolve(spec.local_memory, bytes=need - 1, reserved=0))
        dropped = never_fits(impl, tight, ranges)
        assert dropped is not None
        assert dropped.reason == f"the smallest tile needs {need} bytes of local memory, {need - 1} are usable"


@pytest.mark.parametrize("target", list(USABLE))
@pytest.mark.parametrize("name", ["softmax", "layer_norm", "bias", "column_softmax", "batch_norm", "group_norm"])
@pytest.mark.parametrize("columns", [5_000, 20_000, 50_000, 300_000])
def test_what_is_dropped_fits_nowhere_in_the_ranges(kernel_case, name, target, columns):
    case = narrowed(kernel_case, m=(columns, 2 * columns), n=(1, 4 * columns))
    result = case.scheduled(target)
    for dropped in result.dropped:
        if dropped.bytes_needed is None:
            continue
        for m in (columns, columns + 1, 2 * columns):
            for n in (1, 7, 4 * columns):
                sizes = {"n": n, "m": m, "k": 0} | dict.fromkeys(tile_names(dropped.bytes_needed), 1)
                assert evaluate(dropped.bytes_needed, sizes) > dropped.bytes_available
