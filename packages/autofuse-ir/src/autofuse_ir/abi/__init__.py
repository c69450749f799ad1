"""The C interface between generated kernels and their launchers, as header text.

Emitters paste it into the sources they generate; the runtime compiles its native module against the same text.
"""

from importlib.resources import files

ABI_VERSION = 1
"""Must equal ``AF_ABI_VERSION`` in the header; a library built for another version is refused by name."""


def header_text() -> str:
    """Return the text of ``af_abi.h``."""
    return files(__name__).joinpath("af_abi.h").read_text(encoding="utf-8")
