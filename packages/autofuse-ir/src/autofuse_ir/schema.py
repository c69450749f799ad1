"""The schema of every contract, derived from its classes and compared with the committed one.

``python -m autofuse_ir.schema check`` says which version number must move; ``update`` writes the schema of a version
that is not released; ``release`` freezes the current versions. What older artefacts of a major version still fit moves
the minor number (a new optional field, a new member of an enumeration or union), everything else the major one.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from attrs import frozen

from autofuse_ir.contracts import CONTRACTS, Contract, Version
from autofuse_ir.dtypes import ALL_DTYPES
from autofuse_ir.wire import EnumOf, Fixed, ListOf, Maybe, OneOf, Record, Scalar, WireType, record

FOLDER = Path(__file__).parent / "schemas"
UNION = " | "

Schema: TypeAlias = dict[str, Any]
"""``schema``, ``version``, ``released``, ``root``, and ``types`` by name: fields of a record or values of an enum."""


class Move(IntEnum):
    """Which number of a version must move."""

    NONE = 0
    MINOR = 1
    MAJOR = 2


@frozen
class Change:
    """A difference between two schemas."""

    move: Move
    what: str


def derive(contract: Contract, released: bool = False) -> Schema:
    """Return the schema of ``contract`` as its classes are now."""
    types: dict[str, Any] = {}
    root = _name(record(contract.model), types)
    return {
        "schema": contract.name,
        "version": list(contract.version),
        "released": released,
        "root": root,
        "types": types,
    }


def compare(old: Schema, new: Schema) -> tuple[Change, ...]:
    """Return what changed from ``old`` to ``new``, as far as artefacts can tell."""
    changes = [Change(Move.MAJOR, f"the root is {new['root']}")] if old["root"] != new["root"] else []
    for name, then in old["types"].items():
        now = new["types"].get(name)
        if now is None:  # a type that is gone shows in the fields that held it
            continue
        if set(then) != set(now):
            changes.append(Change(Move.MAJOR, f"{name} is of another kind"))
        elif "enum" in then:
            changes += _compare_enums(name, then["enum"], now["enum"])
        else:
            changes += _compare_fields(name, then["fields"], now["fields"])
    return tuple(changes)


def required_move(changes: Sequence[Change]) -> Move:
    """Return the largest move that ``changes`` ask for."""
    return max((change.move for change in changes), default=Move.NONE)


def problems(contracts: Sequence[Contract] = CONTRACTS, folder: Path = FOLDER) -> Iterator[str]:
    """Yield, for each contract whose committed schema is not that of its classes, what to do about it."""
    for contract in contracts:
        locked = _read(folder, contract)
        changes = () if locked is None else compare(locked, derive(contract))
        if changes and locked is not None and locked["released"]:
            yield _must_move(contract, contract.version, changes)
            continue
        last = _last_release_before(folder, contract)
        if last is not None:
            since = compare(last, derive(contract))
            version = (last["version"][0], last["version"][1])
            if contract.version < _moved(version, required_move(since)):
                yield _must_move(contract, version, since)
                continue
        if locked is None or changes:
            listed = "".join(f"\n  {change.what}" for change in changes)
            yield f"{contract.stem}: its schema is not up to date: python -m autofuse_ir.schema update{listed}"


def update(contracts: Sequence[Contract] = CONTRACTS, folder: Path = FOLDER) -> None:
    """Write the schemas of all versions that are not released."""
    folder.mkdir(exist_ok=True)
    for contract in contracts:
        locked = _read(folder, contract)
        if locked is None or not locked["released"]:
            _write(folder, contract, derive(contract))


def release(contracts: Sequence[Contract] = CONTRACTS, folder: Path = FOLDER) -> None:
    """Freeze the schemas of the current versions."""
    for contract in contracts:
        _write(folder, contract, derive(contract, released=True))


def main(arguments: Sequence[str]) -> int:
    """Run ``check``, ``update`` or ``release``; returns the exit status."""
    if list(arguments) not in (["check"], ["update"], ["release"]):
        print("usage: python -m autofuse_ir.schema check|update|release", file=sys.stderr)
        return 2
    if arguments[0] == "update":
        update()
    found = list(problems())
    if arguments[0] == "release" and not found:
        release()
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


def _name(wire: WireType, types: dict[str, Any]) -> str:
    """Return the name of ``wire`` and add the types it is made of to ``types``."""
    match wire:
        case Scalar():
            if wire is Scalar.DTYPE:
                types[wire.value] = {"enum": [dtype.name for dtype in ALL_DTYPES]}
            return wire.value
        case EnumOf(enum):
            types[enum.__name__] = {"enum": [member.value for member in enum]}
            return enum.__name__
        case ListOf(item):
            return f"[{_name(item, types)}]"
        case Fixed(items):
            return f"({', '.join(_name(item, types) for item in items)})"
        case Maybe(item):
            return f"{_name(item, types)}?"
        case OneOf(members):
            return UNION.join(_name(member, types) for member in members)
        case Record(model, fields):
            types[model.__name__] = {
                "fields": {
                    field.name: {"type": _name(field.type, types), "required": field.required} for field in fields
                }
            }
            return model.__name__
        case never:
            assert_never(never)


def _compare_enums(name: str, then: Sequence[str], now: Sequence[str]) -> Iterator[Change]:
    for value in then:
        if value not in now:
            yield Change(Move.MAJOR, f"{name} has no value {value!r} any more")
    for value in now:
        if value not in then:
            yield Change(Move.MINOR, f"{name} has the new value {value!r}")


def _compare_fields(name: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Change]:
    for field, old in then.items():
        new = now.get(field)
        if new is None:
            yield Change(Move.MAJOR, f"{name}.{field} is gone")
        elif old["type"] != new["type"]:
            move = Move.MINOR if _widens(old["type"], new["type"]) else Move.MAJOR
            yield Change(move, f"{name}.{field} is {new['type']}, no longer {old['type']}")
        elif old["required"] != new["required"]:
            move = Move.MAJOR if new["required"] else Move.MINOR
            yield Change(move, f"{name}.{field} is {'required' if new['required'] else 'optional'} now")
    for field, new in now.items():
        if field not in then:
            move = Move.MAJOR if new["required"] else Move.MINOR
            yield Change(move, f"{name}.{field} is new and {'required' if new['required'] else 'optional'}")


def _widens(old: str, new: str) -> bool:
    """A union, or a list of one, that has all old members takes all old values. One member alone has no tag."""
    if old[:1] == new[:1] == "[":
        old, new = old.strip("[]"), new.strip("[]")
    return UNION in old and set(old.split(UNION)) <= set(new.split(UNION))


def _moved(version: Version, move: Move) -> Version:
    match move:
        case Move.NONE:
            return version
        case Move.MINOR:
            return version[0], version[1] + 1
        case Move.MAJOR:
            return version[0] + 1, 0


def _must_move(contract: Contract, version: Version, changes: Sequence[Change]) -> str:
    major, minor = _moved(version, required_move(changes))
    listed = "".join(f"\n  {change.what}" for change in changes)
    upgrade = ", with an upgrade of its JSON," if major > version[0] else ""
    return f"{contract.name}: the version must move to ({major}, {minor}) in contracts.py{upgrade} since{listed}"


def _last_release_before(folder: Path, contract: Contract) -> Schema | None:
    found = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob(f"{contract.name}-*.json"))]
    earlier = [each for each in found if each["released"] and tuple(each["version"]) < contract.version]
    return max(earlier, key=lambda each: tuple(each["version"]), default=None)


def _read(folder: Path, contract: Contract) -> Schema | None:
    path = folder / f"{contract.stem}.json"
    if not path.exists():
        return None
    schema: Schema = json.loads(path.read_text("utf-8"))
    return schema


def _write(folder: Path, contract: Contract, schema: Schema) -> None:
    text = json.dumps(schema, indent=1, sort_keys=True)
    (folder / f"{contract.stem}.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
