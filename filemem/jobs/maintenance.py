"""The jobs that may run at any time: consolidate, compact, sweep, restore, and `maintain`: all that keeps a memory in order.

One job at a time works on a user's memories. It ends with what it did in words, in numbers, and as the paths that it wrote
or moved, which go into git where there is a repository. A conversation going on meanwhile is not disturbed: jobs hold the
user's lock for moments only.
"""

import contextlib
import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any, NamedTuple

from filemem import importers, index
from filemem.errors import FilememError
from filemem.files import config, journal
from filemem.files.facts import set_front
from filemem.files.folder import Folder, Progress, no_progress
from filemem.files.memory import LARGEST, PROFILE, archived, counterpart, live
from filemem.forgetting import compaction, deletion, sweeper
from filemem.forgetting.deletion import DeletionPlan
from filemem.history import History
from filemem.jobs.running import UserJob, job, lines
from filemem.models import Model, ModelError
from filemem.remembering import consolidation
from filemem.remembering.consolidation import Applied
from filemem.remembering.sessions import ConsolidationLog, digest
from filemem.remembering.supersession import ADD, DROP, NOOP, PROPOSE, SUPERSEDE, UPDATE
from filemem.search import semantic
from filemem.text.plain import counted, first_few

NONE_OLD = "Nothing is old enough to be compacted."
_COUNTED = {ADD: "new", SUPERSEDE: "new", UPDATE: "updated", NOOP: "known", DROP: "left out", PROPOSE: "proposed"}
_PATH = re.compile(r"(?:facts|lessons|sessions|summaries|notes)/[\w./-]+\.(?:md|ya?ml|txt)")
_LINK = re.compile(r"\[\[(\d{4}-\d\d-\d\d-[\w.-]+)")


class JobDone(NamedTuple):
    """What a job did; `facts` are for a script, `paths` for git, `subject` is what a person would write of it. Without a name it
    is one thing of several that a job has to tell."""

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str] = []
    subject: str = ""

    @property
    def news(self) -> bool:
        """Is this worth a line when the user is one of many?"""
        return bool(self.paths) or not self.job


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
        lambda: read(consolidation.run(folder, at, model)) if model and not dry else waiting(folder, model=bool(model)),
        lambda: _compact(folder, at, model, None, progress, dry=dry),
        lambda: _sweep(folder, at, progress, dry=dry),
    ]
    if dry:
        return [step() for step in steps]
    steps += [lambda: _tidy(folder, progress), *([lambda: _embed(folder, progress)] if semantic.of(folder) else [])]
    with job(folder, "maintain", at) as run:
        problems = [str(one) for one in run.history.problems()]
        noticed = [JobDone("git", problems, {"problems": problems})] if problems else []
        if (followed := follow_renames(folder)).paths:
            noticed.append(_committed(run, followed))
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


# -- imports and consolidation -----------------------------------------------------------------------------------


def _imports(folder: Folder, progress: Progress, *, dry: bool) -> JobDone:
    """Take in what the settings list."""
    done = importers.take_configured(folder, progress, dry=dry)
    taken = [*done.added, *done.updated]
    said = [f"{'Would take' if dry else 'Took'} in {one.path}." for one in taken] or ["Nothing new to take in."]
    notes = [f"{one.what}: {one.why}" for one in done.skipped]
    facts = {"imported": [one._asdict() for one in taken], "notes": notes}
    subject = f"Take in {counted(len(taken), 'memory', 'memories')}"
    return JobDone("import", said + notes, facts, [one.path for one in taken], subject)


def waiting(folder: Folder, *, model: bool) -> JobDone:
    """What it would cost to read the conversations that wait."""
    cost = consolidation.cost(folder)
    waits = "" if model or not cost.conversations else " No model is configured, so they wait."
    return JobDone("consolidate", [cost.text + waits], {"facts": [], **cost._asdict()})


def read(done: Iterable[Applied], git: Iterable[str] = ()) -> JobDone:
    """What came of a model's reading: each decision, any notes, and a line that sums up."""
    requests = list(done)
    decided = [one for each in requests for one in each.decisions]
    notes = [note for one in requests for note in (*one.notes, *filter(None, [one.error]))]
    notes += [f"git: {note}" for note in git if note]
    counts = Counter(_COUNTED[one.action] for one in decided)
    counts["superseded"] = sum(len(one.replaces) for one in decided if one.action == SUPERSEDE)
    words = ("new", "superseded", "updated", "known", "left out", "proposed")
    told = ", ".join(f"{counts[word]:,} {word}" for word in words if counts[word])
    said = [*(line for one in decided for line in lines(one, whole=True)), *notes]
    said.append(f"{told or 'Nothing new to remember'}{'; see: filemem review' if counts['proposed'] else '.'}")
    as_json = [
        {
            **{"action": one.action.lower(), "path": one.path, "text": one.claim.text, "reason": one.reason},
            **{"source": list(one.claim.sources), "supersedes": list(one.replaces)},
        }
        for one in decided
    ]
    paths = list(dict.fromkeys(path for one in requests for path in one.paths))
    return JobDone("consolidate", said, {"facts": as_json, "notes": notes}, paths, consolidation.subject(decided))


# -- compact -----------------------------------------------------------------------------------------------------


def _compact(
    folder: Folder, at: dt.datetime, model: Model | None, older_than: int | None, progress: Progress, *, dry: bool
) -> JobDone:
    found, said = compaction.plan(folder, at.date(), older_than, progress), list[str]()
    if dry:
        due = {batch.summary: [source.path for source in batch.sources] for batch in found.batches}
        said = [f"{path} would take up {counted(len(of), 'source')}: {first_few(of)}." for path, of in due.items()]
        made: Any = due
        sources, paths = list[str](), [path for summary, taken in due.items() for path in (summary, *taken)]
    else:
        done = compaction.apply(folder, found, at, model, progress)
        for item in done:
            count = counted(len(item.sources), "source")
            said += [f"{item.summary}: {count} of {item.before:,} bytes in {item.after:,} ({item.by}).", *item.notes]
        made, sources = [item._asdict() for item in done], [path for item in done for path in item.sources]
        paths = [*(item.summary for item in done), *sources, *map(archived, sources)]
    short = [source.path for source in found.short]
    said += [f"{counted(len(short), 'source')} too short to be summarised."] * bool(short)
    facts, subject = {"summaries": made, "short": short}, f"Summarise {counted(len(sources), 'old conversation')}"
    return JobDone("compact", said or [NONE_OLD], facts, paths, subject)


# -- sweep -------------------------------------------------------------------------------------------------------


def _sweep(folder: Folder, at: dt.datetime, progress: Progress, *, dry: bool) -> JobDone:
    found = sweeper.plan(folder, at.date(), progress)
    if dry:
        said = [f"{path} would be archived: {why}." for path, why in found.going.items()]
        said += [f"{path} would come back: {why}." for path, why in found.coming.items()]
        stay = ", ".join(f"{count:,} {reason}" for reason, count in found.staying.most_common())
        going, coming = list(found.going), list(found.coming)
        facts: dict[str, Any] = {"going": going, "coming": coming, "staying": found.staying}
        return JobDone("sweep", [*said, f"Staying: {stay or 'nothing'}."], facts, [*going, *coming])
    done = sweeper.apply(folder, found, at, progress)
    gone, back = len(done.archived), len(done.restored)
    said = [*done.notes, *(f"Brought back {path}." for path in done.restored)]
    said += [f"Archived {path}: {found.going[path]}." for path in done.archived]
    said = said or ["Nothing has faded, and nothing comes back from the archive."]
    facts = {"archived": done.archived, "restored": done.restored, "notes": done.notes}
    both = [*done.archived, *done.restored]
    subject = f"Archive {counted(gone, 'faded memory', 'faded memories')}" + (f", bring back {back}" if back else "")
    return JobDone("sweep", said, facts, [*both, *map(archived, both)], subject)


def _restore(folder: Folder, paths: list[str], at: dt.datetime) -> JobDone:
    found = [folder.locate(path) for path in paths]
    said, alive = sweeper.restore(folder, paths, at), [live(path) for path in found]
    journal.release(folder, found, at)
    for path in alive:
        with contextlib.suppress(FilememError, ValueError):
            if folder.memory(path).front.get(journal.MARK):
                folder.edit(path, lambda data, path=path: set_front(path, data, journal.MARK, "false"))  # type: ignore[misc]
    both = [*alive, *map(archived, alive)]
    return JobDone("restore", said, {"paths": alive}, both, f"Restore {first_few(alive)}")


# -- the index, vectors, renames ---------------------------------------------------------------------------------


def _tidy(folder: Folder, progress: Progress) -> JobDone:
    """Bring the index up to date."""
    corpus = index.of(folder).corpus(progress)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
    return JobDone("tidy", said, {"files": corpus.files, "passages": corpus.count})


def _embed(folder: Folder, progress: Progress) -> JobDone:
    """Make the vector of every passage; if the endpoint fails, those made so far are kept."""
    known = semantic.of(folder)
    try:
        said = f"Embedded {counted(known.update(index.of(folder), progress) if known else 0, 'new passage')}."
    except ModelError as error:
        said = f"{error} Not every passage has a vector; the next run goes on."
    return JobDone("embed", [said], {})


def follow_renames(folder: Folder) -> JobDone:
    """Have everything that names a memory which a person has renamed with git name it as it is called now: the profile's lines,
    sources, links and records."""
    known, named = set(folder.paths()), dict[str, set[str]]()
    for path in known:
        with contextlib.suppress(FilememError, OSError):
            text = folder.read(path, LARGEST).decode(errors="replace")
            for found in [*_PATH.findall(text), *_LINK.findall(text)]:
                named.setdefault(found, set()).add(path)
    stems = {PurePath(path).stem for path in known}
    gone = {path for path in (*named, *journal.recalled(folder)) if not known & {path, counterpart(path)}} - stems
    renames, names = History(folder).renames() if gone else {}, dict[str, str]()
    for old in [old for old in renames if PurePath(old).stem in gone]:
        named.setdefault(old, set()).update(named[PurePath(old).stem])
        gone.add(old)
    for old in gone:
        seen, new = {old}, renames.get(old, "")
        while new and new not in seen and not known & {new, counterpart(new)}:
            seen.add(new)
            new = renames.get(new, "")
        names |= {old: new} if new and new not in seen else {}
    if not names:
        return JobDone("renames", [], {"followed": []})
    log, page = ConsolidationLog(folder), folder.read(PROFILE).decode(errors="replace") if PROFILE in known else ""
    own = [said for _, _, said in consolidation.marked(page) if digest(said) in log.lines]
    touched = {path for old in names for path in named.get(old, ())}
    for path in touched:
        folder.edit(path, lambda data: deletion.renamed(data, names))
    deletion.clear_records(folder, DeletionPlan(names=names))
    ours = deletion.renamed("\n".join(own).encode(), names).decode()
    log.add({"line": " ".join(paths), "digest": digest(said)} for _, paths, said in consolidation.marked(ours))
    counts = {old: counted(len(named.get(old, ())), "file") for old in names}
    said = [f"{old} is now {new}, and called so in {counts[old]}." for old, new in names.items()]
    return JobDone("renames", said, {"followed": said}, [*touched, *names, *names.values()], "Follow renames")
