"""The sample store keeps the design's own rules: dates lead file names, turns are list items, every source is real."""

import re
import unicodedata
from pathlib import Path

import pytest
from programs import clean, filemem

from filemem import Store

STORE = Path(__file__).parents[1] / "memory_store"
MARA = Store(STORE).user("mara").folder
PATHS = MARA.paths()
TURN = re.compile(r"- \*\*[^*]+\*\* (?:[01]\d|2[0-3]):[0-5]\d: \S")
NAME = re.compile(r"(?:archive/)?(facts|sessions|lessons|summaries)/(?:\d{4}/)?\d{4}-\d{2}(-\d{2})?-\S+\.(md|yaml)")


def test_check_finds_no_problem() -> None:
    done = filemem("check", "--store", STORE, env=clean())
    assert (done.returncode, done.stdout) == (0, f"{len(PATHS)} files of 1 user: 0 problems.\n"), done.stderr


@pytest.mark.parametrize("path", PATHS)
def test_a_memory_is_clean_text_whose_sources_are_turns(path: str) -> None:
    """A dated name, NFC, a last newline; a session is turns and nothing else; each bullet of a summary has its source."""
    memory, text = MARA.memory(path), MARA.read(path).decode("utf-8")
    assert path == "profile.md" or NAME.fullmatch(path)
    assert text.endswith("\n") and not text.endswith("\n\n") and not re.search(r"[\r\t]|[ ]$", text, re.MULTILINE)
    assert unicodedata.is_normalized("NFC", path + text) and memory.text.strip()
    if "sessions/" in path:
        assert all(TURN.match(line) or line[:2] == "  " for line in text.split("\n---\n")[-1].strip().split("\n"))
    for place, line in re.findall(r"(sessions/[^\s,()]+\.md):(\d+)", text):
        assert TURN.match(MARA.memory(MARA.locate(place)).lines[int(line) - 1]), f"{place}:{line}"
    for bullet in re.findall(r"^- .*", text if path.startswith("summaries/") else "", re.MULTILINE):
        assert "(sessions/" in bullet
    for name in re.findall(r"\[\[([^\[\]]+)\]\]", text):
        assert any(name in MARA.read(other).decode() for other in PATHS if other != path), name


def test_every_kind_of_memory_has_a_sample() -> None:
    """All four kinds, the profile, the archive, a YAML memory, a pinned one, one superseded, and Chinese."""
    assert {path.split("/")[0] for path in PATHS} >= {
        "facts",
        "sessions",
        "lessons",
        "summaries",
        "archive",
        "profile.md",
    }
    texts = {path: MARA.read(path).decode() for path in PATHS}
    for sign in ("pinned: true", "aliases:", "superseded_by: facts/", "supersedes: facts/", "外婆"):
        assert any(sign in text for text in texts.values()), sign
    assert any(path.endswith(".yaml") for path in PATHS)
    assert any(not text.startswith("---") for path, text in texts.items() if path.startswith("facts/"))
