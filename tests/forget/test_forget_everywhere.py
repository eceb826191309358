"""Whatever the memories and their history look like, once a word is forgotten and purged
no byte of the store, no name and no object of the repository says it, and a memory that
never said it is as it was, byte for byte."""

import json
import random
from pathlib import Path

import pytest
from forgetting import WORD, forget, holding
from repositories import START, git, plain_git  # noqa: F401

from filemem import Store, User
from filemem.forget.purge import objects
from filemem.git.history import History
from filemem.git.job_frame import JobFrame
from filemem.git.setup import set_up
from filemem.store.folder import Folder
from filemem.store.passages import format_turn

pytest.importorskip("git_filter_repo", reason="the extra purge is not installed")
PLAIN = [
    "The cat sleeps in the tuba case.",
    "It rains on Tuesdays.",
    "外婆喜欢喝茶。",
    "She said: no, not today!",
]
WAYS = ["A {0} bit me.", "Two: {0}-{0}.", "{1}!", "«{0}» 很可爱。", "[[{0}]]"]


def line(dice: random.Random, *, telling: bool) -> str:
    """Something to remember; where it is `telling`, with the word in one of the ways in
    which words stand in texts."""
    way = dice.choice(WAYS).format(WORD, WORD.upper()) if telling else ""
    return f"{way} {dice.choice(PLAIN)} {dice.randrange(10**6)}".strip()


def write(dice: random.Random, user: Folder, number: int) -> str:
    """A memory of some kind that says the word somewhere, or does not; its path."""
    telling = dice.random() < 0.4
    lines = [
        line(dice, telling=telling and dice.random() < 0.5)
        for _ in range(dice.randrange(1, 6))
    ]
    name = f"2026-0{dice.randrange(1, 10)}-1{number % 10}-x-{number}"
    fact = name.replace("x", WORD) if telling and dice.random() < 0.3 else name
    first = json.dumps(lines[0], ensure_ascii=False)
    turns = "".join(
        format_turn(dice.choice(["mara", "assistant"]), "09:00", text) for text in lines
    )
    bullets = "".join(f"- **mara**: {text}\n" for text in lines)
    kinds = {
        f"facts/2026/{fact}.md": lines[0],
        f"archive/lessons/2026/{fact}.md": f"---\nimportance: 7\n---\n\n{lines[0]}",
        f"facts/2026/{fact}.yaml": f"text: {first}\nnote: {json.dumps(lines[-1])}\n",
        f"facts/2026/{name}-f.md": f"---\ntags: [tea]\nown: {first}\n---\n\nTea.\n",
        f"sessions/2026/{name}.md": f"---\ntitle: {first}\n---\n\n{turns}",
        f"notes/{name}.md": f"# {lines[0]}\n\n" + "\n\n".join(lines),
        f"summaries/2026/{name}.md": f"# S\n\n{bullets}",
        "profile.md": "# Mara\n\n" + "\n".join(f"- {text}" for text in lines),
    }
    path = dice.choice(list(kinds))
    place = Path(user.root, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(kinds[path], newline=dice.choice(["\n", "\n", "\r\n"]))
    return path


def live_on(dice: random.Random, user: Folder, number: int) -> None:
    """A memory more; perhaps one that is moved, deleted or written anew; a commit."""
    paths = [write(dice, user, number)]
    path = dice.choice(user.paths())
    chance = dice.random()
    if chance < 0.2:
        user.move({path: f"archive/{path.removeprefix('archive/')}"})
        paths.append(f"archive/{path}")
    elif chance < 0.35:
        Path(user.absolute(path)).unlink()
    elif chance < 0.5:
        data = f"{line(dice, telling=False)}\n".encode()
        user.edit(path, lambda _: data)
    User(user).search_files("tea jar")
    subject = f"Remember: {line(dice, telling=dice.random() < 0.3)}"
    waits = JobFrame(History(user)).record(
        subject, [*paths, path], {"Job": "test"}, START
    )
    if waits:  # a person has written it, too
        git(user.root, "add", ".")
        git(user.root, "commit", "--quiet", "--message", subject)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_says_it_any_more_and_nothing_else_has_changed(
    tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    user = Store(tmp_path / "store").user("mara").folder
    user.create("facts/2026/2026-01-01-start.md", "Start.\n")
    set_up(user.store, "mara", START)
    for number in range(dice.randrange(6, 14)):
        live_on(dice, user, number)
    before = {}
    for path in user.paths():
        said = f"{path}\n{user.memory(path).text}".lower()
        if WORD not in said:
            before[path] = user.read(path)
    result = forget(user, "--about", WORD, "--yes", "--purge-history")
    assert result.return_value == 0, (result.output, result.exception)
    assert holding(user.store) == holding(user.store, WORD.upper()) == []
    for one in objects(History(user).repository):
        assert WORD.encode() not in one.data.lower()
    assert {path: user.read(path) for path in before} == before
    git(user.store, "fsck", "--full", "--strict")
    assert git(user.store, "status", "--short") == ""
