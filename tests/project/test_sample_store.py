"""The sample store keeps the design's own rules.

No problem is found, turns are list items, every source is a turn.
"""

import re
import tempfile
from pathlib import Path

from programs import clean, filemem, sample

from filemem import Store

HERE = tempfile.TemporaryDirectory()
STORE = sample(Path(HERE.name))
MARA = Store(STORE).user("mara").folder
TEXTS = {path: MARA.read(path).decode() for path in MARA.paths()}
TURN = re.compile(r"- \*\*[^*]+\*\* (?:[01]\d|2[0-3]):[0-5]\d: \S")


def test_check_finds_no_problem() -> None:
    done = filemem("check", "--store", STORE, env=clean())
    assert (done.returncode, done.stdout) == (
        0,
        f"{len(TEXTS)} files of 1 user: 0 problems.\n",
    ), done.stderr


def test_sessions_are_turns_and_sources_and_links_lead_somewhere() -> None:
    for path, text in TEXTS.items():
        assert text.endswith("\n") and not re.search(
            r"[\r\t]|[ ]$", text, re.MULTILINE
        ), path
        if "sessions/" in path:
            assert all(
                TURN.match(line) or line[:2] == "  "
                for line in text.split("\n---\n")[-1].strip().split("\n")
            )
        for place, line in re.findall(r"(sessions/[^\s,()]+\.md):(\d+)", text):
            assert TURN.match(MARA.memory(MARA.locate(place)).lines[int(line) - 1]), (
                f"{place}:{line}"
            )
        for name in re.findall(r"\[\[([^\[\]]+)\]\]", text):
            assert any(
                name in other for place, other in TEXTS.items() if place != path
            ), name


def test_every_kind_of_memory_has_a_sample() -> None:
    """All four kinds, the profile, the archive, a YAML memory, a pinned one.

    One superseded, and Chinese.
    """
    kinds = {"facts", "sessions", "lessons", "summaries", "archive", "profile.md"}
    assert kinds <= {path.split("/")[0] for path in TEXTS} and any(
        path.endswith(".yaml") for path in TEXTS
    )
    for sign in (
        "pinned: true",
        "aliases:",
        "superseded_by: facts/",
        "supersedes: facts/",
        "外婆",
    ):
        assert any(sign in text for text in TEXTS.values()), sign
