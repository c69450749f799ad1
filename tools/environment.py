"""The environment that set-up runs in: what is inherited on purpose, and pip's settings spelled for uv.

Standard library only, because `bootstrap.py` runs before anything is installed.
"""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Mapping

# Settings that say where packages come from. Every other PIP_ or UV_ variable may say where they go, and is dropped.
_KEPT_PIP = {
    "CACHE_DIR", "CERT", "CLIENT_CERT", "CONFIG_FILE", "CONSTRAINT", "DEFAULT_TIMEOUT", "DISABLE_PIP_VERSION_CHECK",
    "EXTRA_INDEX_URL", "FIND_LINKS", "INDEX_URL", "KEYRING_PROVIDER", "NO_CACHE_DIR", "NO_INDEX", "PROXY", "RETRIES",
    "TIMEOUT", "TRUSTED_HOST",
}  # fmt: skip
_KEPT_UV = {
    "CACHE_DIR", "CONCURRENT_DOWNLOADS", "CONFIG_FILE", "CONSTRAINT", "DEFAULT_INDEX", "EXTRA_INDEX_URL", "FIND_LINKS",
    "HTTP_TIMEOUT", "INDEX", "INDEX_STRATEGY", "INDEX_URL", "INSECURE_HOST", "KEYRING_PROVIDER", "LINK_MODE",
    "NATIVE_TLS", "NO_CACHE", "NO_INDEX", "OFFLINE", "SYSTEM_CERTS",
}  # fmt: skip
_DROPPED = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV", "CONDA_PREFIX", "NOXSESSION"}

# pip's name, uv's variable, separator of uv's list
_PIP_TO_UV = (
    ("index-url", "UV_DEFAULT_INDEX", " "),
    ("extra-index-url", "UV_INDEX", " "),
    ("find-links", "UV_FIND_LINKS", ","),
    ("constraint", "UV_CONSTRAINT", " "),
    ("trusted-host", "UV_INSECURE_HOST", " "),
    ("cert", "SSL_CERT_FILE", " "),
    ("timeout", "UV_HTTP_TIMEOUT", " "),
    ("default-timeout", "UV_HTTP_TIMEOUT", " "),
    ("proxy", "ALL_PROXY", " "),
    ("no-index", "UV_NO_INDEX", " "),
)


def clean(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the inherited environment without what would change what is installed, or where."""

    def kept(name: str) -> bool:
        if name in _DROPPED or name.startswith("NOX_"):
            return False
        if name.startswith("PIP_"):
            return name[4:] in _KEPT_PIP
        if name.startswith("UV_"):
            return name[3:] in _KEPT_UV
        return True

    return {name: value for name, value in inherited.items() if kept(name)} | {"PYTHONNOUSERSITE": "1"}


def read_pip_settings(python: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return pip's effective settings (`name -> value`), from its files and variables; {} where there is no pip."""
    command = [python, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    answer = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)
    return parse_pip_settings(answer.stdout) if answer.returncode == 0 else {}


def parse_pip_settings(listing: str) -> dict[str, str]:
    """Parse `pip config list`: a variable beats the `install` section, and that beats the `global` one."""
    rank = {"global": 0, "install": 1, ":env:": 2}
    best: dict[str, tuple[int, str]] = {}
    for line in listing.splitlines():
        key, separator, literal = line.partition("=")
        section, dot, name = key.partition(".")
        if not separator or not dot or section not in rank:
            continue
        name = name.lower().replace("_", "-")
        if name not in best or rank[section] >= best[name][0]:
            best[name] = (rank[section], str(ast.literal_eval(literal)))
    return {name: value for name, (_, value) in best.items()}


def uv_settings(pip: Mapping[str, str], inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that make uv use pip's indexes, constraints and certificates.

    uv does not read pip's files. A variable that is already set is left alone. pip merges all of its indexes and
    takes the best version; uv does so when told to.
    """
    translated: dict[str, str] = {}
    for name, variable, separator in _PIP_TO_UV:
        words = pip.get(name, "").split()
        if words and variable not in inherited:
            translated[variable] = separator.join(words)
    if "UV_INDEX" in translated and "UV_INDEX_STRATEGY" not in inherited:
        translated["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return translated
