"""``autofuse run``: run a model or a bundle once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from autofuse_ir.facts import InputDim, SymbolFacts

from autofuse.cli.choices import Choices, model_options, parse_arrays
from autofuse.cli.progress import stages
from autofuse.compiler import load_lowered
from autofuse.errors import DriverError
from autofuse.example_inputs import call_sizes, random_inputs
from autofuse.loading import is_bundle, load


@click.command()
@click.argument("model")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A .npy file for an input.")
@click.option("--random", "seed", type=int, metavar="SEED", help="Make missing inputs up from this seed.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write each output here as NAME.npy.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@model_options
def run(
    model: str, inputs: tuple[str, ...], seed: int | None, output: Path | None, as_json: bool, choices: Choices
) -> None:
    """Run MODEL (a model file or a bundle) once and print what its outputs are."""
    fn = load(model) if is_bundle(model) else _compiled(model, choices)
    given = arguments_of(fn.program, parse_arrays(inputs, "--input"), choices.sizes, seed)
    results = fn(*(given[v.name] for v in fn.program.inputs))
    results = results if isinstance(results, tuple) else (results,)
    named = {o.name: r for o, r in zip(fn.program.outputs, results, strict=True)}
    if output is not None:
        _write(named, output)
    summaries = {name: _summary(result) for name, result in named.items()}
    if as_json:
        click.echo(json.dumps(summaries, indent=2, sort_keys=True))
        return
    for name, summary in summaries.items():
        shape = ", ".join(str(size) for size in summary["shape"])
        mean = "" if summary["mean"] is None else f" mean {summary['mean']:.6g}"
        click.echo(f"{name}: {summary['dtype']} [{shape}]{mean}")


def _compiled(model: str, choices: Choices) -> Any:
    with stages() as observe:
        lowered, target = choices.lower(model, observe, ranges_only=True)
    return load_lowered(lowered, target, device=choices.device)


def arguments_of(program: Any, given: dict[str, Any], sizes: Mapping[str, int], seed: int | None) -> dict[str, Any]:
    """Return an array for every input: those ``given``, the others made up from ``seed`` at sizes that go together."""
    names = [v.name for v in program.inputs]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DriverError(
            f"the model has no input {unknown[0]!r}", where="--input", fix=f"its inputs: {', '.join(names)}"
        )
    missing = [name for name in names if name not in given]
    if not missing:
        return given
    if seed is None:
        raise DriverError(
            f"input {missing[0]!r} is missing", where="run", fix="give it with --input, or add --random SEED"
        )
    facts = SymbolFacts(program.symbols, (), program.guards)
    known = _sizes_of(program, given) | dict(sizes)
    return random_inputs(program, facts, call_sizes(facts, known), seed) | given


def _sizes_of(program: Any, given: Mapping[str, Any]) -> dict[str, int]:
    """The sizes that the arrays given already have; what does not fit, the call itself reports."""
    found: dict[str, int] = {}
    for symbol in program.symbols:
        for source in symbol.sources:
            if isinstance(source, InputDim) and source.input in given:
                shape = given[source.input].shape
                if source.dim < len(shape):
                    found.setdefault(symbol.name, shape[source.dim])
    return found


def _write(named: Mapping[str, Any], folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, result in named.items():
            _save(folder / f"{_file_name(name)}.npy", np.asarray(result))
    except (OSError, ValueError) as error:
        raise DriverError(
            f"the outputs cannot be written ({error})", where=str(folder), fix="give a writable folder"
        ) from error


def _save(path: Path, array: "np.ndarray[Any, Any]") -> None:
    """Write ``array`` whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            np.save(file, array, allow_pickle=False)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def _summary(result: Any) -> dict[str, Any]:
    array = np.asarray(result)
    is_number = array.dtype.kind in "fiub" and array.size
    mean = float(np.mean(array.astype(np.float64))) if is_number else None
    return {"dtype": str(array.dtype), "shape": list(array.shape), "mean": mean}
