"""The environment: who wins, and what a wrong value does."""

import warnings
from pathlib import Path

import pytest
from autofuse.errors import DriverError
from autofuse.flags import DEBUG_KEYS, FUNCTION_KEYS, read_flags
from autofuse.options import settings


def test_threads_are_autofuses_own_or_those_of_openmp() -> None:
    assert settings({}).threads is None
    assert settings({"OMP_NUM_THREADS": "3"}).threads == 3
    assert settings({"OMP_NUM_THREADS": "4,2"}).threads == 4
    assert settings({"OMP_NUM_THREADS": "3", "AUTOFUSE_NUM_THREADS": "2"}).threads == 2


def test_a_wrong_number_of_threads_is_an_error_where_it_is_autofuses_own() -> None:
    assert settings({"OMP_NUM_THREADS": "many"}).threads is None
    for text in ("many", "0", "-1", "1.5"):
        with pytest.raises(DriverError, match="AUTOFUSE_NUM_THREADS"):
            settings({"AUTOFUSE_NUM_THREADS": text})


def test_the_cache_is_where_it_is_said_or_the_users() -> None:
    assert settings({"AUTOFUSE_CACHE": "/a/b"}).cache == Path("/a/b")
    assert settings({"XDG_CACHE_HOME": "/x"}).cache == Path("/x/autofuse")
    assert settings({}).cache == Path.home() / ".cache" / "autofuse"


def test_the_default_target_is_the_cpu() -> None:
    assert settings({}).target == "cpu"
    assert settings({"AUTOFUSE_TARGET": "ascend-a2"}).target == "ascend-a2"


def test_fusion_is_on_without_flags() -> None:
    flags = read_flags("", "")
    assert flags.fusion.enable
    assert flags.fusion.skip_types == ()
    assert flags.dump is None


def test_each_flag_sets_its_option() -> None:
    fusion = read_flags("--enable_autofuse=true;--recomputation_threshold=9; max_fusion_size=7", "").fusion
    assert (fusion.enable, fusion.recomputation_threshold, fusion.max_operators) == (True, 9, 7)
    assert not read_flags("--enable_autofuse=false", "").fusion.enable
    assert not read_flags("--max_fusion_size=0", "").fusion.enable
    assert read_flags("--autofuse_enhance_precision_blacklist=all", "").fusion.numerics == "strict"
    off = read_flags("--autofuse_disable_pass=reduce,concat;--autofuse_enable_pass=concat", "").fusion.skip_types
    assert "ReduceSum" in off
    assert not any(name.startswith("Concat") for name in off)
    assert read_flags("", "--codegen_compile_debug=true;--debug_dir=/d").dump == Path("/d/autofuse_compile_debug")
    assert read_flags("", "--debug_dir=/d").dump is None


@pytest.mark.parametrize("known", [FUNCTION_KEYS, DEBUG_KEYS])
def test_an_unknown_key_is_a_warning_that_lists_the_known_ones(known: tuple[str, ...]) -> None:
    texts = ("--frobnicate=1", "") if known is FUNCTION_KEYS else ("", "--frobnicate=1")
    with pytest.warns(RuntimeWarning, match="frobnicate") as caught:
        read_flags(*texts)
    assert all(key in str(caught[0].message) for key in known)


def test_every_known_key_is_read_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_flags(";".join(f"--{key}=" for key in FUNCTION_KEYS if "threshold" not in key and "size" not in key), "")
        read_flags("", ";".join(f"--{key}=" for key in DEBUG_KEYS))


@pytest.mark.parametrize("item", ["enable_autofuse=maybe", "max_fusion_size=-1", "autofuse_disable_pass=frob"])
def test_a_value_that_cannot_be_read_is_a_warning(item: str) -> None:
    with pytest.warns(RuntimeWarning, match=item.partition("=")[2].strip("-")):
        assert read_flags(f"--{item}", "").fusion.enable
