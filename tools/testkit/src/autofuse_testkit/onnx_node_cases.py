"""The ONNX project's own node tests, one operator each, as an oracle that is not ours. Needs the package onnx."""

import warnings
from functools import cache
from typing import Any

import numpy as np


@cache
def node_cases() -> tuple[Any, ...]:
    """Return every case as onnx has it (``name``, ``model``, ``data_sets``), the same random inputs every time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(1)
        from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415  takes seconds

        return tuple(collect_testcases(None))
