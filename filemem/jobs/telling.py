"""What a job has to say; of consolidation what was decided, as lines and for scripts, and its commit."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from filemem.files.folder import Folder
from filemem.history import History, UncommittedChanges
from filemem.remembering import consolidation, remembering
from filemem.remembering.comparison import ADD, DOUBT, DROP, LATE, NOOP, SUPERSEDE, UPDATE
from filemem.remembering.consolidation import Applied, Decision
from filemem.text.plain import one_line

_WORDS = dict.fromkeys((ADD, SUPERSEDE, LATE), "remembered")
_WORDS |= {UPDATE: "updated", DOUBT: "doubted", NOOP: "knew", DROP: "dropped"}


class Told(NamedTuple):
    """One thing that a job has to say: facts for a script (none where it is for people only), lines for a person.

    `news`: worth a line where the user is one of many.
    """

    facts: dict[str, Any]
    lines: list[str]
    news: bool = True


def notice(sentence: str) -> Told:
    """A sentence beside what was done."""
    return Told({"event": "notice", "text": sentence}, [sentence])


def lines(one: Decision, *, whole: bool = False, staged: bool = False) -> Iterator[str]:
    """A decision as lines; `whole` tells what was left out as well, `staged` what waits for review."""
    text = one_line(one.claim.text, 160)
    if staged:
        yield f"proposed: {text}"
    elif one.action in (ADD, SUPERSEDE, UPDATE, LATE, DOUBT):
        reason = f" ({one.reason})" if one.reason and one.action != UPDATE else ""
        yield f"{_WORDS[one.action]} {one.path}: {text}{reason}"
        if one.action == SUPERSEDE:
            yield from (f"superseded {old}" for old in one.replaces)
    elif whole:
        yield f"{_WORDS[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"


def waiting(count: int) -> str:
    """What to do about proposals."""
    return f"{count:,} {'proposal waits' if count == 1 else 'proposals wait'} for your word; see: filemem review"


def as_json(one: Decision, *, staged: bool = False) -> dict[str, Any]:
    """A decision for a script."""
    return {
        "event": "proposal" if staged else "memory",
        "action": one.action.lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }


def in_sum(done: Sequence[Applied]) -> str:
    """What was decided on all sessions, in a sentence or two."""
    made = [one for each in done for one in each.decisions if not each.staged]
    proposed = sum(len(each.decisions) for each in done if each.staged)
    counts = [
        (sum(one.action in (ADD, SUPERSEDE, LATE) for one in made), "new"),
        (sum(len(one.replaces) for one in made if one.action == SUPERSEDE), "superseded"),
        (sum(one.action == UPDATE for one in made), "told again"),
        (sum(one.action == DOUBT for one in made), "doubted"),
        (sum(one.action == NOOP for one in made), "known"),
        (sum(one.action == DROP for one in made), "dropped"),
    ]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    said = [f"{told[:1].upper()}{told[1:]}." if told else "Nothing new was said."] if made or not proposed else []
    return " ".join(said + ([f"{waiting(proposed)}."] if proposed else []))


def committed(
    folder: Folder, done: Applied, session: str, before: UncommittedChanges, at: dt.datetime, job: str = "consolidate"
) -> str:
    """Commit what consolidation wrote, where the memories are kept in git; `before` is how they stood. What git says of it."""
    if not done.paths:
        return ""
    trailers = {"Job": job, "Session": session} if session else {"Job": job}
    return (
        History(folder).record(remembering.subject(done.decisions, done.paths), done.paths, trailers, at, before).note
    )


def consolidated(folder: Folder, at: dt.datetime, *given: Any, review: bool = False) -> Iterator[tuple[Applied, str]]:
    """Consolidate sessions, as `consolidation.run` is told to, and commit what becomes of each; with what git says of it."""
    history = History(folder)
    before = history.before(at)
    for session, done in consolidation.run(folder, at, *given, review=review):
        yield done, committed(folder, done, session, before, at)
        before = history.before(at)
