"""The jobs that may run at any time: compact, sweep, restore, and `maintain`: all that keeps a memory in order.

One job at a time works on a user's memories. It ends with what it did in words, in numbers, and as the paths that it wrote
or moved, which go into git where there is a repository. A conversation going on meanwhile is not disturbed: jobs hold the
user's lock for moments only.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from filemem import importers, index
from filemem.errors import FilememError
from filemem.files import archive, config, journal
from filemem.files.archive import Progress, live, no_progress
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.forgetting import compaction, sweeper
from filemem.forgetting.compaction import Compaction
from filemem.jobs import renames
from filemem.jobs.running import UserJob, job
from filemem.models import Model, ModelError
from filemem.remembering import consolidation, remembering
from filemem.remembering.supersession import ADD, PROPOSE, SUPERSEDE, UPDATE
from filemem.search import semantic
from filemem.text.plain import counted, first_few

NAMED = 100  # details that a summary lacks, in words
SAID = {ADD: "Remembered", SUPERSEDE: "Remembered", UPDATE: "Updated", PROPOSE: "Proposed"}
NONE_OLD = "Nothing is old enough to be compacted."


class JobDone(NamedTuple):
    """What a job did; `facts` are for a script, `paths` for git, `subject` is what a person would write of it."""

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str]
    subject: str


Step = Callable[[], JobDone]


def compact(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    older_than: int | None = None,
    progress: Progress = no_progress,
    *,
    dry: bool = False,
) -> JobDone:
    """Summarise and archive what is old; `dry`: only say what would be done."""
    return _alone(folder, "compact", at, lambda: _compact(folder, at, model, older_than, progress, dry=dry), dry=dry)


def sweep(folder: Folder, at: dt.datetime, progress: Progress = no_progress, *, dry: bool = False) -> JobDone:
    """Archive what has faded, bring back what was recalled or never fades; `dry`: only say what would be done."""
    return _alone(folder, "sweep", at, lambda: _sweep(folder, at, progress, dry=dry), dry=dry)


def restore(folder: Folder, paths: Iterable[str], at: dt.datetime) -> JobDone:
    """Bring memories back from the archive; raises NotFound or Refused for what is none."""
    wanted = list(paths)
    return _alone(folder, "restore", at, lambda: _restore(folder, wanted, at))


def maintain(
    folder: Folder, at: dt.datetime, model: Model | None, progress: Progress = no_progress, *, dry: bool = False
) -> list[JobDone]:
    """Every job, in the order in which each finds what the one before has left; what was cut off in git is finished first.

    `dry`: only say what would be done, by each to the memories as they are now. Nothing is written, and no job waited for.
    """
    steps: list[Step] = [
        *([lambda: _imports(folder, progress, dry=dry)] if config.of(folder).imports else []),
        lambda: _consolidate(folder, at, model, progress, dry=dry),
        lambda: _compact(folder, at, model, None, progress, dry=dry),
        lambda: _sweep(folder, at, progress, dry=dry),
    ]
    if dry:
        return [step() for step in steps]
    steps += [lambda: _tidy(folder, progress), *([lambda: _embed(folder, progress)] if semantic.of(folder) else [])]
    with job(folder, "maintain", at) as run:
        problems = run.catch_up()
        noticed = [JobDone("git", problems, {"problems": problems}, [], "")] if problems else []
        followed, paths = renames.follow(folder)
        if paths:
            noticed.append(
                _committed(run, JobDone("renames", followed, {"followed": followed}, paths, "Follow renames"))
            )
        return [*noticed, *(_committed(run, step()) for step in steps)]


def _alone(folder: Folder, name: str, at: dt.datetime, step: Step, *, dry: bool = False) -> JobDone:
    if dry:
        return step()
    with job(folder, name, at) as run:
        return _committed(run, step())


def _committed(run: UserJob, done: JobDone) -> JobDone:
    """A job that is done, once it is committed, with what git says of it."""
    note = run.commit(done.subject, done.paths, Job=done.job)
    return done._replace(said=[*done.said, f"git: {note}"], facts={**done.facts, "git": note}) if note else done


# -- imports -----------------------------------------------------------------------------------------------------


def _imports(folder: Folder, progress: Progress, *, dry: bool) -> JobDone:
    """Take in what the settings list."""
    done = importers.take_configured(folder, progress, dry=dry)
    taken = [*done.added, *done.updated]
    verb = "Would take" if dry else "Took"
    said = [f"{verb} in {one.path}." for one in taken] or ["Nothing new to take in."]
    notes = [f"{one.what}: {one.why}" for one in done.skipped]
    facts = {"imported": [one._asdict() for one in taken], "notes": notes}
    subject = f"Take in {counted(len(taken), 'memory', 'memories')}"
    return JobDone("import", said + notes, facts, [one.path for one in taken], subject)


# -- consolidate -------------------------------------------------------------------------------------------------


def _consolidate(
    folder: Folder, at: dt.datetime, model: Model | None, progress: Progress, *, dry: bool = False
) -> JobDone:
    """Have the model read what was said since the last time; without one it waits."""
    cost = consolidation.cost(folder)
    if dry or model is None:
        waits = " It waits for a model." if model is None and cost.conversations else ""
        return JobDone("consolidate", [cost.text + waits], {"facts": [], **cost._asdict()}, [], "")
    done = list(consolidation.run(folder, at, model, progress))
    notes = [note for one in done for note in (*one.notes, *filter(None, [one.error]))]
    made = [one for each in done for one in each.decisions]
    paths = [path for one in done for path in one.paths]
    facts = [{"action": one.action, "path": one.path} for one in made if one.path]
    said = notes + [f"{SAID[fact['action']]} {fact['path']}." for fact in facts if fact["action"] in SAID]
    subject = remembering.subject(made, paths)
    facts_and_notes = {"facts": facts, "notes": notes}
    return JobDone(
        "consolidate", said or ["Nothing new to remember."], facts_and_notes, list(dict.fromkeys(paths)), subject
    )


# -- compact -----------------------------------------------------------------------------------------------------


def _compact(
    folder: Folder, at: dt.datetime, model: Model | None, older_than: int | None, progress: Progress, *, dry: bool
) -> JobDone:
    if dry:
        found = compaction.plan(folder, at.date(), older_than, progress)
        due = {batch.summary: [source.path for source in batch.sources] for batch in found.batches}
        said = [
            f"{path} would take up {counted(len(taken), 'source')}: {first_few(taken)}." for path, taken in due.items()
        ]
        said += _short(len(found.short))
        paths = [path for summary, taken in due.items() for path in (summary, *taken)]
        facts: dict[str, Any] = {"summaries": due, "short": [source.path for source in found.short]}
        return JobDone("compact", said or [NONE_OLD], facts, paths, "")
    made: list[Compaction] = []
    short: list[str] = []
    for _ in range(2):  # conversations first, then the months that they have become, where these are old as well
        found = compaction.plan(folder, at.date(), older_than)
        compaction.note_too_short(folder, found.short)
        short += [source.path for source in found.short]
        for number, batch in enumerate(found.batches):
            progress(number, len(found.batches))
            made += compaction.apply(folder, found._replace(batches=[batch], short=[]), at, model)
        progress(len(found.batches), len(found.batches))
    said = [sentence for item in made for sentence in compacted(item)] + _short(len(short))
    sources = [path for item in made for path in item.sources]
    paths = [*(item.summary for item in made), *sources, *map(archive.archived, sources)]
    facts = {"summaries": [item._asdict() for item in made], "short": short}
    return JobDone(
        "compact", said or [NONE_OLD], facts, paths, f"Summarise {counted(len(sources), 'old conversation')}"
    )


def _short(count: int) -> list[str]:
    """A word on what is too short to be summarised."""
    stay = "stays as it is: its summary would not be" if count == 1 else "stay as they are: a summary would not be"
    return [f"{counted(count, 'source')} {stay} under half of {'it' if count == 1 else 'them'}."] if count else []


def compacted(item: Compaction) -> list[str]:
    """One summary's fate in words."""
    said = []
    if item.sources:
        count = counted(len(item.sources), "source")
        lost = f"; left out of the summary: {first_few(item.archive_only, NAMED)}" if item.archive_only else ""
        said.append(f"{item.summary}: {count} of {item.before:,} bytes in {item.after:,} ({item.by}){lost}.")
    return said + item.notes


# -- sweep -------------------------------------------------------------------------------------------------------


def _sweep(folder: Folder, at: dt.datetime, progress: Progress, *, dry: bool) -> JobDone:
    found = sweeper.plan(folder, at.date(), progress)
    if dry:
        said = [f"{item.path} would be archived: {item.why}." for item in found.going]
        said += [f"{item.path} would come back: {item.why}." for item in found.coming]
        stay = ", ".join(f"{count:,} {reason}" for reason, count in found.staying.most_common())
        going, coming = ([item.path for item in items] for items in (found.going, found.coming))
        facts: dict[str, Any] = {"going": going, "coming": coming, "staying": found.staying}
        return JobDone("sweep", [*said, f"Staying: {stay or 'nothing'}."], facts, [*going, *coming], "")
    done = sweeper.apply(folder, found, at, progress)
    gone, back = len(done.archived), len(done.restored)
    said = [*done.notes, *(f"Brought back {path}." for path in done.restored)]
    until = {item.path: f": it {item.why}" for item in found.going if item.ended}
    said += [f"Archived {path}{until.get(path, '')}." for path in done.archived]
    said = said or ["Nothing has faded, and nothing comes back from the archive."]
    facts = {"archived": done.archived, "restored": done.restored, "notes": done.notes}
    both = [*done.archived, *done.restored]
    subject = f"Archive {counted(gone, 'faded memory', 'faded memories')}" + (f", bring back {back}" if back else "")
    return JobDone("sweep", said, facts, [*both, *map(archive.archived, both)], subject)


# -- restore, tidy -----------------------------------------------------------------------------------------------


def _restore(folder: Folder, paths: list[str], at: dt.datetime) -> JobDone:
    found = [folder.locate(path) for path in paths]
    said = sweeper.restore(folder, paths, at)
    journal.release(folder, found, at)
    for path in map(live, found):
        with contextlib.suppress(FilememError, ValueError):
            if folder.memory(path).front.get(journal.MARK):
                folder.edit(path, lambda data, path=path: set_front(path, data, journal.MARK, "false"))  # type: ignore[misc]
    both = [*map(live, found), *map(archive.archived, map(live, found))]
    return JobDone(
        "restore", said, {"paths": [live(path) for path in found]}, both, f"Restore {first_few(map(live, found))}"
    )


def _tidy(folder: Folder, progress: Progress) -> JobDone:
    """Bring the index up to date."""
    corpus = index.of(folder).corpus(progress)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
    return JobDone("tidy", said, {"files": corpus.files, "passages": corpus.count}, [], "")


def _embed(folder: Folder, progress: Progress) -> JobDone:
    """Have the vector of every passage; where the endpoint fails, what it gave until then is kept."""
    known = semantic.of(folder)
    try:
        said = f"Embedded {counted(known.update(index.of(folder), progress) if known else 0, 'new passage')}."
    except ModelError as error:
        said = f"{error} Not every passage has a vector; the next run goes on."
    return JobDone("embed", [said], {}, [], "")
