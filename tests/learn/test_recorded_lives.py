"""What a capable model notes of two made-up lives and twelve corrections reaches the store, and nothing else does.

The recordings hold the model's answers; a fact in them that is wrong is marked with `"wrong": true`, and may be refused.
"""

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest
from conversations import waiting
from lives import Read, life, replayed

from filemem import Store
from filemem.jobs import compact, sweep
from filemem.learn.records import WRITTEN, Action
from filemem.llm.model import Reply, ToolCall, Usage
from filemem.store.paths import is_archived

LIVES = ("life-en", "life-zh")


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Read]:
    """Each life, lived once."""
    return {
        name: replayed(tmp_path_factory.mktemp(name), name)
        for name in (*LIVES, "corrections")
    }


def current(read: Read) -> dict[str, str]:
    """Every live memory that nothing has superseded, and the profile, without links and paths."""
    user = read.folder
    paths = [
        path
        for path in user.paths()
        if path.startswith(("facts/", "lessons/", "profile.md"))
    ]
    found = {path: user.memory(path) for path in paths if not is_archived(path)}
    kept = {
        path: memory.text
        for path, memory in found.items()
        if not memory.metadata.get("superseded_by")
    }
    return {
        path: re.sub(r"\[\[|\]\]|<!--.*?-->|\S+\.md(:\d+)?", "", text)
        for path, text in kept.items()
    }


@pytest.mark.parametrize("name", LIVES)
def test_right_facts_reach_the_store_and_every_conversation_is_sent(
    lived: dict[str, Read], name: str
) -> None:
    """97 of 100; at most 0.7 requests and 900 tokens a conversation."""
    read = lived[name]
    decided = [one for each in read.done for one in each.decisions]
    written = [one for one in decided if one.action in WRITTEN]
    left = [one.reason for one in decided if one.action is Action.REFUSE]
    left += [
        note for one in read.done for note in one.notes if note.startswith("Refused:")
    ]
    assert len(written) >= 0.97 * (len(written) + len(left)), left
    assert waiting(read.folder) == 0
    assert (
        read.requests <= 0.7 * read.conversations
        and read.tokens <= 900 * read.conversations
    )


@pytest.mark.parametrize("name", LIVES)
def test_what_stands_is_live_and_what_no_one_told_is_nowhere(
    lived: dict[str, Read], name: str
) -> None:
    texts, told = current(lived[name]), life(name)
    missing = [
        regex
        for regex in told["always"]
        if not any(re.search(regex, t, re.I | re.M) for t in texts.values())
    ]
    tripped = [
        (r, p)
        for r in told["never"]
        for p, t in texts.items()
        if re.search(r, t, re.I | re.M)
    ]
    assert len(missing) <= 1 and len(tripped) <= 1, (missing, tripped)


def test_of_twelve_corrections_each_leaves_one_live_truth(
    lived: dict[str, Read],
) -> None:
    texts = current(lived["corrections"])
    facts = {path: text for path, text in texts.items() if path != "profile.md"}
    for one in life("corrections")["live"]:
        assert any(re.search(one["live"], text) for text in facts.values()), one
        wrong = [
            path
            for path, text in texts.items()
            if "gone" in one and re.search(one["gone"], text, re.M)
        ]
        assert not wrong, (one, wrong, [texts[path] for path in wrong])


class Teller:
    """Summarises every conversation by what the person said in it, a line a turn, the
    longest first."""

    name = "teller"

    def ask(self, messages: Any, tools: Any, on_text: Any) -> Reply:
        lines = []
        for label, said in re.findall(
            r"(?m)^\[(\d+:\d+)\] (?!assistant)[^:\n]+: (.*)$", messages[1]["content"]
        ):
            lines.append({"text": said, "turns": [label]})
        lines.sort(key=lambda line: -len(str(line["text"])))
        call = ToolCall("1", "tell", json.dumps({"lines": lines}))
        return Reply("", (call,), Usage(1, 1), "stop")


def facts_found(read: Read, questions: list[str], today: dt.date) -> int:
    """How many facts that hold a third of it are among ten hits for each question."""
    user = Store(read.folder.store).user(read.folder.name)
    count = 0
    for question in questions:
        hits = user.search_files(question, limit=10, today=today)
        count += sum(hit.kind == "facts" and hit.strength > 1 / 3 for hit in hits)
    return count


@pytest.mark.parametrize("name", LIVES)
def test_among_the_first_ten_hits_are_no_fewer_facts_after_maintain(
    tmp_path: Path, name: str
) -> None:
    """Half a year on; a summary's line ranks by its turn's words alone, and line, fact
    and turn are one hit."""
    read = replayed(tmp_path, name)
    memories = [read.folder.memory(path) for path in read.folder.paths()]
    facts = [memory for memory in memories if memory.kind == "facts"]
    questions = [memory.body.strip("[] \n") for memory in facts][::3]
    today = dt.date(2027, 1, 1)
    before = facts_found(read, questions, today)
    at = dt.datetime.combine(today, dt.time(3), dt.UTC)
    compact(read.folder, at, model=Teller())
    sweep(read.folder, at)
    assert any(path.startswith("summaries/") for path in read.folder.paths())
    assert facts_found(read, questions, today) >= before > len(questions)
