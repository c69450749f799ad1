"""Sampled sizes satisfy all guards; witnesses violate theirs."""

from typing import Any

import numpy as np
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.dims import all_of, any_of, as_dim, eq, free_symbols, gt, le, mod, symbol
from autofuse_ir.dims_eval import holds
from autofuse_ir.facts import Guard, GuardKind, InputDim, ResultDim, SymbolFact, SymbolFacts
from autofuse_symshape.sample import bindable, sample, witness
from autofuse_symshape.stage import infer

A, B, C = symbol("a"), symbol("b"), symbol("c")


def facts_of(*conds: Any, low: int = 0, high: int = 2**31 - 1) -> SymbolFacts:
    symbols = tuple(SymbolFact(name, low, high, low, (InputDim("x", i),)) for i, name in enumerate("abc"))
    return SymbolFacts(symbols, (), tuple(Guard(GuardKind.ASSERT, cond, "op", "message") for cond in conds))


CASES = [
    facts_of(),
    facts_of(eq(A, B)),
    facts_of(any_of(eq(A, B), eq(A, 1), eq(B, 1)), any_of(eq(B, C), eq(B, 1), eq(C, 1))),
    facts_of(eq(mod(A, 8), 0), gt(A, 0)),
    facts_of(eq(A, B * 3 + C)),
    facts_of(eq(A * B, C * 12)),
    facts_of(all_of(le(A, B), le(B, C)), eq(mod(C, 7), 0)),
    facts_of(eq(A, as_dim("min(b, c) + 2"))),
    facts_of(low=5, high=9),
    facts_of(gt(A, B), low=3000),
]


@pytest.mark.parametrize("facts", CASES, ids=range(len(CASES)))
def test_samples_satisfy_guards_and_ranges_and_differ(facts: SymbolFacts) -> None:
    found = sample(facts, 20, seed=4)
    assert len(found) == 20
    assert len({tuple(sorted(sizes.items())) for sizes in found}) == 20
    for sizes in found:
        assert all(holds(guard.condition, sizes) for guard in facts.guards)
        assert all(fact.lo <= sizes[fact.name] <= fact.hi for fact in facts.symbols)


def test_sizes_0_1_and_2_and_large_ones_are_among_the_samples() -> None:
    seen = {size for sizes in sample(facts_of(), 40, largest=500) for size in sizes.values()}
    assert {0, 1, 2, 500} <= seen
    assert max(seen) == 500
    assert any(size % 2 and size > 7 for size in seen)


def test_a_seed_gives_the_same_sizes_and_another_one_others() -> None:
    assert sample(facts_of(), 5, seed=1) == sample(facts_of(), 5, seed=1)
    assert sample(facts_of(), 5, seed=1) != sample(facts_of(), 5, seed=2)


def test_guards_that_cannot_hold_give_no_sample() -> None:
    assert sample(facts_of(eq(A, 3), eq(A, 4)), 3) == ()


def test_facts_without_symbols_give_the_empty_binding() -> None:
    assert sample(SymbolFacts((), ()), 20) == ({},)


def test_sizes_that_a_step_binds_are_left_out() -> None:
    unbacked = SymbolFact("u", 0, 9, 1, (ResultDim("y", 0),))
    facts = SymbolFacts((*facts_of().symbols, unbacked), (), (*facts_of(eq(symbol("u"), 3)).guards,))
    assert [fact.name for fact in bindable(facts)] == ["a", "b", "c"]
    assert all("u" not in sizes for sizes in sample(facts, 5))


@pytest.mark.parametrize("facts", [case for case in CASES if case.guards], ids=str)
def test_a_witness_violates_its_guard_and_no_other(facts: SymbolFacts) -> None:
    for guard in facts.guards:
        sizes = witness(facts, guard)
        assert sizes is not None
        assert not holds(guard.condition, sizes)
        others = [other for other in facts.guards if other is not guard]
        assert all(holds(other.condition, sizes) for other in others)


def test_a_guard_that_always_holds_has_no_witness() -> None:
    facts = facts_of(le(A, 2**31 - 1))
    assert witness(facts, facts.guards[0]) is None


def test_every_guard_of_a_model_has_a_witness(as_constant: Any) -> None:
    builder = GraphBuilder("guards")
    x, y = builder.input("x", ("b", "s", "d"), dt.float32), builder.input("y", ("t", "e"), dt.float32)
    heads = builder.constant(as_constant(np.asarray([0, 0, -1, 64])))
    total = builder.op("Add", x, y)
    split = builder.op("Reshape", total, heads)
    product = builder.op("MatMul", x, builder.input("w", ("k", 64), dt.float32))
    _, facts = infer(builder.build(outputs={"z": split, "p": product}))
    assert len(facts.guards) == 4
    for guard in facts.guards:
        sizes = witness(facts, guard)
        assert sizes is not None
        assert set(free_symbols(guard.condition)) <= set(sizes)
        assert not holds(guard.condition, sizes)
