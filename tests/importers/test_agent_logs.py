"""Memory that grows by itself: what agents keep of their sessions is taken in, as listed in the settings or at a session's end,
each word once, without subagents and tools; what other assistants were told or remember comes in with its source.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

from filemem import Store
from filemem.importers import import_file
from filemem.store.folder import StoreFolder

NOON = "2026-05-04T12:00:00.000Z"


def jsonl(path: Path, *entries: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries),
        encoding="utf-8",
    )
    return path


def entry(kind: str, content: Any, uuid: str, **more: Any) -> dict[str, Any]:
    """A line of Claude Code's."""
    message = {"role": kind, "content": content}
    return {
        "type": kind,
        "uuid": uuid,
        "timestamp": NOON,
        "sessionId": "s-1",
        "message": message,
        **more,
    }


def claude_code(folder: Path) -> Path:
    """Two projects: one session with all that is nobody's words in it, and its subagent's."""
    jsonl(
        folder / "-home-mara/s-1.jsonl",
        {"type": "file-history-snapshot", "snapshot": {}},
        entry(
            "user",
            "I only drink oolong tea now.<system-reminder>Be brief.</system-reminder>",
            "u1",
        ),
        entry(
            "assistant",
            [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Noted: oolong."},
            ],
            "a1",
        ),
        entry(
            "assistant",
            [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}],
            "a2",
        ),
        entry("user", [{"type": "tool_result", "content": "SECRET OUTPUT"}], "u2"),
        entry(
            "user",
            "<command-name>/clear</command-name><command-args></command-args>",
            "u3",
        ),
        entry("user", "Caveat of the program", "u4", isMeta=True),
        entry("user", "This was a summary", "u5", isCompactSummary=True),
        entry(
            "assistant",
            [{"type": "text", "text": "subagent speaking"}],
            "a3",
            isSidechain=True,
        ),
        entry("user", "[Request interrupted by user]", "u6"),
        entry(
            "user",
            [
                {"type": "text", "text": "外婆八十岁了。"},
                {"type": "image", "source": {}},
            ],
            "u7",
        ),
        {"type": "summary", "summary": "Tea and Grandma", "leafUuid": "u7"},
    )
    jsonl(folder / "-home-mara/agent-77.jsonl", entry("user", "subagent's task", "x1"))
    jsonl(
        folder / "-home-mara/s-1/subagents/agent-78.jsonl",
        entry("user", "subagent's task", "x2"),
    )
    return folder


def codex(folder: Path) -> Path:
    """A rollout as it is now, an older one without events, and a subagent's."""

    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": NOON, "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        return {
            "type": "message",
            "role": role,
            "content": [{"type": "input_text", "text": text}],
        }

    day = folder / "2026/05/04"
    jsonl(
        day / "rollout-2026-05-04T12-00-00-c1.jsonl",
        line("session_meta", id="c1", cwd="/work", source="cli"),
        line(
            "response_item",
            **message("user", "<environment_context>cwd</environment_context>"),
        ),
        line("event_msg", type="user_message", message="My bike is a red Gazelle."),
        line("response_item", **message("user", "My bike is a red Gazelle.")),
        line("response_item", type="function_call", name="shell", arguments="{}"),
        line("event_msg", type="agent_reasoning", text="thinking"),
        line("event_msg", type="agent_message", message="A fine bike."),
    )
    jsonl(
        day / "rollout-2025-05-04T12-00-00-c2.jsonl",
        {"id": "c2", "timestamp": NOON, "instructions": None},
        message("user", "# AGENTS.md instructions for /work"),
        message("user", "Old words."),
    )
    meta = line("session_meta", id="c3", source={"subagent": "review"})
    jsonl(
        day / "rollout-2026-05-05T12-00-00-c3.jsonl",
        meta,
        line("event_msg", type="user_message", message="no"),
    )
    return folder


def taken(tmp_path: Path, format: str, path: Path) -> list[str]:
    """The turns of every session that an import adds, in order of their paths."""
    store = StoreFolder(tmp_path / "store")
    report = import_file(store, format, str(path), user="mara")
    assert not report.skipped
    user = Store(tmp_path / "store").user("mara")
    paths = sorted(one.path for one in report.added)
    return [
        f"{turn.speaker}: {turn.text}"
        for one in paths
        for turn in user.open_file(one).passages
    ]


def test_claude_code_s_sessions_without_subagents_tools_and_what_the_program_says(
    tmp_path: Path,
) -> None:
    said = taken(tmp_path, "claude-code", claude_code(tmp_path / "projects"))
    first, *rest = said
    assert first == "mara: I only drink oolong tea now."
    assert rest == [
        "Claude: Noted: oolong.",
        "mara: 外婆八十岁了。\n\n[image: without a name]",
    ]
    session = next((tmp_path / "store/mara/sessions").rglob("*.md")).read_text()
    assert (
        "title: Tea and Grandma" in session and 'origin: "claude-code:s-1"' in session
    )
    assert (
        "assistant: Claude\n" in session
    )  # else consolidation would take it for a person


def test_a_session_that_goes_on_adds_its_new_turns_and_a_line_that_is_being_written_waits(
    tmp_path: Path,
) -> None:
    file = claude_code(tmp_path / "projects") / "-home-mara/s-1.jsonl"
    taken(tmp_path, "claude-code", file)
    later = json.dumps(entry("user", "And jasmine on Sundays.", "u9"))
    with open(file, "a") as log:
        log.write(later[:40])
    store = StoreFolder(tmp_path / "store")
    half = import_file(store, "claude-code", str(file), user="mara")
    assert (half.added, half.updated, half.skipped) == ([], [], [])
    with open(file, "a") as log:
        log.write(later[40:] + "\n")
    assert [
        one.turns
        for one in import_file(store, "claude-code", str(file), user="mara").updated
    ] == [1]
    assert not import_file(store, "claude-code", str(file), user="mara").updated


def test_codex_s_rollouts_new_and_old_without_subagents_tools_and_context(
    tmp_path: Path,
) -> None:
    said = taken(tmp_path, "codex", codex(tmp_path / "sessions"))
    assert sorted(said) == [
        "Codex: A fine bike.",
        "mara: My bike is a red Gazelle.",
        "mara: Old words.",
    ]


def test_custom_instructions_of_chatgpt_are_the_person_s_words_from_which_facts_are_made(
    tmp_path: Path,
) -> None:
    """Once, however many conversations had them; how to answer waits for review, as in any import."""

    def node(
        key: str, parent: str | None, role: str, content: dict[str, Any]
    ) -> dict[str, Any]:
        message = {
            "author": {"role": role},
            "content": content,
            "create_time": 1777900000.0,
            "metadata": {},
        }
        return {"id": key, "parent": parent, "children": [], "message": message}

    about = "The user said of themselves:\n```I am allergic to walnuts.```"
    context = {
        "content_type": "user_editable_context",
        "user_profile": about,
        "user_instructions": "Answer in French.",
    }
    talk = {
        "mapping": {
            "a": node("a", None, "user", context),
            "b": node("b", "a", "user", {"content_type": "text", "parts": ["Hello!"]}),
        },
        "current_node": "b",
        "create_time": 1777900000.0,
    }
    export = tmp_path / "conversations.json"
    export.write_text(
        json.dumps(
            [{**talk, "id": "t1", "title": "One"}, {**talk, "id": "t2", "title": "Two"}]
        )
    )
    said = taken(tmp_path, "chatgpt", export)
    own = ("Answer in French.", "Hello!", "Hello!", "I am allergic to walnuts.")
    assert sorted(said) == [f"mara: {text}" for text in own]


def test_claude_s_own_memory_becomes_notes_that_the_next_export_brings_up_to_date(
    tmp_path: Path,
) -> None:
    def export(name: str, memory: str) -> Path:
        value = [
            {
                "conversations_memory": memory,
                "project_memories": {"p-1": "Uses {braces}."},
                "account_uuid": "x",
            }
        ]
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("conversations.json", "[]")
            archive.writestr("memories.json", json.dumps(value))
        return tmp_path / name

    store = StoreFolder(tmp_path / "store")
    first = import_file(
        store, "claude", str(export("may.zip", "Mara inspects bridges.")), user="mara"
    )
    assert [one.path for one in first.added] == [
        "notes/claude/memory.md",
        "notes/claude/project-p-1.md",
    ]
    again = import_file(
        store,
        "claude",
        str(export("june.zip", "Mara inspects bridges.\n\nShe moved.\0")),
        user="mara",
    )
    assert [one.path for one in again.updated] == [
        "notes/claude/memory.md"
    ] and not again.added
    memory = Store(tmp_path / "store").user("mara").open_file("notes/claude/memory.md")
    assert memory.front["origin"] == "claude:memory" and memory.text.endswith(
        "She moved.\\x00\n"
    )
