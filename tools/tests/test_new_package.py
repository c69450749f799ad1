import shutil
from pathlib import Path

import layers
import new_package
import pytest
import workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copy(workspace.ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_a_new_package_is_found_and_has_its_layer(root: Path) -> None:
    before = layers.declared_layers(root)
    new_package.create(root, "autofuse-brand-new", "L2", "What it is.")
    (package,) = workspace.read_workspace(root)
    assert package.module == "autofuse_brand_new"
    assert layers.undeclared([package], root) == ()
    after = layers.declared_layers(root)
    assert after[2] == (*before[2], "autofuse_brand_new")
    assert after[:2] + after[3:] == before[:2] + before[3:]
    readme = (package.folder / "README.md").read_text()
    assert "```python\nimport autofuse_brand_new" in readme


@pytest.mark.parametrize("name", ["numpy", "autofuse-X", "autofuse_x", "autofuse-", "autofuse-../x"])
def test_a_wrong_name_writes_nothing(root: Path, name: str) -> None:
    declared = (root / "pyproject.toml").read_text()
    with pytest.raises(workspace.WorkspaceError):
        new_package.create(root, name, "L2", "What it is")
    assert not (root / "packages").exists()
    assert (root / "pyproject.toml").read_text() == declared


def test_what_is_there_is_never_overwritten(root: Path) -> None:
    new_package.create(root, "autofuse-x", "L4", "What it is")
    with pytest.raises(workspace.WorkspaceError, match="there already"):
        new_package.create(root, "autofuse-x", "L4", "What it is")
