import environment


def test_what_says_where_packages_go_is_not_inherited() -> None:
    inherited = {
        "PATH": "/bin", "PYTHONPATH": "x", "VIRTUAL_ENV": "x", "PIP_TARGET": "x", "PIP_USER": "1", "PIP_NO_DEPS": "1",
        "UV_SYSTEM_PYTHON": "1", "UV_PROJECT_ENVIRONMENT": "x", "NOXSESSION": "x", "NOX_DEFAULT_VENV_BACKEND": "x",
    }  # fmt: skip
    assert environment.clean(inherited) == {"PATH": "/bin", "PYTHONNOUSERSITE": "1"}


def test_what_says_where_packages_come_from_is_kept() -> None:
    inherited = {
        "PIP_INDEX_URL": "i",
        "PIP_FIND_LINKS": "f",
        "PIP_CACHE_DIR": "c",
        "UV_INDEX": "u",
        "UV_CACHE_DIR": "d",
    }
    assert environment.clean(inherited) == inherited | {"PYTHONNOUSERSITE": "1"}


def test_pip_settings_are_read_by_precedence() -> None:
    listing = """\
:env:.find-links='/wheels'
global.extra-index-url='\\nfile:///one\\nfile:///two'
global.find-links='/other'
global.timeout='10'
install.timeout='20'
freeze.timeout='30'
not a setting
"""
    assert environment.parse_pip_settings(listing) == {
        "find-links": "/wheels",
        "extra-index-url": "\nfile:///one\nfile:///two",
        "timeout": "20",
    }


def test_uv_is_told_pips_indexes_and_to_merge_them() -> None:
    pip = {"index-url": "http://i", "extra-index-url": "file:///a\nfile:///b", "find-links": "/w /x", "cert": "/c.pem"}
    assert environment.uv_settings(pip, {}) == {
        "UV_DEFAULT_INDEX": "http://i",
        "UV_INDEX": "file:///a file:///b",
        "UV_FIND_LINKS": "/w,/x",
        "SSL_CERT_FILE": "/c.pem",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_what_the_user_told_uv_is_left_alone() -> None:
    pip = {"index-url": "http://i", "extra-index-url": "http://e"}
    inherited = {"UV_DEFAULT_INDEX": "http://mine", "UV_INDEX_STRATEGY": "first-index"}
    assert environment.uv_settings(pip, inherited) == {"UV_INDEX": "http://e"}
