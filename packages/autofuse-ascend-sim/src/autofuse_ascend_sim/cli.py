"""The command `ascend-sim`."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autofuse_ascend_sim.errors import AscendSimError, LaunchError
from autofuse_ascend_sim.gm import Argument
from autofuse_ascend_sim.launch import run
from autofuse_ascend_sim.library import compile, kernel_names
from autofuse_ascend_sim.report import SimReport
from autofuse_ascend_sim.soc import load_soc, soc_names

_DTYPES = {
    "bool": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
}
_FORMATS = {
    "i8": "b",
    "u8": "B",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
}
_ARRAY = re.compile(r"(?P<type>\w+)\[(?P<shape>[\d,x ]*)\](=(?P<fill>zeros|ones|arange|random))?")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status (0 done, 1 the kernel or the launch is wrong)."""
    options = _parser().parse_args(arguments)
    try:
        match options.command:
            case "socs":
                print(_describe_socs())
            case "demo":
                _demo(Path(options.folder))
            case _:
                _run(options)
    except AscendSimError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ascend-sim", description="Run Ascend C vector kernels on this machine.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("socs", help="list the SoCs and the numbers that have no source")
    demo = commands.add_parser("demo", help="write a sample kernel, run it and trace it")
    demo.add_argument("folder", nargs="?", default=".", help="where to put add.cpp and add_trace.json")
    runner = commands.add_parser("run", help="compile a kernel, run it, and report its estimated time")
    runner.add_argument("source", nargs="+", help="C++ files of the kernel")
    runner.add_argument("--entry", help="kernel to launch; the only one by default")
    runner.add_argument("--soc", default="ascend-a2", choices=soc_names())
    runner.add_argument("--blocks", type=int, default=1, help="block dimension")
    runner.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="ARG",
        help="a parameter, in order: f32[1024], f32[4,256]=random (zeros, ones, arange), file.npy, or an integer",
    )
    runner.add_argument(
        "--workspace",
        type=int,
        metavar="BYTES",
        help="pass a workspace of that size (0: the address of nothing)",
    )
    runner.add_argument("--tiling", metavar="FIELDS", help="tiling struct as typed values: u32:1024,u32:128")
    runner.add_argument("--tiling-file", metavar="FILE", help="tiling struct as bytes of a file")
    runner.add_argument("--tiling-key", type=int, default=0)
    runner.add_argument("--checks", choices=("full", "static"), default="full")
    runner.add_argument("--timing-only", action="store_true", help="no values: two blocks stand for all")
    runner.add_argument("--trace", metavar="FILE", help="write a Chrome trace (open it in ui.perfetto.dev)")
    runner.add_argument("--save", action="append", default=[], metavar="N=FILE.npy", help="save parameter N afterwards")
    runner.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS")
    runner.add_argument("--threads", type=int)
    runner.add_argument("--compiler", help="g++ or clang++")
    runner.add_argument("-I", dest="include_dirs", action="append", default=[], metavar="FOLDER")
    return parser


def _demo(folder: Path) -> None:
    """Put the sample kernel into a folder and run it, saying how to repeat that by hand."""
    folder.mkdir(parents=True, exist_ok=True)
    kernel = folder / "add.cpp"
    shutil.copyfile(Path(__file__).parent / "examples" / "add.cpp", kernel)
    command = ["run", str(kernel), "--blocks", "8", "--workspace", "0"]
    command += ["--arg", "f32[65536]=random", "--arg", "f32[65536]=random", "--arg", "f32[65536]"]
    command += ["--tiling", "u32:65536,u32:8192,u32:2048", "--trace", str(folder / "add_trace.json")]
    print(f"$ ascend-sim {shlex.join(command)}")
    _run(_parser().parse_args(command))


def _run(options: argparse.Namespace) -> None:
    library = compile(options.source, options.soc, compiler=options.compiler, include_dirs=options.include_dirs)
    entry = options.entry
    if entry is None:
        names = kernel_names(library)
        if len(names) != 1:
            raise LaunchError(f"the source has {len(names)} kernels ({', '.join(names)}): name one with --entry")
        entry = names[0]
    args = [parse_argument(text) for text in options.arg]
    tiling = Path(options.tiling_file).read_bytes() if options.tiling_file else None
    if options.tiling:
        tiling = parse_tiling(options.tiling)
    report = run(
        library,
        entry,
        args,
        tiling,
        options.blocks,
        options.workspace,
        checks=options.checks,
        timing_only=options.timing_only,
        trace=options.trace,
        tiling_key=options.tiling_key,
        threads=options.threads,
        timeout=options.timeout,
    )
    for text in options.save:
        position, _, path = text.partition("=")
        array = args[int(position)] if position.isdigit() and int(position) < len(args) else None
        if not isinstance(array, np.ndarray) or not path:
            raise LaunchError(f"--save {text}: write N=FILE.npy, where parameter N is an array")
        np.save(path, array)
    print(describe(report))
    if options.trace:
        print(f"trace: {options.trace} (open it in https://ui.perfetto.dev)")


def parse_argument(text: str) -> Argument:
    """Return the argument that `text` describes: an integer, a .npy file, or `type[shape]=fill`.

    >>> parse_argument("i16[2,3]=arange").tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text.endswith(".npy"):
        try:
            return np.ascontiguousarray(np.load(text))
        except ValueError as error:
            raise LaunchError(f"--arg {text}: this is no array of numbers in .npy format") from error
    match = _ARRAY.fullmatch(text)
    if match is None or match["type"] not in _DTYPES:
        raise LaunchError(f"--arg {text}: write f32[4,256]=random, file.npy or an integer; types: {', '.join(_DTYPES)}")
    shape = tuple(int(n) for n in re.split("[,x ]+", match["shape"]) if n)
    dtype = np.dtype(_DTYPES[match["type"]])
    try:
        return _filled(shape, dtype, match["fill"])
    except (MemoryError, ValueError) as error:
        raise LaunchError(f"--arg {text}: the host has no memory for it") from error


def _filled(shape: tuple[int, ...], dtype: np.dtype[np.generic], fill: str | None) -> np.ndarray:
    match fill:
        case "ones":
            return np.ones(shape, dtype)
        case "arange":
            return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
        case "random":
            generator = np.random.default_rng(0)
            if dtype.kind == "f":
                return generator.standard_normal(shape).astype(dtype)
            return generator.integers(0, 100, shape).astype(dtype)
        case _:
            return np.zeros(shape, dtype)


def parse_tiling(text: str) -> bytes:
    """Return the bytes of a C struct with these fields, padded as C pads.

    >>> parse_tiling("u8:1,u32:2").hex()
    '0100000002000000'
    """
    code, values = "@", []
    for field in text.split(","):
        kind, _, value = field.partition(":")
        if kind not in _FORMATS or not value:
            raise LaunchError(f"--tiling {field}: write type:value; types: {', '.join(_FORMATS)}")
        code += _FORMATS[kind]
        try:
            values.append(float(value) if kind.startswith("f") else int(value, 0))
            struct.pack(_FORMATS[kind], values[-1])
        except (ValueError, OverflowError, struct.error) as error:
            raise LaunchError(f"--tiling {field}: {value} is no {kind}") from error
    return struct.pack(code, *values)


def describe(report: SimReport) -> str:
    """Return the report as text."""
    lines = [report.output.rstrip()] if report.output else []
    lines += [
        f"{report.entry} on {report.soc}, {report.blocks} blocks, checks: {report.checks}",
        f"estimated time: {report.cycles:,.0f} cycles, {report.microseconds:,.1f} us with launch "
        "(a model's estimate, not a measurement)",
        f"GM traffic: {report.loaded_bytes:,} bytes in, {report.stored_bytes:,} bytes out",
        f"UB: {report.ub_high_water:,} bytes at most",
        "busy cycles of the last block: " + ", ".join(f"{pipe} {cycles:,.0f}" for pipe, cycles in report.busy_cycles),
    ]
    if report.stall_cycles:
        waits = ", ".join(f"{pipe} {cause} {cycles:,.0f}" for pipe, cause, cycles in report.stall_cycles)
        lines.append(f"waiting cycles of the last block: {waits}")
    lines += [f"note: {note}" for note in report.notes]
    return "\n".join(lines)


def _describe_socs() -> str:
    lines = []
    for name in soc_names():
        soc = load_soc(name)
        lines.append(f"{name}: {soc.cores} vector cores, {soc.ub_bytes:,} bytes of UB, __NPU_ARCH__ {soc.arch}")
        lines += [f"  stand-in for {key}: {reason}" for key, reason in soc.unknown]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
