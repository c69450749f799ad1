"""``AUTOFUSE_FLAGS`` and ``AUTOFUSE_DFX_FLAGS``: the original's keys and syntax, mapped to options one to one.

Both hold ``--key=value`` items joined by ``;``, lists joined by ``,``. An unknown key is a warning that lists the known
ones; a value that cannot be read is a warning too, and the default stands.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen
from autofuse_fusion.options import FusionOptions
from autofuse_ir.operators import all_operators

FUNCTION_KEYS = (
    "enable_autofuse",
    "autofuse_enable_pass",
    "autofuse_disable_pass",
    "autofuse_enhance_precision_blacklist",
    "recomputation_threshold",
    "max_fusion_size",
    "autofuse_enable_pgo",
    "experimental_enable_jit_executor_v2",
)
DEBUG_KEYS = (
    "codegen_compile_debug",
    "debug_dir",
    "autofuse_att_algorithm",
    "att_accuracy_level",
    "att_enable_multicore_ub_tradeoff",
    "att_ub_threshold",
    "att_corenum_threshold",
    "att_profiling",
    "autofuse_pgo_algo",
    "autofuse_pgo_step_max",
)

PASSES = {
    "reduce": ("Reduce",),
    "concat": ("Concat", "Pack"),
    "split": ("Split", "Unpack"),
    "slice": ("Slice", "StridedSlice"),
    "gather": ("Gather",),
    "transpose": ("Transpose",),
}
"""The original's names of what can be switched on and off, and how the names of their operators begin."""

_LARGEST_THRESHOLD = 255
_DUMPS = "autofuse_compile_debug"


@frozen
class Flags:
    """What both variables ask for; ``dump`` is the folder that every stage's artefact is written to."""

    fusion: FusionOptions
    dump: Path | None


def read_flags(function: str, debug: str) -> Flags:
    """Return the options that the texts of ``AUTOFUSE_FLAGS`` and ``AUTOFUSE_DFX_FLAGS`` ask for."""
    asked = _items(function, "AUTOFUSE_FLAGS", FUNCTION_KEYS)
    debugging = _items(debug, "AUTOFUSE_DFX_FLAGS", DEBUG_KEYS)
    dump = None
    if _truth(debugging, "codegen_compile_debug", False):
        dump = Path(debugging.get("debug_dir") or ".") / _DUMPS
    return Flags(_fusion(asked), dump)


def _fusion(asked: Mapping[str, str]) -> FusionOptions:
    options = FusionOptions(enable=_truth(asked, "enable_autofuse", True), skip_types=_switched_off(asked))
    threshold = _number(asked, "recomputation_threshold")
    if threshold is not None and threshold <= _LARGEST_THRESHOLD:
        options = evolve(options, recomputation_threshold=threshold)
    largest = _number(asked, "max_fusion_size")
    if largest is not None:
        options = evolve(options, max_operators=largest) if largest else evolve(options, enable=False)
    if asked.get("autofuse_enhance_precision_blacklist", "").strip() == "all":
        options = evolve(options, numerics="strict")
    return options


def _switched_off(asked: Mapping[str, str]) -> tuple[str, ...]:
    """The operator types that do not fuse: all fuse by default, so that switching one on changes nothing."""
    on, off = (_names(asked, f"autofuse_{word}_pass") for word in ("enable", "disable"))
    for name in (*on, *off):
        if name not in PASSES:
            warnings.warn(
                f"AUTOFUSE_FLAGS: there is no pass {name!r}; known: {', '.join(sorted(PASSES))}",
                RuntimeWarning,
                stacklevel=2,
            )
    begins = tuple(start for name in off if name not in on for start in PASSES.get(name, ()))
    return tuple(operator.name for operator in all_operators() if operator.name.startswith(begins)) if begins else ()


def _items(text: str, variable: str, known: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in (piece.strip() for piece in text.split(";")):
        if not item:
            continue
        key, _, value = item.removeprefix("--").partition("=")
        if key.strip() in known:
            found[key.strip()] = value.strip()
        else:
            warnings.warn(
                f"{variable}: unknown key {key.strip()!r}; known keys: {', '.join(known)}", RuntimeWarning, stacklevel=2
            )
    return found


def _truth(asked: Mapping[str, str], key: str, default: bool) -> bool:
    match asked.get(key, "").lower():
        case "true" | "1":
            return True
        case "false" | "0":
            return False
        case "":
            return default
        case other:
            warnings.warn(f"{key}={other!r} is neither true nor false; {default} stands", RuntimeWarning, stacklevel=2)
            return default


def _number(asked: Mapping[str, str], key: str) -> int | None:
    text = asked.get(key)
    if text is None:
        return None
    if not text.isdecimal():
        warnings.warn(f"{key}={text!r} is not a whole number; the default stands", RuntimeWarning, stacklevel=2)
        return None
    return int(text)


def _names(asked: Mapping[str, str], key: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in asked.get(key, "").split(",") if name.strip())
