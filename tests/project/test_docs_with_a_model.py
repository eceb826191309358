"""What the documents show of a model is what happens, with one that says just this."""

from pathlib import Path
from typing import Any

from reader import Reader, note
from scripted_server import ScriptedServer, Step, say
from test_docs import happens, stories

FRIDAYS = "Ann plays [[cricket]] with friends on Fridays, at [[Hyde Park]]."
ANSWERS = ("That sounds like fun.", "Fridays it is.")


def test_the_documents_show_what_happens_with_a_model(tmp_path: Path) -> None:
    """A chat asks once a message, and reading once for all that waits."""
    readers = iter(
        [
            Reader(note("Ann plays [[cricket]] with friends.", "cricket with friends")),
            Reader(note(FRIDAYS, "on Fridays now", update="cricket")),
        ]
    )
    answers, told = iter(ANSWERS), list[str]()

    def step(body: dict[str, Any]) -> Step:
        if [tool["function"]["name"] for tool in body.get("tools", [])] != ["keep"]:
            return say(next(answers))
        reader = next(readers)
        made = reader.step(body)
        told.extend(reader.told)
        return made

    (story,) = stories("console with a model")
    with ScriptedServer() as server:
        server.default = step
        given = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        happens(
            story, tmp_path, {**given, "FILEMEM_MODEL": "gpt-x", "FILEMEM_USER": "ann"}
        )
        assert len(server.requests) == 4
    assert "M1 (2026-11-24): Ann plays [[cricket]] with friends." in told[1]
    assert "[1:7] Ann: It's on Fridays now" in told[1]
