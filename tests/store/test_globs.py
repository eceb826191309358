"""A glob means what a shell user expects, and no glob, however hostile, takes long."""

import pytest

from filemem.errors import FilememError
from filemem.store.globs import matcher

CASES = [
    ("facts/**", "facts/2026/a.md", True),
    ("facts/**", "archive/facts/a.md", False),
    ("facts", "facts/2026/a.md", True),
    ("facts", "factsheet.md", False),
    ("*.yaml", "facts/2026/a.yaml", True),
    ("facts/*", "facts/2026/a.md", False),
    ("facts/*/a.md", "facts/2026/a.md", True),
    ("**/2026/**", "sessions/2026/x.md", True),
    ("sessions/2026/2026-0[1-3]*", "sessions/2026/2026-02-01-x.md", True),
    ("sessions/2026/2026-0[1-3]*", "sessions/2026/2026-04-01-x.md", False),
    ("{facts,lessons}/**", "lessons/2026/x.md", True),
    ("*茶*", "facts/2026/2026-01-01-喜欢乌龙茶.md", True),
    ("?.md", "ab.md", False),
    ("**", "anything/at/all.md", True),
    ("./facts/**", "facts/a.md", True),
    ("notes/Plan [Q1] {a}.md", "notes/Plan [Q1] {a}.md", True),
]


@pytest.mark.parametrize(("glob", "path", "expected"), CASES)
def test_a_glob_matches(glob, path, expected):
    assert matcher(glob)(path) is expected


@pytest.mark.parametrize(
    "glob",
    ["*a" * 200 + "b", "**/" * 200 + "b", "a/**/" * 100 + "*b"],
)
def test_a_hostile_glob_answers_at_once(glob):
    assert matcher(glob)("a" * 200 + "/" + "a" * 200) is False


def test_braces_cannot_explode():
    with pytest.raises(FilememError, match="more than"):
        matcher("{a,b}" * 20)
