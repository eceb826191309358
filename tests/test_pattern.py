"""A grep pattern means what Python's `re` means by it, says what is wrong with it, and can neither hang nor take all memory."""

import contextlib
import itertools
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filemem.grep.matcher import Child
from filemem.grep.pattern import BATCH_LINES, LONGEST_LINE, LONGEST_PATTERN, STEPS, PatternError, compile_pattern
from filemem.text.expression import cost, fold, longest_line, parse


def matching(pattern: str, *lines: str) -> list[str]:
    return list(compile_pattern(pattern).search((line, line) for line in lines))


# What a pattern means


@pytest.mark.parametrize(
    ("pattern", "ignores_case"),
    [
        ("oolong", True), ("Oolong", False), ("ooloNg", False), (r"\Wtea\S", True), (r"\Btea\D", True), ("[a-z]tea", True),
        ("[A-Z]tea", False), (r"[\W]tea", True), (r"\x4A", True), (r"\u4E00", True), ("(?P<Name>tea)(?P=Name)", True),
        (r"\N{LATIN SMALL LETTER A}", True), ("É", False), ("é", True), ("茶", True), ("tea{2,3}", True), ("Σ", False),
        (r"\t", True), (r"\\Tea", False), ("(?i)Tea", True), ("(?i:T)ea", False),
    ],
)  # fmt: skip
def test_case_counts_only_where_a_literal_is_upper_case(pattern: str, ignores_case: bool) -> None:
    """Smart case looks at letters that stand for themselves: not at escapes and names of groups."""
    assert compile_pattern(pattern).ignores_case is ignores_case


@pytest.mark.parametrize(
    "pattern", [r"tea\z", r"\p{Han}", r"\x{4e00}", "(?<leaf>tea)", "te(?i)a", "[[:alpha:]]", "[a&&b]", "[a--b]", "[[a]"]
)
def test_another_dialect_is_refused_and_never_quietly_read_as_something_else(pattern: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "place", "remedy"),
    [
        ("tea(", 4, r"write \("), ("tea)", 4, r"write \)"), ("[tea", 1, r"write \["), ("a[z-b]", 3, "a-z"),
        ("[[New York]]", 2, r"\["), ("*tea", 1, "\\"), ("a**", 3, "\\"), ("a{3,2}", 3, "a{2,5}"), (r"a\h", 2, "the letter"),
        ("tea\\", 4, r"\\"), (r"\p{Klingon}", 1, "Python"), ("(?<=a+)b", 0, "fixed"), ("a(?i)b", 2, "(?i) in front"),
        (r"a\nb", 0, "one line"), ("(a)(?P<1>b)", 8, "\\"), (r"(a)\2", 5, "\\"), ("(?P<n>a)(?P<n>b)", 13, "rename"),
        ("a{99999999999}", 0, "smaller"), (r"[\0-\U0010ffff]" * 60, 0, "fewer"),
    ],
)  # fmt: skip
def test_a_wrong_pattern_says_what_where_and_how_to_put_it_right(pattern: str, place: int, remedy: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    sentence = str(caught.value)
    assert sentence.startswith("pattern: ") and "\n" not in sentence and remedy in sentence.partition(";")[2]
    assert f"at character {place};" in sentence if place else "at character" not in sentence


@given(st.text(alphabet="ab(|)[]{}\\*+?^$.-:&~<>=!Pp,1xz茶 i#", max_size=14))
def test_any_text_is_a_pattern_or_a_pattern_error(text: str) -> None:
    try:
        pattern = compile_pattern(text)
    except PatternError as error:
        assert str(error).startswith("pattern: ")
    else:
        assert pattern.text == text


def test_long_patterns_are_refused() -> None:
    with pytest.raises(PatternError, match="10,000 characters are too many"):
        compile_pattern("x" * 10_000)
    assert matching("x" * LONGEST_PATTERN, "x" * LONGEST_PATTERN) == ["x" * LONGEST_PATTERN]


# What must be there


def test_fold_makes_equal_what_matches_without_regard_to_case() -> None:
    """For every letter that may stand in a literal, all that `re` takes for it folds to the same."""
    cased = [char for code in range(sys.maxunicode + 1) if (char := chr(code)).lower() != char or char.upper() != char]
    text = "".join(cased)
    wrong = []
    for char in cased:
        required = compile_pattern("(?i)" + char).literals
        if required:
            (only,) = required
            wrong += [char + other for other in re.findall(re.escape(char), text, re.I) if fold(other) not in only]
    assert wrong == []


def test_literals_are_what_every_match_holds() -> None:
    for pattern, literals in {
        "Oolong": [{"oolong"}],
        "tea.*oolong": [{"oolong"}, {"tea"}],
        "(green|black) tea": [{"green", "black"}, {" tea"}],
        "colou?r": [{"colo"}, {"r"}],
        "[Tt]ea": [{"tea"}],
        "(ab)+c": [{"ab"}, {"c"}],
        "tea|": [],
        r"\d+": [],
        "(?=tea)t": [{"t"}],
        "(?!tea)": [],
        "αβγ": [{"α"}, {"γ"}],
        "Istanbul": [{"istanbul"}],
    }.items():
        assert list(map(set, compile_pattern(pattern).literals)) == literals, pattern


LETTERS = "abkKsSiIé茶ſıİΣσς\u212a\u0301\u0307"
lines = st.text(alphabet=LETTERS + " 1", max_size=12)
# Only single characters repeat without end, so that no example is slow to match.
expressions = st.recursive(
    st.sampled_from([*LETTERS, ".*", r"\w+", "[ab]*?", "[^a]", "[sS]", "a+", "^", "$", r"\b", "(?i:s)", ""]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("({}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["?", "??", "{2}", "{1,3}", "{0}"])),
        st.builds("(?={}){}".format, inner, inner),
    ),
    max_leaves=6,
)


def test_whatever_matches_may_match() -> None:
    """The literals are sound: for every row of three pieces and every short line, no match is turned down."""
    pieces = "a b a? b?? a+ b* a{0} b{2} (?:ab)* (?:ab)? (?:a|b) (?:a|bb) (?:a|) (?=a) (?!a). [aA] ^".split()
    every_line = ["".join(letters) for length in range(5) for letters in itertools.product("ab", repeat=length)]
    for row in itertools.product(pieces, repeat=3):
        pattern = compile_pattern("".join(row))
        regex = re.compile(pattern.text)
        refused = [line for line in every_line if not pattern.may_match(line)]
        assert [line for line in refused if regex.search(line)] == [], pattern.text


@given(st.data(), expressions, st.sampled_from([0, re.I]))
def test_whatever_matches_may_match_once_folded(data: st.DataObject, expression: str, flags: int) -> None:
    """Folding keeps the literals sound, whatever the letters, the case and the text around the line."""
    regex = re.compile(expression, flags)
    line = data.draw(st.from_regex(regex) | lines, label="line")
    if regex.search(line):
        pattern = compile_pattern(f"(?i){expression}" if flags else f"(?-i:{expression})")
        assert pattern.may_match(fold(line)) and pattern.may_match(fold(f"x\n{line}\nΣ"))


@given(expressions, st.lists(lines, max_size=8))
def test_what_matches_is_what_re_matches(expression: str, some: list[str]) -> None:
    wanted = [key for key, line in enumerate(some) if re.search(expression, line)]
    assert list(compile_pattern(f"(?-i:{expression})").search(enumerate(some))) == wanted


# What it costs

trees = st.recursive(
    st.sampled_from("ab"),
    lambda inner: st.one_of(
        st.tuples(st.just("then"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
        st.tuples(st.just("repeat"), inner, st.sampled_from([(0, 1), (0, 9), (1, 9), (2, 3)])),
    ),
    max_leaves=4,
)


def written(tree: "str | tuple") -> str:  # type: ignore[type-arg]
    if isinstance(tree, str):
        # `re` would merge letters that are alternatives, a|a, into a class of one.
        return "[^b]" if tree == "a" else "[^a]"
    if tree[0] == "repeat":
        least, most = tree[2]
        return f"(?:{written(tree[1])}){{{least},{most if most < 9 else ''}}}"
    return f"(?:{written(tree[1])}{'|' if tree[0] == 'or' else ''}{written(tree[2])})"


def ends(tree: "str | tuple", line: str, at: int) -> Iterator[int]:  # type: ignore[type-arg]
    """Where each way to match at `at` ends, as backtracking would try them; some ends come more than once."""
    if isinstance(tree, str):
        yield from [at + 1] if line.startswith(tree, at) else []
    elif tree[0] == "then":
        yield from (end for middle in ends(tree[1], line, at) for end in ends(tree[2], line, middle))
    elif tree[0] == "or":
        yield from itertools.chain(ends(tree[1], line, at), ends(tree[2], line, at))
    else:
        least, most = tree[2]
        reached = [at]
        for done in range(most + 1):
            yield from reached if done >= least else []
            # Once the least is done, a round that matches nothing is not made.
            reached = [end for place in reached for end in ends(tree[1], line, place) if end > place or done < least]


@given(trees, st.text(alphabet="ab", max_size=5))
def test_the_bound_on_the_ways_to_match_holds(tree: "str | tuple", line: str) -> None:  # type: ignore[type-arg]
    counted = len(list(itertools.islice(ends(tree, line, 0), 20_000)))
    ways, steps = cost(parse(written(tree), 0), len(line))
    assert counted <= ways and steps >= 1


@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        ("oolong", 2**20, 2**24), ("tea.*oolong", 512, 2**13), (r"\w+ly", 512, 2**13),
        ("tea|茶", 2**20, 2**24), (".*tea.*oolong", 32, 512),
        ("(a+)+$", 0, 16), ("(a|a)*b", 0, 32), ("(.*)*x", 0, 16), ("(a{1,1000}){1,1000}b", 0, 16), ("a?" * 40 + "a" * 40, -1, 0),
        ("((((a?){1000}){1000}){1000}){1000}b", -1, -1),
    ],
)  # fmt: skip
def test_lines_are_matched_in_this_process_only_while_that_is_quick(pattern: str, least: int, most: int) -> None:
    assert least <= longest_line(parse(pattern, 0), STEPS) <= most


HOSTILE = [
    "(a+)+$", "(a|a)*$", "(.*)*[xyz]", "(a{1,1000}){1,1000}[bc]", "a?" * 40 + "[ab]" * 40, r"(\w+\s?)+$", "(a*)*(a*)*(a*)*[bc]",
    "(?:(?:a|aa)+)+$", r"(a+)+\1[bc]", "(?i)(A|[^!])+$", "((a?){1000}){1000}[bc]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_pattern_ends_in_an_error_and_not_in_a_hang(pattern: str) -> None:
    line = "a" * (39 if pattern.startswith("a?") else 3000) + "!" * 50
    with pytest.raises(PatternError, match=r"longer than 0\.2 s; simplify"):
        list(compile_pattern(pattern).search([(1, line)], seconds=0.2))


def test_lines_add_up_to_the_deadline() -> None:
    """No one line is slow here; an endless row of them ends all the same."""
    slow = compile_pattern(".*x.*[yz]")
    with pytest.raises(PatternError, match=r"longer than 0\.1 s"):
        list(slow.search(((key, "x" * 64) for key in itertools.count()), seconds=0.1))


def test_reading_counts_for_lines_that_a_child_must_match_and_for_no_others() -> None:
    """Each of them may be matched fast; a file that keeps coming ends in an error all the same."""

    def slow_file() -> Iterator[tuple[int, str]]:
        for key in range(400):
            over = time.monotonic() + 0.001
            while time.monotonic() < over:
                pass
            yield key, "ab" * 500 + "1"

    with pytest.raises(PatternError, match=r"longer than 0\.2 s"):
        list(compile_pattern("(-a|--b)+z|[0-9]").search(slow_file(), seconds=0.2))
    assert len(list(compile_pattern("[0-9]").search(slow_file(), seconds=0.2))) == 400


def test_what_matches_as_fast_as_it_is_read_may_go_on_for_as_long() -> None:
    """A digit at the end of long lines is no reason to give up, however many lines there are."""
    line = "x" * 1_000_000 + "1"
    assert len(list(compile_pattern("[0-9]").search(((key, line) for key in range(100)), seconds=0.1))) == 100


def test_memory_is_bounded() -> None:
    """Asked in a process of its own, as the most that children took counts every other test's too."""
    program = """
import resource
from filemem.grep.matcher import MEMORY
from filemem.grep.pattern import PatternError, compile_pattern
try:
    list(compile_pattern("(x|y)+").search([(1, "x" * 10_000_000)], seconds=30))
except PatternError as error:
    print(error, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 <= MEMORY)
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "512 MB" in said and said.endswith("True\n")


def test_long_lines_have_a_defined_answer() -> None:
    """A line of 10 MB is searched whole; of one beyond LONGEST_LINE, the first LONGEST_LINE characters are."""
    line = "x" * 10_000_000 + " Oolong"
    for pattern in ("oolong", "x oolong", r"\w oolong$"):
        assert matching(pattern, line) == [line]
    longest = "x" * LONGEST_LINE
    assert matching("tea", "tea" + longest, longest + "tea", longest[3:] + "tea") == [
        "tea" + longest,
        longest[3:] + "tea",
    ]


# The child


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with contextlib.closing(Child()) as matcher:
        yield matcher


def answered(child: Child, regex: re.Pattern[str], some: list[str]) -> bytes:
    found = child.ask((regex.pattern, regex.flags, some), 10)
    assert found is not None
    return found


@given(expressions, st.lists(lines, max_size=8), st.sampled_from([0, re.I]))
def test_the_child_answers_as_this_process_would(child: Child, expression: str, some: list[str], flags: int) -> None:
    regex = re.compile(expression, flags)
    assert answered(child, regex, some) == bytes(regex.search(line) is not None for line in some)


def test_the_child_reads_what_is_not_unicode(child: Child) -> None:
    assert answered(child, re.compile("\udcff"), ["caf\udcff", "\0", "🍵"]) == b"\1\0\0"


RISKY = r"^(\w+ )*\w+\.$"
"""Harmless as it happens, but no bound says so: all but the shortest lines are matched in the child."""


def test_matches_come_in_order_whichever_process_finds_them() -> None:
    """Short lines are matched here and long ones in the child; far more than a pipe holds goes through."""
    texts = [("a." if key % 3 else "word " * 60 + ".") + "!" * (key % 5 == 0) for key in range(3 * BATCH_LINES)]
    found = list(compile_pattern(RISKY).search(enumerate(texts), seconds=60))
    assert found == [key for key, text in enumerate(texts) if text == "a."]


def test_matches_come_as_they_are_found() -> None:
    """Neither way reads to the end of its lines first."""
    for pattern, line in (("tea", "tea"), (RISKY, "some twenty or thirty words.")):
        stream = compile_pattern(pattern).search((key, line) for key in itertools.count())
        assert list(itertools.islice(stream, 3)) == [0, 1, 2]
        stream.close()  # type: ignore[attr-defined]


def test_no_child_outlives_its_search(child: Child) -> None:
    before = open_descriptors()
    stream = compile_pattern(RISKY).search((key, "some twenty or thirty words.") for key in itertools.count())
    next(stream)
    assert len(open_descriptors()) == len(before) + 2
    stream.close()  # type: ignore[attr-defined]
    with pytest.raises(PatternError):
        list(compile_pattern("(a+)+$").search([(1, "a" * 40 + "!")], seconds=0.1))
    assert open_descriptors() == before
    # The module's own child is there and at work, and none that has ended waits to be collected.
    assert os.waitpid(-1, os.WNOHANG) == (0, 0)


def open_descriptors() -> list[str]:
    return sorted(os.listdir("/dev/fd"))


def test_searches_run_side_by_side_in_threads() -> None:
    pattern = compile_pattern(RISKY)
    found: list[list[int]] = []

    def search() -> None:
        found.append(list(pattern.search(enumerate(["tea and some long words.", "no"] * 50), seconds=60)))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [list(range(0, 100, 2))] * 4
