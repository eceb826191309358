"""What a job has to say, as lines and for scripts, and its commit: what consolidation decided, what an import took in."""

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from filemem import index
from filemem.files.folder import Folder, StoreFolder
from filemem.importers import ImportReport
from filemem.jobs.running import UserJob, job
from filemem.remembering import consolidation, remembering
from filemem.remembering.consolidation import Applied
from filemem.remembering.remembering import Remembered
from filemem.remembering.supersession import ADD, DROP, NOOP, PROPOSE, SUPERSEDE, UPDATE, Decision
from filemem.search import semantic
from filemem.text.plain import counted, one_line

_WORDS = {ADD: "remembered", SUPERSEDE: "remembered", UPDATE: "updated", NOOP: "knew", DROP: "left out"}
SHOWN = 10  # lines of each list in the report of an import


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


def lines(one: Decision, *, whole: bool = False) -> Iterator[str]:
    """A decision as lines; `whole` tells what was left out as well."""
    text = one_line(one.claim.text, 160)
    if one.action == PROPOSE:
        yield f"proposed: {text}"
    elif one.action in (ADD, SUPERSEDE, UPDATE):
        reason = f" ({one.reason})" if one.reason and one.action != UPDATE else ""
        yield f"{_WORDS[one.action]} {one.path}: {text}{reason}"
        if one.action == SUPERSEDE:
            yield from (f"superseded {old}" for old in one.replaces)
    elif whole:
        yield f"{_WORDS[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"


def remembered(folder: Folder, text: str, at: dt.datetime, source: str = "", **how: Any) -> tuple[Remembered, str]:
    """Keep one fact, as `remembering.remember` is told `how` to, and commit it; with what git has to say of it.

    `source`: who asked for it, where it was not the person, as the commit says.
    """
    with job(folder, "remember", at, alone=False) as run:
        done = remembering.remember(folder, text, at, **how)
        subject = f"Remember: {done.decision.claim.text}"
        return done, run.commit(subject, [done.memory.path, *done.paths], **({"Source": source} if source else {}))


def waiting(count: int) -> str:
    """What to do about proposals."""
    return f"{count:,} {'proposal waits' if count == 1 else 'proposals wait'} for your word; see: filemem review"


def as_json(one: Decision) -> dict[str, Any]:
    """A decision for a script."""
    return {
        "event": "proposal" if one.action == PROPOSE else "memory",
        "action": (one.claim.action if one.action == PROPOSE else one.action).lower(),
        "path": one.path,
        "text": one.claim.text,
        "reason": one.reason,
        "source": list(one.claim.sources),
        "supersedes": list(one.replaces),
    }


def in_sum(done: Sequence[Applied]) -> str:
    """What was decided on all sessions, in a sentence or two."""
    decided = [one for each in done for one in each.decisions]
    made = [one for one in decided if one.action != PROPOSE]
    proposed = len(decided) - len(made)
    counts = [
        (sum(one.action in (ADD, SUPERSEDE) for one in made), "new"),
        (sum(len(one.replaces) for one in made if one.action == SUPERSEDE), "superseded"),
        (sum(one.action == UPDATE for one in made), "updated"),
        (sum(one.action == NOOP for one in made), "known"),
        (sum(one.action == DROP for one in made), "left out"),
    ]
    told = ", ".join(f"{count:,} {word}" for count, word in counts if count)
    said = [f"{told[:1].upper()}{told[1:]}." if told else "Nothing new to remember."] if made or not proposed else []
    return " ".join(said + ([f"{waiting(proposed)}."] if proposed else []))


def committed(run: UserJob, done: Applied) -> str:
    """Commit what consolidation or a review wrote; what git has to say of it."""
    return run.commit(remembering.subject(done.decisions, done.paths), done.paths)


def consolidated(folder: Folder, at: dt.datetime, *given: Any, **how: Any) -> Iterator[tuple[Applied, str]]:
    """Consolidate, as `consolidation.run` is told to, and commit what becomes of each request; with what git says of it. What
    is new has its vectors then, where there are any."""
    with job(folder, "consolidate", at) as run:
        for done in consolidation.run(folder, at, *given, **how):
            yield done, committed(run, done)
    semantic.catch_up(index.of(folder))


# -- imports -----------------------------------------------------------------------------------------------------


def taken_in(report: ImportReport, *, dry: bool) -> list[str]:
    """The report of an import in words; of long lists the beginning."""
    words = ("would add", "would update", "to be taken in") if dry else ("added", "updated", "taken in")
    said = []
    for word, taken in zip(words, (report.added, report.updated), strict=False):
        for entry in taken[:SHOWN]:
            said.append(
                f"{word} {entry.user}/{entry.path}" + (f", {counted(entry.turns, 'turn')}" if entry.turns else "")
            )
        if len(taken) > SHOWN:
            said.append(f"{word} {len(taken) - SHOWN:,} more; --json lists them all")
    said += [f"note: {skipped.what}: {skipped.why}" for skipped in report.skipped[:SHOWN]]
    if len(report.skipped) > SHOWN:
        said.append(f"note: {len(report.skipped) - SHOWN:,} more; --json lists them all")
    turns = sum(entry.turns for entry in (*report.added, *report.updated))
    counts = f"{len(report.added):,} added, {len(report.updated):,} updated, {len(report.unchanged):,} unchanged"
    return [*said, f"{'Nothing was written: ' if dry else ''}{counts}, {counted(turns, 'turn')} {words[2]}."]


def import_json(report: ImportReport) -> dict[str, Any]:
    """The report of an import for a script."""
    return {name: [entry._asdict() for entry in entries] for name, entries in report._asdict().items()}


def committed_imports(
    store: StoreFolder, report: ImportReport, format_: str, file: str, at: dt.datetime
) -> Iterator[str]:
    """Commit what was taken in, user by user, where their memories are kept in git; what git says of it."""
    taken: dict[str, list[str]] = {}
    for entry in (*report.added, *report.updated):
        taken.setdefault(entry.user, []).append(entry.path)
    for name, paths in taken.items():
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {os.path.basename(file)}"
        with job(store.folder(name), "import", at, alone=False) as run:
            if note := run.commit(subject, paths, Source=f"{format_}:{os.path.basename(file)}"):
                yield note
