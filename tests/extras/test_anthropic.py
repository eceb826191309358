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


def files(root: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def do(tool: Any, command: str, **arguments: Any) -> str:
    """What the tool answers to a call of the model, an error as the model would be told it."""
    try:
        answer = tool.call({"command": command, **arguments})
        return str(asyncio.run(answer) if asyncio.iscoroutine(answer) else answer)
    except ToolError as error:
        return f"Error: {error}"
    except OSError:  # of the SDK's own tool, in its older versions
        return "Error: …"


NAMES = {
    "view": ("path", "view_range"), "create": ("path", "file_text"), "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"), "rename": ("old_path", "new_path"), "delete": ("path",),
}  # fmt: skip
STEPS: list[tuple[Any, ...]] = [
    ("view", "/memories/none.md"), ("create", "/memories/tea.md", TEXT), ("create", "/memories/tea.md", "again"),
    ("create", "/memories/work/bridges/ponte.md", "No final newline"), ("create", "/memories/empty.md", ""),
    ("view", "/memories/tea.md"), ("view", "/memories/tea.md", [2, 3]), ("view", "/memories/tea.md", [4, 900]),
    ("view", "/memories/tea.md", [900, 901]), ("view", "/memories/empty.md"),
    ("str_replace", "/memories/tea.md", "Sencha", "Gyokuro"), ("str_replace", "/memories/tea.md", "Pu-erh", "Tea"),
    ("str_replace", "/memories/tea.md", "o", "0"), ("str_replace", "/memories/none.md", "o", "0"),
    ("str_replace", "/memories/work", "o", "0"), ("str_replace", "/memories/tea.md", "at night.\n", ""),
    ("view", "/memories"), ("view", "/memories/work"), ("insert", "/memories/tea.md", 0, "# Tea\n"),
    ("insert", "/memories/tea.md", 4, "The end"), ("insert", "/memories/tea.md", 99, "no"),
    ("insert", "/memories/tea.md", -1, "no"), ("insert", "/memories/empty.md", 0, "now"),
    ("insert", "/memories/work/bridges/ponte.md", 1, "two\nlines"), ("insert", "/memories/none.md", 0, "no"),
    ("view", "/memories/tea.md"), ("rename", "/memories/tea.md", "/memories/drinks/tea.md"),
    ("rename", "/memories/none.md", "/memories/other.md"),
    ("rename", "/memories/empty.md", "/memories/drinks/tea.md"), ("rename", "/memories/work", "/memories/old work"),
    ("view", "/memories/old work/bridges/ponte.md"), ("delete", "/memories/empty.md"),
    ("delete", "/memories/empty.md"), ("delete", "/memories/old work"), ("delete", "/memories"),
    ("view", "/memories/old work/bridges/ponte.md"), ("view", "/etc/passwd"), ("view", "memories/tea.md"),
    ("delete", "/memories/."), ("rename", "/memories/drinks/..", "/memories/x"),
    ("create", "/memories/../../../etc/passwd", "no"), ("rename", "/memories/none.md", "/memories/drinks/tea.md"),
    ("create", "/memories/long.md", "\n" * 999_999), ("view", "/memories/long.md"), ("delete", "/memories/long.md"),
]  # fmt: skip


@pytest.mark.parametrize("made", [NotesMemoryTool, AsyncNotesMemoryTool])
def test_it_answers_as_the_sdk_s_own_tool_does(tmp_path: Path, made: Any) -> None:
    """The same commands to the tool that the SDK has for a local folder, side by side, word by word."""
    theirs: Any = BetaLocalFilesystemMemoryTool(str(tmp_path / "theirs"))
    ours: Any = made(mara(tmp_path))
    for command, *given in STEPS:
        arguments = dict(zip(NAMES[command], given, strict=False))
        answer, wanted = (
            do(ours, command, **arguments),
            do(theirs, command, **arguments),
        )
        assert answer == wanted or (
            wanted == "Error: …" and answer.startswith("Error: ")
        ), (command, given)
    kept, notes = tmp_path / "theirs/memories", tmp_path / "store/mara/notes"
    both = [
        {path.relative_to(root): path.read_text() for path in root.glob("**/*.md")}
        for root in (kept, notes)
    ]
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
    before = files(tmp_path)
    answers = [
        do(tool, "view", path=path),
        do(tool, "create", path=path, file_text="WRITTEN")
        if "%" not in path and "//" not in path
        else "Error: ",
        do(tool, "str_replace", path=path, old_str="SECRET", new_str="WRITTEN"),
        do(tool, "insert", path=path, insert_line=0, insert_text="WRITTEN"),
        do(tool, "rename", old_path=path, new_path="/memories/stolen.md"),
        do(tool, "delete", path=path),
    ]
    if "%" not in path and "//" not in path:
        answers.append(do(tool, "rename", old_path="/memories/mine.md", new_path=path))
    for answer in answers:
        assert (
            answer.startswith("Error: ")
            and "SECRET" not in answer
            and "\n" not in answer
        ), (path, answer)
        assert str(tmp_path) not in answer
    assert files(tmp_path) == before


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


def test_what_it_keeps_is_a_memory_and_an_editor_s_change_counts(
    tmp_path: Path,
) -> None:
    user = mara(tmp_path)
    tool = NotesMemoryTool(user)
    do(tool, "create", path="/memories/alpacas.md", file_text="Inês breeds alpacas.\n")
    assert user.search_files("Who breeds alpacas?")[0].path == "notes/alpacas.md"
    place = Path(user.folder.root, "notes/alpacas.md")
    place.write_text("Inês bred alpacas.\r\nNow goats.\r\n", newline="")
    assert "Now goats" in do(tool, "view", path="/memories/alpacas.md")
    do(
        tool,
        "str_replace",
        path="/memories/alpacas.md",
        old_str="goats",
        new_str="bees",
    )
    assert place.read_bytes() == "Inês bred alpacas.\r\nNow bees.\r\n".encode()
    place.write_bytes("Inês \xff".encode("latin-1"))
    assert do(
        tool, "str_replace", path="/memories/alpacas.md", old_str="In", new_str="An"
    ).startswith("Error: ")
    assert place.read_bytes() == "Inês \xff".encode("latin-1")
