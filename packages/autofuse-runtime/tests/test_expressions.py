"""Size bytecode in C means what autofuse_ir says it means."""

from array import array
from typing import Any

import numpy as np
from autofuse_ir.dims import (
    Dim,
    all_of,
    any_of,
    as_dim,
    ceildiv,
    dim_max,
    dim_min,
    eq,
    floordiv,
    le,
    lt,
    mod,
    ne,
    select,
)
from autofuse_ir.dims_bytecode import compile_dim, run, stack_depth
from autofuse_ir.errors import IrError
from hypothesis import given, settings
from hypothesis import strategies as st

SYMBOLS = ("x", "y", "z")
LEAVES = st.one_of(st.sampled_from([as_dim(name) for name in SYMBOLS]), st.integers(-9, 9).map(as_dim))


def grown(dims: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    pairs = st.tuples(dims, dims)
    conds = st.tuples(st.sampled_from([eq, ne, le, lt]), dims, dims).map(lambda t: t[0](t[1], t[2]))
    wide = st.tuples(st.sampled_from([all_of, any_of]), conds, conds).map(lambda t: t[0](t[1], t[2]))
    divide = st.tuples(st.sampled_from([floordiv, ceildiv, mod]), dims, dims.filter(lambda d: not d.is_constant))
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(lambda p: dim_min(*p)),
        pairs.map(lambda p: dim_max(*p)),
        divide.map(lambda t: t[0](t[1], t[2])),
        st.tuples(st.one_of(conds, wide), dims, dims).map(lambda t: select(*t)),
    )


VALUES = st.one_of(st.integers(-12, 12), st.sampled_from([2**31, 2**62, -(2**63), 2**63 - 1]))


@given(dim=st.recursive(LEAVES, grown, max_leaves=12), values=st.tuples(VALUES, VALUES, VALUES))
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
def test_the_extension_evaluates_bytecode_as_python_does(kit: Any, dim: Dim, values: tuple[int, int, int]) -> None:
    code = compile_dim(dim, {name: k for k, name in enumerate(SYMBOLS)})
    try:
        expected: int | None = run(code, values)
    except IrError:
        expected = None
    got = kit.extension.evaluate(array("q", code).tobytes(), array("q", values).tobytes(), stack_depth(code))
    assert got == expected


def test_hand_written_code_runs(kit: Any) -> None:
    code = np.array([1, 0, 18, 6], np.int64)  # -(not 0)
    assert kit.extension.evaluate(code.tobytes(), b"", 1) == -1
