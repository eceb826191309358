"""Compaction: old conversations are told in a few lines by month, and archived.

A model writes what came of each, what was decided and what is open; without one, or
where it fails, a few sentences of the person's own are quoted, and told anew once there
is a model. Each line leads to the turns that it tells of. A conversation too short for
that stays. The sections of a month are written, the originals moved, each logged with
its digest: so nothing is done twice, what a killed run began is gone on with, and what
was edited since is told again.
"""

import datetime as dt
import os
from dataclasses import dataclass

from filemem.forget.retelling import Retold, Source, fitting, quote, retell
from filemem.forget.sections import put_section, section_digest, write_section
from filemem.llm.model import Model
from filemem.store import compactions, config, logs, pending, recalls
from filemem.store.folder import Folder, JobDone, Progress, draft_stays, no_progress
from filemem.store.memory import LARGEST, Memory
from filemem.store.passages import FORGOTTEN, Passage
from filemem.store.paths import archived, live
from filemem.text.plain import counted

CompactionPlan = dict[str, list[Source]]
"""What is due, by the path of the summary that takes it up."""


def plan_compaction(
    folder: Folder,
    today: dt.date,
    older_than: int | None = None,
    progress: Progress = no_progress,
    *,
    with_model: bool = False,
) -> CompactionPlan:
    """Return the conversations that are due.

    Args:
        folder: whose they are.
        today: the day.
        older_than: days; else as set.
        progress: told how many have been looked at.
        with_model: those that were only quoted are due, too.
    """
    settings = config.of(folder)
    if older_than is None:
        older_than = settings.compact_after_days
    known = compactions.compacted(folder)
    hidden = pending.pending_deletions(folder)
    sessions = {live(path): path for path in reversed(folder.paths())}
    plan = CompactionPlan()
    for done, path in enumerate(sorted(sessions), 1):
        progress(done, len(sessions))
        memory = folder.find(path) if path.startswith("sessions/") else None
        if (
            memory is None
            or not memory.date
            or (today - memory.date).days <= older_than
        ):
            continue
        source = _source(memory, hidden, known.get(path))
        if source and _is_due(source, settings.summary_share, with_model=with_model):
            plan.setdefault(_summary_of(folder, source), []).append(source)
    return plan


def _source(
    memory: Memory, hidden: pending.PendingDeletion, old: compactions.Compacted | None
) -> Source | None:
    """Return a conversation that may be told: it is text, and not pinned."""
    if memory.binary or len(memory.data) > LARGEST or memory.metadata.get("pinned"):
        return None
    turns = list[Passage]()
    for turn in memory.passages:
        is_said = turn.line > memory.front_end and turn.text.strip() != FORGOTTEN
        if is_said and not hidden.hides(memory.path, turn.line):
            turns.append(turn)
    return Source(memory, tuple(turns), section_digest(memory.data), old)


def _is_due(source: Source, share: float, *, with_model: bool) -> bool:
    """Tell whether a conversation was not told as it is now, and can be."""
    old = source.old
    if old and old.digest == source.digest and (old.is_retold or not with_model):
        return False
    return bool(old) or bool(quote(source, share))


def _summary_of(folder: Folder, source: Source) -> str:
    """Return the summary that takes a conversation up: the one that has it, or that of
    its month."""
    day = str(source.memory.date)
    month = f"summaries/{day[:4]}/{day[:7]}-conversations.md"
    summary = source.old.summary if source.old else month
    return next(folder.existing(summary), month)


def apply_compaction(
    folder: Folder,
    plan: CompactionPlan,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    model: Model | None = None,
    dry: bool = False,
) -> JobDone:
    """Do what a plan says, one summary after the other; `dry`: only say it.

    A model that has failed is asked for nothing more.
    """
    said = list[str]()
    notes = list[str]()
    made = list[dict[str, str]]()
    for done, (summary, due) in enumerate(plan.items()):
        progress(done, len(plan))
        sources = [one for one in due if one.memory.path not in folder.drafts]
        said += [draft_stays(one.path) for one in due if one not in sources]
        if dry:
            sections = [_Section(source, b"", "") for source in sources]
        else:
            retold = Retold()
            if model and not notes:
                retold = retell(sources, model)
            if retold.error:
                notes.append(f"{retold.error} What it did not tell is quoted.")
            sections = _sections(folder, sources, retold)
            said += _write(folder, summary, sections, at)
        for section in sections:
            made.append({"summary": summary, "source": section.source.path})
    progress(len(plan), len(plan))
    verb = "would be summarised" if dry else "is summarised"
    said += [f"{one['source']} {verb} in {one['summary']}." for one in made]
    paths = list[str]()
    for one in made:
        paths += [one["summary"], one["source"], archived(one["source"])]
    return JobDone(
        "compact",
        [*said, *notes] or ["Nothing is due to be compacted."],
        {"summaries": made, "notes": notes},
        paths,
        f"Summarise {counted(len(made), 'old conversation')}",
    )


@dataclass(frozen=True)
class _Section:
    """What is told of a conversation, and as what it is logged."""

    source: Source
    text: bytes
    how: str


def _sections(folder: Folder, sources: list[Source], retold: Retold) -> list[_Section]:
    """Return the section of each conversation: as a model told it, else in quotes."""
    share = config.of(folder).summary_share
    sections = list[_Section]()
    for source in sources:
        how = compactions.RETOLD
        lines = fitting(retold.lines.get(source.path, []), source)
        if not lines:
            how = compactions.DONE
            lines = quote(source, share)
        if lines:
            text = write_section(source.path, lines)
            sections.append(_Section(source, text, how))
    return sections


def _write(
    folder: Folder, summary: str, sections: list[_Section], at: dt.datetime
) -> list[str]:
    """Put sections into a summary, move the originals, and log what is done; return a
    sentence for each original that stays."""

    def changed(data: bytes) -> bytes:
        for one in sections:
            known = one.source.old.section if one.source.old else ""
            data = put_section(data, one.source.path, one.text, known)
        return data

    with folder.locked():
        if os.path.lexists(folder.absolute(summary)):
            folder.edit(summary, changed)
        elif sections:
            folder.create(summary, changed(b""))
    fresh = [one.source for one in sections if not one.source.old]
    live_paths = [one.path for one in fresh if not one.memory.archived]
    stayed = recalls.archive(folder, live_paths, at)
    rows = []
    for one in sections:
        digest = section_digest(one.text)
        row = (one.source.path, one.source.digest, live(summary), digest, one.how)
        rows.append(row)
    logs.add_rows(folder, compactions.COMPACTED, rows)
    return list(stayed.values())
