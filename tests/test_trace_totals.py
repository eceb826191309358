"""The totals of traces are the sums of their steps: requests with tokens, calls, and how many searches found anything."""

import datetime as dt
from pathlib import Path

from scripted_server import ScriptedServer, calls, say

from filemem import Store
from filemem.chat.conversation import Conversation
from filemem.files import trace
from filemem.models import OpenAIModel

NOW = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


def test_the_totals_of_two_chats(tmp_path: Path) -> None:
    ann = Store(tmp_path).user("ann").folder
    ann.create("facts/2026/2026-11-18-tea.md", "Likes oolong tea.\n")
    searched = calls(("grep", {"pattern": "oolong"}), ("grep", {"pattern": "tuba"}), usage=(100, 10))
    opened = calls(("open", {"path": "facts/2026/2026-11-18-tea.md"}), usage=(200, 20))
    with ScriptedServer(searched, opened, say("Oolong.", usage=(300, 3)), say("Hi.", usage=(50, 1))) as server:
        for message in ("Which tea?", "Hello!"):
            Conversation(ann, OpenAIModel("x", server.base_url, "none", 30), lambda: NOW).say(message)
    found = trace.totals(ann, trace.sessions(ann))
    assert (found.chats, found.messages, found.requests, found.errors) == (2, 2, 4, 0)
    assert (found.tokens_in, found.tokens_out) == (650, 34)
    assert (found.calls, found.searches, found.hits) == (3, 2, 1)
