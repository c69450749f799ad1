"""The command line ``autofuse``: one command a file; this one ties them together and turns errors into exit codes."""

import sys
import traceback
import warnings
from collections.abc import Sequence

import click
from autofuse_ir.errors import AutofuseError

from autofuse.cli.lazy_group import LazyGroup

COMMANDS = {
    "bench": ("autofuse.cli.bench:bench", "Time MODEL against NumPy and ONNX Runtime."),
    "cache": ("autofuse.cli.cache:cache", "Look into the cache of compiled code, or check or move it."),
    "compile": ("autofuse.cli.compile:compile_command", "Compile MODEL into a bundle, or only write its sources."),
    "diff": ("autofuse.cli.diff:diff", "Compare two reports; exit 1 if kernels or bytes grew."),
    "explain": ("autofuse.cli.explain:explain", "Say what of MODEL fuses, what does not, and why."),
    "operators": ("autofuse.cli.operators:operators", "List the operators, and what each target computes."),
    "run": ("autofuse.cli.run:run", "Run MODEL once and print what its outputs are."),
    "show": ("autofuse.cli.show:show", "Print a model, an artefact or a bundle as text."),
    "stage": ("autofuse.cli.stage:stage", "Run one stage of the pipeline on files."),
    "targets": ("autofuse.cli.targets:targets", "List the targets, or measure this machine."),
    "trace": ("autofuse.cli.trace:trace", "Time one call on the emulator, pipe by pipe."),
    "verify": ("autofuse.cli.verify:verify", "Check the fused MODEL against unfused and float64."),
}
"""Where each command is, and what it does."""

BUG = 4
"""The exit code for faults of AutoFuse itself."""


@click.group(
    cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="autofuse", message="autofuse %(version)s")
def cli() -> None:
    """Fuse chains of memory-bound tensor operators into single kernels.

    Any command takes --traceback: errors then show where they come from.

    Exit codes: 0 done, 1 the answer is no, 2 the input is wrong, 3 a tool is missing, 4 a bug of AutoFuse.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with_traceback = "--traceback" in words
    sys.exit(exit_code_of([w for w in words if w != "--traceback"], with_traceback))


def exit_code_of(words: Sequence[str], with_traceback: bool = False) -> int:
    """Run ``words`` as a command line; print errors as one paragraph and return the exit code."""
    said: set[str] = set()

    def say(message: Warning | str, *where: object, **more: object) -> None:
        """Show a warning as one line, once: users do not care for the line of ours that gave it."""
        if str(message) not in said:
            said.add(str(message))
            click.echo(f"warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = say
        return _exit_code_of(words, with_traceback)


def _exit_code_of(words: Sequence[str], with_traceback: bool) -> int:
    try:
        result = cli.main(args=list(words), prog_name="autofuse", standalone_mode=False)
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except AutofuseError as error:
        if with_traceback:
            traceback.print_exc()
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except MemoryError:
        click.echo("error: the machine is out of memory\n  use smaller sizes", err=True)
        return 2
    except OSError as error:
        # Files and folders of the user's: a full disk, no rights, a file where a folder should be.
        if with_traceback:
            traceback.print_exc()
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"error: {place}{error.strerror or error}\n  check the path, its rights and the disk", err=True)
        return 2
    except Exception as error:  # whatever is left is a fault of ours: it is said in words, too
        if with_traceback:
            traceback.print_exc()
        last = traceback.extract_tb(error.__traceback__)[-1]
        name = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        click.echo(
            f"bug: {type(error).__name__}: {error} ({name})\n"
            "  this is a fault of AutoFuse; run again with --traceback and report what it prints",
            err=True,
        )
        return BUG
    return result if isinstance(result, int) else 0
