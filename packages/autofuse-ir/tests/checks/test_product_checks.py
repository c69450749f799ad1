"""Each invariant of a TilingModel, a KernelBundle, a Program and a TargetSpec, broken one at a time."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.checks import findings
from autofuse_ir.dims import FALSE, TRUE, const, eq, symbol
from autofuse_ir.facts import Guard, GuardKind
from autofuse_ir.kernels import StatusMessage
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    KernelCall,
    ProgramBuffer,
    Variant,
    WriteSizes,
)
from autofuse_ir.target import OperatorCost, OperatorSupport, Quantity, load_target
from autofuse_ir.tiling import Condition, Constraint, CostTerm, PipeCost


def reported(artefact, text):
    found = findings(artefact)
    assert any(text in f"{finding.where}: {finding.what}" for finding in found), found


def case(model, **fields):
    return evolve(model, cases=(evolve(model.cases[0], **fields),))


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda m: evolve(m, cases=()), "there is none"),
        (lambda m: evolve(m, cases=m.cases * 2), "case 0: there are two"),
        (lambda m: case(m, variables=m.cases[0].variables * 2), "listed twice"),
        (lambda m: case(m, variables=(evolve(m.cases[0].variables[0], lo=0), m.cases[0].variables[1])), "has lo 0"),
        (lambda m: case(m, head=(CostTerm(float("nan"), const(1), const(1)),)), "coefficient nan"),
        (lambda m: case(m, head=(CostTerm(-1.0, const(1), const(1)),)), "coefficient -1.0"),
        (lambda m: case(m, head=(CostTerm(1.0, const(1), const(0)),)), "divides by 0"),
        (lambda m: case(m, costs=(PipeCost("VEC", ()), PipeCost("VEC", ()))), "two costs"),
        (lambda m: case(m, constraints=(Constraint("water", const(0), const(1), ""),)), "no resource 'water'"),
        (lambda m: case(m, blocks=symbol("q")), "'q' is not declared"),
        (
            lambda m: evolve(m, cases=(*m.cases, evolve(m.cases[0], key=1, alternative="b"))),
            "conditions are those of",
        ),
        (lambda m: evolve(m, conditions=(Condition("b", TRUE),)), "conditions are those of ['b']"),
        (lambda m: evolve(m, conditions=(Condition("general", eq(symbol("q"), 1)),)), "'q' is not declared"),
        (lambda m: evolve(m, support_files=(evolve(m.support_files[0], text="// edited"),)), "another sha256"),
        (lambda m: evolve(m, support_files=(evolve(m.support_files[0], name="../a.h"),)), "leads out of its folder"),
    ],
)
def test_a_broken_tiling_model_is_found(artefacts, breaking, text):
    reported(breaking(artefacts.tiling), text)


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda k: evolve(k, files=(evolve(k.files[0], text="int main() {}"),)), "another sha256"),
        (lambda k: evolve(k, files=(evolve(k.files[0], path="/etc/passwd"),)), "leads out of its folder"),
        (lambda k: evolve(k, files=(evolve(k.files[0], path="a/../../b"),)), "leads out of its folder"),
        (lambda k: evolve(k, files=k.files * 2), "there are two"),
        (lambda k: evolve(k, files=()), "none of them is the kernel"),
        (lambda k: evolve(k, arguments=k.arguments[1:]), "their indices are [1]"),
        (lambda k: evolve(k, safe_aliases=((1, 0),)), "output 1 with input 0"),
        (lambda k: evolve(k, launch="af k0"), "'af k0' is no C identifier"),
        (lambda k: evolve(k, tiling_bytes=-1), "-1 bytes"),
        (lambda k: evolve(k, status_messages=(StatusMessage(64, ""),)), "has 64 bits"),
        (lambda k: evolve(k, status_messages=(StatusMessage(1, ""), StatusMessage(1, ""))), "two messages"),
        (lambda k: evolve(k, symbols=()), "'batch' is not declared"),
    ],
)
def test_a_broken_kernel_bundle_is_found(artefacts, breaking, text):
    reported(breaking(artefacts.kernels), text)


def steps(program, change):
    """The program with its step list changed."""
    return evolve(program, variants=(Variant(TRUE, tuple(change(list(program.variants[0].steps)))),))


def buffers(program, name, **fields):
    return evolve(program, buffers=tuple(evolve(b, **fields) if b.name == name else b for b in program.buffers))


GUARD = AssertGuard(Guard(GuardKind.ASSERT, eq(symbol("late"), 0), "op", ""))


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda p: evolve(p, buffers=(*p.buffers, p.buffers[0])), "there are two"),
        (lambda p: buffers(p, "flat", alias_of="q"), "leads nowhere"),
        (lambda p: buffers(p, "/mlp/Add", alias_of="flat"), "leads nowhere"),
        (lambda p: buffers(p, "x", kind=BufferKind.INTERMEDIATE), "no input buffer"),
        (lambda p: buffers(p, "x", dtype=dt.int8), "no input buffer of its dtype"),
        (lambda p: buffers(p, "bias", kind=BufferKind.INTERMEDIATE), "no constant buffer"),
        (lambda p: evolve(p, outputs=(evolve(p.outputs[0], value="q"),)), "there is no buffer 'q'"),
        (lambda p: evolve(p, symbols=()), "'batch' is not declared"),
        (lambda p: evolve(p, peak_bytes=symbol("q")), "'q' is not declared"),
        (lambda p: evolve(p, variants=()), "there are 0"),
        (lambda p: evolve(p, variants=(evolve(p.variants[0], condition=FALSE),)), "does not run for all sizes"),
        (lambda p: evolve(p, variants=p.variants * 5), "there are 5"),
        (lambda p: evolve(p, kernels=(evolve(p.kernels[0], safe_aliases=((0, 9),)),)), "output 0 with input 9"),
        (lambda p: steps(p, lambda s: s[1:]), "read before anything is written"),
        (lambda p: steps(p, lambda s: s[:5]), "output 'rows' is never written"),
        (lambda p: steps(p, lambda s: [*s, Free("picked_rows")]), "freed twice"),
        (lambda p: steps(p, lambda s: [*s, Copy("picked_rows", "rows")]), "read after it was freed"),
        (lambda p: steps(p, lambda s: [*s, WriteSizes("shape", (const(1), const(1)))]), "written after it was freed"),
        (lambda p: steps(p, lambda s: [*s, Free("rows")]), "not the program's to free"),
        (lambda p: steps(p, lambda s: [*s, Free("flat")]), "output 'y' is freed"),
        (lambda p: steps(p, lambda s: [*s, Free("q")]), "there is no buffer 'q'"),
        (lambda p: steps(p, lambda s: [*s, Copy("x", "bias")]), "which is not written"),
        (lambda p: steps(p, lambda s: [*s, KernelCall("k1", (), ())]), "there is no kernel 'k1'"),
        (
            lambda p: steps(p, lambda s: [KernelCall("k0", ("x",), ("/mlp/Add",), "space"), *s[1:]]),
            "1 inputs are given",
        ),
        (lambda p: steps(p, lambda s: [KernelCall("k0", ("x", "bias"), ("/mlp/Add",)), *s[2:]]), "needs workspace"),
        (lambda p: steps(p, lambda s: [*s[:6], *s[7:]]), "it needs picked, which no step before it binds"),
        (lambda p: steps(p, lambda s: [GUARD, *s]), "it needs late"),
        (lambda p: steps(p, lambda s: [*s, BindSymbol("m", "x", None, None, 0, 1)]), "exactly one of dim and element"),
        (lambda p: steps(p, lambda s: [*s, BindSymbol("m", "x", 0, None, 2, 1)]), "[2, 1] is no range"),
        (lambda p: steps(p, lambda s: [*s, Alias("x", "flat")]), "does not share the bytes"),
        (lambda p: evolve(p, regions=()), "there is no host region 'h0'"),
        (lambda p: evolve(p, regions=(evolve(p.regions[0], inputs=()),)), "other numbers of inputs"),
        (lambda p: buffers(p, "/mlp/Add", dtype=dt.int8), "'/mlp/Add' is i8, but the argument is f32"),
    ],
)
def test_a_broken_program_is_found(artefacts, breaking, text):
    reported(breaking(artefacts.program), text)


def test_a_view_of_an_output_may_be_written_in_its_place(artefacts):
    flat = steps(artefacts.program, lambda s: [KernelCall("k0", ("x", "bias"), ("flat",), "space"), *s[1:]])
    assert findings(flat) == ()


def test_an_object_of_unknown_size_may_be_freed(artefacts):
    extra = ProgramBuffer("text", BufferKind.OBJECT, dt.opaque, ())
    program = evolve(artefacts.program, buffers=(*artefacts.program.buffers, extra))
    assert findings(steps(program, lambda s: [Copy("x", "text"), Free("text"), *s])) == ()


@pytest.mark.parametrize(
    ("breaking", "text"),
    [
        (lambda t: evolve(t, vector_bytes=0), "vector_bytes: it is 0"),
        (lambda t: evolve(t, limits=evolve(t.limits, queues=-1)), "limit queues: it is -1"),
        (lambda t: evolve(t, local_memory=evolve(t.local_memory, reserved=10**9)), "are reserved"),
        (lambda t: evolve(t, support=(OperatorSupport("Gelu", (), 0, 0),)), "no such operator"),
        (lambda t: evolve(t, support=(OperatorSupport("Add", (), -1, 0),)), "temporary bytes are negative"),
        (lambda t: evolve(t, support=(OperatorSupport("Add", (), 0, 0),) * 2), "two rows"),
        (lambda t: evolve(t, costs=(OperatorCost("Gelu", dt.float32, 1.0, 1.0),)), "no such operator"),
        (lambda t: evolve(t, costs=(OperatorCost("Add", dt.float32, -1.0, 1.0),)), "negative or not finite"),
        (lambda t: evolve(t, costs=(OperatorCost("Add", dt.float32, 1.0, 1.0),) * 2), "two rows"),
        (lambda t: evolve(t, quantities=(Quantity("q", 1.0, "", "here", True),)), "lacks a unit"),
        (lambda t: evolve(t, quantities=(Quantity("q", 1.0, "Hz", "here", True),) * 2), "there are two"),
    ],
)
def test_a_broken_target_is_found(breaking, text):
    reported(breaking(load_target("cpu")), text)
