"""A cache as a whole: what it holds, why something is not in it, what is wrong with it, and clearing it."""

import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.cache_locks import removing
from autofuse_runtime.cache_survey import clear, cure, entries, findings, miss_of
from autofuse_runtime.errors import CacheError
from autofuse_runtime.recipe import Recipe


def recipe(what: str = "kernels of a", kind: str = "library", **parts: str) -> Recipe:
    return Recipe(kind, what, tuple({"compiler": "gcc 12", "source": "int x;\n", **parts}.items()), "gcc 12")


def make(directory: Path) -> None:
    (directory / "made.so").write_bytes(b"0123456789" * 10)


@pytest.fixture
def cache(tmp_path: Path) -> ArtefactCache:
    return ArtefactCache(tmp_path / "cache")


def test_entries_say_what_they_are(cache: ArtefactCache) -> None:
    assert list(entries(cache.root)) == []
    cache.entry(recipe(), make)
    cache.entry(recipe("objects", kind="object"), make)
    found = list(entries(cache.root))
    assert [entry.name.partition("/")[0] for entry in found] == ["library", "object"]
    assert all(entry.record is not None and entry.record.made_by == "gcc 12" for entry in found)
    assert all(entry.bytes > 100 for entry in found)


def test_a_hit_is_no_miss(cache: ArtefactCache) -> None:
    cache.entry(recipe(), make)
    assert miss_of(cache.root, recipe()) is None


def test_a_miss_names_the_parts_that_differ_from_the_nearest_entry(cache: ArtefactCache) -> None:
    cache.entry(recipe("kernels of far", compiler="clang"), make)
    cache.entry(recipe(), make)
    cache.entry(recipe(kind="object"), make)
    miss = miss_of(cache.root, recipe(compiler="gcc 13", source="int y;\n", flags="-O3"))
    assert miss is not None
    assert miss.damage is None
    assert miss.nearest is not None
    assert miss.nearest.name == f"library/{recipe().key}"
    changed = {name: (kept, wanted) for name, kept, wanted in miss.changed}
    assert changed["compiler"] == ("gcc 12", "gcc 13")
    assert changed["flags"] == (None, "-O3")
    assert all(str(digest).startswith("sha256:") for digest in changed["source"])
    assert set(changed) == {"compiler", "source", "flags"}


def test_any_difference_of_a_recipe_is_named() -> None:
    one = Recipe("library", "a", (("x", "1"), ("y", "2")))
    for other in (Recipe("library", "a", (("x", "12"), ("y", ""))), Recipe("library", "a", (("x", "1"), ("z", "2")))):
        assert one.key != other.key
        assert one.digests != other.digests
    assert one.key != Recipe("object", "a", one.parts).key
    assert one.key == Recipe("library", "b", one.parts, "someone").key


def test_a_miss_in_an_empty_cache_has_no_nearest(cache: ArtefactCache) -> None:
    cache.entry(recipe(kind="object"), make)
    miss = miss_of(cache.root, recipe())
    assert miss is not None
    assert (miss.nearest, miss.damage, miss.changed) == (None, None, ())


def test_a_miss_by_damage_says_which_file(cache: ArtefactCache) -> None:
    entry = cache.entry(recipe(), make)
    (entry / "made.so").write_bytes(b"changed")
    miss = miss_of(cache.root, recipe())
    assert miss is not None
    assert miss.damage == "made.so is not what was written"


def test_a_sound_cache_has_no_findings(cache: ArtefactCache) -> None:
    assert findings(cache.root) == ()
    cache.entry(recipe(), make)
    assert findings(cache.root) == ()


def damage(cache: ArtefactCache, how: str) -> Path:
    entry = cache.entry(recipe(), make)
    match how:
        case "changed file":
            (entry / "made.so").write_bytes(b"no")
        case "missing file":
            (entry / "made.so").unlink()
        case "no record":
            (entry / "entry.json").unlink()
        case "another's place":
            moved = entry.with_name("f" * 64)
            entry.rename(moved)
            return moved
        case "leftover":
            left = entry.parent / ".12345678-left"
            left.mkdir()
            (left / "half").write_bytes(b"half")
            os.utime(left, (0, 0))
            return left
        case "killed import":
            left = cache.root / ".import-left"
            left.mkdir()
            os.utime(left, (0, 0))
            return left
    return entry


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("changed file", "made.so is not what was written"),
        ("missing file", "made.so cannot be read"),
        ("no record", "record cannot be read"),
        ("another's place", "place of another entry"),
        ("leftover", "a process that was ended left this"),
        ("killed import", "a process that was ended left this"),
    ],
)
def test_findings_name_the_fault_and_are_cured(cache: ArtefactCache, how: str, said: str) -> None:
    other = cache.entry(recipe("kept", compiler="other"), make)
    place = damage(cache, how)
    (finding,) = findings(cache.root)
    assert said in finding.what
    assert finding.where == place
    assert cure(cache.root, (finding,)) == ()
    assert not place.exists()
    assert findings(cache.root) == ()
    assert other.exists()


def test_what_is_young_may_be_in_use_and_is_no_finding(cache: ArtefactCache) -> None:
    left = damage(cache, "leftover")
    os.utime(left)
    assert findings(cache.root) == ()


def test_a_folder_that_others_may_write_to_is_a_finding(cache: ArtefactCache) -> None:
    cache.entry(recipe(), make)
    cache.root.chmod(0o777)
    (finding,) = findings(cache.root)
    assert "every user may write here" in finding.what
    assert cure(cache.root, (finding,)) == (finding,)


def test_a_file_in_the_place_of_the_cache_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (finding,) = findings(tmp_path / "file")
    assert "no folder" in finding.what


def test_an_entry_made_anew_is_not_cured_away(cache: ArtefactCache) -> None:
    damage(cache, "changed file")
    found = findings(cache.root)
    cache.entry(recipe(), make)
    cure(cache.root, found)
    assert miss_of(cache.root, recipe()) is None


def test_clearing_removes_entries_and_leftovers_and_nothing_else(cache: ArtefactCache) -> None:
    damage(cache, "leftover")
    cache.entry(recipe("other", compiler="other"), make)
    (cache.root / "mine").write_text("kept", encoding="utf-8")
    assert clear(cache.root) == 2
    assert list(entries(cache.root)) == []
    assert not list(cache.root.rglob(".*"))
    assert (cache.root / "mine").exists()
    assert clear(cache.root / "missing") == 0
    assert not (cache.root / "missing").exists()


def test_removing_waits_for_those_who_use_the_cache(cache: ArtefactCache) -> None:
    entry = cache.entry(recipe(), make)
    with cache.in_use(), cache.in_use(), pytest.raises(CacheError, match="another process"), removing(cache.root, 0.1):
        pass
    cleared = threading.Thread(target=clear, args=(cache.root,))
    with cache.in_use():
        cleared.start()
        cleared.join(0.2)
        assert cleared.is_alive()
        assert (entry / "made.so").exists()
    cleared.join(60)
    assert not entry.exists()


def _use(root: str, number: int) -> None:
    cache = ArtefactCache(Path(root))
    for turn in range(40):
        with cache.in_use():
            entry = cache.entry(recipe(compiler=str((turn + number) % 5)), make)
            if (entry / "made.so").read_bytes() != b"0123456789" * 10:
                os._exit(1)


def test_nothing_is_cleared_under_the_hands_of_those_who_use_it(cache: ArtefactCache) -> None:
    context: Any = multiprocessing.get_context("fork")
    workers = [context.Process(target=_use, args=(str(cache.root), k)) for k in range(3)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        clear(cache.root)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 3
    clear(cache.root)
    assert not list(cache.root.rglob(".*"))
