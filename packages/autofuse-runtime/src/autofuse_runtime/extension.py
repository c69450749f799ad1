"""The C extension: compiled once per Python into the cache, or taken from a bundle, then imported."""

import ctypes
import importlib.machinery
import importlib.util
import shutil
import sys
import sysconfig
import threading
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import numpy as np
from autofuse_ir.abi import header_text

from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import ToolMissingError
from autofuse_runtime.recipe import Recipe
from autofuse_runtime.toolchain import Toolchain, find_toolchain, in_parallel

_FLAGS = (
    "-std=c11",
    "-D_GNU_SOURCE",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
)
_NAME = "af_native"
_LOCK = threading.Lock()


def sources() -> dict[str, str]:
    """Return the extension's source files, by name, with the ABI header among them."""
    folder = files("autofuse_runtime") / "native"
    found = {
        item.name: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith((".c", ".h"))
    }
    return dict(sorted({**found, "af_abi.h": header_text()}.items()))


def extension_recipe(extra_flags: tuple[str, ...] = ()) -> Recipe:
    """Return what the extension of this Python is made from.

    Any C compiler will do, so that a machine without one can use what another has made.
    """
    parts = {
        "python": sys.version,
        "file name": f"{_NAME}{sysconfig.get_config_var('EXT_SUFFIX')}",
        "flags": " ".join((*_FLAGS, *extra_flags)),
        **{f"source {name}": text for name, text in sources().items()},
    }
    return Recipe("extension", "runtime extension", tuple(parts.items()), f"Python {sys.version.split()[0]}")


def carried_name() -> str:
    """Return the file of a bundle that is the extension of this Python."""
    return f"lib/{_NAME}-{extension_recipe().key}.so"


def load_extension(
    cache: ArtefactCache,
    toolchain: Toolchain | None = None,
    extra_flags: tuple[str, ...] = (),
    carried: Path | None = None,
) -> ModuleType:
    """Return the extension module, compiling it where the cache has none for this Python.

    A process holds one: it owns the thread pool and the memory pool. A compiler is looked for only when one is needed;
    where there is none, or Python's C headers are missing, ``carried`` is taken, made from the same recipe elsewhere.
    Raises `ToolMissingError` without it, or where this machine cannot load it.
    """
    with _LOCK:
        loaded = sys.modules.get(_NAME)
        if loaded is not None:
            return loaded
        with cache.in_use():
            return _imported(extension_file(cache, toolchain, extra_flags, carried))


def extension_file(
    cache: ArtefactCache,
    toolchain: Toolchain | None = None,
    extra_flags: tuple[str, ...] = (),
    carried: Path | None = None,
) -> Path:
    """Return the library that `load_extension` imports; hold ``cache.in_use`` until it has been read."""

    def make(directory: Path) -> None:
        try:
            _compile(directory, toolchain or find_toolchain(), extra_flags)
        except ToolMissingError:
            if carried is None or not _loads(carried):
                raise
            shutil.copyfile(carried, directory / f"{_NAME}.so")

    return cache.entry(extension_recipe(extra_flags), make) / f"{_NAME}.so"


def _loads(library: Path) -> bool:
    """Answer whether this machine has what ``library`` needs, such as a C library that is new enough."""
    try:
        ctypes.CDLL(str(library))
    except OSError:
        return False
    return True


def _compile(directory: Path, toolchain: Toolchain, extra: tuple[str, ...]) -> None:
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise ToolMissingError(
            f"Python's C headers are missing ({sysconfig.get_path('include')}/Python.h)",
            where="toolchain",
            fix="install them (Debian and Ubuntu: apt-get install python3-dev)",
        )
    texts = sources()
    flags = (*_FLAGS, *extra, f"-I{sysconfig.get_path('include')}")
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    units = [directory / name for name in texts if name.endswith(".c")]

    def compile_unit(unit: Path) -> Path:
        target = unit.with_suffix(".o")
        toolchain.compile_c(unit, target, flags)
        return target

    objects = in_parallel(compile_unit, units, toolchain)
    toolchain.link_shared(objects, directory / f"{_NAME}.so", libraries=("-pthread", "-ldl", *extra))
    for path in (*objects, *[directory / name for name in texts]):
        path.unlink()


def _imported(path: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
    spec = importlib.util.spec_from_file_location(_NAME, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    module.set_array_type(np.ndarray)
    sys.modules[_NAME] = module
    return module
