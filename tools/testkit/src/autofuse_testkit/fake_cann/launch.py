"""Runs one launch of the stand-in in the emulator: memory comes as files, and goes back into them."""

import sys
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np


def main(library: str, soc: str, entry: str, block_dim: str, folder: str, count: str) -> None:
    """Run ``entry``; the last of ``count`` files is the workspace."""
    files = [Path(folder) / str(number) for number in range(int(count))]
    *arrays, workspace = [np.fromfile(file, np.uint8) for file in files]
    emulated = sim.Library(path=Path(library), soc=sim.load_soc(soc), compiler="g++")
    tiling = (Path(folder) / "tiling").read_bytes()
    sim.run(emulated, entry, arrays, tiling=tiling, block_dim=int(block_dim), workspace=workspace)
    for file, array in zip(files, [*arrays, workspace], strict=True):
        array.tofile(file)


if __name__ == "__main__":
    main(*sys.argv[1:])
