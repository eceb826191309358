"""The sets of real and of written conversations, as `answers/data.py` reads them, laid out as files for the other programs.

`assistant` is part of the project; `locomo`, `locomo-zh` and `lifebench` are looked for in ../shared/data, and a path is read.
"""

import datetime as dt
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.answers import data
from benchmarks.answers.data import Question, Session

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
USER = "ann"
APART = 37  # days from one copy of the conversations to the next


class Person(NamedTuple):
    """Whose conversations these are, and what is asked about them: questions whose evidence is known."""

    name: str
    sessions: list[Session]
    questions: list[Question]


def people(name: str, folder: Path = DATA) -> list[Person]:
    """The people of a set, or of a file. Raises SystemExit where it is not there."""
    files = [Path(name) if name.endswith(".json") else folder / f"{name}-dev.json"]
    if name == "assistant":
        files = sorted((HERE / "assistant").glob("*.json"))
    found = []
    for file in files:
        if not file.is_file():
            raise SystemExit(
                f"skipped: {file} is not there; docs/benchmarks.md says what it holds."
            )
        bench = data.lifebench(str(file))  # reads LoCoMo's form, too
        for who, sessions in bench.histories.items():
            asked = [
                q
                for q in bench.questions
                if q.history == who and q.answerable and q.evidence
            ]
            found.append(Person(who, sessions, asked))
    return found


def as_one(found: list[Person], copies: int = 1) -> list[Session]:
    """Everybody's sessions as one user's, so many times over, each time on other days and with the names shuffled."""
    once = [
        one._replace(id=f"{number}-{one.id}")
        for number, who in enumerate(found)
        for one in who.sessions
    ]
    names = sorted({turn.speaker for session in once for turn in session.turns})
    chance, sessions = random.Random(1), list(once)
    for copy in range(1, copies):
        others = dict(zip(names, chance.sample(names, len(names)), strict=True))
        sessions += [_renamed(session, copy, others) for session in once]
    return sessions


def _renamed(session: Session, copy: int, others: dict[str, str]) -> Session:
    """A session on another day, with other names."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, others))})\b")
    later = dt.timedelta(APART * copy)
    turns = [
        turn._replace(
            speaker=others[turn.speaker],
            text=pattern.sub(lambda one: others[one[0]], turn.text),
            at=turn.at + later,
        )
        for turn in session.turns
    ]
    return Session(f"{copy}-{session.id}", session.at + later, turns)


def files(sessions: list[Session]) -> dict[str, str]:
    """Each session as a file of Markdown, by its path under the user's folder."""
    found = {}
    for session in sessions:
        at = session.at
        clock = f"-{at:%H%M}" if at.time() != dt.time.min else ""
        name = re.sub(r"[\W_]+", "-", session.id)
        lines = [
            f"---\ndate: {at.isoformat()}\n---\n\n# Conversation of {at:%d %B %Y}\n"
        ]
        for turn in session.turns:
            when = f" {turn.at:%H:%M}" if turn.at.time() != dt.time.min else ""
            lines.append(f"- **{turn.speaker}**{when}: {' '.join(turn.text.split())}")
        found[f"sessions/{at:%Y}/{at:%Y-%m-%d}{clock}-{name}.md"] = (
            "\n".join(lines) + "\n"
        )
    return found


def write(root: Path, texts: dict[str, str]) -> None:
    """Write files below a folder."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
