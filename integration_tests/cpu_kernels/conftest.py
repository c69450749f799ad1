"""Build the kernel of one backend node and call it, without the runtime."""

import ctypes
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from autofuse_codegen.stage import emit
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec, load_target
from autofuse_schedule.stage import schedule
from autofuse_testkit.kernel_library import ALLOCATE, PARALLEL_FOR, RELEASE, Array, Buffer, Host
from autofuse_tiling.stage import tile


class Kernel:
    """A built kernel; blocks run one after the other, last to first, so that no order is relied on."""

    def __init__(self, library: Path, bundle: KernelBundle) -> None:
        self.bundle = bundle
        self._library = ctypes.CDLL(str(library))

    def __call__(
        self,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        sizes: Mapping[str, int],
        cores: int = 3,
        cache_bytes: int = 1 << 40,
    ) -> int:
        """Run on arrays; return the status bits."""
        held: list[Any] = []

        def serial(_: Any, count: int, body: Any, argument: Any) -> None:
            for index in reversed(range(count)):
                body(argument, index)

        def allocate(_: Any, size: int) -> int:
            held.append(ctypes.create_string_buffer(size + 64))
            return (ctypes.addressof(held[-1]) + 63) // 64 * 64

        host = Host(None, cores, PARALLEL_FOR(serial), ALLOCATE(allocate), RELEASE(lambda _, __: None), cache_bytes)
        values = (ctypes.c_longlong * max(1, len(self.bundle.symbols)))(*(sizes[s] for s in self.bundle.symbols))
        tiling = ctypes.create_string_buffer(self.bundle.tiling_bytes)
        status = ctypes.c_ulonglong(0)
        solved = getattr(self._library, self.bundle.tiling)(values, ctypes.c_longlong(cores), tiling)
        assert solved == 0, solved
        ins, outs = _buffers(inputs), _buffers(outputs)
        launch = getattr(self._library, self.bundle.launch)
        launch.restype = None
        launch(ctypes.byref(host), values, ins, outs, tiling, None, ctypes.byref(status))
        return status.value


def _buffers(arrays: Sequence[Array]) -> Any:
    return (Buffer * max(1, len(arrays)))(*(Buffer(a.ctypes.data, None) for a in arrays))


Build = Callable[..., Kernel]


@pytest.fixture(scope="session")
def build_kernel(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return a function that builds the kernel of a backend node, or of a schedule where one is given."""
    root = tmp_path_factory.mktemp("kernels")
    count = 0

    def build(
        node: AscBackend,
        facts: SymbolFacts,
        target: TargetSpec | None = None,
        scheduled: ScheduleResult | None = None,
        flags: Sequence[str] = ("-O1",),
    ) -> Kernel:
        nonlocal count
        count += 1
        target = target or load_target("cpu")
        result = scheduled or schedule(node, facts, target)
        bundle = emit(result, tile(result, facts, target), facts, target)
        folder = root / str(count)
        folder.mkdir()
        for file in bundle.files:
            (folder / file.path).write_text(file.text)
        for support in bundle.support_files:
            (folder / support.name).write_text(support.text)
        sources = [file.path for file in bundle.files if file.path.endswith(".cpp")]
        command = ["g++", "-shared", "-fPIC", "-march=native", "-Wall", "-Wextra", "-Werror", *bundle.flags]
        command = [*command, "-fvisibility=default", *flags, *sources, "-o", "kernel.so"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr[:4000]
        return Kernel(folder / "kernel.so", bundle)

    return build
