"""Archives of cache entries: whole, the same bytes for the same entries, and refused by name where damaged."""

import gzip
import io
import json
import resource
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autofuse_runtime.cache import ArtefactCache
from autofuse_runtime.cache_archive import export_entries, import_entries
from autofuse_runtime.cache_entry import sha256_of
from autofuse_runtime.cache_survey import entries, findings
from autofuse_runtime.errors import CacheError, DiskError
from autofuse_runtime.recipe import Recipe
from hypothesis import given, settings
from hypothesis import strategies as st

Members = list[tuple[tarfile.TarInfo, bytes]]


def recipe(number: int) -> Recipe:
    return Recipe("library", f"kernels of {number}", (("number", str(number)),), "gcc")


def make(directory: Path) -> None:
    (directory / "kernels.so").write_bytes(bytes(range(256)) * 20)
    (directory / "notes").write_bytes(b"")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of three entries."""
    folder = tmp_path_factory.mktemp("exported")
    cache = ArtefactCache(folder / "cache")
    for number in range(3):
        cache.entry(recipe(number), make)
    export_entries(entries(cache.root), folder / "archive.tgz")
    return folder / "archive.tgz"


def no_make(directory: Path) -> None:
    raise AssertionError("it should have been imported")


def assert_untouched(root: Path) -> None:
    assert list(entries(root)) == []
    assert [path.name for path in root.iterdir() if path.name != "locks"] == []


def test_what_was_exported_is_found_after_importing(exported: Path, tmp_path: Path) -> None:
    assert import_entries(exported, tmp_path / "new") == (3, 0)
    assert findings(tmp_path / "new") == ()
    cache = ArtefactCache(tmp_path / "new")
    for number in range(3):
        entry = cache.entry(recipe(number), no_make)
        assert (entry / "kernels.so").read_bytes() == bytes(range(256)) * 20
    assert not list((tmp_path / "new").rglob(".*"))


def test_importing_keeps_whole_entries_and_replaces_damaged_ones(exported: Path, tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path)
    cache.entry(recipe(0), make)
    (cache.entry(recipe(1), make) / "kernels.so").write_bytes(b"damaged")
    assert import_entries(exported, tmp_path) == (2, 1)
    assert import_entries(exported, tmp_path) == (0, 3)
    assert findings(tmp_path) == ()


def test_the_same_entries_make_the_same_archive(exported: Path, tmp_path: Path) -> None:
    import_entries(exported, tmp_path / "cache")
    digest = export_entries(reversed(list(entries(tmp_path / "cache"))), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == exported.read_bytes()
    assert digest == sha256_of(exported)


def test_a_damaged_entry_is_not_exported(tmp_path: Path) -> None:
    cache = ArtefactCache(tmp_path / "cache")
    entry = cache.entry(recipe(0), make)
    (entry / "kernels.so").write_bytes(b"damaged")
    with pytest.raises(CacheError, match=rf"library/{recipe(0).key}.*kernels.so is not what was written"):
        export_entries(entries(cache.root), tmp_path / "archive")
    (entry / "entry.json").unlink()
    with pytest.raises(CacheError, match="record cannot be read"):
        export_entries(entries(cache.root), tmp_path / "archive")
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_an_archive_that_cannot_be_written_leaves_what_was_there(exported: Path, tmp_path: Path) -> None:
    import_entries(exported, tmp_path / "cache")
    archive = tmp_path / "archive"
    archive.write_bytes(b"older")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(DiskError, match="cannot be written"):
            export_entries(entries(tmp_path / "cache"), archive)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert archive.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "cache"]
    with pytest.raises(DiskError, match="No such file"):
        export_entries(entries(tmp_path / "cache"), tmp_path / "missing" / "archive")


def test_an_import_that_finds_no_room_adds_nothing(exported: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(DiskError, match="cannot be imported"):
            import_entries(exported, tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert_untouched(tmp_path / "cache")


def test_an_archive_cut_short_anywhere_is_refused(exported: Path, tmp_path: Path) -> None:
    whole = exported.read_bytes()

    @settings(max_examples=60, derandomize=True, database=None, deadline=None)
    @given(st.integers(0, len(whole) - 1))
    def check(length: int) -> None:
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(CacheError, match="cut"):
            import_entries(tmp_path / "cut", tmp_path / "cache")
        assert_untouched(tmp_path / "cache")

    check()


def test_an_archive_with_a_changed_byte_anywhere_is_refused_or_gives_the_same(exported: Path, tmp_path: Path) -> None:
    whole = exported.read_bytes()

    @settings(max_examples=150, derandomize=True, database=None, deadline=None)
    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    def check(at: int, change: int) -> None:
        (tmp_path / "changed").write_bytes(whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :])
        root = tmp_path / f"cache{at}-{change}"
        try:
            import_entries(tmp_path / "changed", root)
        except CacheError:
            assert_untouched(root)
        else:  # some bytes of the compressed format mean nothing
            assert findings(root) == ()
            assert [entry.name for entry in entries(root)] == sorted(f"library/{recipe(k).key}" for k in range(3))

    check()


def members(archive: Path) -> Members:
    with tarfile.open(archive) as tar:
        return [(member, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]


def packed(content: Members, target: Path) -> Path:
    with tarfile.open(target, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for member, data in content:
            member.size = len(data) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(data))
    return target


def relisted(content: Members, change: Callable[[Any], None]) -> Members:
    head = json.loads(content[0][1])
    change(head)
    return [(content[0][0], json.dumps(head).encode()), *content[1:]]


def place_in(content: Members, ending: str, number: int) -> int:
    return [k for k, (member, _) in enumerate(content) if member.name.endswith(ending)][number]


def changed_content(content: Members) -> Members:
    at = place_in(content, "kernels.so", 1)
    return [*content[:at], (content[at][0], content[at][1][::-1]), *content[at + 1 :]]


def without_a_file(content: Members) -> Members:
    at = place_in(content, "kernels.so", 1)
    return [*content[:at], *content[at + 1 :]]


def a_link_for_a_file(content: Members) -> Members:
    at = place_in(content, "kernels.so", 1)
    link = tarfile.TarInfo(content[at][0].name)
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return [*content[:at], (link, b""), *content[at + 1 :]]


def cut_after_an_entry(content: Members) -> Members:
    return content[: place_in(content, "entry.json", 1)]


def records_swapped(content: Members) -> Members:
    """The record of another entry, listed with its right digest."""
    one, other = place_in(content, "entry.json", 1), place_in(content, "entry.json", 2)

    def change(head: Any) -> None:
        files = [entry["files"] for entry in head["entries"]]
        files[1][0], files[2][0] = files[2][0], files[1][0]

    swapped = list(content)
    swapped[one], swapped[other] = (content[one][0], content[other][1]), (content[other][0], content[one][1])
    return relisted(swapped, change)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed_content, "kernels.so is not what was exported"),
        (without_a_file, "kernels.so is not the next file"),
        (a_link_for_a_file, "kernels.so is not the next file"),
        (cut_after_an_entry, "cut short or damaged"),
        (records_swapped, "its record is that of another entry"),
    ],
)
def test_a_changed_archive_is_refused_and_names_the_entry(
    exported: Path, tmp_path: Path, change: Callable[[Members], Members], said: str
) -> None:
    broken = packed(change(members(exported)), tmp_path / "broken")
    second = sorted(recipe(k).key for k in range(3))[1]
    with pytest.raises(CacheError, match=said) as refused:
        import_entries(broken, tmp_path / "cache")
    assert f"entry library/{second}" in str(refused.value)
    assert_untouched(tmp_path / "cache")


def named(name: str) -> Callable[[Any], None]:
    def change(head: Any) -> None:
        head["entries"][1]["files"][1]["name"] = name

    return change


def keyed(field: str, value: Any) -> Callable[[Any], None]:
    def change(head: Any) -> None:
        head["entries"][1][field] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (named("../../escaped"), "escaped"),
        (named("/etc/escaped"), "escaped"),
        (named(".hidden"), "hidden"),
        (named("entry.json"), "twice"),
        (keyed("kind", "../locks"), "is called"),
        (keyed("key", "short"), "is called"),
        (keyed("files", None), "no archive of cache entries"),
        (lambda head: head.update(version=[9, 0]), "upgrade"),
        (lambda head: head.update(format="zip"), "format 'zip'"),
        (lambda head: head["entries"].pop(), "more follows"),
    ],
)
def test_a_list_that_makes_no_sense_is_refused(
    exported: Path, tmp_path: Path, change: Callable[[Any], None], said: str
) -> None:
    broken = packed(relisted(members(exported), change), tmp_path / "broken")
    with pytest.raises(CacheError, match=said):
        import_entries(broken, tmp_path / "cache")
    assert_untouched(tmp_path / "cache")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "cache"]


@pytest.mark.parametrize("content", [b"", b"hello\n", gzip.compress(b""), gzip.compress(b"x" * 5000)])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(CacheError, match="file"):
        import_entries(tmp_path / "file", tmp_path / "cache")
    with pytest.raises(DiskError, match="No such file"):
        import_entries(tmp_path / "missing", tmp_path / "other")
    assert not (tmp_path / "other").exists()
