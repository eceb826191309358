"""What the documents show of a model is what happens, with one that says just this; and what it was sent is what they say."""

import json
from pathlib import Path
from typing import Any

from scripted_server import Answer, ScriptedServer, calls, say
from test_docs import happens, stories

OPEN = "I play cricket with friends."
FRIDAYS = "Ann plays [[cricket]] with friends on Fridays, at [[Hyde Park]]."
EPISODE = {
    "title": "cricket in Hyde Park",
    "intent": "Ann tells of her Fridays with friends",
    "outcome": "Ann won the cup in 1999",
    "open": ["buy a new bat"],
    "tags": ["cricket", "Hyde Park"],
}


def filled(tool: str, key: str, *entries: dict[str, Any], **more: Any) -> Answer:
    return calls((tool, {key: list(entries), **more}))


SCRIPT = (
    say("That sounds like fun."),
    filled("keep", "facts", {"text": "Ann plays [[cricket]] with friends.", "lines": [6]}),
    filled("keep", "facts"),
    say("Fridays it is."),
    filled("keep", "facts", {"text": FRIDAYS, "lines": [6]}, episode=EPISODE),
    filled("keep", "facts"),
    filled("decide", "decisions", {"fact": 1, "action": "UPDATE", "memory": "M1", "text": FRIDAYS}),
    say("With friends, on Fridays."),
    filled(
        "notice",
        "insights",
        {"text": "Ann talks of cricket whenever she talks of friends.", "labels": ["1:6", "2:6"]},
    ),
)


def test_the_documents_show_what_happens_with_a_model(tmp_path: Path) -> None:
    """No request more than the script has; the episode is asked for along with the facts, what was recalled stands before the
    answer, and a cluster is asked of once."""
    (story,) = stories("console with a model")
    with ScriptedServer(*SCRIPT) as server:
        given = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        happens(story, tmp_path, {**given, "FILEMEM_MODEL": "gpt-x", "FILEMEM_USER": "ann"})
        asked = [request.body for request in server.requests]
    names = [[tool["function"]["name"] for tool in body.get("tools", [])] for body in asked]
    talk = ["grep", "search_files", "open", "close"]
    keep = [["keep"], ["keep"]]
    assert names == [talk, *keep, talk, *keep, ["decide"], talk, ["sum_up"], ["notice"]]
    assert "episode" in asked[1]["tools"][0]["function"]["parameters"]["properties"]
    assert OPEN in json.dumps(asked[1]["messages"]) and OPEN not in json.dumps(asked[4]["messages"])
    assert "M1 (2026-11-24): Ann plays cricket with friends." in asked[6]["messages"][1]["content"]
    recalled = asked[7]["messages"][0]["content"].partition('<memory path="search_files">')[2]
    assert FRIDAYS in recalled
    assert "Cluster 1: Hyde Park, cricket" in asked[8]["messages"][1]["content"]
