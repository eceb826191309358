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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from filemem.errors import Stopped
from filemem.forget.retelling import (
    Chosen,
    Retelling,
    Source,
    ToldLine,
    most_telling,
    quote,
)
from filemem.forget.sections import put_section, section_digest, write_section
from filemem.llm.model import Model
from filemem.store import compactions, config, recalls
from filemem.store.bullets import Bullet
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
    drafts = folder.drafts
    told = [one for one in chain(*plan.values()) if one.memory.path not in drafts]
    retelling = Retelling(told, model) if model else None
    if retelling and dry:
        retelling.estimate()
    done = _Done(retelling)
    try:
        for number, (summary, due) in enumerate(plan.items()):
            progress(number, len(plan))
            waiting = [one for one in due if one.memory.path in drafts]
            done.said += [draft_stays(one.path) for one in waiting]
            told = [one for one in due if one not in waiting]
            if dry:
                done.note_summarised(summary, told, "would be summarised")
            else:
                _summarise(folder, summary, told, at, done)
        progress(len(plan), len(plan))
    except Stopped as error:
        error.done.append(done.told())
        raise
    return done.told()


class _Done:
    """What was done so far, or would be.

    Args:
        retelling: the model at work, if there is one, with what it takes.

    Attributes:
        said: a line on each conversation.
        notes: what else there is to say.
        made: of each conversation, in which summary it is.
        paths: what changed.
    """

    def __init__(self, retelling: Retelling | None) -> None:
        self.retelling = retelling
        self.said = list[str]()
        self.notes = list[str]()
        self.made = list[dict[str, str]]()
        self.paths = list[str]()

    def note_summarised(
        self, summary: str, sources: Iterable[Source], verb: str
    ) -> None:
        """Note that a summary takes up conversations."""
        for path in (source.path for source in sources):
            self.paths += [summary, path, archived(path)]
            self.said.append(f"{path} {verb} in {summary}.")
            self.made.append({"summary": summary, "source": path})

    def told(self) -> JobDone:
        """Tell all of it as a job's, with what a model's requests take."""
        requests = 0
        tokens = 0
        waits = False
        retelling = self.retelling
        if retelling:
            requests = retelling.requests
            tokens = retelling.tokens
            waits = bool(retelling.error)
            sent = f"{counted(requests, 'request')} of some {tokens:,} tokens in all"
            if tokens:
                self.notes.append(f"{retelling.model.name}: {sent}.")
            if retelling.error:
                self.notes.append(f"{retelling.error} What it did not tell is quoted.")
        return JobDone(
            "compact",
            [*self.said, *self.notes] or ["Nothing is due to be compacted."],
            {
                "summaries": self.made,
                "notes": self.notes,
                "waits": waits,
                "requests": requests,
                "tokens": tokens,
            },
            self.paths,
            f"Summarise {counted(len(self.made), 'old conversation')}",
        )


def _summarise(
    folder: Folder,
    summary: str,
    sources: Sequence[Source],
    at: dt.datetime,
    done: _Done,
) -> None:
    """Write the sections of a summary once all is told that goes into it.

    Args:
        folder: whose conversations.
        summary: its path.
        sources: that are due to go into it.
        at: the moment that counts as now.
        done: takes in what was done.
    """
    told = dict[str, list[ToldLine]]()
    if done.retelling:
        told = done.retelling.tell(sources)
    sections = _sections(folder, summary, sources, told)
    stayed = _put(folder, summary, sections, at)
    written = [one.source for one in sections if one.data]
    done.note_summarised(summary, written, "is summarised")
    for one in sections:
        path = one.source.path
        if not one.data:
            done.paths += [summary, path, archived(path)]
            done.said.append(f"{path} has nothing that is worth a line.")
        for line in one.left_out:
            done.notes.append(f"Without room in the summary of {path}: {line.text}")
    done.notes += stayed


@dataclass(frozen=True)
class _Section:
    """What is told of a conversation, what has no room, and what the log will say."""

    source: Source
    data: bytes
    left_out: list[Bullet]
    entry: compactions.Compacted


def _sections(
    folder: Folder,
    summary: str,
    sources: Iterable[Source],
    told: Mapping[str, list[ToldLine]],
) -> list[_Section]:
    """Return the sections of those conversations of which something new can be told."""
    share = config.of(folder).summary_share
    sections = list[_Section]()
    for source in sources:
        how = compactions.DONE
        chosen = Chosen([], [])
        if source.path in told:
            how = compactions.RETOLD
            chosen = most_telling(told[source.path], source)
        else:
            chosen.kept.extend(quote(source, share))
        data = b""
        if chosen.kept:
            data = write_section(source.path, chosen.kept)
        entry = compactions.Compacted(
            source.digest, live(summary), section_digest(data), how
        )
        is_told = bool(data) or source.path in told
        if is_told and entry != source.old:
            sections.append(_Section(source, data, chosen.left_out, entry))
    return sections


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
