"""Which instruction set this machine has, by name: part of every cache key and of what a bundle was built for."""

import platform
from functools import cache
from pathlib import Path

from attrs import frozen

_CPU_INFO = Path("/proc/cpuinfo")
_RELEVANT = """
    aes adx amx_bf16 amx_int8 amx_tile asimd asimddp asimdfhm asimdhp avx avx2 avx512_bf16 avx512_bitalg
    avx512_fp16 avx512_vbmi2 avx512_vnni avx512_vpopcntdq avx512bw avx512cd avx512dq avx512f avx512ifma avx512vbmi
    avx512vl avx_vnni bf16 bmi1 bmi2 clwb f16c fma gfni i8mm lzcnt abm movbe pclmulqdq pni popcnt rdseed sha_ni
    sse4_1 sse4_2 ssse3 sse2 sve sve2 vaes vpclmulqdq
"""
_LEVELS = (
    ("x86-64-v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    ("x86-64-v3", ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe")),
    ("x86-64-v2", ("pni", "popcnt", "sse4_1", "sse4_2", "ssse3")),
)


@frozen
class MachineIsa:
    """Architecture ("x86_64", "aarch64"), the level that names it best, and the features compilers may use."""

    architecture: str
    level: str
    features: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line for a cache key."""
        return f"{self.architecture} {self.level} {' '.join(self.features)}"


@cache
def this_machine() -> MachineIsa:
    """Return the instruction set of the machine this runs on (read once)."""
    architecture = platform.machine()
    found: set[str] = set()
    if _CPU_INFO.exists():
        for line in _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines():
            label, _, value = line.partition(":")
            if label.strip() in ("flags", "Features"):
                found = set(value.split())
                break
    features = tuple(name for name in sorted(_RELEVANT.split()) if name in found)
    level = next((name for name, needs in _LEVELS if found.issuperset(needs)), architecture)
    return MachineIsa(architecture, level, features)


def missing_features(needed: MachineIsa, have: MachineIsa) -> tuple[str, ...]:
    """Return what ``needed`` asks for and ``have`` lacks, by name; empty when code for the one runs on the other."""
    if needed.architecture != have.architecture:
        return (needed.architecture,)
    return tuple(name for name in needed.features if name not in have.features)


def isa_named(name: str) -> MachineIsa:
    """Return the instruction set that ``-march=<name>`` compiles for; ``native`` is this machine's.

    A level other than this machine's own is described by the features that level is known to need.
    """
    machine = this_machine()
    if name == "native":
        return machine
    levels = [level for level, _ in _LEVELS]
    if name in levels:
        needed = {feature for _, features in _LEVELS[levels.index(name) :] for feature in features}
        return MachineIsa("x86_64", name, tuple(sorted(needed)))
    return MachineIsa(machine.architecture, name, ())
