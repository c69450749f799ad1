"""Write every artefact that the stages make into a folder."""

from collections import Counter
from pathlib import Path

from autofuse_ir.artefact import write

from autofuse.pipeline import Observer


def dump_into(folder: Path, also: Observer) -> Observer:
    """Return an observer that writes ``NN_stage.json`` files into ``folder`` and then calls ``also``."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: Counter[str] = Counter()

    def observe(stage: str, artefact: object) -> None:
        seen[stage] += 1
        write(artefact, folder / f"{stage}_{seen[stage]:03d}.json")  # type: ignore[arg-type]
        also(stage, artefact)

    return observe
