"""While a chat goes on, what has left the prompt's window is remembered behind it, and what a chat left is at its end."""

import json
from pathlib import Path
from typing import Any

from programs import clean
from scripted_server import ScriptedServer, Step, hang, say
from terminal import Terminal

LONG = "The lecture on hydraulics went on about valves and pumps and pipes. " * 12


def chat(folder: Path, server: ScriptedServer | None = None, **settings: object) -> Terminal:
    """A chat with a small window, in a store of its own."""
    (folder / "memory_store").mkdir(exist_ok=True)
    given = {"window_tokens": 200, **settings}
    (folder / "memory_store/filemem.yaml").write_text("".join(f"{key}: {value}\n" for key, value in given.items()))
    env = clean(folder, LOGNAME="nora", **(server.environment if server else {}))
    return Terminal(["filemem", "chat"], env, str(folder), 200)


def facts(folder: Path) -> list[str]:
    return sorted(path.stem[11:] for path in (folder / "memory_store/nora/facts").rglob("*.md"))


def silent_where_facts_are_wanted(body: dict[str, Any]) -> Step:
    """An endpoint that talks, and says nothing at all when it is asked for facts."""
    return hang() if "keep" in json.dumps(body.get("tools", "")) else say("Fine.")


def test_what_leaves_the_window_is_remembered_before_the_chat_ends(tmp_path: Path) -> None:
    """And shown behind the next answer; what stands in the window waits."""
    with chat(tmp_path) as term:
        for text in ("I live in Ghent.", LONG, LONG, *["What now?"] * 20):
            term.expect("\n> ")
            term.type(f"{text}\r")
            if "-i-live-in-ghent.md: I live in Ghent." in term.screen:
                break
        term.expect("\n> ")
        term.type("I'm allergic to walnuts.\r")
        term.expect("\n> ")
        assert "i-live-in-ghent" in facts(tmp_path)
        assert "i-m-allergic-to-walnuts" not in facts(tmp_path)
        term.type("\x04")
        term.expect("i-m-allergic-to-walnuts")
        assert term.end() == 0
    assert term.screen.count("-i-live-in-ghent.md: I live in Ghent.") == 1


def test_a_model_that_does_not_answer_there_holds_nothing_up(tmp_path: Path, server: ScriptedServer) -> None:
    server.default = silent_where_facts_are_wanted
    """The talk goes on, and at its end Ctrl-C leaves the turns to the next time."""
    with chat(tmp_path, server) as term:
        for text in ("I live in Ghent.", LONG, LONG, "What now?", "And now?"):
            term.expect("\n> ")
            term.type(f"{text}\r")
            term.expect("Fine")
        term.expect("\n> ")
        term.type("\x04")
        term.expect("\n")
        term.interrupt("Stopped")
        assert term.end() == 0
    assert facts(tmp_path) == []


def test_consolidate_false_keeps_the_background_still(tmp_path: Path) -> None:
    with chat(tmp_path, consolidate="false") as term:
        for text in ("I live in Ghent.", LONG, LONG, "What now?", "And now?"):
            term.expect("\n> ")
            term.type(f"{text}\r")
        term.expect("\n> ")
        term.type("\x04")
        assert term.end() == 0
    assert facts(tmp_path) == []
