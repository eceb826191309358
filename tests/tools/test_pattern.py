"""A grep pattern means what Python's `re` means by it, says what is wrong with it, and can neither hang nor take all memory."""

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filemem.tools.grep import (
    MAX_PATTERN_CHARS,
    KeyedLine,
    PatternError,
    compile_pattern,
    search_lines,
)


def matching(pattern: str, *lines: str) -> list[str]:
    return found(pattern, [(line, line) for line in lines])


def found(
    pattern: str, lines: Iterable[tuple[Any, str]], seconds: float = 60
) -> list[Any]:
    """The keys of the lines that match."""
    keyed = itertools.starmap(KeyedLine, lines)
    return [one.key for one in search_lines(compile_pattern(pattern), keyed, seconds)]


# What a pattern means


IGNORED = (
    r"oolong \Wtea\S \Btea\D [a-z]tea [\W]tea \x4A \u4E00 é 茶 tea{2,3} \t".split()
)
IGNORED += ["(?P<Name>tea)(?P=Name)", r"\N{LATIN SMALL LETTER A}", "(?i)Tea"]
COUNTED = r"Oolong ooloNg [A-Z]tea É Σ (?i:T)ea \\Tea".split()


@pytest.mark.parametrize(
    ("pattern", "ignores_case"),
    [*((one, True) for one in IGNORED), *((one, False) for one in COUNTED)],
)
def test_case_counts_only_where_a_literal_is_upper_case(
    pattern: str, ignores_case: bool
) -> None:
    """Smart case looks at letters that stand for themselves: not at escapes and names of groups."""
    assert matching(f"{pattern}|black", "BLACK") == ["BLACK"] * ignores_case


@pytest.mark.parametrize(
    "pattern",
    r"tea\z \p{Han} \x{4e00} (?<leaf>tea) te(?i)a [[:alpha:]] [a&&b] [a--b] [[a]".split(),
)
def test_another_dialect_is_refused_and_never_quietly_read_as_something_else(
    pattern: str,
) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("tea(", 3), ("a[z-b]", 2), ("[[New York]]", 1), ("*tea", 0), ("a{3,2}", 2),
        ("tea\\", 3), (r"\p{Klingon}", 0), ("a(?i)b", 1), ("(?<=a+)b", -1),
        (r"a\nb", -1), ("a{99999999999}", -1), ("(" * 500 + ")" * 500, -1),
    ],
)  # fmt: skip
def test_a_wrong_pattern_says_what_where_and_how_to_put_it_right(
    pattern: str, place: int
) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    sentence = str(caught.value)
    assert (
        sentence.startswith("pattern: ")
        and "\n" not in sentence
        and sentence.partition("; ")[2]
    )
    assert (
        f"at position {place};" in sentence
        if place >= 0
        else "at position" not in sentence
    )


@given(st.text(alphabet="ab(|)[]{}\\*+?^$.-:&~<>=!Pp,1xz茶 i#", max_size=14))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        assert str(error).startswith("pattern: ")
    else:
        assert pattern.pattern == text


def test_long_patterns_are_refused() -> None:
    with pytest.raises(PatternError, match="10,000 characters are too many"):
        compile_pattern("x" * 10_000)
    assert matching("x" * MAX_PATTERN_CHARS, "x" * MAX_PATTERN_CHARS) == [
        "x" * MAX_PATTERN_CHARS
    ]


LETTERS = "abkKsSiIé茶ſıİΣσς\u212a\u0301\u0307"
lines = st.text(alphabet=LETTERS + " 1", max_size=12)
# Only single characters repeat without end, so that no example is slow to match.
expressions = st.recursive(
    st.sampled_from(
        [*LETTERS, "", *r".* \w+ [ab]*? [^a] [sS] a+ ^ $ \b (?i:s)".split()]
    ),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds(
            "(?:{}){}".format,
            inner,
            st.sampled_from(["?", "??", "{2}", "{1,3}", "{0}"]),
        ),
        st.builds("(?={}){}".format, inner, inner),
    ),
    max_leaves=6,
)


@given(expressions, st.lists(lines, max_size=8))
@example("\udcff", ["caf\udcff", "\0", "🍵"])
def test_what_matches_is_what_re_matches(expression: str, some: list[str]) -> None:
    wanted = [key for key, line in enumerate(some) if re.search(expression, line)]
    assert found(f"(?-i:{expression})", enumerate(some)) == wanted


# What it costs

HOSTILE = [
    "(a+)+$", "(a|a)*$", "(.*)*[xyz]", "(a{1,1000}){1,1000}[bc]", "a?" * 40 + "[ab]" * 40, r"(\w+\s?)+$", "(a*)*(a*)*(a*)*[bc]",
    "(?:(?:a|aa)+)+$", r"(a+)+\1[bc]", "(?i)(A|[^!])+$", "((a?){1000}){1000}[bc]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_pattern_ends_in_an_error_and_not_in_a_hang(pattern: str) -> None:
    line = "a" * (39 if pattern.startswith("a?") else 3000) + "!" * 50
    with pytest.raises(PatternError, match="takes too long; simplify"):
        found(pattern, [(1, line)], seconds=0.2)


def test_lines_add_up_to_the_deadline() -> None:
    """No one line is slow here; an endless row of them ends all the same."""
    endless = ((key, "x" * 64) for key in itertools.count())
    with pytest.raises(PatternError, match="takes too long"):
        found(".*x.*[yz]", endless, seconds=0.1)


def test_what_matches_as_fast_as_it_is_read_may_go_on_for_as_long() -> None:
    """A digit at the end of long lines is no reason to give up, however many lines there are."""
    line = "x" * 1_000_000 + "1"
    lines = ((key, line) for key in range(100))  # which take two seconds in all
    assert len(found("[0-9]", lines, seconds=0.5)) == 100


def test_all_of_a_line_is_searched() -> None:
    line = "x" * 20_000_000 + "needle"
    for pattern in ("needle", "n[e]+dle"):
        assert found(pattern, [(1, line)]) == [1]


def test_memory_is_bounded() -> None:
    """Asked in a process of its own, as the most that children took counts every other test's too."""
    program = """
import resource
from filemem.tools.grep import KeyedLine, PatternError, compile_pattern, search_lines
from filemem.tools.matcher import MEMORY_BYTES
try:
    line = KeyedLine(1, "x" * 10_000_000)
    list(search_lines(compile_pattern("(x|y)+"), [line], seconds=30))
except PatternError as error:
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(error, most <= MEMORY_BYTES)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert "512 MB" in said and said.endswith("True\n")


# The child


def test_no_child_outlives_its_search() -> None:
    """And its matches come as they are found: the stream never ends."""
    before = open_descriptors()
    endless = map(KeyedLine, itertools.count(), itertools.repeat("some twenty words."))
    stream = search_lines(compile_pattern(r"^(\w+ )*\w+\.$"), endless)
    next(stream)
    stream.close()
    assert open_descriptors() == before
    with pytest.raises(PatternError):
        found("(a+)+$", [(1, "a" * 40 + "!")], seconds=0.1)
    assert open_descriptors() == before


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/dev/fd"))
