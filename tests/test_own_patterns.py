"""A person's own patterns, in `filemem.yaml`, say what else is a secret and what is none, at every door and in every job; and
none makes the work grow other than with the length of the text.
"""

import datetime as dt
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem import Store
from filemem.cli import cli
from filemem.files.config import ConfigError, load
from filemem.files.trust import Trust
from filemem.text.expression import wrong
from filemem.text.redaction import own, redact

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
SETTINGS = "redact_also:\n  - 'EMP-\\d{5}'\nredact_never:\n  - 'Tulip\\d{2}'\n"
SAID = "My badge is EMP-12345 and the wifi password is Tulip42. I live in Ghent."
KEPT = "My badge is [redacted: own pattern] and the wifi password is Tulip42. I live in Ghent."


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "filemem.yaml").write_text(SETTINGS)
    return Store(tmp_path, Trust(given=True))


def test_what_they_match_is_taken_out_and_what_they_allow_stays(store: Store) -> None:
    ann = store.user("ann")
    assert redact("the wifi password is Tulip42")[1]
    for path in (
        ann.add_conversation([{"role": "user", "content": SAID}], at=AT),
        ann.remember(SAID, today=AT.date()).path,
    ):
        assert KEPT in ann.open_file(path).text


def test_a_fact_of_it_says_what_the_turn_says(store: Store) -> None:
    """Allowed is allowed there as well."""
    ann = store.user("ann")
    ann.conversation().say("Remember that the wifi password is Tulip42.")
    (fact,) = [path for path in ann.folder.paths() if path.startswith("facts/")]
    assert "Tulip42" in ann.open_file(fact).text


def test_in_a_store_that_nobody_agreed_to_they_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "filemem.yaml").write_text("redact_also: ['\\w{1,99}']\nredact_never: ['.{1,99}']\n")
    assert load(tmp_path).own == own((), ())
    words = ["--store", str(tmp_path), "--user", "ann", "check"]
    CliRunner().invoke(cli, [*words[:-1], "chat", "-m", "Hello!"])
    assert "filemem.yaml:1: redact_also is not used" in CliRunner().invoke(cli, words).output


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+b", r"(\w+\s?)+x", r"\w+\w+@", r"(?:a|a)*c", "x*", "", "[", "(" * 5000, "a{1,400}" * 3, "a" * 2000],
)
def test_a_pattern_that_may_hang_or_means_nothing_is_refused_with_its_line(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "filemem.yaml").write_text(f"recall: both\nredact_also:\n  - '{pattern}'\n")
    with pytest.raises(ConfigError, match=r"filemem\.yaml:2: redact_also: "):
        load(tmp_path, {}, Trust(given=True))


@pytest.mark.parametrize(
    "pattern", [r"EMP-\d+", r"[\w.]+@corp\.example", r"(?i)project (?:apple|birne)", "工号[0-9]{4}"]
)
def test_a_usual_pattern_is_taken(pattern: str) -> None:
    assert not wrong(pattern)


def test_long_lines_are_looked_through_in_pieces() -> None:
    """What the edges of the pieces cut is found whole."""
    text = "a" * 395 + "EMP-12345" + "b " * 100_000 + "EMP-54321"
    found = list(own((r"EMP-\d+", r"[\w.]+@corp\.example"), ()).spans(text))
    assert [text[start:end] for start, end in found] == ["EMP-12345", "EMP-54321"]
