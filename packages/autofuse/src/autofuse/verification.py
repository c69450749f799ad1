"""``autofuse.verify``: fused against unfused, and both against float64, over sampled sizes.

Sizes at which the model itself has no result (a pooling window larger than its image) are skipped and counted: where
its operators fail one by one, the fused program has to do what the unfused one does. Both may have a result: a size
that is inferred for all bindings at once, such as that in place of -1 in a Reshape, has a value for empty tensors too.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from attrs import evolve, frozen
from autofuse_fusion.options import FusionOptions
from autofuse_ir.graph import Graph
from autofuse_ir.target import TargetSpec
from autofuse_reference.compare import Comparison, compare, within_allowance
from autofuse_reference.graph.interpret import GraphInterpreter

from autofuse import plugins
from autofuse.compiler import chosen_options, chosen_target, load_lowered, lower_graph
from autofuse.errors import DriverError
from autofuse.example_inputs import random_inputs
from autofuse.front_end import import_graph
from autofuse.pipeline import Lowered
from autofuse.sampled_sizes import sampled_sizes

Array = Any
Progress = Callable[[str], None]
Sizes = tuple[tuple[str, int], ...]


@frozen
class OutputCheck:
    """One output at one binding: errors of the fused and the unfused run against float64, and the verdict.

    ``is_exact`` is for integers and bools, ``same_bits`` says whether fused gave what unfused did to the last bit.
    """

    output: str
    sizes: Sizes
    fused: Comparison
    unfused: Comparison
    is_exact: bool
    same_bits: bool
    passed: bool


@frozen
class Verification:
    """All checks of a model; ``skipped`` sizes are those at which the whole model itself fails, with its message."""

    model: str
    checks: tuple[OutputCheck, ...]
    skipped: tuple[tuple[Sizes, str], ...]

    @property
    def passed(self) -> bool:
        """True when something was checked and everything agreed."""
        return bool(self.checks) and all(check.passed for check in self.checks)


def verify(
    model: Any,
    samples: int = 20,
    seed: int = 0,
    *,
    dims: Mapping[str, Any] | None = None,
    hints: Mapping[str, int] | None = None,
    values: Mapping[str, Array] | None = None,
    numerics: str | None = None,
    target: str | TargetSpec | None = None,
    tier: str = "auto",
    device: str = "auto",
    largest: int = 128,
    inputs: Mapping[str, Array] | None = None,
    contents: Mapping[str, tuple[int, int]] | None = None,
    multiples: Mapping[str, int] | None = None,
    progress: Progress = lambda text: None,
) -> Verification:
    """Compare the fused program of ``model`` with its unfused one and with float64, at ``samples`` sampled sizes.

    ``model`` is what ``autofuse.compile`` takes, or what it returned. A check passes when the fused error is at most 4
    times the unfused error plus 4 ULP at tensor scale; integers and bools must equal the unfused run's. ``inputs``
    replaces random inputs by name, ``contents`` are the inclusive ranges of their numbers; ``values`` are arrays of
    inputs known when compiling. No dim goes past ``largest`` (or a little more than its least size); those in
    ``multiples`` are multiples of what stands there, for models that have no result at other sizes.
    """
    graph, options, spec, given = _parts(model, dims, hints, values, numerics, target)
    known = values if isinstance(model, Graph) else None
    fused = lower_graph(graph, spec, options, known) if given is None else given
    unfused = lower_graph(graph, spec, evolve(options, enable=False, numerics="strict"), known)
    run_fused = model if given is not None else load_lowered(fused, spec, tier, device)
    run_unfused = load_lowered(unfused, spec, tier, device)
    dtypes = {v.name: v.dtype for v in fused.facts.values}
    reference = GraphInterpreter(fused.graph, dtypes, plugins.hosts(), "float64")
    checks: list[OutputCheck] = []
    skipped: list[tuple[Sizes, str]] = []
    done = 0
    for number, sizes in enumerate(sampled_sizes(fused, samples, seed, largest, multiples or {})):
        if done == samples:
            break
        named = tuple(sorted(sizes.items()))
        progress(", ".join(f"{k}={v}" for k, v in named) or "fixed sizes")
        arrays = random_inputs(fused.graph, fused.facts, sizes, seed + number, contents) | dict(inputs or {})
        ordered = [arrays[v.name] for v in fused.graph.inputs]
        try:
            wanted = reference.outputs(arrays)
        except Exception as error:  # an operator has no result for these inputs, or a host backend says so in its way
            _has_to_do_the_same(run_fused, run_unfused, ordered, named, error)
            skipped.append((named, _first_line(error)))
            continue
        done += 1
        got, base = _outputs(run_fused(*ordered)), _outputs(run_unfused(*ordered))
        for output, a, b in zip(fused.graph.outputs, got, base, strict=True):
            checks.append(_check(output.name, named, np.asarray(a), np.asarray(b), np.asarray(wanted[output.name])))
    return Verification(fused.graph.name, tuple(checks), tuple(skipped))


def _has_to_do_the_same(
    run_fused: Callable[..., object],
    run_unfused: Callable[..., object],
    ordered: Sequence[Array],
    sizes: Sizes,
    why: Exception,
) -> None:
    """Raise where fused and unfused disagree at sizes at which the model's own operators, run one by one, fail."""
    got, base = _result(run_fused, ordered), _result(run_unfused, ordered)
    if (got is None) == (base is None) and all(map(_is_as_good, got or (), base or ())):
        return
    does, other = ("has a result", "has none") if base is None else ("has none", "has one")
    if got is not None and base is not None:
        does, other = "has a result", "has a different one"
    raise DriverError(
        f"the fused program {does} where the reference has none, and the unfused program {other}: {_first_line(why)}",
        where=f"sizes {dict(sizes)}",
        fix="report this with the model",
    ) from why


def _result(run: Callable[..., object], ordered: Sequence[Array]) -> tuple[Array, ...] | None:
    try:
        return _outputs(run(*ordered))
    except Exception:  # whatever the host backend raises
        return None


def _is_as_good(got: Array, base: Array) -> bool:
    """True where ``got`` is what ``base`` is; the rule for floats where there is nothing to measure both against."""
    got, base = np.asarray(got), np.asarray(base)
    return got.shape == base.shape and within_allowance(compare(got, base), compare(base, base))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _parts(
    model: Any, dims: Any, hints: Any, values: Any, numerics: str | None, target: str | TargetSpec | None
) -> tuple[Graph, FusionOptions, TargetSpec, Lowered | None]:
    lowered = getattr(model, "lowered", None)
    if isinstance(lowered, Lowered):
        return lowered.source, lowered.options, model.target, lowered
    options = chosen_options(numerics=numerics)
    return import_graph(model, dims, hints, values), options, chosen_target(target), None


def _outputs(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _check(name: str, sizes: Sizes, got: Array, base: Array, wanted: Array) -> OutputCheck:
    if got.shape != wanted.shape or base.shape != wanted.shape:
        raise DriverError(
            f"output {name!r} has shape {list(got.shape)}, the unfused run gives {list(base.shape)} and the reference "
            f"{list(wanted.shape)}",
            where=f"sizes {dict(sizes)}",
            fix="report this with the model",
        )
    same_bits = _have_same_bits(got, base)
    is_exact = got.dtype.kind in "biuO"
    if is_exact:
        same = compare(got, base)
        return OutputCheck(name, sizes, same, compare(base, base), True, same_bits, same.mismatches == 0)
    unfused = compare(base, wanted)
    fused = unfused if same_bits else compare(got, wanted)
    passed = within_allowance(fused, unfused)
    if not isfinite(unfused.max_ulp):
        # The model leaves the range of its dtype here (float64 does not), so its own error allows everything: fused
        # must then be what unfused is.
        passed = _is_as_good(got, base)
    return OutputCheck(name, sizes, fused, unfused, False, same_bits, passed)


def _have_same_bits(got: Array, base: Array) -> bool:
    if got.dtype != base.dtype or got.dtype.kind == "O":
        return got.dtype == base.dtype and bool(np.array_equal(got, base))
    return bool(got.tobytes() == base.tobytes())
