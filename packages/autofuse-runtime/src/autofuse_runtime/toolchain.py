"""The C++ compiler: which one, who it is, and how kernels are compiled and linked with it."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from autofuse_runtime.errors import BuildError, DiskError, ToolMissingError

T = TypeVar("T")
R = TypeVar("R")

KERNEL_FLAGS: tuple[str, ...] = (
    "-std=c++17",
    "-O3",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fno-exceptions",
    "-fno-rtti",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-asynchronous-unwind-tables",
)
"""What every kernel is compiled with besides ``-march``. Never fast-math: kernels keep IEEE results."""

_CANDIDATES = ("g++", "clang++", "c++")
_SHOWN_LINES = 12
_SECONDS_TO_END = 2.0
"""What a compiler that is to end has for removing its files."""


class Toolchain:
    """A compiler that was found, and how many compiler processes it has started (``processes_started``)."""

    def __init__(self, driver: str, identity: str) -> None:
        self.driver = driver
        self.identity = identity
        self.processes_started = 0
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._is_ending = False

    @property
    def is_clang(self) -> bool:
        """True for clang++."""
        return "clang" in self.identity

    def compile_cpp(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """Compile one C++ file to an object file; raises `BuildError` with the compiler's first words."""
        self._make(target, [self.driver, *flags, "-c", str(source)], f"compiling {source.name}")

    def compile_c(self, source: Path, target: Path, flags: Sequence[str]) -> None:
        """Compile one C file to an object file with the driver's C front end."""
        self._make(target, [self.driver, "-x", "c", *flags, "-c", str(source)], f"compiling {source.name}")

    def link_shared(self, objects: Sequence[Path], target: Path, libraries: Sequence[str] = ()) -> None:
        """Link objects to a shared library: with ``ld`` itself where it does, else through the compiler driver."""
        inputs = [str(path) for path in objects]
        linker = shutil.which("ld")
        if linker and not libraries:
            command = [linker, "-shared", "--hash-style=gnu", "-z", "noexecstack", "-o", str(target), *inputs]
            if self._completed(command).returncode == 0:
                return
        self.link_with_driver(objects, target, libraries)

    def link_with_driver(self, objects: Sequence[Path], target: Path, libraries: Sequence[str] = ()) -> None:
        """Link objects to a shared library through the compiler driver, which knows what else they need."""
        inputs = [str(path) for path in objects]
        self._make(target, [self.driver, "-shared", *inputs, *libraries], f"linking {target.name}")

    def _completed(self, command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        process = self._started(command)
        try:
            said, told = process.communicate()
        except (KeyboardInterrupt, SystemExit):
            _in_spite_of_interrupts(lambda: _end([process]))
            raise
        finally:
            with self._lock:
                self._running.discard(process)
        return subprocess.CompletedProcess(list(command), process.returncode, said, told)

    def _started(self, command: Sequence[str]) -> "subprocess.Popen[str]":
        # Messages in one language, so that they can be looked up.
        environment = {**os.environ, "LC_ALL": "C"}
        with self._lock:
            if self._is_ending:
                raise KeyboardInterrupt  # in a thread: nobody waits for what it would make
            self.processes_started += 1
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                env=environment,
                process_group=0,  # a driver has children, and all of them are ended
            )
            self._running.add(process)
        return process

    def end(self, waiting: ThreadPoolExecutor) -> None:
        """End the compilers that the threads of ``waiting`` wait for, and start no more before these have ended."""
        with self._lock:
            self._is_ending = True
            running = list(self._running)
        _end(running)
        waiting.shutdown(cancel_futures=True)
        with self._lock:
            self._is_ending = False

    def _make(self, target: Path, command: Sequence[str], what: str) -> None:
        done = self._completed([*command, "-o", str(target)])
        if done.returncode == 0:
            if target.exists():
                return
            fix = "install g++ or clang++, or name one that works with CXX"
            raise ToolMissingError(f"no C++ compiler: {what} made nothing", where=self.driver, fix=fix)
        if "No space left on device" in done.stderr:
            raise DiskError(f"the disk is full ({what})", where=str(target), fix="free some space or move the cache")
        shown = "; ".join(done.stderr.strip().splitlines()[:_SHOWN_LINES]) or f"exit status {done.returncode}"
        raise BuildError(f"{what} failed: {shown}", where=self.driver, fix="report this with the source named above")


def find_toolchain(compiler: str | None = None) -> Toolchain:
    """Return the compiler to build with: ``compiler`` (name or path), else ``$CXX``, else g++, clang++ or c++ of PATH.

    Raises `ToolMissingError` when there is none.
    """
    compiler = compiler or os.environ.get("CXX")
    for name in (compiler,) if compiler else _CANDIDATES:
        path = shutil.which(name)
        if path is None:
            continue
        identity = _identity(path)
        if identity is not None:
            return Toolchain(path, identity)
    asked = f"{compiler} does not run" if compiler else "neither g++ nor clang++ was found"
    raise ToolMissingError(
        f"no C++ compiler: {asked}",
        where="toolchain",
        fix="install one (Debian and Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++) or name it with CXX",
    )


def _identity(path: str) -> str | None:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", check=False)
    except OSError:
        return None
    if done.returncode != 0 or not done.stdout:
        return None
    kind = "clang" if "clang" in done.stdout else "gcc"
    target = next((line for line in done.stdout.splitlines() if line.startswith("Target:")), "")
    return " ".join([kind, done.stdout.splitlines()[0].strip(), target]).strip()


def _end(processes: Sequence["subprocess.Popen[str]"]) -> None:
    """End ``processes`` and what they have started; wait for it. An interrupt leaves them no time for their files."""
    try:
        for process in processes:
            _signal(process, signal.SIGTERM)
        until = time.monotonic() + _SECONDS_TO_END
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))
    finally:
        for process in processes:
            _signal(process, signal.SIGKILL)
            process.wait()


def _in_spite_of_interrupts(work: Callable[[], None]) -> None:
    """Do ``work``, from its beginning again when it is interrupted, until it is done."""
    while True:
        try:
            work()
        except KeyboardInterrupt:
            continue
        return


def _signal(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """Send a signal to a process group, of which nothing may be left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def in_parallel(work: Callable[[T], R], items: Sequence[T], toolchain: Toolchain) -> list[R]:
    """Apply ``work``, which waits for a process of ``toolchain``, to all items at once, as many as there are CPUs.

    An interrupt ends what runs at once; nothing else is started. More of them change nothing but the time it may take.
    """
    workers = min(len(items), len(os.sched_getaffinity(0)))
    if workers < 2:
        return [work(item) for item in items]
    executor = ThreadPoolExecutor(workers)
    try:
        return list(executor.map(work, items))
    except (KeyboardInterrupt, SystemExit):
        _in_spite_of_interrupts(lambda: toolchain.end(executor))
        raise
    finally:
        executor.shutdown()
