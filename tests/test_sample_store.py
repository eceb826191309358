"""The sample store keeps the design's own rules: dates lead file names, turns are list items, every source is real."""

import datetime as dt
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml

MARA = Path(__file__).parents[1] / "memory_store" / "mara"
KINDS = {"facts", "sessions", "lessons", "summaries"}
TURN = re.compile(r"- \*\*[^*]+\*\* (?:[01]\d|2[0-3]):[0-5]\d: \S")
NAME = re.compile(r"(\d{4}-\d{2}-\d{2})-(?:(\d{4})-)?[^\W_]+(?:-[^\W_]+)*\.(?:md|yaml)")
SOURCE = re.compile(r"(sessions/[^\s,()]+\.md):(\d+)")

PATHS = sorted(
    path.relative_to(MARA).as_posix()
    for path in MARA.rglob("*")
    if path.is_file() and not any(part.startswith(".") for part in path.relative_to(MARA).parts)
)
LIVE = {path.removeprefix("archive/"): path for path in PATHS}
SESSIONS = [path for path in PATHS if path.removeprefix("archive/").startswith("sessions/")]


def text(path: str) -> str:
    """The file, strictly UTF-8."""
    return (MARA / path).read_bytes().decode("utf-8")


def front(path: str) -> dict[str, Any]:
    """The front matter, or the whole mapping of a YAML memory; empty where there is none."""
    whole = text(path)
    if not path.endswith(".yaml"):
        if not whole.startswith("---\n"):
            return {}
        whole = whole[4:].split("\n---\n", 1)[0]
    found = yaml.safe_load(whole)
    assert isinstance(found, dict)
    return found


def body(path: str) -> str:
    """What the memory says, its front matter aside."""
    if path.endswith(".yaml"):
        return str(front(path)["text"])
    whole = text(path)
    return whole[4:].split("\n---\n", 1)[1] if whole.startswith("---\n") else whole


def listed(value: object) -> list[str]:
    """A front matter value that may be one string or several."""
    return [str(entry) for entry in value] if isinstance(value, list) else [str(value)] if value else []


def is_turn(source: str) -> bool:
    """Does `path:line` name the first line of a turn, here or in the archive?"""
    match = SOURCE.fullmatch(source)
    if not match or match[1] not in LIVE:
        return False
    lines = text(LIVE[match[1]]).split("\n")
    return int(match[2]) <= len(lines) and TURN.match(lines[int(match[2]) - 1]) is not None


@pytest.mark.parametrize("path", PATHS)
def test_every_file_is_a_memory_of_a_known_kind(path: str) -> None:
    """profile.md, or a dated name under one of the four kinds; clean text, in NFC, with a last newline."""
    parts = path.removeprefix("archive/").split("/")
    if path != "profile.md":
        assert parts[0] in KINDS and len(parts) > 1
        named = NAME.fullmatch(parts[-1])
        assert named and dt.date.fromisoformat(named[1])
        assert len(parts) == 2 or parts[1] == named[1][:4]
    whole = text(path)
    assert whole.endswith("\n") and not whole.endswith("\n\n")
    assert unicodedata.is_normalized("NFC", path + whole)
    assert not re.search(r"[\r\t]|[ ]$", whole, re.MULTILINE)
    assert body(path).strip()


@pytest.mark.parametrize("path", SESSIONS)
def test_a_transcript_is_turns_and_nothing_else(path: str) -> None:
    """Its front matter says when and where, as its name does; each other line is a turn or belongs to one."""
    particulars, named = front(path), NAME.fullmatch(path.rsplit("/", 1)[-1])
    assert named and isinstance(particulars["date"], dt.datetime) and particulars["timezone"]
    assert f"{particulars['date']:%Y-%m-%d %H%M}" == f"{named[1]} {named[2]}"
    lines = body(path).strip("\n").split("\n")
    assert TURN.match(lines[0])
    for line in lines:
        assert TURN.match(line) or re.match(r"  \S", line), line


@pytest.mark.parametrize("path", PATHS)
def test_every_source_is_a_turn(path: str) -> None:
    """`source` names turns of existing transcripts, and so does each bullet of a summary."""
    assert all(is_turn(source) for source in listed(front(path).get("source")))
    if path.startswith("summaries/"):
        for bullet in re.findall(r"^- .*", text(path), re.MULTILINE):
            sources = SOURCE.findall(bullet)
            assert sources and all(is_turn(f"{name}:{line}") for name, line in sources), bullet


def test_what_superseded_and_what_is_superseded_name_each_other() -> None:
    """The older fact lies in the archive with the day on which it ended; the newer one begins on that day."""
    pairs = [(path, str(front(path)["superseded_by"])) for path in PATHS if "superseded_by" in front(path)]
    assert pairs
    for old, new in pairs:
        assert old.startswith("archive/") and new in PATHS
        assert listed(front(new)["supersedes"]) == [old.removeprefix("archive/")]
        assert front(old)["valid_until"] == front(new)["valid_from"]


def test_every_link_leads_somewhere() -> None:
    """A `[[name]]` occurs in at least one other file."""
    for path in PATHS:
        for name in re.findall(r"\[\[([^\[\]]+)\]\]", text(path)):
            assert any(name in text(other) for other in PATHS if other != path), f"{path}: {name}"


def test_every_kind_of_memory_has_a_sample() -> None:
    """All four kinds, the profile, the archive, a YAML memory, a pinned one, one without front matter, and Chinese."""
    assert "profile.md" in PATHS
    assert {path.split("/")[0] for path in PATHS} >= KINDS | {"archive"}
    facts = [path for path in PATHS if path.startswith("facts/")]
    assert any(path.endswith(".yaml") for path in facts)
    assert any(front(path).get("pinned") is True for path in facts)
    assert any(front(path).get("aliases") for path in facts)
    assert any(not front(path) for path in facts)
    assert any(re.search("[一-鿿]{4}", body(path)) for path in SESSIONS)
