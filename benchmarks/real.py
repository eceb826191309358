"""Stores of real conversations for measuring speed: LoCoMo's as one user, repeated, and LifeBench's year of phone records.

The data sets are not part of the project; see docs/benchmarks.md.
"""

import datetime as dt
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

USER = "ann"  # as in `generate`
APART = 37  # days from one copy of the conversations to the next


class Session(NamedTuple):
    """A conversation's day, what tells it from others of that day, and its turns: who, when, what."""

    start: dt.datetime
    name: str
    turns: list[tuple[str, str, str]]


def locomo(path: Path, copies: int) -> tuple[list[Session], list[str]]:
    """The sessions of all conversations, so many times over, each time on other days and with the names shuffled; and the
    questions to the first."""
    found = json.loads(path.read_text(encoding="utf-8"))
    once = [session for number, sample in enumerate(found) for session in _sessions(number, sample["conversation"])]
    names = sorted({speaker for session in once for speaker, _, _ in session.turns})
    chance = random.Random(1)
    sessions = list(once)
    for copy in range(1, copies):
        others = dict(zip(names, chance.sample(names, len(names)), strict=True))
        sessions += [_renamed(session, copy, others) for session in once]
    return sessions, [asked["question"] for sample in found for asked in sample["qa"] if asked["category"] != 5]


def lifebench(path: Path) -> tuple[list[Session], list[str]]:
    """A session a day, and the questions."""
    found = json.loads(path.read_text(encoding="utf-8"))
    sessions = [
        Session(
            dt.datetime.fromisoformat(day["date"]),
            "phone",
            [(kind, time, said) for _, kind, time, said in day["turns"]],
        )
        for day in found["sessions"]
    ]
    return sessions, [asked["text"] for asked in found["questions"]]


def write(sessions: list[Session], store: Path) -> None:
    """Lay the sessions out as design.md says."""
    for session in sessions:
        start = session.start
        clock = f"-{start:%H%M}" if start.time() != dt.time.min else ""
        path = store / USER / "sessions" / f"{start:%Y}" / f"{start:%Y-%m-%d}{clock}-{session.name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"- **{speaker}**{f' {time}' if time else ''}: {said}\n" for speaker, time, said in session.turns]
        path.write_text("".join(["---\n", f"date: {start.isoformat()}\n", "---\n\n", *lines]), encoding="utf-8")


def _sessions(number: int, conversation: dict[str, Any]) -> Iterator[Session]:
    """The sessions of one of LoCoMo's conversations."""
    for key, turns in conversation.items():
        if re.fullmatch(r"session_\d+", key) and turns:
            start = dt.datetime.strptime(conversation[f"{key}_date_time"], "%I:%M %p on %d %B, %Y")
            yield Session(start, f"{number}-{key.replace('_', '-')}", [_turn(turn, start) for turn in turns])


def _turn(turn: dict[str, Any], start: dt.datetime) -> tuple[str, str, str]:
    caption = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return turn["speaker"], f"{start:%H:%M}", " ".join((turn["text"] + caption).split())


def _renamed(session: Session, copy: int, others: dict[str, str]) -> Session:
    """A session on another day, with other names."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, others))})\b")
    turns = [
        (others[speaker], time, pattern.sub(lambda found: others[found[0]], said))
        for speaker, time, said in session.turns
    ]
    return Session(session.start + dt.timedelta(APART * copy), f"{copy}-{session.name}", turns)
