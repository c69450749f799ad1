"""``autofuse run``: run a model or a bundle once."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from autofuse_ir.facts import SymbolFacts
from autofuse_symshape.sample import sample

from autofuse.cli.choices import model_options, parse_arrays, parse_dims, parse_sizes
from autofuse.compiler import compile_model
from autofuse.errors import DriverError
from autofuse.example_inputs import random_inputs
from autofuse.loading import load


@click.command()
@click.argument("model")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE.npy")
@click.option("--random", "seed", type=int, help="Make missing inputs up from this seed.")
@click.option("--output", type=click.Path(path_type=Path), help="Write each output here as NAME.npy.")
@click.option("--json", "as_json", is_flag=True)
@model_options
def run(
    model: str,
    inputs: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    as_json: bool,
    target: str | None,
    dims: tuple[str, ...],
    hints: tuple[str, ...],
    values: tuple[str, ...],
    numerics: str,
    device: str,
) -> None:
    """Run MODEL (a model file or a bundle) once and print its outputs' shapes and a summary of their content."""
    del device
    declared = parse_dims(dims)
    sizes = {name: size for name, size in declared.items() if isinstance(size, int)}
    ranges = {name: size for name, size in declared.items() if not isinstance(size, int)}
    is_bundle = Path(model).is_dir()
    if is_bundle:
        fn = load(model)
    else:
        hinted = parse_sizes(hints, "--hint")
        fn = compile_model(model, target, ranges, hinted, parse_arrays(values, "--values"), numerics)
    given = parse_arrays(inputs, "--input")
    names = [v.name for v in fn.program.inputs]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DriverError(
            f"the model has no input {unknown[0]!r}", where="--input", fix=f"its inputs: {', '.join(names)}"
        )
    missing = [name for name in names if name not in given]
    if missing and seed is None:
        raise DriverError(
            f"input {missing[0]!r} is missing", where="run", fix="give it with --input, or add --random SEED"
        )
    if missing:
        made = random_inputs(fn.program, _facts(fn.program), _sizes(fn.program, sizes, given), seed or 0)
        given = {name: made[name] for name in missing} | given
    results = fn(*(given[name] for name in names))
    results = results if isinstance(results, tuple) else (results,)
    named = {o.name: np.asarray(r) for o, r in zip(fn.program.outputs, results, strict=True)}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for name, array in named.items():
            np.save(output / f"{_file_name(name)}.npy", array, allow_pickle=False)
    if as_json:
        click.echo(json.dumps({n: _summary(a) for n, a in named.items()}, indent=2, sort_keys=True))
    else:
        for name, array in named.items():
            summary = _summary(array)
            click.echo(f"{name}: {summary['dtype']}{summary['shape']} mean {summary['mean']}")


def _sizes(program: Any, sizes: dict[str, int], given: dict[str, Any]) -> dict[str, int]:
    """The sizes of the call: those asked for, those that given inputs have, and small ones for the rest."""
    facts = _facts(program)
    known = dict(sizes)
    unknown = [n for n in sizes if n not in {s.name for s in facts.symbols}]
    if unknown:
        names = ", ".join(s.name for s in facts.symbols) or "none: all dims are fixed"
        raise DriverError(f"the model has no dim called {unknown[0]!r}", where="--dim", fix=f"its dims: {names}")
    for symbol in facts.symbols:
        for source in symbol.sources:
            array = given.get(getattr(source, "input", ""))
            if array is not None and hasattr(source, "dim"):
                known.setdefault(symbol.name, array.shape[source.dim])
    found = sample(_pinned(facts, known), 1, largest=16)
    if not found:
        raise DriverError(
            f"no sizes satisfy the guards with {known}", where="run", fix="give other sizes with --dim NAME=N"
        )
    return found[0] | known


def _pinned(facts: SymbolFacts, known: dict[str, int]) -> SymbolFacts:
    from attrs import evolve  # noqa: PLC0415

    def pin(symbol: Any) -> Any:
        return evolve(symbol, lo=known[symbol.name], hi=known[symbol.name]) if symbol.name in known else symbol

    return evolve(facts, symbols=tuple(pin(s) for s in facts.symbols))


def _facts(program: Any) -> SymbolFacts:
    return SymbolFacts(program.symbols, (), program.guards)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def _summary(array: Any) -> dict[str, Any]:
    is_number = array.dtype.kind in "fiub" and array.size
    mean = float(np.mean(array.astype(np.float64))) if is_number else None
    return {"dtype": str(array.dtype), "shape": list(array.shape), "mean": mean}
