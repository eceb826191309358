"""A conversation is one file that begins with its first turn and goes on whatever happens to it on disk."""

import datetime as dt
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from filemem.store import transcript
from filemem.store.folder import Folder
from filemem.store.problems import problems_of
from filemem.store.transcript import Transcript

LISBON = ZoneInfo("Europe/Lisbon")
AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=LISBON)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(str(tmp_path / "u"), "u")


def said(chat: Transcript) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in chat.turns()]


def test_the_file_is_created_with_its_first_turn(folder: Folder) -> None:
    chat = Transcript(folder)
    assert (chat.turns(), folder.exists()) == ([], False)
    line = chat.add("ann", "Shall we go to Kyoto in May?\nI'd love to.", AT)
    assert chat.path == "sessions/2026/2026-11-20-0930-shall-we-go-to-kyoto.md"
    memory = folder.memory(chat.path)
    assert memory.front == {
        "date": dt.datetime(2026, 11, 20, 9, 30),
        "timezone": transcript.zone_name(AT),
    }
    assert memory.lines[line - 1] == "- **ann** 09:30: Shall we go to Kyoto in May?"
    assert memory.lines[line] == "  I'd love to."
    assert problems_of(memory) == []
    assert memory.when == (dt.date(2026, 11, 20), False, "09:30")


@pytest.mark.parametrize("end", ["\n", "", "\r\n", "\n\n\n"])
def test_a_persons_edit_stays_and_the_next_turn_follows_it(
    folder: Folder, tmp_path: Path, end: str
) -> None:
    chat = Transcript(folder)
    chat.add("ann", "Kyoto in May?", AT)
    chat.add("assistant", "Gladly.", AT)
    path = tmp_path / "u" / chat.path
    edited = (
        path.read_bytes().replace(b"May", b"June").rstrip()
        + b" A note of mine"
        + end.encode()
    )
    path.write_bytes(edited)
    line = chat.add("ann", "Or July?", AT)
    assert path.read_bytes().startswith(edited)
    assert said(chat) == [
        ("ann", "Kyoto in June?"),
        ("assistant", "Gladly. A note of mine"),
        ("ann", "Or July?"),
    ]
    assert chat.turns()[-1].line == line


def test_the_conversation_goes_on_in_a_new_file_where_its_own_is_deleted(
    folder: Folder, tmp_path: Path
) -> None:
    chat = Transcript(folder)
    chat.add("ann", "My secret plan", AT)
    old = chat.path
    (tmp_path / "u" / old).unlink()
    assert chat.turns() == []
    line = chat.add("assistant", "Noted.", AT)
    assert chat.path != old and folder.paths() == [chat.path]
    assert "secret" not in folder.memory(chat.path).text
    assert chat.turns()[-1].line == line
    chat.add("ann", "Thanks.", AT)
    assert said(chat) == [("assistant", "Noted."), ("ann", "Thanks.")]


def test_the_conversation_follows_its_file_into_the_archive(folder: Folder) -> None:
    chat = Transcript(folder)
    chat.add("ann", "Kyoto", AT)
    old = chat.path
    folder.move({old: f"archive/{old}"})
    chat.add("assistant", "Yes.", AT)
    assert folder.paths() == [f"archive/{old}"] == [chat.path]
    assert said(chat) == [("ann", "Kyoto"), ("assistant", "Yes.")]
    folder.move({chat.path: old})
    chat.add("ann", "Good.", AT)
    assert chat.path == old and len(chat.turns()) == 3


def test_the_conversation_goes_on_whatever_its_file_has_become(
    folder: Folder, tmp_path: Path
) -> None:
    """A picture, UTF-16, a link, a FIFO, a folder: each is left as it is."""
    chat = Transcript(folder)
    for number, change in enumerate(
        (
            lambda path: path.write_bytes(b"\x89PNG\0\0"),
            lambda path: path.write_bytes(path.read_text().encode("utf-16")),
            lambda path: (path.unlink(), os.symlink("nowhere", path)),
            lambda path: (path.unlink(), os.mkfifo(path)),
            lambda path: (path.unlink(), path.mkdir()),
        )
    ):
        chat.add("ann", f"turn {number}", AT)
        path = tmp_path / "u" / chat.path
        change(path)
        kept = path.read_bytes() if path.is_file() else None
        chat.add("ann", "and then", AT)
        assert str(path) != str(tmp_path / "u" / chat.path)
        assert said(chat) == [("ann", "and then")]
        assert kept is None or path.read_bytes() == kept


def test_of_two_who_talk_at_once_each_is_told_the_line_of_their_own_turn(
    folder: Folder,
) -> None:
    first = Transcript(folder)
    first.add("Ann", "Good morning.", AT)

    def talk(name: str) -> dict[int, str]:
        chat = Transcript(Folder(folder.root, folder.name), first.path)
        return {
            chat.add(name, f"{name} {number}", AT): f"{name} {number}"
            for number in range(60)
        }

    with ThreadPoolExecutor(2) as people:
        told = [*people.map(talk, ("Ann", "Bob"))]
    lines = folder.memory(first.path).lines
    assert all(
        lines[line - 1].endswith(f": {text}")
        for one in told
        for line, text in one.items()
    )
