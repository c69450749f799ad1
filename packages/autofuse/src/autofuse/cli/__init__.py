"""The command line ``autofuse``: one command a file; this one ties them together and turns errors into exit codes."""

import sys
import traceback
import warnings
from collections.abc import Sequence

import click
from autofuse_ir.errors import AutofuseError

from autofuse.cli.bench import bench
from autofuse.cli.cache import cache
from autofuse.cli.compile import compile_command
from autofuse.cli.diff import diff
from autofuse.cli.explain import explain
from autofuse.cli.operators import operators
from autofuse.cli.run import run
from autofuse.cli.show import show
from autofuse.cli.stage import stage
from autofuse.cli.targets import targets
from autofuse.cli.trace import trace
from autofuse.cli.verify import verify

BUG = 4
"""The exit code for faults of AutoFuse itself."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="autofuse", message="autofuse %(version)s")
def cli() -> None:
    """Fuse chains of memory-bound tensor operators into single kernels.

    Any command takes --traceback: errors then show where they come from.

    Exit codes: 0 done, 1 the answer is no, 2 the input is wrong, 3 a tool is missing, 4 a bug of AutoFuse.
    """


for command in (compile_command, run, verify, bench, explain, trace, diff, stage, show, targets, operators, cache):
    cli.add_command(command)


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
