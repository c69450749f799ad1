"""Groups of a kernel: their order, and who shares workspace with whom."""

import pytest
from attrs import evolve
from autofuse_ir import dtypes as dt
from autofuse_ir.checks import findings
from autofuse_ir.dims import TRUE, const, symbol
from autofuse_ir.errors import IrError
from autofuse_ir.graph import Attr
from autofuse_ir.group_order import levels, predecessors
from autofuse_ir.kernel_memory import workspace_plan
from autofuse_ir.program import GraphCall
from autofuse_ir.schedule import Alternative, KernelArgument, ScheduleGroup, ScheduleResult
from autofuse_ir.text import show

BATCH = symbol("batch")


def group(name, *after):
    return ScheduleGroup(name, (), after)


def value(index, size):
    return KernelArgument(f"v{index}", False, index, dt.float32, (size,))


def part(impl, name, after=(), reads=None, makes=None):
    """A group that runs ``impl`` with its first input and its output elsewhere: (attribute, number)."""
    nodes = []
    for node in impl.nodes:
        wanted = reads if node.name == "in0" else makes if node.op == "Output" else None
        nodes.append(node if wanted is None else evolve(node, attrs=(Attr(*wanted),)))
    return ScheduleGroup(name, (evolve(impl, name=name, nodes=tuple(nodes)),), after)


def schedule_of(artefacts, *groups, internals):
    wide = tuple(evolve(artefacts.schedule.arguments[0], name=f"v{index}", index=index) for index in range(internals))
    return evolve(
        artefacts.schedule,
        alternatives=(Alternative("general", groups, TRUE),),
        internals=wide,
        workspace_bytes=workspace_plan(wide, Alternative("general", groups, TRUE)).bytes,
    )


def chain(artefacts, **last):
    """Three groups one after the other: g0 makes value 0, g1 makes value 1 of it, g2 the output."""
    impl = artefacts.impl_graph
    return schedule_of(
        artefacts,
        part(impl, "g0", makes=("internal", 0)),
        part(impl, "g1", ("g0",), ("internal", 0), ("internal", 1)),
        part(impl, "g2", **{"after": ("g1",), "reads": ("internal", 1), **last}),
        internals=2,
    )


def told(schedule):
    return "\n".join(finding.what for finding in findings(schedule))


def test_levels_put_groups_side_by_side_that_wait_for_earlier_ones_only():
    groups = (group("a"), group("b", "a"), group("c"), group("d", "b", "c"))
    assert [[g.name for g in level] for level in levels(groups)] == [["a", "c"], ["b"], ["d"]]
    assert predecessors(groups)["d"] == {"a", "b", "c"}


@pytest.mark.parametrize("groups", [(group("a", "b"), group("b", "a")), (group("a", "nobody"),)])
def test_groups_that_can_never_start_are_an_error(groups):
    with pytest.raises(IrError, match="wait for one another, or for no group"):
        levels(groups)


def test_a_value_takes_over_the_slot_of_one_whose_readers_are_complete(artefacts):
    impl = artefacts.impl_graph
    groups = (
        part(impl, "g0", makes=("internal", 0)),
        part(impl, "g1", ("g0",), ("internal", 0), ("internal", 1)),
        part(impl, "g2", ("g1",), ("internal", 1), ("internal", 2)),
        part(impl, "g3", ("g2",), ("internal", 2)),
    )
    plan = workspace_plan(tuple(value(i, BATCH * 16) for i in range(3)), Alternative("", groups, TRUE))
    assert plan.internals == (const(0), BATCH * 64, const(0))
    assert plan.bytes == BATCH * 128


def test_values_of_groups_without_an_order_never_share(artefacts):
    impl = artefacts.impl_graph
    groups = (
        part(impl, "g0", makes=("internal", 0)),
        part(impl, "g1", ("g0",), reads=("internal", 0)),
        part(impl, "g2", makes=("internal", 1)),
        part(impl, "g3", ("g2",), reads=("internal", 1), makes=("index", 1)),
    )
    plan = workspace_plan((value(0, const(16)), value(1, const(16))), Alternative("", groups, TRUE))
    assert plan.internals == (const(0), const(64))


def test_a_chain_of_groups_is_well_formed_and_shown(artefacts):
    schedule = chain(artefacts)
    assert findings(schedule) == ()
    text = show(schedule)
    assert "internal 1 v1: f32[batch, 8]" in text
    assert "group g1 after (g0)" in text


def test_reading_what_no_group_before_makes_is_found(artefacts):
    assert "does not wait for 'g1', which makes it" in told(chain(artefacts, after=()))
    assert "the kernel has no internal value 7" in told(chain(artefacts, reads=("internal", 7)))
    assert "does not say which argument" in told(chain(artefacts, reads=("output", "x")))


def test_a_group_may_read_an_output_of_one_before(artefacts):
    impl = artefacts.impl_graph
    assert (
        findings(
            schedule_of(
                artefacts,
                part(impl, "g0"),
                part(impl, "g1", ("g0",), ("output", 0), ("internal", 0)),
                internals=1,
            )
        )
        == ()
    )
    unordered = schedule_of(
        artefacts, part(impl, "g0"), part(impl, "g1", (), ("output", 0), ("internal", 0)), internals=1
    )
    assert "it reads output 0, but does not wait for 'g0'" in told(unordered)


def test_a_value_has_one_maker(artefacts):
    impl = artefacts.impl_graph
    twice = schedule_of(artefacts, part(impl, "g0"), part(impl, "g1", ("g0",)), internals=0)
    assert "both make output 0" in told(twice)
    nobody = schedule_of(artefacts, part(impl, "g0", reads=("internal", 0)), internals=1)
    assert "no group makes internal value 0" in told(nobody)
    assert isinstance(nobody, ScheduleResult)


def test_an_alternative_may_do_without_an_internal_value(artefacts):
    through = chain(artefacts)
    impl = artefacts.impl_graph
    direct = Alternative("direct", (part(impl, "g3"),), TRUE)
    both = evolve(through, alternatives=(direct, *through.alternatives))
    assert findings(both) == ()
    assert workspace_plan(both.internals, direct).bytes == const(0)
    reader = Alternative("direct", (part(impl, "g3", reads=("internal", 1)),), TRUE)
    assert "no group makes internal value 1" in told(evolve(through, alternatives=(reader, *through.alternatives)))


def test_several_graphs_of_a_program_kernel_say_what_passes_between_them(artefacts):
    kernel = artefacts.program.kernels[0]
    graph, names = kernel.graphs[0], [argument.name for argument in kernel.arguments]
    calls = (GraphCall((names[0], names[1]), ("between",)), GraphCall(("between", names[1]), (names[2],)))

    def found(calls):
        changed = evolve(kernel, graphs=(graph, graph), calls=calls)
        return "\n".join(f.what for f in findings(evolve(artefacts.program, kernels=(changed,))))

    assert found(calls) == ""
    assert "there are 0 for 2 graphs" in found(())
    assert "it reads 'between', which is not made before" in found(calls[::-1])
    assert "two graphs make it" in found((calls[1], calls[1]))
    assert "1 values for 2 Data nodes" in found((calls[0], GraphCall(("between",), (names[2],))))
