"""Talk that is off the record leaves no trace: no file of the store differs after it, and what was typed is not kept."""

import datetime as dt
from pathlib import Path

import pytest
from programs import clean
from scripted_server import ScriptedServer, calls, say
from terminal import Terminal

from filemem import Store
from filemem.chat.conversation import Conversation
from filemem.models import OpenAIModel

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = Store(tmp_path / "store").user("ann").folder
    folder.create("facts/2026/2026-11-18-tea.md", "Likes oolong tea.\n")
    return tmp_path / "store"


def files(root: Path) -> dict[str, bytes]:
    """Every file but the index, which is made of the memories."""
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file() and "index" not in path.parts}


def test_from_off_on_nothing_is_kept_and_the_talk_goes_on(root: Path) -> None:
    """The model still sees what was said before, opens files, and cites them."""
    opened = calls(("open", {"path": "facts/2026/2026-11-18-tea.md"}))
    with ScriptedServer(say("Good."), opened, say("As facts/2026/2026-11-18-tea.md:1 says."), say("Yes.")) as server:
        talk = Conversation(Store(root).user("ann").folder, OpenAIModel("x", server.base_url, "none", 30), lambda: NOW)
        talk.say("I sold the boat.")
        before = files(root)
        talk.go_off_the_record()
        talk.say("Which tea do I like, between us?")
        talk.say("你还记得吗？")
        assert files(root) == before
        said = [message.get("content") for message in server.requests[-1].body["messages"]]
    assert "I sold the boat." in said and "Which tea do I like, between us?" in said
    assert any("I sold the boat." in text.decode() for text in before.values())
    assert not any("between us" in text.decode(errors="replace") for text in files(root).values())


def test_what_is_typed_off_the_record_is_not_kept(root: Path) -> None:
    """In a terminal, from /off on."""
    command = ["filemem", "chat", "--store", str(root), "--user", "ann"]
    with ScriptedServer() as server:
        server.default = say("Yes.")
        with Terminal(command, clean(root.parent, **server.environment), str(root.parent), 100) as term:
            for typed, answer in (
                ("I like the red bike", "Yes."),
                ("/off", "what was said before is."),
                ("I am leaving Ghent", "Yes."),
            ):
                term.expect("\n> ")
                term.type(f"{typed}\r")
                term.expect(answer)
            term.expect("\n> ")
            term.type("\x04")
            assert term.end() == 0
    kept = b"".join(files(root).values())
    assert b"red bike" in kept and b"Ghent" not in kept
