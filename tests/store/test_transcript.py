"""A conversation is one file that begins with its first turn and goes on whatever
happens to it on disk."""

import datetime as dt
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from filemem.store.folder import Folder
from filemem.store.problems import problems_of
from filemem.store.transcript import Transcript

LISBON = ZoneInfo("Europe/Lisbon")
AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=LISBON)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(str(tmp_path / "u"), "u")


def said(chat: Transcript) -> list[str]:
    return [turn.text for turn in chat.turns()]


def test_the_file_is_created_with_its_first_turn(folder: Folder) -> None:
    chat = Transcript(folder)
    assert (chat.turns(), folder.exists()) == ([], False)
    line = chat.add(
        "ann",
        "Shall we go to Kyoto in May?\nI'd love to.",
        AT,
    )
    assert chat.path == "sessions/2026/2026-11-20-0930-shall-we-go-to-kyoto.md"
    memory = folder.memory(chat.path)
    began = dt.datetime(2026, 11, 20, 9, 30)
    front = {"type": "session", "date": began, "timezone": "Europe/Lisbon"}
    assert memory.front == front
    assert memory.lines[line - 1 :] == [
        "- **ann** 09:30: Shall we go to Kyoto in May?",
        "  I'd love to.",
    ]
    assert problems_of(memory) == []


@pytest.mark.parametrize(
    "end",
    ["\n", "", "\r\n", "\n\n\n"],
)
def test_a_persons_edit_stays_and_the_next_turn_follows_it(
    folder: Folder, end: str
) -> None:
    chat = Transcript(folder)
    chat.add("ann", "Kyoto in May?", AT)
    path = Path(folder.absolute(chat.path))
    edited = (
        path.read_bytes()
        .replace(
            b"May",
            b"June",
        )
        .rstrip()
        + end.encode()
    )
    path.write_bytes(edited)
    line = chat.add("ann", "Or July?", AT)
    assert path.read_bytes().startswith(edited)
    assert said(chat) == ["Kyoto in June?", "Or July?"]
    assert chat.turns()[-1].line == line


def test_the_conversation_follows_its_file_into_the_archive(folder: Folder) -> None:
    chat = Transcript(folder)
    chat.add("ann", "Kyoto", AT)
    old = chat.path
    folder.move({old: f"archive/{old}"})
    chat.add("assistant", "Yes.", AT)
    assert folder.paths() == [f"archive/{old}"] == [chat.path]
    folder.move({chat.path: old})
    chat.add("ann", "Good.", AT)
    assert chat.path == old and said(chat) == [
        "Kyoto",
        "Yes.",
        "Good.",
    ]


CHANGES: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "a picture": lambda path: path.write_bytes(b"\x89PNG\0\0"),
    "UTF-16": lambda path: path.write_bytes(path.read_text().encode("utf-16")),
    "a link": lambda path: (
        path.unlink(),
        os.symlink(
            "nowhere",
            path,
        ),
    ),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_conversation_goes_on_in_a_new_file_whatever_its_own_has_become(
    folder: Folder, change: str
) -> None:
    """The old one is left as it is."""
    chat = Transcript(folder)
    chat.add("ann", "My secret plan", AT)
    path = Path(folder.absolute(chat.path))
    CHANGES[change](path)
    kept = path.read_bytes() if path.is_file() else None
    line = chat.add("ann", "and then", AT)
    assert folder.absolute(chat.path) != str(path)
    assert said(chat) == ["and then"] and chat.turns()[0].line == line
    assert kept is None or path.read_bytes() == kept


def test_of_two_who_talk_at_once_each_is_told_the_line_of_their_own_turn(
    folder: Folder,
) -> None:
    first = Transcript(folder)
    first.add("Ann", "Good morning.", AT)

    def talk(name: str) -> dict[int, str]:
        chat = Transcript(
            Folder(folder.root, folder.name),
            first.path,
        )
        texts = [f"{name} {number}" for number in range(60)]
        return {
            chat.add(
                name,
                text,
                AT,
            ): text
            for text in texts
        }

    with ThreadPoolExecutor(2) as people:
        told = [*people.map(talk, ("Ann", "Bob"))]
    lines = folder.memory(first.path).lines
    for line, text in [*told[0].items(), *told[1].items()]:
        assert lines[line - 1].endswith(f": {text}")
