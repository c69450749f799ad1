"""The committed schemas are those of the classes, and say which version number must move; samples load for ever."""

from enum import Enum
from pathlib import Path

import attrs
import pytest
from autofuse_ir import dtypes as dt
from autofuse_ir.artefact import dumps, loads
from autofuse_ir.contracts import CONTRACTS, Contract
from autofuse_ir.dims import TRUE, eq, select, symbol
from autofuse_ir.schema import Move, compare, derive, main, problems, release, required_move, update
from autofuse_ir.tensor_data import TensorData
from autofuse_ir.wire import EnumOf, Fixed, ListOf, Maybe, OneOf, Record, Scalar, record

SAMPLES = Path(__file__).parent / "samples"

ATTRIBUTES = (True, -(2**63), 0.1, "text", dt.bfloat16, symbol("n"), (1, 2), (0.5, float("-inf")), ("a", ""))
VALUES = {
    Scalar.BOOL: (True, False),
    Scalar.INT: (1, 2**63 - 1),
    Scalar.FLOAT: (0.1, -0.0, float("inf"), float("nan"), 5e-324),
    Scalar.STR: ("text", "", "é\n"),
    Scalar.DIM: (symbol("n"), select(eq(symbol("n"), 1), symbol("m"), symbol("n") // 3)),
    Scalar.COND: (TRUE, eq(symbol("n"), 1)),
    Scalar.DTYPE: dt.ALL_DTYPES,
    Scalar.ATTRIBUTE: (*ATTRIBUTES, (symbol("n"), symbol("m") + 1), ((1,), ()), ()),
    Scalar.TENSOR: tuple(TensorData(d, (2, 1), bytes(range(2 * d.itemsize))) for d in dt.TENSOR_DTYPES),
}


def variants(wire):
    """Values of a wire type that between them hold every class, member and form below it."""
    match wire:
        case Scalar():
            return list(VALUES[wire])
        case EnumOf(enum):
            return list(enum)
        case ListOf(item):
            return [tuple(variants(item)), ()]
        case Fixed(items):
            return [tuple(variants(item)[0] for item in items)]
        case Maybe(item):
            return [*variants(item), None]
        case OneOf(members):
            return [each for member in members for each in variants(member)]
        case Record(model, fields):
            choices = {field.name: variants(field.type) for field in fields}
            count = max(map(len, choices.values()))
            return [model(**{name: c[i % len(c)] for name, c in choices.items()}) for i in range(count)]


def sample(contract):
    """An artefact that uses everything its contract allows; it means nothing."""
    return variants(record(contract.model))[0]


def test_the_committed_schemas_are_those_of_the_classes():
    assert list(problems()) == []


def test_every_version_has_its_sample(golden, request):
    update_samples = request.config.getoption("--update-golden")
    for contract in CONTRACTS:
        path = SAMPLES / f"{contract.stem}.json"
        if update_samples:
            path.parent.mkdir(exist_ok=True)
            path.write_text(dumps(sample(contract)), "utf-8")
        assert path.read_text("utf-8") == dumps(sample(contract)), f"{path.name}: move the version, or --update-golden"


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_samples_of_all_versions_load(path):
    found = loads(path.read_bytes())
    assert loads(dumps(found)) is not None
    if any(path.stem == contract.stem for contract in CONTRACTS):
        assert dumps(found).encode() == path.read_bytes()


class Colour(Enum):
    RED = "red"


class MoreColour(Enum):
    RED = "red"
    BLUE = "blue"


@attrs.frozen
class A:
    x: int


@attrs.frozen
class B:
    y: int


@attrs.frozen
class C:
    z: int


def schema_of(**fields):
    """The schema of a class ``Thing`` with ``fields``: name -> (type, required)."""
    made = {
        name: attrs.field(type=kind) if required else attrs.field(type=kind, default=None)
        for name, (kind, required) in sorted(fields.items(), key=lambda item: not item[1][1])
    }
    schema = derive(Contract("autofuse.thing", attrs.make_class("Thing", made, frozen=True), (1, 0)))
    schema["types"] = {name.replace("More", ""): kind for name, kind in schema["types"].items()}
    for field in schema["types"]["Thing"]["fields"].values():
        field["type"] = field["type"].replace("More", "")
    return schema


INT, OPTIONAL = (int, True), (int, False)


@pytest.mark.parametrize(
    ("before", "after", "move"),
    [
        ({"a": INT}, {"a": INT}, Move.NONE),
        ({"a": INT}, {"a": INT, "b": OPTIONAL}, Move.MINOR),
        ({"a": INT}, {"a": INT, "b": INT}, Move.MAJOR),
        ({"a": INT, "b": INT}, {"a": INT}, Move.MAJOR),
        ({"a": INT}, {"a": (str, True)}, Move.MAJOR),
        ({"a": INT}, {"a": OPTIONAL}, Move.MINOR),
        ({"a": OPTIONAL}, {"a": INT}, Move.MAJOR),
        ({"a": INT}, {"a": (int | None, True)}, Move.MAJOR),
        ({"a": (Colour, True)}, {"a": (MoreColour, True)}, Move.MINOR),
        ({"a": (MoreColour, True)}, {"a": (Colour, True)}, Move.MAJOR),
        ({"a": (A | B, True)}, {"a": (A | B | C, True)}, Move.MINOR),
        ({"a": (tuple[A | B, ...], True)}, {"a": (tuple[A | B | C, ...], True)}, Move.MINOR),
        ({"a": (A | B | C, True)}, {"a": (A | B, True)}, Move.MAJOR),
        ({"a": (A, True)}, {"a": (A | B, True)}, Move.MAJOR),
    ],
)
def test_a_change_says_which_number_must_move(before, after, move):
    assert required_move(compare(schema_of(**before), schema_of(**after))) is move


def thing(version, *fields):
    return Contract("autofuse.thing", attrs.make_class("Thing", dict(fields), frozen=True), version)


REQUIRED, ADDED = ("a", attrs.field(type=int)), ("b", attrs.field(type=int, default=0))


def test_an_unreleased_schema_follows_its_classes(tmp_path):
    assert "is not up to date" in next(problems([thing((1, 0), REQUIRED)], tmp_path))
    update([thing((1, 0), REQUIRED)], tmp_path)
    assert list(problems([thing((1, 0), REQUIRED)], tmp_path)) == []
    assert "Thing.b is new and optional" in next(problems([thing((1, 0), REQUIRED, ADDED)], tmp_path))
    update([thing((1, 0), REQUIRED, ADDED)], tmp_path)
    assert list(problems([thing((1, 0), REQUIRED, ADDED)], tmp_path)) == []


def test_a_released_schema_is_frozen_and_its_number_must_move(tmp_path):
    update([thing((1, 0), REQUIRED)], tmp_path)
    release([thing((1, 0), REQUIRED)], tmp_path)
    assert list(problems([thing((1, 0), REQUIRED)], tmp_path)) == []
    update([thing((1, 0), REQUIRED, ADDED)], tmp_path)
    assert "must move to (1, 1)" in next(problems([thing((1, 0), REQUIRED, ADDED)], tmp_path))
    assert "must move to (2, 0)" in next(problems([thing((1, 0))], tmp_path))
    assert "must move to (2, 0)" in next(problems([thing((1, 1))], tmp_path))
    assert "is not up to date" in next(problems([thing((1, 1), REQUIRED, ADDED)], tmp_path))
    update([thing((1, 1), REQUIRED, ADDED)], tmp_path)
    assert list(problems([thing((1, 1), REQUIRED, ADDED)], tmp_path)) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["autofuse.thing-1.0.json", "autofuse.thing-1.1.json"]


def test_the_command_line_checks_and_refuses_other_words(capsys):
    assert main(["check"]) == 0
    assert main([]) == 2
    assert main(["chekc"]) == 2
    assert "usage" in capsys.readouterr().err


def test_fields_that_have_no_form_are_refused():
    with pytest.raises(TypeError, match="no form"):
        record(attrs.make_class("Odd", {"a": attrs.field(type=set)}))
    kind = attrs.make_class("Kind", {"kind": attrs.field(type=int)}, frozen=True)
    with pytest.raises(TypeError, match="hides the tag"):
        record(attrs.make_class("Odd", {"a": attrs.field(type=kind | A)}))
