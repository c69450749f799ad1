"""Every synchronisation in the sample kernels is needed: without it the emulator reports an error.

A mutant is a sample kernel with one EnQue, DeQue, FreeTensor, flag, barrier or SyncAll taken out of its text. Without a
DeQue the consumer uses the tensor that was enqueued last, the way it would if queues synchronised nothing.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import autofuse_ascend_sim as sim
from attrs import frozen

HERE = Path(__file__).parent

STATEMENT = re.compile(
    r"^[ \t]*(?:[\w.]+(?:\.|->))?(?:EnQue|FreeTensor|SetFlag|WaitFlag|PipeBarrier|SyncAll)(?:<[^;()]*>)?\([^;]*\);",
    re.M,
)
DEQUEUE = re.compile(r"(\w+)\.(?:template )?DeQue<(\w+)>\(\)")
ENTRY = re.compile(r'^extern "C" .*?^}\n', re.M | re.S)
NAME = re.compile(r"void (\w+)\(")


@frozen
class Mutant:
    """A changed kernel: what was taken out, and the text without it."""

    sample: str
    line: int
    removed: str
    text: str


def mutants(sample: str, entry: str) -> Iterator[Mutant]:
    """All mutants of a sample kernel; of its entries only `entry` is kept."""
    source = (HERE / f"{sample}.cpp").read_text()
    source = ENTRY.sub(
        lambda m: m.group() if NAME.search(m.group())[1] == entry else "\n" * m.group().count("\n"), source
    )
    for site in STATEMENT.finditer(source):
        line = source.count("\n", 0, site.end()) + 1
        kept = source[: site.start()] + ";" + "\n" * site.group().count("\n") + source[site.end() :]
        yield Mutant(sample, line, site.group().strip(), kept)
    for site in DEQUEUE.finditer(source):
        queue, element = site.groups()
        changed = source[: site.start()] + f"held_{queue}.template ReinterpretCast<{element}>()" + source[site.end() :]
        enqueue = re.compile(rf"\b({queue})\.EnQue\((\w+)\);")
        changed = enqueue.sub(rf"held_{queue} = \2.template ReinterpretCast<uint8_t>(); \g<0>", changed)
        declaration = f"static thread_local AscendC::LocalTensor<uint8_t> held_{queue}; "
        line = source.count("\n", 0, site.start()) + 1
        changed = changed.replace("using namespace AscendC;", declaration + "using namespace AscendC;", 1)
        yield Mutant(sample, line, site.group(), changed)


def translation_unit(group: list[Mutant], first: int, entry: str, folder: Path) -> Path:
    """A file with all mutants of `group`, each in a namespace, its entry prefixed with the mutant's number."""
    text = '#include "kernel_operator.h"\n'
    for number, mutant in enumerate(group, first):
        body = folder / f"{mutant.sample}_{number}.cpp"
        body.write_text(mutant.text)
        text += f"#define {entry} mutant{number}_{entry}\n"
        text += f'namespace mutant{number} {{\n#include "{body}"\n}}\n#undef {entry}\n'
    unit = folder / f"mutants_{group[0].sample}.cpp"
    unit.write_text(text)
    return unit


def unreported(sample: str, runs: tuple, folder: Path) -> tuple[int, list[str]]:
    """How many mutants a kernel has, and which of them ran without an error."""
    entry = runs[0].entry
    group = list(mutants(sample, entry))
    library = sim.compile([translation_unit(group, 0, entry, folder)], "ascend-a2", flags=["-O0"])
    survivors = []
    for number, mutant in enumerate(group):
        if not any(is_reported(run, library, f"mutant{number}_") for run in runs if run.entry == entry):
            survivors.append(f"{sample}.cpp:{mutant.line}: without `{mutant.removed}`")
    return len(group), survivors


def is_reported(run: object, library: object, prefix: str) -> bool:
    try:
        run.start(library, prefix)
    except (sim.RuleError, sim.HangError):
        return True
    return False


def test_every_missing_synchronisation_is_reported(sample: str, runs: tuple, tmp_path: Path) -> None:
    count, survivors = unreported(sample, runs, tmp_path)
    assert count >= 3
    assert survivors == []
