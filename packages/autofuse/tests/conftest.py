"""Small graphs that the tests of the driver compile, and a cache that is not the user's."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from attrs import frozen
from autofuse.cli import exit_code_of
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import write
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.graph import Graph
from autofuse_reference.arrays import to_tensor_data


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is compiled out of the user's cache, unless the run says where it goes."""
    with pytest.MonkeyPatch.context() as patch:
        if "AUTOFUSE_CACHE" not in os.environ:
            patch.setenv("AUTOFUSE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def affine() -> Graph:
    """y = (x + bias) * 2 over [batch, 6]: operators ``shift`` and ``double``."""
    b = GraphBuilder("affine")
    x = b.input("x", ("batch", 6), dt.float32)
    bias = b.input("bias", (6,), dt.float32)
    two = b.constant(to_tensor_data(np.array([2.0], np.float32)))
    return b.build(outputs={"y": b.op("Mul", b.op("Add", x, bias, name="shift"), two, name="double")})


@pytest.fixture
def affine_file(affine: Graph, tmp_path: Path) -> Path:
    return write(affine, tmp_path / "affine.json")


@pytest.fixture
def quotient() -> Graph:
    """q = a // b on integers, which has no value where b is zero."""
    b = GraphBuilder("quotient")
    a = b.input("a", ("n",), dt.int32)
    return b.build(outputs={"q": b.op("FloorDiv", a, b.input("b", ("n",), dt.int32))})


@frozen
class Answer:
    """What a command line said, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return a function that runs a command line in this process."""

    def run(*words: object) -> Answer:
        capsys.readouterr()
        code = exit_code_of([str(word) for word in words])
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err)

    return run
