"""The cache never hands out what it should not: damage, races, full and read-only disks."""

import errno
import itertools
import json
import multiprocessing
import os
import shutil
import signal
import warnings
from pathlib import Path

import pytest
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.errors import DiskError
from autofuse_runtime.recipe import Recipe, key_of


def recipe(*texts: str, what: str = "test") -> Recipe:
    return Recipe("kind", what, tuple((f"part {k}", text) for k, text in enumerate(texts)))


ONE = recipe("test")
KEY = ONE.key


def make_text(text: str, calls: list[str] | None = None):  # type: ignore[no-untyped-def]
    def make(directory: Path) -> None:
        if calls is not None:
            calls.append(text)
        (directory / "made.txt").write_text(text, encoding="utf-8")

    return make


def test_keys_tell_apart_where_one_part_ends() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("ab") == key_of(b"ab")


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    cache, calls = ArtefactCache(tmp_path), []
    for _ in range(3):
        entry = cache.entry(ONE, make_text("one", calls))
        assert (entry / "made.txt").read_text(encoding="utf-8") == "one"
    assert calls == ["one"]
    assert (cache.hits, cache.misses) == (2, 1)
    assert json.loads((entry / "entry.json").read_text(encoding="utf-8"))["about"] == {"what": "test", "made by": ""}


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "record", "foreign record", "empty"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: str) -> None:
    cache, calls = ArtefactCache(tmp_path), []
    entry = cache.entry(ONE, make_text("content", calls))
    file, record = entry / "made.txt", entry / "entry.json"
    match damage:
        case "flip":
            file.write_bytes(b"c0ntent")
        case "truncate":
            file.write_bytes(b"")
        case "remove":
            file.unlink()
        case "record":
            record.write_text('{"files": {"made', encoding="utf-8")
        case "foreign record":
            record.write_text("[1]", encoding="utf-8")
        case "empty":
            file.unlink()
            record.unlink()
    again = cache.entry(ONE, make_text("content", calls))
    assert (again / "made.txt").read_text(encoding="utf-8") == "content"
    assert len(calls) == 2
    assert sorted(path.name for path in again.parent.iterdir()) == [KEY]


def test_a_failed_make_leaves_nothing(tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path)

    def fail(directory: Path) -> None:
        (directory / "half").write_text("half", encoding="utf-8")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.entry(ONE, fail)
    assert list((tmp_path / "kind" / KEY[:2]).iterdir()) == []


def test_a_cache_that_cannot_be_written_falls_back_with_one_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory", encoding="utf-8")
    cache, calls = ArtefactCache(blocked), []
    with pytest.warns(RuntimeWarning, match=r"the cache .*file cannot be written \(Not a directory\)") as caught:
        cache.entry(ONE, make_text("one", calls))
    entry = cache.entry(ONE, make_text("one", calls))
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert calls == ["one"]
    assert (entry / "made.txt").exists()
    assert not str(entry).startswith(str(tmp_path / "file"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_read_and_not_written(tmp_path: Path) -> None:
    ArtefactCache(tmp_path).entry(ONE, make_text("kept"))
    for path in (tmp_path, tmp_path / "kind", tmp_path / "kind" / KEY[:2]):
        path.chmod(0o500)
    cache = ArtefactCache(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (cache.entry(ONE, make_text("no")) / "made.txt").read_text(encoding="utf-8") == "kept"
    with pytest.warns(RuntimeWarning, match="Permission denied"):
        cache.entry(recipe("other"), make_text("other"))
    for path in (tmp_path, tmp_path / "kind", tmp_path / "kind" / KEY[:2]):
        path.chmod(0o700)


def test_a_cache_that_is_removed_while_something_is_made_is_done_without(tmp_path: Path) -> None:
    cache, calls = ArtefactCache(tmp_path / "cache"), []

    def make(directory: Path) -> None:
        calls.append(directory)
        if len(calls) == 1:
            shutil.rmtree(cache.root)
            raise ValueError("the compiler found no source")
        make_text("one")(directory)

    with pytest.warns(RuntimeWarning, match=r"cannot be written \(it was removed meanwhile\)"):
        entry = cache.entry(ONE, make)
    assert (entry / "made.txt").read_text(encoding="utf-8") == "one"
    assert len(calls) == 2


def test_a_full_disk_is_one_warning_then_one_error(tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path)

    def full(directory: Path) -> None:
        (directory / "half").write_text("half", encoding="utf-8")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.warns(RuntimeWarning, match="the disk is full"), pytest.raises(DiskError, match="No space left"):
        cache.entry(ONE, full)
    assert list((tmp_path / "kind" / KEY[:2]).iterdir()) == []


def test_a_full_disk_that_empties_in_the_temporary_directory_works(tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path)

    def full_there(directory: Path) -> None:
        if directory.is_relative_to(tmp_path / "kind"):
            raise OSError(errno.ENOSPC, "No space left on device")
        (directory / "made.txt").write_text("made", encoding="utf-8")

    with pytest.warns(RuntimeWarning, match="kept for this process only"):
        assert (cache.entry(ONE, full_there) / "made.txt").exists()


def test_making_an_entry_may_ask_for_entries_of_another_kind(tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path)
    whole_recipe = Recipe("whole", "", ())
    # Keys that begin alike have the same lock, were kinds not apart.
    parts = (Recipe("part", "", (("number", str(n)),)) for n in itertools.count())
    part_recipe = next(each for each in parts if each.key[:3] == whole_recipe.key[:3])

    def make(directory: Path) -> None:
        part = cache.entry(part_recipe, make_text("part"))
        (directory / "whole.txt").write_bytes((part / "made.txt").read_bytes())

    assert (cache.entry(whole_recipe, make) / "whole.txt").read_text(encoding="utf-8") == "part"


def _work(root: str, log: str, number: int) -> None:
    cache = ArtefactCache(Path(root))
    for item in range(20):

        def make(directory: Path, item: int = item) -> None:
            with open(log, "a", encoding="utf-8") as file:  # appends of one short line are atomic
                file.write(f"{item}\n")
            for part in range(3):
                (directory / f"{part}").write_text(f"{item} {part}" * 1000, encoding="utf-8")

        entry = cache.entry(recipe(str(item)), make)
        if (entry / "2").read_text(encoding="utf-8") != f"{item} 2" * 1000:
            os._exit(1)


def test_processes_that_share_a_cache_make_each_entry_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(str(tmp_path / "cache"), str(log), k)) for k in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 6
    made = log.read_text(encoding="utf-8").split()
    assert sorted(made, key=int) == [str(k) for k in range(20)]
    assert not list((tmp_path / "cache" / "kind").rglob(".*"))


def test_two_makers_without_a_lock_end_with_one_whole_entry(tmp_path: Path) -> None:
    def race(directory: Path) -> None:  # another maker publishes half an entry meanwhile
        final = tmp_path / "kind" / KEY[:2] / KEY
        if not final.exists():
            final.mkdir()
            (final / "made.txt").write_text("theirs, half", encoding="utf-8")
        (directory / "made.txt").write_text("ours", encoding="utf-8")

    entry = ArtefactCache(tmp_path).entry(ONE, race)
    assert (entry / "made.txt").read_text(encoding="utf-8") == "ours"
    assert sorted(path.name for path in entry.parent.iterdir()) == [KEY]


def _die(root: str) -> None:
    def make(directory: Path) -> None:
        (directory / "made.txt").write_text("half", encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)

    ArtefactCache(Path(root)).entry(ONE, make)


def test_a_maker_that_is_killed_leaves_the_entry_to_the_next(tmp_path: Path) -> None:
    worker = multiprocessing.get_context("fork").Process(target=_die, args=(str(tmp_path),))
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    (left,) = (tmp_path / "kind" / KEY[:2]).iterdir()
    os.utime(left, (0, 0))  # long ago
    entry = ArtefactCache(tmp_path).entry(ONE, make_text("whole"))
    assert (entry / "made.txt").read_text(encoding="utf-8") == "whole"
    assert [path.name for path in entry.parent.iterdir()] == [KEY]
