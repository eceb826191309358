"""The trace says what a model saw by reference: rebuilt it is what was sent, word for word, and the trace holds none of the words
of the memories. What has changed since, or was forgotten, is told.
"""

import datetime as dt
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from scripted_server import ScriptedServer, calls, say

from filemem import Store
from filemem.chat import seen
from filemem.chat.conversation import Conversation
from filemem.cli import cli
from filemem.endpoint.traced import traced
from filemem.files import archive, trace
from filemem.files.folder import Folder
from filemem.files.references import ByReference
from filemem.files.trust import Trust
from filemem.forgetting import deletion, erasure
from filemem.models import OpenAIModel
from filemem.remembering import consolidation
from filemem.remembering.extraction import listener

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
TEA = "facts/2026/2026-11-18-tea.md"


@pytest.fixture
def ann(tmp_path: Path) -> Folder:
    folder = Store(tmp_path, Trust(given=True)).user("ann").folder
    folder.create(TEA, "- **Ann**: My favourite tea is oolong from Fujian, bought yesterday.\n")
    folder.create("profile.md", "# Ann\n\n- Lives in Ghent with two dogs.\n")
    folder.create("lessons/2026/2026-11-02-short.md", "- **ann**: Please keep it short.\n")
    folder.create("sessions/2026/2026-11-01-0900-苏州.md", "- **ann** 09:00: 我在苏州住了三年，去年搬到了根特。\n")
    return folder


def talked(ann: Folder) -> list[list[dict[str, str]]]:
    """A chat of two messages, one with calls of tools; returns the messages of each request."""
    searched = calls(("search_files", {"query": "苏州"}), ("open", {"path": TEA}), text="I look.")
    with ScriptedServer(searched, say(f"Oolong ({TEA}:1)."), say("Yes.")) as server:
        talk = Conversation(ann, OpenAIModel("x", server.base_url, "none", 30), lambda: NOW)
        talk.say("Which tea is my favourite?")
        talk.say("5  And where do I live?")
        return [request.body["messages"] for request in server.requests]


def session(folder: Folder) -> str:
    return trace.sessions(folder)[-1]


def test_what_is_rebuilt_is_what_was_sent_and_the_trace_copies_nothing(ann: Folder) -> None:
    sent = talked(ann)
    for number, messages in enumerate(sent, 1):
        parts = list(seen.replay(ann, session(ann), number))
        assert all(part.same for part in parts)
        assert "\n\n".join(part.text for part in parts if part.role == "system") == messages[0]["content"]
        others = [(part.role, part.text) for part in parts if part.role != "system"]
        assert others == [(one["role"], one["content"]) for one in messages[1:]]
    kept = json.dumps([trace.read(ann, session(ann))], ensure_ascii=False)
    for words in ("Fujian", "two dogs", "keep it short", "住了三年", "where do I live"):
        assert any(words in str(messages) for messages in sent) and words not in kept


def test_what_has_moved_is_as_it_was_and_what_was_changed_says_so(ann: Folder) -> None:
    talked(ann)
    archive.move_in(ann, [TEA], NOW)
    assert all(part.same for part in seen.replay(ann, session(ann), 2))
    ann.edit("profile.md", lambda data: data.replace(b"two", b"six"))
    parts = {part.name: part for part in seen.replay(ann, session(ann), 2)}
    assert not parts["profile"].same and "six dogs" in parts["profile"].text and parts["wishes"].same


def test_what_was_forgotten_is_gone_there_as_well(ann: Folder) -> None:
    talked(ann)
    erasure.apply(ann, deletion.plan(ann, [deletion.item_at(ann, TEA, None)]), NOW)
    said = "\n".join(part.text for part in seen.replay(ann, session(ann), 2))
    assert "Fujian" not in said and "[gone" in said and "two dogs" in said


def test_a_forgetting_leaves_what_shares_but_the_programs_own_words(ann: Folder) -> None:
    """The instructions that every trace keeps, and the keys of records, have everyday words that no memory may have."""
    talked(ann)
    list(consolidation.run(ann, NOW))
    path = ann.create("notes/books.md", "Read and search forty memories, tools, turns, kinds and models of others.\n")
    before = {name: Path(ann.bookkeeping(name)).read_bytes() for name in _records(ann)}
    erasure.apply(ann, deletion.plan(ann, [deletion.item_at(ann, path, None)]), NOW)
    assert {name: Path(ann.bookkeeping(name)).read_bytes() for name in _records(ann)} == before


def _records(ann: Folder) -> list[str]:
    return ["consolidated.jsonl", *(f"traces/{name}.jsonl" for name in trace.sessions(ann))]


def test_the_parts_of_a_clients_message_are_kept_as_json(ann: Folder) -> None:
    sent = {"role": "tool", "tool_call_id": "1", "content": [{"type": "text", "text": "茶 tea"}]}
    ((one,), ((role, _, id),)) = seen.PromptRecorder(ann).steps("", [], [], [sent], [])
    assert role == "tool" and one["id"] == id and "茶 tea" in ByReference(ann).text(one["parts"])


def test_the_command_shows_it_and_names_the_requests_that_there_are(ann: Folder) -> None:
    talked(ann)
    words = ["--store", ann.store, "--user", "ann", "trace"]
    assert " 2 x: stop" in CliRunner().invoke(cli, words).output
    shown = CliRunner().invoke(cli, [*words, "--replay", "1"]).output
    assert "== profile\nprofile" in shown and "== user\nWhich tea is my favourite?" in shown
    assert "its requests are 1 to 3" in str(CliRunner().invoke(cli, [*words, "--replay", "4"]).exception)


def test_the_totals_count_summaries_and_jobs_and_what_they_cost(ann: Folder, tmp_path: Path) -> None:
    """A job's requests stand in a trace of the jobs' own, which is no chat."""
    (tmp_path / "filemem.yaml").write_text("window_tokens: 60\nprices: [x 1 2.5]\n")
    folder = Store(tmp_path, Trust(given=True)).user("ann").folder
    kept = say('{"facts": []}', usage=(1000, 100))
    with ScriptedServer() as server:
        server.default = kept
        talk = Conversation(folder, OpenAIModel("x", server.base_url, "none", 30), lambda: NOW)
        for number in range(3):
            talk.say(
                f"I live in Ghent with my two old dogs and {number} cats, and I walk them by the river every day. " * 3
            )
        answers = len(server.requests)
        listen = listener(traced(talk.model, folder, lambda: NOW, "consolidation"), print)
        list(consolidation.run(folder, NOW, listen))
        asked = len(server.requests)
    words = ["--store", str(tmp_path), "--user", "ann", "trace", "--totals", "--trust"]
    shown = CliRunner().invoke(cli, words).output
    assert "chats      1, 3 messages" in shown and f"requests   {asked}: " in shown
    assert f"; {asked - answers} of them for consolidation" in shown and "of them for summary" in shown
    jobs = CliRunner().invoke(cli, [*words[:-2], f"jobs-{NOW:%Y-%m}"]).output
    assert jobs.count("x for consolidation: stop, 0 calls (1000 tokens in, 100 out, ") == asked - answers
    assert f"money      {round(asked * 0.00125 + 1e-9, 4):.4f} for {asked} of them" in shown
