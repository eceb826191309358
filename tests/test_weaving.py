"""Two changes of one text are both made, whatever they are; only changes of the same lines meet."""

from hypothesis import given
from hypothesis import strategies as st

from filemem.history.weaving import merge

LINES = st.lists(st.sampled_from([b"- figs", b"- plums", b"", b"## Likes", b"key: 1", b"key: 2"]), max_size=8)


def text(lines: list[bytes]) -> bytes:
    return b"\n".join(lines)


@given(LINES, LINES, LINES)
def test_no_line_is_lost_that_a_side_has_added_or_both_have_kept(
    base: list[bytes], ours: list[bytes], theirs: list[bytes]
) -> None:
    """With marks there is always a text, and it has no more of a line than the three texts together."""
    made = (merge(text(ours), text(base), text(theirs), marks=True) or b"").split(b"\n")
    for line in {*base, *ours, *theirs} - {b""}:
        counts = ours.count(line), theirs.count(line)
        least = max(counts) if line not in base else min(1, *counts) if base.count(line) == 1 else 0
        assert least <= made.count(line) <= sum(counts) + base.count(line)


@given(LINES, LINES)
def test_a_change_by_one_side_is_made_and_one_by_both_made_once(base: list[bytes], new: list[bytes]) -> None:
    """Byte for byte, without a mark."""
    for ours, theirs in ((base, new), (new, base), (new, new)):
        assert merge(text(ours), text(base), text(theirs)) == text(new)


@given(st.integers(1, 6), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.booleans())
def test_changes_of_different_lines_never_meet(size: int, here: set[int], there: set[int], gone: bool) -> None:
    """Be they neighbours, changed or deleted."""
    base = [b"%d" % n for n in range(size)]
    ours = [b"ours of " + line if n in here else line for n, line in enumerate(base)]
    theirs = [line for n, line in enumerate(base) if not (gone and n in there - here)]
    both = [line for n, line in enumerate(ours) if not (gone and n in there - here)]
    assert merge(text(ours), text(base), text(theirs)) == text(both)


def test_additions_in_one_place_are_all_kept_and_what_they_share_once() -> None:
    """Ours first; but of two values of one key both stand between marks."""
    base, likes = b"# Mara\n", b"\n## Likes\n\n"
    assert merge(base + likes + b"- figs\n", base, base + likes + b"- plums\n") == base + likes + b"- figs\n- plums\n"
    ours, front, theirs = b"---\npinned: true\n---\n", b"---\n---\n", b"---\nimportance: 8\n---\n"
    assert merge(ours, front, theirs) == b"---\npinned: true\nimportance: 8\n---\n"
    assert merge(b"---\nimportance: 3\n---\n", front, theirs) is None


def test_two_changes_of_a_line_stand_between_marks_that_end_as_the_lines_do() -> None:
    """Without marks there is no answer."""
    base, ours, theirs = b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n", b"a\r\nbb\r\nc\r\n"
    assert merge(ours, base, theirs) is None
    marks = b"<<<<<<< one version\r\nB\r\n=======\r\nbb\r\n>>>>>>> the other version\r\n"
    assert merge(ours, base, theirs, marks=True) == b"a\r\n" + marks + b"c\r\n"
