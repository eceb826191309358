"""Compaction: old conversations are told in a few lines by month, and archived.

A model writes a title of each, what came of it, what was decided and what is open, and
of one that is not worth a line nothing: it is only archived. Without a model, or where
it fails, a few sentences of the person's own are quoted, and told anew once there is a
model; a conversation too short for that stays. Each line leads to the turns that it
tells of. The sections of a month are written, the originals moved, each logged with its
digest: so nothing is done twice, what a killed run began is gone on with, and what was
edited since is told again.
"""

import datetime as dt
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from filemem.errors import Stopped
from filemem.forget.retelling import Retold, Source, most_telling, quote, retell
from filemem.forget.sections import put_section, section_digest, write_section
from filemem.llm.model import Model
from filemem.store import compactions, config, recalls
from filemem.store.facts import page
from filemem.store.folder import Folder, draft_stays
from filemem.store.memory import LARGEST, Memory
from filemem.store.passages import FORGOTTEN
from filemem.store.paths import Kind, archived, live
from filemem.text.plain import counted
from filemem.work import JobDone, Progress, no_progress

CompactionPlan = dict[str, list[Source]]
"""What is due, by the path of the summary that takes it up."""


def plan_compaction(
    folder: Folder,
    today: dt.date,
    progress: Progress = no_progress,
    *,
    with_model: bool = False,
) -> CompactionPlan:
    """Return the conversations that are due.

    Args:
        folder: whose they are.
        today: the day.
        progress: told how many have been looked at.
        with_model: those that were only quoted are due, too, and those that are too
            short to be quoted.
    """
    settings = config.of(folder)
    known = compactions.compacted(folder)
    sessions = {live(path): path for path in reversed(folder.paths())}
    plan = CompactionPlan()
    for done, path in enumerate(sorted(sessions), 1):
        progress(done, len(sessions))
        memory = folder.find(path) if path.startswith("sessions/") else None
        if memory is None or not _may_be_told(memory):
            continue
        day = memory.date
        if day is None or (today - day).days <= settings.compact_after_days:
            continue
        source = _source(memory, known.get(path))
        old = source.old
        if old and old.digest == source.digest and (old.is_retold or not with_model):
            continue
        if old or with_model or quote(source, settings.summary_share):
            month = f"summaries/{day:%Y}/{day:%Y-%m}-conversations.md"
            summary = old.summary if old else month
            summary = next(folder.existing(summary), month)
            plan.setdefault(summary, []).append(source)
    return plan


def _may_be_told(memory: Memory) -> bool:
    """Tell whether a conversation is text, and not pinned."""
    is_text = not memory.binary and len(memory.data) <= LARGEST
    return is_text and not memory.metadata.get("pinned")


def _source(memory: Memory, old: compactions.Compacted | None) -> Source:
    """Return a conversation with what may be told of it."""
    turns = tuple(
        turn
        for turn in memory.passages
        if turn.line > memory.front_end and turn.text.strip() != FORGOTTEN
    )
    return Source(memory, turns, section_digest(memory.data), old)


def apply_compaction(
    folder: Folder,
    plan: CompactionPlan,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    model: Model | None = None,
    dry: bool = False,
) -> JobDone:
    """Do what a plan says, one summary after the other.

    Args:
        folder: whose conversations.
        plan: what is due.
        at: the moment that counts as now.
        progress: told how many summaries are written, of how many.
        model: tells what came of them; once it has failed it is asked for nothing more.
        dry: only say what would be done.
    """
    said = list[str]()
    notes = list[str]()
    made = list[dict[str, str]]()
    paths = list[str]()
    verb = "would be summarised" if dry else "is summarised"
    try:
        for done, (summary, due) in enumerate(plan.items()):
            progress(done, len(plan))
            drafts = [one for one in due if one.memory.path in folder.drafts]
            said += [draft_stays(one.path) for one in drafts]
            told = [one for one in due if one not in drafts]
            untold = set[str]()
            if not dry:
                retold = retell(told, model) if model else Retold()
                if retold.error:
                    notes.append(f"{retold.error} What it did not tell is quoted.")
                    model = None
                sections = _sections(folder, summary, told, retold)
                told = [one.source for one in sections]
                untold = _untold(sections)
                notes += _put(folder, summary, sections, at)
            for path in (source.path for source in told):
                paths += [summary, path, archived(path)]
                if path in untold:
                    said.append(f"{path} has nothing that is worth a line.")
                    continue
                said.append(f"{path} {verb} in {summary}.")
                made.append({"summary": summary, "source": path})
        progress(len(plan), len(plan))
    except Stopped as error:
        error.done.append(_compacted(said, notes, made, paths))
        raise
    return _compacted(said, notes, made, paths)


def _compacted(
    said: list[str], notes: list[str], made: list[dict[str, str]], paths: list[str]
) -> JobDone:
    """Return what was done; of each conversation in the fact `summaries`, where."""
    return JobDone(
        "compact",
        [*said, *notes] or ["Nothing is due to be compacted."],
        {"summaries": made, "notes": notes},
        paths,
        f"Summarise {counted(len(made), 'old conversation')}",
    )


@dataclass(frozen=True)
class _Section:
    """What is told of a conversation, and what the log will say of it."""

    source: Source
    data: bytes
    entry: compactions.Compacted


def _sections(
    folder: Folder, summary: str, sources: Iterable[Source], retold: Retold
) -> list[_Section]:
    """Return the sections of those conversations of which something new can be told."""
    share = config.of(folder).summary_share
    sections = list[_Section]()
    for source in sources:
        told = retold.lines.get(source.path)
        how = compactions.RETOLD
        lines = most_telling(told or [], source)
        if told is None:
            how = compactions.DONE
            lines = quote(source, share)
        if lines or told is not None:
            data = write_section(source.path, lines) if lines else b""
            entry = compactions.Compacted(
                source.digest, live(summary), section_digest(data), how
            )
            if entry != source.old:
                sections.append(_Section(source, data, entry))
    return sections


def _untold(sections: Iterable[_Section]) -> set[str]:
    """Return the conversations in which a model found nothing that is worth a line.

    Args:
        sections: those of a month.

    Returns:
        Their live paths.
    """
    return {one.source.path for one in sections if not one.data}


def _put(
    folder: Folder, summary: str, sections: Sequence[_Section], at: dt.datetime
) -> Iterable[str]:
    """Put sections into a summary, move the originals, and log what is done.

    Args:
        folder: whose they are.
        summary: its path.
        sections: what is told; the summary is begun if that is anything.
        at: the moment that counts as now.

    Returns:
        A sentence on each original that stays where it was.
    """

    def changed(data: bytes) -> bytes:
        for one in sections:
            known = one.source.old.section if one.source.old else ""
            data = put_section(data, one.source.path, one.data, known)
        return data

    with folder.locked():
        if os.path.lexists(folder.absolute(summary)):
            folder.edit(summary, changed)
        elif any(one.data for one in sections):
            folder.create(summary, changed(page(Kind.SUMMARIES).encode()))
    log = dict[str, compactions.Compacted]()
    fresh = list[str]()
    for one in sections:
        log[one.source.path] = one.entry
        if not (one.source.old or one.source.memory.archived):
            fresh.append(one.source.path)
    stayed = recalls.archive(folder, fresh, at)
    compactions.note_compacted(folder, log)
    return stayed.values()
