"""A model of any kind -> a Graph: by the front end that reads it, or from an artefact of ours."""

from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR
from typing import Any

from attrs import evolve
from autofuse_ir.artefact import read
from autofuse_ir.graph import Graph, Symbol

from autofuse import plugins
from autofuse.errors import DriverError
from autofuse.ranges import Range, checked_dims, checked_hints


def import_graph(
    model: Any,
    dims: Mapping[str, Range] | None = None,
    hints: Mapping[str, int] | None = None,
    values: Mapping[str, Any] | None = None,
    example_inputs: Any = None,
) -> Graph:
    """Return ``model`` (a Graph, a path to or the content of an ONNX file, an ONNX ModelProto) as a Graph.

    A path may also lead to a Graph artefact (``.json``) or to a bundle, which holds one. ``example_inputs`` are what
    torch modules and NumPy functions are traced with.
    """
    dims, hints = checked_dims(dims or {}), checked_hints(hints or {})
    if isinstance(model, (str, Path)):
        model = _artefact(Path(model)) or model
    if isinstance(model, Graph):
        return _with_ranges(model, dims, hints)
    if isinstance(model, (str, Path, bytes)) or type(model).__name__ == "ModelProto":
        reader = plugins.frontend("onnx", "reading an ONNX model")
        return _imported(reader(model, dims=dims, hints=hints, values=values or {}))
    if type(model).__module__.startswith("torch") or hasattr(model, "named_parameters"):
        reader = plugins.frontend("torch", "compiling a torch module")
        return _imported(reader(model, dims=dims, hints=hints, example_inputs=example_inputs))
    if callable(model):
        reader = plugins.frontend("numpy", "compiling a NumPy function")
        return _imported(reader(model, dims=dims, hints=hints, example_inputs=example_inputs))
    raise DriverError(
        f"a model of type {type(model).__name__} is not understood",
        where="autofuse.compile",
        fix="pass a Graph, an ONNX file or ModelProto, a torch module or a NumPy function",
    )


def _artefact(path: Path) -> Graph | None:
    """The graph that a JSON file or a bundle holds; None for files that a front end has to read."""
    try:
        is_folder = S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        is_folder = False  # the front end says so
    except (OSError, ValueError) as error:  # a name that is too long or holds a zero byte, no rights
        reason = error.strerror if isinstance(error, OSError) else str(error)
        where = repr(str(path)[:60])
        raise DriverError(f"the model cannot be read ({reason})", where=where, fix="give a model file") from None
    if is_folder and not (path / "graph.json").exists():
        raise DriverError("this folder is no bundle", where=str(path), fix="give a model file or a bundle")
    if is_folder:
        path = path / "graph.json"
    elif path.suffix != ".json" and path.exists():
        return None
    if not path.exists():
        raise DriverError("there is no such file", where=str(path), fix="check the path of the model")
    found = read(path)
    if not isinstance(found, Graph):
        raise DriverError(
            f"this is a {type(found).__name__}, not a Graph", where=str(path), fix="give a graph or an ONNX file"
        )
    return found


def _imported(graph: object) -> Graph:
    if not isinstance(graph, Graph):
        raise DriverError(
            f"the front end returned a {type(graph).__name__}",
            where="autofuse.compile",
            fix="report this to its authors",
        )
    return graph


def _with_ranges(graph: Graph, dims: Mapping[str, Range], hints: Mapping[str, int]) -> Graph:
    known = {s.name: s for s in graph.symbols}
    unknown = [name for name in (*dims, *hints) if name not in known]
    if unknown:
        raise DriverError(
            f"the model has no dim called {unknown[0]!r}",
            where=f"graph {graph.name}",
            fix=f"use one of {', '.join(sorted(known)) or 'none: all its dims are fixed'}",
        )
    changed = {name: _ranged(symbol, dims.get(name), hints.get(name)) for name, symbol in known.items()}
    return graph if changed == known else evolve(graph, symbols=tuple(changed[s.name] for s in graph.symbols))


def _ranged(symbol: Symbol, declared: Range | None, hint: int | None) -> Symbol:
    lo, hi = (declared, declared) if isinstance(declared, int) else declared or (symbol.lo, symbol.hi)
    if not 0 <= lo <= hi:
        raise DriverError(
            f"the range {lo}..{hi} of {symbol.name!r} is empty or negative",
            where="dims",
            fix="give 0 <= LO <= HI, both inclusive",
        )
    if hint is None and symbol.hint is not None and lo <= symbol.hint <= hi:
        hint = symbol.hint  # the model's own, which a range declared here may leave out
    return evolve(symbol, lo=lo, hi=hi, hint=hint)
