import subprocess
import sys
from pathlib import Path

import pytest
import run_blocks


def run(tmp_path: Path, page: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "page.md"
    file.write_text(page)
    command = [sys.executable, run_blocks.__file__, str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


PASSING = {
    "blocks share a namespace and a folder": """
```python
from pathlib import Path
word = "kept"
Path("file.txt").write_text(word)
```
```console
$ cat file.txt
```
```python
assert word == "kept"
```
""",
    "what is shown is compared loosely": """
```python
print("took 12 ms  in all")
```
<!-- prints -->
```text
took ... ms in all
```
<!-- prints -->
```console
$ printf 'a   b\\n'
a b
$ true
```
""",
    "a doctest is compared": """
```python
>>> x = 1 + 1
>>> x
2
```
```python
>>> x + 1
3
```
""",
    "an exit code may be announced": """
<!-- exit: 2 -->
```console
$ true
$ sh -c 'exit 2'
```
""",
    "other languages and fences inside fences are text": """
```sh
exit 1
```
````markdown
```python
raise SystemExit
```
````
""",
    "what commands print is free without the marker": """
```console
$ echo other
this is only a picture
```
""",
}

FAILING = {
    "an exception": ("```python\n\n1 / 0\n```\n", "ZeroDivisionError"),
    "its line number": ("text\n```python\nx = 1\n1 / 0\n```\n", "line 4"),
    "a command that fails": ("```console\n$ false\n```\n", "ended with 1"),
    "a command before the last": ("```console\n$ false\n$ true\n```\n", "ended with 1"),
    "an announced exit code that does not come": ("<!-- exit: 2 -->\n```console\n$ true\n```\n", "not 2"),
    "another output": ("<!-- prints -->\n```console\n$ echo a\nb\n```\n", "the page shows"),
    "another print": ('```python\nprint("a")\n```\n<!-- prints -->\n```text\nb\n```\n', "the page shows"),
    "another doctest value": ("```python\n>>> 1 + 1\n3\n```\n", "does not print"),
    "a skip without its reason": ("<!-- skip -->\n```python\nx = 1\n```\n", "needs its reason"),
    "a console block without a command": ("```console\nls\n```\n", "starts with `$ `"),
    "an exit from inside": ("```python\nraise SystemExit(0)\n```\n", "SystemExit"),
}


@pytest.mark.parametrize("name", PASSING)
def test_pages_that_do_as_they_say(tmp_path: Path, name: str) -> None:
    answer = run(tmp_path, PASSING[name])
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("name", FAILING)
def test_pages_that_do_not(tmp_path: Path, name: str) -> None:
    page, complaint = FAILING[name]
    answer = run(tmp_path, page)
    assert answer.returncode == 1
    assert complaint in answer.stdout + answer.stderr


def test_a_skipped_block_is_told_with_its_reason(tmp_path: Path) -> None:
    answer = run(tmp_path, "<!-- skip: takes an hour -->\n```python\nraise ValueError\n```\n")
    assert answer.returncode == 0
    assert "takes an hour" in answer.stdout
    assert "0 blocks run" in answer.stdout


@pytest.mark.parametrize("name", ["missing.md", "folder", "picture.png"])
def test_what_is_no_page_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    command = [sys.executable, run_blocks.__file__, str(tmp_path / name)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 1
    told, closing = answer.stdout.splitlines()
    assert told.startswith(f"{tmp_path / name}: ")
    assert closing.startswith("0 pages as they say")


def test_pages_print_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    waits, first = "import time\ntime.sleep(0.5)\n", tmp_path / "first.md"
    first.write_text(f"```python\n{waits}print('one')\n```\n")
    (tmp_path / "second.md").write_text("```python\nprint('two')\n```\n")
    command = [sys.executable, run_blocks.__file__, str(first), str(tmp_path / "second.md")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.index("one") < printed.index("first.md: 1 blocks") < printed.index("two")
    assert printed.endswith("2 pages as they say\n")


def test_without_a_page_the_usage_is_told() -> None:
    answer = subprocess.run([sys.executable, run_blocks.__file__], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "PAGE" in answer.stderr
