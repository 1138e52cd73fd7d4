"""Which regular expressions are matched without a server."""

import pytest

from tollfree.patterns import matcher


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("", "any", True),
        ("^libpq:", "libpq:lcl", True),
        ("^libpq:", "JDBC:libpq:", False),
        (r"^(?:a|b)+\.c{2,3}$", "abab.ccc", True),
        (r"^(?:a|b)+\.c{2,3}$", "ababxccc", False),
        ("[48] servers:[^u]*us", "4 servers:1000us", True),
        ("rmt:tcp:200us$", "rmt:tcp:200us and 2000us", False),
    ],
)
def test_what_both_dialects_have_is_matched(pattern: str, name: str, expected: bool) -> None:
    matches = matcher(pattern)
    assert matches is not None
    assert matches(name) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\mword", r"\d+", r"\yx", "[[:digit:]]", "[a\\]]", "[]a]", "[a-c-e]", "[a&&b]"),
        *(
            "***:a",
            "(?i)a",
            "(?=a)",
            "a*+",
            "a++",
            "a**",
            "a*?",
            "^*",
            "|*",
            "(",
            ")",
            "a{",
            "a{300}",
        ),
        *("a{3,2}", "(*a)", "[z-a]"),
    ],
)
def test_what_they_may_read_differently_is_not(pattern: str) -> None:
    assert matcher(pattern) is None
