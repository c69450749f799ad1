import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

CASE = "# what it shows\n--- input ---\na\n--- output ---\nb\n"


def test_the_default_profile_is_deterministic() -> None:
    assert settings().derandomize
    assert settings().database is None
    assert settings().deadline is None


def test_another_profile_can_be_chosen(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("from hypothesis import settings\ndef test_it(): assert settings().max_examples == 2000")
    pytester.runpytest_subprocess("--hypothesis-profile=fuzz").assert_outcomes(passed=1)


def test_golden_files_are_compared_and_updated(pytester: pytest.Pytester) -> None:
    test = pytester.makepyfile("def test_it(golden): golden('new\\n', 'sub/text.txt')")
    missing = pytester.runpytest_inprocess()
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*is missing: run pytest with --update-golden*"])
    pytester.runpytest_inprocess("--update-golden").assert_outcomes(passed=1)
    file = test.parent / "golden" / "sub" / "text.txt"
    assert file.read_text() == "new\n"
    pytester.runpytest_inprocess().assert_outcomes(passed=1)
    for other in ("old\n", "new", "new\r\n"):
        file.write_bytes(other.encode())
        pytester.runpytest_inprocess().assert_outcomes(failed=1)


def test_cases_are_parameters_named_for_their_files(pytester: pytest.Pytester) -> None:
    test = pytester.makepyfile(
        """
        import pytest
        from autofuse_testkit import cases

        @pytest.mark.parametrize("case", cases(__file__))
        def test_it(case, check_case):
            check_case(case, "output", case["input"].replace("a", "b"))
        """
    )
    folder = test.parent / "cases" / "family"
    folder.mkdir(parents=True)
    file = folder / "one.txt"
    file.write_text(CASE)
    pytester.runpytest_inprocess("-v").stdout.fnmatch_lines(["*test_it?family/one?*PASSED*"])
    file.write_text(CASE.replace("b", "c"))
    pytester.runpytest_inprocess().assert_outcomes(failed=1)
    pytester.runpytest_inprocess("--update-golden").assert_outcomes(passed=1)
    assert file.read_text() == CASE


def test_a_test_without_cases_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("from autofuse_testkit import cases\ncases(__file__)")
    pytester.runpytest_inprocess().assert_outcomes(errors=1)
