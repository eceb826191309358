"""Compaction: old conversations are told in a few lines by month, and archived.

A model writes what came of each, what was decided and what is open; without one, or
where it fails, a few sentences of the person's own are quoted, and told anew once there
is a model. Each line leads to the turns that it tells of. A conversation too short for
that stays. `plan` looks; `apply` writes the sections of a month, moves the originals,
and logs each with its digest: so nothing is done twice, what a killed run began is gone
on with, and what was edited since is told again.
"""

import datetime as dt
import os
import re
from collections.abc import Iterator
from typing import Any

from filemem.forget import sections
from filemem.forget.retelling import Source, retell
from filemem.forget.sections import DIGITS
from filemem.llm.model import Model
from filemem.store import compactions, config, files, logs, pending, recalls
from filemem.store.bullets import Bullet
from filemem.store.compactions import Compacted
from filemem.store.encodings import decode, in_utf8
from filemem.store.folder import Folder, JobDone, Progress, draft_stays, no_progress
from filemem.store.memory import LARGEST, Memory
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import archived, live
from filemem.store.pending import PendingDeletion
from filemem.store.roles import Role
from filemem.text import dates, redaction, terms
from filemem.text.plain import counted, digest, escape_controls, one_line

MAX_SPEAKER_CHARS = 80
_SENTENCE_END = re.compile(
    r"(?<=[.!?…][\"”’')])\s+|(?<=[.!?…])\s+|(?<=[。！？])(?![。！？”’」』）])|\n+"
)


Plan = dict[str, list[Source]]
"""What is due, by the path of the summary that takes it up."""


def plan(
    folder: Folder,
    today: dt.date,
    older_than: int | None = None,
    progress: Progress = no_progress,
    *,
    with_model: bool = False,
) -> Plan:
    """Find the conversations that are due.

    Args:
        folder: whose they are.
        today: the day.
        older_than: days; else as set.
        progress: told how many have been looked at.
        with_model: those that were only quoted are due, too.
    """
    if older_than is None:
        older_than = config.of(folder).compact_after_days
    before = today.toordinal() - older_than
    known = compactions.compacted(folder)
    hidden = pending.pending_deletions(folder)
    paths = folder.paths()
    homes = _homes(folder, paths)
    taken = set(paths)
    sessions = [path for path in paths if live(path).startswith("sessions/")]
    found: Plan = {}
    for done, path in enumerate(sorted(sessions, key=live), 1):
        progress(done, len(sessions))
        if path != live(path) and live(path) in taken:
            continue  # for a moment in both places
        memory = folder.find(path)
        if memory is None or not memory.date or memory.date.toordinal() >= before:
            continue
        source = _source(memory, hidden, known.get(live(path)))
        if source and _is_due(source, with_model):
            found.setdefault(_home(folder, source, homes), []).append(source)
    return found


def apply(
    folder: Folder,
    found: Plan,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    model: Model | None = None,
    dry: bool = False,
) -> JobDone:
    """Do what a plan says, one summary after the other; `dry`: only say it.

    A conversation that was changed meanwhile waits for the next run.
    """
    made: list[dict[str, Any]] = []
    notes: list[str] = []
    stayed: list[str] = []
    for done, (summary, due) in enumerate(found.items()):
        progress(done, len(found))
        sources = [one for one in due if one.memory.path not in folder.drafts]
        stayed += [draft_stays(one.path) for one in due if one not in sources]
        if dry:
            made += [{"summary": summary, "source": one.path} for one in sources]
            continue
        fresh = [one for one in sources if _is_unchanged(folder, one)]
        if fresh:
            retold: dict[str, bytes] = {}
            if model and not notes:
                retold, error = retell(fresh, model)
                notes += [f"{error} What it did not tell is quoted."] if error else []
            made += _compact(folder, summary, fresh, retold, at)
    progress(len(found), len(found))
    line = "{source}: {before:,} bytes in {after:,} of {summary}. {note}"
    if dry:
        line = "{source} would be summarised in {summary}."
    said = [line.format(**one).strip() for one in made]
    paths = []
    for one in made:
        paths += [one["summary"], one["source"], archived(one["source"])]
    return JobDone(
        "compact",
        [*said, *stayed, *notes] or ["Nothing is due to be compacted."],
        {"summaries": made, "notes": notes},
        paths,
        f"Summarise {counted(len(made), 'old conversation')}",
    )


# -- what is due -----------------------------------------------------------------------


def _homes(folder: Folder, paths: list[str]) -> dict[str, str]:
    """The summaries that have a section already, by its title."""
    homes: dict[str, str] = {}
    for path in paths:
        summary = folder.find(path) if live(path).startswith("summaries/") else None
        if summary:
            titles = re.findall("^## (.+?)\r?$", summary.text, re.MULTILINE)
            homes |= dict.fromkeys(titles, path)
    return homes


def _home(folder: Folder, source: Source, homes: dict[str, str]) -> str:
    """The summary that takes a conversation up: that of its month, if none has it."""
    day = str(source.memory.date)
    month = f"summaries/{day[:4]}/{day[:7]}-conversations.md"
    known = homes.get(sections.title(source.path))
    return known or next(folder.existing(month), month)


def _source(
    memory: Memory, hidden: PendingDeletion, old: Compacted | None
) -> Source | None:
    """A conversation that may be told: it is text, and not pinned."""
    if memory.binary or len(memory.data) > LARGEST or memory.metadata.get("pinned"):
        return None
    turns = [
        turn
        for turn in memory.passages
        if turn.line > memory.front_end
        and turn.text.strip() not in ("", FORGOTTEN)
        and not hidden.hides(memory.path, turn.line)
    ]
    if not turns:
        return None
    return Source(memory, tuple(turns), digest(memory.data, DIGITS), old)


def _is_due(source: Source, with_model: bool) -> bool:
    old = source.old
    if old and old.digest == source.digest and (old.is_retold or not with_model):
        return False
    return bool(old) or bool(_quotes(source, 0))


def _is_unchanged(folder: Folder, source: Source) -> bool:
    now = folder.find(source.memory.path)
    return now is not None and now.data == source.memory.data


# -- sections --------------------------------------------------------------------------


def _compact(
    folder: Folder,
    summary: str,
    sources: list[Source],
    retold: dict[str, bytes],
    at: dt.datetime,
) -> Iterator[dict[str, Any]]:
    """Write the sections, move the originals, log what is done; yield each one's sizes.

    A section that a killed run has written is left as it is.
    """
    where = folder.absolute(summary)
    standing = decode(files.read(where)).encode() if os.path.lexists(where) else b""
    share = config.of(folder).summary_share
    made: dict[str, bytes] = {}
    for source in sources:
        place = None if source.old else sections.find(standing, source.path)
        if place:
            made[source.path] = standing[place[0] : place[1]]
        elif source.path in retold:
            made[source.path] = retold[source.path]
        else:
            quotes = _quotes(source, share)
            made[source.path] = sections.section(source.path, quotes)
    with folder.locked():
        _put_sections(folder, summary, sources, made)
    live_ones = [one.path for one in sources if not one.old and not one.memory.archived]
    stayed = recalls.archive(folder, live_ones, at)
    rows = []
    for source in sources:
        section = digest(made[source.path], DIGITS)
        how = compactions.RETOLD if source.path in retold else compactions.DONE
        rows.append((source.path, source.digest, live(summary), section, how))
    logs.add_rows(folder, compactions.COMPACTED, rows)
    for source in sources:
        yield {
            "summary": summary,
            "source": source.path,
            "before": len(source.memory.data),
            "after": len(made[source.path]),
            "note": stayed.get(source.path, ""),
        }


def _put_sections(
    folder: Folder, summary: str, sources: list[Source], made: dict[str, bytes]
) -> None:
    """Put each section in its place; one that a person has changed stays."""

    def changed(data: bytes) -> bytes:
        for source in sources:
            place = sections.find(data, source.path)
            new = made[source.path]
            if not place or data[place[0] : place[1]] != new:
                known = source.old.section if source.old else ""
                data = sections.put(data, source.path, new, known)
        return data

    if os.path.lexists(folder.absolute(summary)):
        folder.edit(summary, lambda data: in_utf8(data, changed))
    else:
        folder.create(summary, changed(b"").decode())


# -- quotes, where there is no model -----------------------------------------------------


def _quotes(source: Source, share: float) -> list[Bullet]:
    """Quote a few whole sentences of the person's own, in their order.

    The longest say the most; they are taken as long as they fit into a share of the
    conversation's bytes, at least one. None where not even one fits into half of it.
    """
    said = list(_sentences(source))
    budget = share * len(source.memory.data)
    tokens = source.max_tokens
    chosen: set[int] = set()
    for number in sorted(range(len(said)), key=lambda at: -len(said[at].text)):
        size = len(str(said[number]).encode("utf-8", "replace"))
        fits = said[number].tokens <= tokens
        if fits and (size <= budget or not chosen):
            chosen.add(number)
            budget -= size
            tokens -= said[number].tokens
    return [said[number] for number in sorted(chosen)]


def _sentences(source: Source) -> Iterator[Bullet]:
    """Yield the sentences of the person's own, or where there are none, of all."""
    memory = source.memory
    roles = [memory.role(turn.speaker) for turn in source.turns]
    for turn, role in zip(source.turns, roles, strict=True):
        if role is not Role.PERSON and Role.PERSON in roles:
            continue
        words, _ = terms.split_captions(turn.text)
        for sentence in _SENTENCE_END.split(words):
            text = escape_controls(" ".join(sentence.split()))
            text = redaction.redact(text)[0]
            if re.search(r"\w", text):
                speaker = one_line(turn.speaker, MAX_SPEAKER_CHARS)
                dated = _with_day(text, turn.day, memory)
                yield Bullet(speaker, dated, source.path, (turn.line,))


def _with_day(text: str, said_on: dt.date | None, memory: Memory) -> str:
    """Resolve what counts from the day of saying, and name that if it is another."""
    day = said_on or memory.date
    if day is None:
        return text
    text = dates.annotate(text, day)
    if day == memory.date:
        return text
    return f"[{dates.in_words(dates.one_day(day), terms.is_chinese(text))}] {text}"
