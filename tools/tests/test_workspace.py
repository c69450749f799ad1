from pathlib import Path

import layers
import pytest
import run_blocks
import workspace


def write(root: Path, name: str, needs: tuple[str, ...] = (), test: tuple[str, ...] = ()) -> None:
    folder = root / "packages" / name
    folder.mkdir(parents=True)
    lists = [", ".join(f'"{need}"' for need in needs), ", ".join(f'"{need}"' for need in test)]
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\nversion = "0.1.0"\ndependencies = [{lists[0]}]\n'
        f"[project.optional-dependencies]\ntest = [{lists[1]}]\n"
    )


def names(packages: tuple[workspace.Package, ...]) -> list[str]:
    return [package.name for package in packages]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, "a-top", ("b-middle[fast]>=0.1,<0.2", "numpy>=1.26"))
    write(tmp_path, "b-middle", ("C_Base>=0.1",), test=("d-other",))
    write(tmp_path, "c-base", ("attrs",))
    write(tmp_path, "d-other")
    return tmp_path


def test_packages_come_after_what_they_need(root: Path) -> None:
    assert names(workspace.read_workspace(root)) == ["c-base", "b-middle", "a-top", "d-other"]


def test_a_closure_holds_what_is_needed_and_nothing_else(root: Path) -> None:
    packages = workspace.read_workspace(root)
    _, middle, top, _ = packages
    assert names(workspace.closure(top, packages)) == ["c-base", "b-middle"]
    assert names(workspace.closure(middle, packages)) == ["c-base"]
    assert names(workspace.closure(middle, packages, ["test"])) == ["c-base", "d-other"]


def test_a_cycle_names_its_members(root: Path) -> None:
    write(root, "e-one", ("f-two",))
    write(root, "f-two", ("e-one",))
    with pytest.raises(workspace.WorkspaceError, match="cycle: e-one, f-two"):
        workspace.read_workspace(root)


def test_a_broken_declaration_names_its_file(root: Path) -> None:
    (root / "packages" / "c-base" / "pyproject.toml").write_text("[project]\nname = 'c-base'\n")
    with pytest.raises(workspace.WorkspaceError, match=r"c-base/pyproject\.toml .*version"):
        workspace.read_workspace(root)


def test_groups_include_one_another(root: Path) -> None:
    (root / "pyproject.toml").write_text('[dependency-groups]\nx = ["a"]\ny = [{ include-group = "x" }, "b"]\n')
    assert workspace.dependency_group("y", root) == ("a", "b")
    with pytest.raises(workspace.WorkspaceError, match="'z'; it has x, y"):
        workspace.dependency_group("z", root)


def test_every_package_here_has_what_a_package_needs() -> None:
    packages = workspace.read_workspace()
    folders = (each for each in (workspace.ROOT / "packages").iterdir() if each.is_dir())
    on_disk = {folder.name for folder in folders if not folder.name.startswith(".")}  # tools keep caches there
    assert {package.name for package in packages} == on_disk
    for package in packages:
        for part in (
            "README.md",
            "CHANGELOG.md",
            f"src/{package.module}/py.typed",
            f"src/{package.module}/__init__.py",
        ):
            assert (package.folder / part).is_file(), f"{package.name} has no {part}"
        assert (package.folder / "tests").is_dir(), f"{package.name} has no tests"


def test_every_readme_here_has_an_example_that_is_run() -> None:
    for package in workspace.read_workspace():
        page = (package.folder / "README.md").read_text(encoding="utf-8")
        blocks = [block for block in run_blocks.read_blocks(page) if block.language == "python"]
        assert any(block.marker != "skip" for block in blocks), f"{package.name}'s README has no python block"


def test_every_package_here_has_its_layer() -> None:
    assert layers.undeclared(workspace.read_workspace(), workspace.ROOT) == ()


def test_declared_dependencies_go_down_the_layers() -> None:
    packages = workspace.read_workspace()
    height = {module: -row for row, modules in enumerate(layers.declared_layers(workspace.ROOT)) for module in modules}
    for package in packages:
        for need in workspace.local_needs(package, packages):
            assert height[need.module] < height[package.module], f"{package.name} needs {need.name}"
