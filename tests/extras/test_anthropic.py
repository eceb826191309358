"""Anthropic's memory tool on notes/: its commands and errors are those of the SDK's own tool, and no path leads out."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from filemem import Store, User

pytest.importorskip("anthropic", reason="needs filemem[anthropic]")
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from filemem.adapters.anthropic import AsyncNotesMemoryTool, NotesMemoryTool

TEXT = "Oolong in the morning.\n\nSencha at night.\n外婆 likes 乌龙.\n"


def mara(root: Path) -> User:
    return Store(root / "store").user("mara")


def do(tool: Any, command: str, **arguments: Any) -> str:
    """What the tool answers to a call of the model, an error as the model would be told it."""
    try:
        answer = tool.call({"command": command, **arguments})
        return str(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)
    except ToolError as error:
        return f"Error: {error}"
    except OSError:  # of the SDK's own tool, in its older versions
        return "Error: …"


STEPS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories/none.md"},
    {"command": "create", "path": "/memories/tea.md", "file_text": TEXT},
    {"command": "create", "path": "/memories/tea.md", "file_text": "again"},
    {"command": "create", "path": "/memories/work/bridges/ponte.md", "file_text": "No final newline"},
    {"command": "create", "path": "/memories/empty.md", "file_text": ""},
    {"command": "view", "path": "/memories/tea.md"},
    {"command": "view", "path": "/memories/tea.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/tea.md", "view_range": [3, -1]},
    {"command": "view", "path": "/memories/tea.md", "view_range": [4, 900]},
    {"command": "view", "path": "/memories/tea.md", "view_range": [900, 901]},
    {"command": "view", "path": "/memories/empty.md"},
    {"command": "str_replace", "path": "/memories/tea.md", "old_str": "Sencha", "new_str": "Gyokuro"},
    {"command": "str_replace", "path": "/memories/tea.md", "old_str": "Pu-erh", "new_str": "Tea"},
    {"command": "str_replace", "path": "/memories/tea.md", "old_str": "o", "new_str": "0"},
    {"command": "str_replace", "path": "/memories/none.md", "old_str": "o", "new_str": "0"},
    {"command": "str_replace", "path": "/memories/work", "old_str": "o", "new_str": "0"},
    {"command": "str_replace", "path": "/memories/tea.md", "old_str": "at night.\n", "new_str": ""},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/work"},
    {"command": "insert", "path": "/memories/tea.md", "insert_line": 0, "insert_text": "# Tea\n"},
    {"command": "insert", "path": "/memories/tea.md", "insert_line": 4, "insert_text": "The end"},
    {"command": "insert", "path": "/memories/tea.md", "insert_line": 99, "insert_text": "no"},
    {"command": "insert", "path": "/memories/tea.md", "insert_line": -1, "insert_text": "no"},
    {"command": "insert", "path": "/memories/empty.md", "insert_line": 0, "insert_text": "now"},
    {"command": "insert", "path": "/memories/work/bridges/ponte.md", "insert_line": 1, "insert_text": "two\nlines"},
    {"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "no"},
    {"command": "view", "path": "/memories/tea.md"},
    {"command": "rename", "old_path": "/memories/tea.md", "new_path": "/memories/drinks/tea.md"},
    {"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/other.md"},
    {"command": "rename", "old_path": "/memories/empty.md", "new_path": "/memories/drinks/tea.md"},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/old work"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/old work/bridges/ponte.md"},
    {"command": "delete", "path": "/memories/empty.md"},
    {"command": "delete", "path": "/memories/empty.md"},
    {"command": "delete", "path": "/memories/old work"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories/old work/bridges/ponte.md"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "memories/tea.md"},
    {"command": "delete", "path": "/memories/."},
    {"command": "rename", "old_path": "/memories/drinks/..", "new_path": "/memories/x"},
    {"command": "create", "path": "/memories/../../../etc/passwd", "file_text": "no"},
    {"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/drinks/tea.md"},
    {"command": "create", "path": "/memories/long.md", "file_text": "\n" * 999_999},
    {"command": "view", "path": "/memories/long.md"},
    {"command": "delete", "path": "/memories/long.md"},
]


@pytest.mark.parametrize("made", [NotesMemoryTool, AsyncNotesMemoryTool])
def test_it_answers_as_the_sdk_s_own_tool_does(tmp_path: Path, made: Any) -> None:
    """The same commands to the tool that the SDK has for a local folder, side by side, word by word."""
    theirs: Any = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    ours: Any = made(mara(tmp_path))
    for arguments in STEPS:
        answer, wanted = do(ours, **arguments), do(theirs, **arguments)
        assert answer == wanted or (wanted == "Error: …" and answer.startswith("Error: ")), arguments
    kept, notes = tmp_path / "theirs/memories", tmp_path / "store/mara/notes"
    both = [{path.relative_to(root): path.read_text() for path in root.glob("**/*.md")} for root in (kept, notes)]
    assert both[0] == both[1]


@pytest.mark.parametrize("path", [
    "/memories/../profile.md", "/memories/a/../../profile.md", "/memories/..", "/memories/%2e%2e/profile.md",
    "/memories//etc/passwd", "/memories/\0", "/memories/a\\..\\..\\x", "/memories/.filemem/lock", "/memories/link/profile.md",
    "/memories/link", "/memories/way/secret.md", "/memoriesx/a.md", "profile.md", "", "/memories/" + "d/" * 70 + "x.md",
    "/memories/" + "n" * 300 + ".md",
])  # fmt: skip
def test_no_path_leads_out_of_the_notes(tmp_path: Path, path: str) -> None:
    """Nothing outside is read, written, moved or deleted, by .., links, hidden or odd names; the answer is one line."""
    user, other = mara(tmp_path), Store(tmp_path / "store").user("joao")
    for one in (user, other):
        one.folder.make()
        Path(one.folder.root, "profile.md").write_text("SECRET profile")
    tool = NotesMemoryTool(user)
    do(tool, "create", path="/memories/mine.md", file_text="mine")
    notes = Path(user.folder.root, "notes")
    os.symlink(other.folder.root, notes / "link")
    os.symlink(tmp_path, notes / "way")
    (tmp_path / "secret.md").write_text("SECRET file")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    answers = [
        do(tool, "view", path=path),
        do(tool, "create", path=path, file_text="WRITTEN") if "%" not in path and "//" not in path else "Error: ",
        do(tool, "str_replace", path=path, old_str="SECRET", new_str="WRITTEN"),
        do(tool, "insert", path=path, insert_line=0, insert_text="WRITTEN"),
        do(tool, "rename", old_path=path, new_path="/memories/stolen.md"),
        do(tool, "delete", path=path),
    ]
    if "%" not in path and "//" not in path:
        answers.append(do(tool, "rename", old_path="/memories/mine.md", new_path=path))
    for answer in answers:
        assert answer.startswith("Error: ") and "SECRET" not in answer and "\n" not in answer, (path, answer)
        assert str(tmp_path) not in answer
    after = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert {p: data for p, data in after.items() if p.name != "lock"} == {
        p: d for p, d in before.items() if p.name != "lock"
    }


@pytest.mark.parametrize("input", [
    {}, {"command": "format", "path": "/memories"}, {"command": "view"}, {"command": "view", "path": 5},
    {"command": "create", "path": "/memories/a.md"}, {"command": "create", "path": "/memories/a.md", "file_text": 5},
    {"command": "insert", "path": "/memories/mine.md", "insert_line": "one", "insert_text": "x"},
    [], "view", None,
    {"command": "create", "path": "/memories/big.md", "file_text": "x" * 10_000_001},
])  # fmt: skip
def test_a_malformed_command_is_told_in_one_line(tmp_path: Path, input: Any) -> None:
    tool = NotesMemoryTool(mara(tmp_path))
    do(tool, "create", path="/memories/mine.md", file_text="mine")
    with pytest.raises(ToolError) as error:
        tool.call(input)
    assert str(error.value) and "\n" not in str(error.value)


def test_what_it_keeps_is_a_memory_and_an_editor_s_change_counts(tmp_path: Path) -> None:
    user = mara(tmp_path)
    tool = NotesMemoryTool(user)
    do(tool, "create", path="/memories/alpacas.md", file_text="Inês breeds alpacas.\n")
    assert user.search_files("Who breeds alpacas?")[0].path == "notes/alpacas.md"
    place = Path(user.folder.root, "notes/alpacas.md")
    place.write_text("Inês bred alpacas.\r\nNow goats.\r\n", newline="")
    assert "Now goats" in do(tool, "view", path="/memories/alpacas.md")
    do(tool, "str_replace", path="/memories/alpacas.md", old_str="goats", new_str="bees")
    assert place.read_bytes() == "Inês bred alpacas.\r\nNow bees.\r\n".encode()
    place.write_bytes("Inês \xff".encode("latin-1"))
    assert do(tool, "str_replace", path="/memories/alpacas.md", old_str="In", new_str="An").startswith("Error: ")
    assert place.read_bytes() == "Inês \xff".encode("latin-1")
