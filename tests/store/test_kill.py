"""A process may be killed at any moment: no half line, no lost earlier byte, and the
next write works.

What a killed write leaves behind is a temporary file, which the next writer finishes or
deletes. Each is killed before its first, second, … change on disk; real kills at random
moments are `benchmarks/reliability.py`'s.
"""

import datetime as dt
import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash_driver import arm
from forgetting import forget, holding

from filemem import Store, User, overview
from filemem.store import files, recalls
from filemem.store.facts import set_front
from filemem.store.folder import Folder
from filemem.store.transcript import Transcript

AT = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)
LONG = "word " * 1200 + "\n\nsecond paragraph"
SAID = ["turn 1\nits second line", f"turn 2 {LONG}", "turn 3"]
TEA = "facts/tea.md"
FACTS = [
    {"text": "Keeps bees.", "id": "m1"},
    {"text": "Has a boat.", "id": "m2"},
    {"text": "Likes plums.", "id": "m3"},
    {"text": "Likes plums!", "id": "m4"},
    {"text": "Rows.", "id": "m5"},
]
UNLIKE = [one for one in FACTS if one["id"] != "m4"]
TEXTS = [
    "Has a boat.",
    "Keeps bees.",
    "Likes plums.",
    "Rows.",
    "Sings.",
]
ACTS: dict[str, Callable[[Folder], object]] = {
    "edit": lambda folder: folder.edit(
        TEA, lambda old: set_front(TEA, old, "importance", "7")
    ),
    "move": lambda folder: folder.move({TEA: f"archive/{TEA}"}),
    "recall": lambda folder: recalls.note_recall(
        folder,
        TEA,
        "open",
        AT,
    ),
}


def killed(work: list[Callable[[], object]], limit: int) -> tuple[bool, int]:
    """Do works in a process that ends right before its change with the number `limit`;
    was it, and how many were finished?"""
    told, done = os.pipe()
    child = os.fork()
    if not child:
        arm(limit)
        written = os.dup(done)
        for one in work:
            one()
            os.writev(
                written,
                [b"."],
            )  # no change that is counted
        os._exit(0)
    os.close(done)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 137)
    with open(told, "rb") as rest:
        return status == 137, len(rest.read())


def test_a_chat_killed_at_any_change_keeps_every_turn_that_was_said(
    tmp_path: Path,
) -> None:
    """The turns on disk are those said before the kill, each whole, and perhaps the one
    that was being written."""
    for limit in itertools.count(1):
        chat = Transcript(
            Folder(
                str(tmp_path / str(limit)),
                "u",
            )
        )
        chat.add("Ann", "How it began", AT)
        before = chat.folder.read(chat.path)
        turns = [
            lambda text=text, chat=chat: chat.add(
                "Ann",
                text,
                AT,
            )
            for text in SAID
        ]
        ended, finished = killed(turns, limit)
        after = chat.folder.read(chat.path)
        assert after.startswith(before) and after.endswith(b"\n")
        found = [turn.text for turn in chat.turns()][1:]
        assert found in (SAID[:finished], SAID[: finished + 1])
        line = chat.add("Bo", "next", AT)
        assert chat.folder.memory(chat.path).lines[line - 1] == "- **Bo** 09:30: next"
        if not ended:
            break
    assert limit > 10 and found == SAID


@pytest.mark.parametrize("work", ACTS)
def test_other_writes_killed_at_any_change(tmp_path: Path, work: str) -> None:
    """A file is as it was or as it was to be, under one name; every line of the log is
    whole."""
    for limit in itertools.count(1):
        folder = Folder(str(tmp_path / str(limit)), "u")
        folder.create(
            TEA,
            f"---\nimportance: 1\n---\n\n{LONG}\n",
        )
        ended, _ = killed(
            [lambda folder=folder: ACTS[work](folder)],
            limit,
        )
        [path] = folder.paths()
        importance, body = (
            folder.memory(path)
            .text.removeprefix("---\n")
            .split(
                "\n",
                1,
            )
        )
        assert body == f"---\n\n{LONG}\n"
        noted = [len(trail.days) for trail in recalls.recalled(folder).values()]
        found = {
            "edit": importance == "importance: 7",
            "move": path == f"archive/{TEA}",
            "recall": noted == [1],
        }
        if not ended:
            break
        assert path in (TEA, f"archive/{TEA}") and noted in ([], [1])
        assert importance in ("importance: 1", "importance: 7")
    assert limit > 1 and found == {act: act == work for act in ACTS}


def test_a_persons_save_is_never_taken_for_what_a_write_left(tmp_path: Path) -> None:
    """What the program was about to write goes, once it is old what lies in its
    bookkeeping, too; the rest is told of."""
    ann = Store(tmp_path).user("ann")
    ann.remember("Likes tea.")
    above = Path(ann._folder.root, "facts")
    ours = above / f"{files.OURS}0123456789abcdef"
    theirs = above / f"{files.TEMPORARY}fedcba9876543210"
    half = Path(ann._folder.bookkeeping(f"{files.TEMPORARY}0011223344556677"))
    for age, is_left in ((0, True), (90, False)):
        for path in (ours, theirs, half):
            path.write_bytes(b"text")
            os.utime(path, (time.time() - age,) * 2)
        ann.maintain(AT.date())
        assert not ours.exists()
        assert half.exists() == is_left
    assert theirs.read_bytes() == b"text"
    (problem,) = overview.problems(ann._folder, dt.date(2026, 11, 20))
    assert problem.path == f"facts/{theirs.name}" and "look at it" in problem.remedy


def killed_passes(place: Path, facts: list[dict[str, str]]) -> Iterator[User]:
    """Yield a user whose facts were being kept, for each place to be killed at."""
    for limit in itertools.count(1):
        user = Store(place / str(limit)).user("ann")
        user.remember_all([{"text": "Sings.", "id": "m0"}], today=AT)
        ended, _ = killed(
            [lambda user=user: user.remember_all(facts, today=AT)],
            limit,
        )
        yield user
        if not ended:
            break
    assert limit > len(facts) * 3


def unnamed(user: User) -> list[str]:
    """What a write has left that has no name yet."""
    place = Path(user._folder.root)
    found = place.rglob(f"{files.OURS}*")
    return [path.name for path in found]


def test_facts_of_one_pass_are_kept_once_wherever_that_is_killed(
    tmp_path: Path,
) -> None:
    """The next one completes it, and knows by their ids also those that are gone."""
    for user in killed_passes(tmp_path, FACTS):
        user.remember_all(FACTS, today=AT)
        kept = list(user.memories("facts"))
        assert sorted(one.statement for one in kept) == TEXTS
        for one in kept:
            user.forget(one.path)
        user.remember_all(FACTS, today=AT)
        assert not list(user.memories("facts"))
        assert not unnamed(user)


def test_what_a_killed_pass_left_and_a_person_changed_stays_so(
    tmp_path: Path,
) -> None:
    """One fact is edited, one forgotten and one deleted by hand.

    Half the time another write comes first, which finishes what was left.
    """
    for number, user in enumerate(killed_passes(tmp_path, UNLIKE)):
        if number % 2:
            user.remember("Sings.", today=AT)
            assert not unnamed(user)
        root = Path(user._folder.root)
        there = [
            path
            for path in user._folder.paths("facts")
            if not path.endswith("sings.md")
        ]
        edited = there[:1]
        for path in edited:
            (root / path).write_text("In other words.\n")
        for path in there[1:2]:
            user.forget(path)
        for path in there[2:3]:
            (root / path).unlink()
        user.remember_all(UNLIKE, today=AT)
        kept = list(user.memories("facts"))
        gone = there[1:3]
        assert len(kept) == len(TEXTS) - len(gone)
        others = [one.path for one in kept if one.statement not in TEXTS]
        assert others == edited


@pytest.mark.parametrize(
    "text",
    [
        "Sings no more.",
        "Sings again.",
    ],
)
def test_another_text_under_one_id_is_completed_by_the_next_call(
    tmp_path: Path,
    text: str,
) -> None:
    """Wherever it was killed, one text holds, though it is a third one by now."""
    facts = [{"text": "Sings no more.", "id": "m0"}]
    for user in killed_passes(tmp_path, facts):
        later = {"text": text, "id": "m0"}
        user.remember_all([later], today=AT)
        current = [
            one.statement
            for one in user.memories("facts")
            if "superseded_by" not in one.front
        ]
        assert current == [text]


def test_a_name_that_a_person_took_after_a_kill_is_theirs(
    tmp_path: Path,
) -> None:
    """The fact has another one, by which it is known, and forgotten."""
    for user in killed_passes(tmp_path, UNLIKE):
        theirs = []
        for name in (
            "keeps-bees",
            "has-a-boat",
            "likes-plums",
            "rows",
        ):
            place = Path(
                user._folder.root,
                f"facts/2026/2026-11-20-{name}.md",
            )
            if not place.exists():
                place.write_text("A person wrote this.\n")
                theirs.append(place)
        paths = user.remember_all(UNLIKE, today=AT)
        for path, fact in zip(
            paths,
            UNLIKE,
            strict=True,
        ):
            assert user.open_file(path).statement == fact["text"]
            user.forget(path)
        for place in theirs:
            assert place.exists()


def test_what_a_killed_pass_was_about_to_keep_is_forgotten_too(
    tmp_path: Path,
) -> None:
    """Whether its files have their names or not."""
    for user in killed_passes(tmp_path, FACTS):
        told = forget(
            user._folder,
            "--about",
            "boat",
            "--yes",
        )
        assert not told.exception, told.output
        assert holding(user._folder.root, "boat") == []
        assert not unnamed(user)
