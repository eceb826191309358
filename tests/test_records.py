"""Only what people say becomes facts: the records of a phone tell none, and an importer says who the assistant is."""

import datetime as dt
import json
from pathlib import Path

import pytest

from filemem import Store
from filemem.files.passages import format_turn
from filemem.files.pending_deletion import PendingDeletion
from filemem.files.store import StoreFolder
from filemem.files.transcript import create
from filemem.importers import import_file
from filemem.remembering import consolidation, sessions

AT = dt.datetime(2026, 3, 2, 9, 30, tzinfo=dt.UTC)
TOLD = ("bank", "Your salary of 3,100 was paid into the account ending 5678."), ("Tom", "I moved to Ghent on 3 May.")
MINE = "mara", "I'm allergic to walnuts."


def made(folder: Path, said: list[tuple[str, str]], front: str = "") -> list[str]:
    """The facts that are made of a session with these turns, each by its words."""
    user = Store(folder).user("mara").folder
    create(user, "phone", AT, [format_turn(who, "09:30", text) for who, text in said], front)
    found = [one for _, done in consolidation.run(user, AT) for one in done.decisions]
    return [one.claim.text for one in found if one.action == "ADD"]


def test_a_speaker_who_never_speaks_of_themselves_makes_a_session_records(tmp_path: Path) -> None:
    record, friend = TOLD
    assert made(tmp_path / "a", [record, record, friend, MINE]) == [MINE[1]]
    assert made(tmp_path / "b", [friend, friend, MINE]) == [friend[1], MINE[1]]


def test_a_session_says_itself_that_it_is_records(tmp_path: Path) -> None:
    friend = TOLD[1]
    assert made(tmp_path, [friend, MINE], "records: true\n") == [MINE[1]]


@pytest.mark.parametrize(("front", "who"), [("assistant: Botty\n", "assistant"), ("", "Botty")])
def test_an_assistant_is_who_the_importer_says(tmp_path: Path, front: str, who: str) -> None:
    user = Store(tmp_path).user("mara").folder
    path = create(user, "talk", AT, [format_turn("Botty", "09:30", "I live in Ghent.")], front)
    assert sessions.users_turns(user.memory(path), "mara", PendingDeletion({})).speakers == [who]


def test_an_import_states_the_assistant(tmp_path: Path) -> None:
    mapping = {
        "1": {"id": "1", "parent": None, "message": _message("user", "I live in Ghent.")},
        "2": {"id": "2", "parent": "1", "message": _message("assistant", "I live in a computer.")},
    }
    talk = {"id": "x", "title": "Talk", "create_time": 1.7e9, "current_node": "2", "mapping": mapping}
    (tmp_path / "conversations.json").write_text(json.dumps([talk]))
    store = StoreFolder(tmp_path / "store")
    (taken,) = import_file(store, "chatgpt", str(tmp_path / "conversations.json"), user="mara").added
    memory = store.folder("mara").memory(taken.path)
    assert memory.front["assistant"] == "ChatGPT"
    assert sessions.users_turns(memory, "mara", PendingDeletion({})).to_assistant


def _message(role: str, text: str) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    return {"id": text, "author": {"role": role}, "create_time": 1.7e9, "content": content}
