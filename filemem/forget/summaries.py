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

from filemem.forget.retelling import Source, fitting, quote, retell
from filemem.forget.sections import put_section, section_digest, write_section
from filemem.llm.model import Model
from filemem.store import compactions, config, recalls
from filemem.store.bullets import Bullet
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
        source = _source(memory, known.get(path))
        if source and _is_due(source, settings.summary_share, with_model=with_model):
            plan.setdefault(_summary_of(folder, source), []).append(source)
    return plan


def _source(memory: Memory, old: compactions.Compacted | None) -> Source | None:
    """Return a conversation that may be told: it is text, and not pinned."""
    if memory.binary or len(memory.data) > LARGEST or memory.metadata.get("pinned"):
        return None
    turns = list[Passage]()
    for turn in memory.passages:
        if turn.line > memory.front_end and turn.text.strip() != FORGOTTEN:
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
    """Do what a plan says, one summary after the other.

    Args:
        folder: whose conversations.
        plan: what is due.
        at: the moment that counts as now.
        progress: told how many summaries are written, of how many.
        model: tells what came of them; once it has failed it is asked for nothing more.
        dry: only say what would be done.
    """
    compaction = _Compaction(folder, at, model)
    said = list[str]()
    made = list[dict[str, str]]()
    paths = list[str]()
    verb = "would be summarised" if dry else "is summarised"
    for done, (summary, due) in enumerate(plan.items()):
        progress(done, len(plan))
        drafts = [one for one in due if one.memory.path in folder.drafts]
        told = [one for one in due if one not in drafts]
        if not dry:
            told = compaction.tell(summary, told)
        said += [draft_stays(one.path) for one in drafts]
        for source in told:
            said.append(f"{source.path} {verb} in {summary}.")
            made.append({"summary": summary, "source": source.path})
            paths += [summary, source.path, archived(source.path)]
    progress(len(plan), len(plan))
    notes = compaction.notes
    return JobDone(
        "compact",
        [*said, *notes] or ["Nothing is due to be compacted."],
        {"summaries": made, "notes": notes},
        paths,
        f"Summarise {counted(len(made), 'old conversation')}",
    )


class _Compaction:
    """One run of the job.

    Attributes:
        notes: why a model told no more, and what stayed where it was.
    """

    def __init__(self, folder: Folder, at: dt.datetime, model: Model | None) -> None:
        self.folder = folder
        self.at = at
        self.model = model
        self.notes = list[str]()

    def tell(self, summary: str, sources: list[Source]) -> list[Source]:
        """Put sections into a summary, move the originals, and log what is done.

        Args:
            summary: the path of the summary.
            sources: the conversations.

        Returns:
            Those that have a section now: as a model told them, else in quotes.
        """
        retold = self._retell(sources)
        share = config.of(self.folder).summary_share
        sections = dict[str, bytes]()
        told = list[Source]()
        log = dict[str, compactions.Compacted]()
        for source in sources:
            how = compactions.RETOLD
            lines = fitting(retold.get(source.path, []), source)
            if not lines:
                how = compactions.DONE
                lines = quote(source, share)
            if not lines:
                continue
            section = write_section(source.path, lines)
            digest = section_digest(section)
            sections[source.path] = section
            told.append(source)
            log[source.path] = compactions.Compacted(
                source.digest, live(summary), digest, how
            )
        self._write(summary, told, sections)
        fresh = [one for one in told if not (one.old or one.memory.archived)]
        stayed = recalls.archive(self.folder, [one.path for one in fresh], self.at)
        self.notes += stayed.values()
        compactions.note_compacted(self.folder, log)
        return told

    def _retell(self, sources: list[Source]) -> dict[str, list[Bullet]]:
        """Return what a model tells, by path; once it has failed it is not asked."""
        if self.model is None:
            return {}
        retold = retell(sources, self.model)
        if retold.error:
            self.notes.append(f"{retold.error} What it did not tell is quoted.")
            self.model = None
        return retold.lines

    def _write(
        self, summary: str, told: list[Source], sections: dict[str, bytes]
    ) -> None:
        """Put each section into its place in a summary."""

        def changed(data: bytes) -> bytes:
            for source in told:
                known = source.old.section if source.old else ""
                data = put_section(data, source.path, sections[source.path], known)
            return data

        with self.folder.locked():
            if os.path.lexists(self.folder.absolute(summary)):
                self.folder.edit(summary, changed)
            elif told:
                self.folder.create(summary, changed(b""))
