"""What a capable model notes of two made-up lives and twelve corrections reaches the store, and nothing else does.

The recordings hold the model's answers; a fact in them that is wrong is marked with `"wrong": true`, and may be refused.
"""

import re

import pytest
from conversations import waiting
from lives import Read, life, replayed

from filemem.learn.records import WRITTEN
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
    left = [one.reason for one in decided if one.action == "DROP"]
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
