import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import environment
import pytest
import uv

NAME = "af_only_in_this_folder"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with one wheel, written by hand: no index has it."""
    folder = tmp_path / "wheel folder"
    folder.mkdir()
    info = f"{NAME}-1.0.dist-info"
    files = {
        f"{NAME}.py": "answer = 42\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    with zipfile.ZipFile(folder / f"{NAME}-1.0-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(text)}\n"
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return folder


def test_uv_finds_what_pips_own_file_names(tmp_path: Path, wheels: Path) -> None:
    # pip splits this setting at spaces, so the folder is named through a link without one
    (tmp_path / "wheels").symlink_to(wheels)
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nno-index = true\nfind-links = {tmp_path / 'wheels'}\n")
    inherited = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PIP_CONFIG_FILE": str(settings)}
    translated = environment.uv_settings(environment.read_pip_settings(sys.executable, inherited), inherited)

    target = tmp_path / "target"
    command = [uv.find_uv_bin(), "pip", "install", "--python", sys.executable, "--target", str(target), NAME]
    without = subprocess.run(command, env={**inherited, "UV_OFFLINE": "1"}, capture_output=True, check=False)
    assert without.returncode != 0
    subprocess.run(command, env={**inherited, **translated}, check=True, capture_output=True)
    assert (target / f"{NAME}.py").read_text() == "answer = 42\n"
