"""The jobs, each by its name, and the one way to run them: `job` takes the user's lock, and what was written is committed.

One job at a time works on a user's memories. It ends with what it did in words, in numbers, and as the paths that it wrote
or moved. A conversation going on meanwhile is not disturbed: jobs hold the user's lock for moments only. A job for many users
does each on their own: one after the other here, or on the workers of a Dask cluster. What was cut off anywhere is done again
to the same end, so the same command again does no harm.
"""

import contextlib
import datetime as dt
import functools
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, ParamSpec

from filemem import index, overview
from filemem.chat import Does
from filemem.errors import FilememError, Problem, Refused, in_words, missing_extra
from filemem.files import config, journal, trust
from filemem.files.folder import Folder, Progress, StoreFolder, no_progress
from filemem.files.memory import LARGEST, PROFILE, archived, live, renamed
from filemem.files.trust import Trust
from filemem.forgetting import compaction, deletion, sweeper
from filemem.forgetting.deletion import DeletionPlan, DeletionReport
from filemem.history import History
from filemem.importers import ImportReport, import_file
from filemem.models.endpoint import FailFastModel, Model, ModelError
from filemem.models.offline import chosen_model
from filemem.remembering import consolidation
from filemem.remembering.consolidation import Applied
from filemem.remembering.sessions import ConsolidationLog, digest
from filemem.remembering.supersession import ADD, DROP, NOOP, PROPOSE, SUPERSEDE, UPDATE, Decision
from filemem.search import semantic
from filemem.text.plain import counted, first_few, one_line

Commit = Callable[..., str]
"""Commits what a job wrote, by a subject, the paths and more trailers; what git has to say of it, empty where nothing."""


@contextlib.contextmanager
def job(user: Folder, name: str, at: dt.datetime, *, alone: bool = True) -> Iterator[Commit]:
    """Work on a user's memories, and commit what was written, after what was cut off before it was committed; raises Busy where
    another job is at it. Not `alone`: a short piece of work, such as one fact, which waits for no other job."""
    history = History(user)

    def commit(subject: str, paths: Iterable[str], **trailers: str) -> str:
        written = list(dict.fromkeys(paths))
        note = history.record(subject, written, {"Job": name, **trailers}, at) if written else ""
        return f"git: {note}" if note else ""

    with user.job_lock() if alone else contextlib.nullcontext(), history.at_work():
        yield commit


# -- remembering -------------------------------------------------------------------------------------------------


def remembered(folder: Folder, text: str, at: dt.datetime, source: str = "", **how: Any) -> tuple[Applied, str]:
    """Keep one fact, with the options `how` of `consolidation.remember`, and commit it; returns what git says, too. `source`: who
    asked for it, where it was not the person."""
    with job(folder, "remember", at, alone=False) as commit:
        done = consolidation.remember(folder, text, at, **how)
        subject = f"Remember: {done.decisions[0].claim.text}"
        return done, commit(subject, done.paths, **({"Source": source} if source else {}))


def consolidated(folder: Folder, at: dt.datetime, model: Model | None, **how: Any) -> Iterator[tuple[Applied, str]]:
    """Consolidate, as `consolidation.run` is told to, and commit what becomes of each request; with what git says of it. What
    a model has noted has its vectors then, where there are any."""
    with job(folder, "consolidate", at) as commit:
        for done in consolidation.run(folder, at, model, **how):
            yield done, committed(commit, done)
    if model:
        semantic.catch_up(index.of(folder))


def committed(commit: Commit, done: Applied) -> str:
    """Commit what consolidation or a review wrote; what git has to say of it."""
    written = [one.claim.text for one in done.decisions if one.action in (ADD, SUPERSEDE)]
    learnt = f"Learn {len(written)} facts" if written else "Bring what was known up to date"
    return commit(f"Learn: {written[0]}" if len(written) == 1 else learnt, done.paths)


def lines(one: Decision, *, whole: bool = False) -> Iterator[str]:
    """A decision as lines; `whole` tells what was left out as well."""
    text = one_line(one.claim.text, 160)
    if one.action == PROPOSE:
        yield f"proposed: {text}"
    elif one.action in (ADD, SUPERSEDE, UPDATE):
        reason = f" ({one.reason})" if one.reason and one.action != UPDATE else ""
        yield f"{'updated' if one.action == UPDATE else 'remembered'} {one.path}: {text}{reason}"
        yield from (f"superseded {old}" for old in one.replaces if one.action == SUPERSEDE)
    elif whole:
        yield f"{_COUNTED[one.action]} {one.path or ', '.join(one.claim.sources)}: {text} ({one.reason})"


def imported(
    store: StoreFolder, format_: str, file: str, at: dt.datetime, user: str, **how: Any
) -> tuple[ImportReport, str]:
    """Take in an export, as `import_file` is told `how` to, and commit it; with what git has to say of it."""
    if how.get("dry_run"):
        return import_file(store, format_, file, user=user, **how), ""
    with job(store.folder(user), "import", at, alone=False) as commit:
        report = import_file(store, format_, file, user=user, **how)
        paths = [entry.path for entry in (*report.added, *report.updated)]
        name = os.path.basename(file)
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {name}"
        return report, commit(subject, paths, Source=f"{format_}:{name}")


# -- forgetting --------------------------------------------------------------------------------------------------


def forget(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Delete what a plan names, and commit that; it is written down before it begins."""
    done = delete(user, deletion.start(user, found), at)
    deletion.end(user, found)
    return done


def delete(user: Folder, found: DeletionPlan, at: dt.datetime) -> DeletionReport:
    """Carry out a deletion that was written down, from the start or from where it was cut off, and commit it."""
    with job(user, "forget", at) as commit:
        owned = os.path.lexists(os.path.join(user.root, ".git"))
        done = deletion.carry_out(user, found)
        gone = owned and found.everything and found.purge
        # A conversation that git has not yet is its chat's to commit: an undo would take it away with what was forgotten.
        new = {path for path in History(user).new() if path.startswith("sessions/")} - {*found.names.values()}
        paths = [path for path in done.paths if path not in new]
        return done._replace(note="" if gone else commit(done.subject, [*paths, journal.RECALLS]))


def _remember(user: Folder, words: str, at: dt.datetime, source: str) -> tuple[str, list[str], list[str]]:
    done = consolidation.remember(user, words, at, source=source)
    return done.decisions[0].path, done.paths, done.notes


ASKED = Does(_remember, consolidation.take_back)
"""What a chat has done when a person asks for it; the commit is that of the chat."""


# -- what keeps a memory in order ----------------------------------------------------------------------------------------

NONE_OLD = "Nothing is old enough to be compacted."
_COUNTED = {ADD: "new", SUPERSEDE: "new", UPDATE: "updated", NOOP: "known", DROP: "left out", PROPOSE: "proposed"}


class JobDone(NamedTuple):
    """What a job did; `facts` are for a script, `paths` for git, `subject` is what a person would write of it. Without a name it
    is one thing of several that a job has to tell."""

    job: str
    said: list[str]
    facts: dict[str, Any]
    paths: list[str] = []
    subject: str = ""


P = ParamSpec("P")


def _committed(step: Callable[P, JobDone]) -> Callable[P, JobDone]:
    """Have a step, a function of a folder and a moment, be a job of its own, and commit what it did; not where it is `dry`."""

    @functools.wraps(step)
    def run(*args: P.args, **how: P.kwargs) -> JobDone:
        if how.get("dry"):
            return step(*args, **how)
        given: tuple[Any, ...] = args
        with job(given[0], step.__name__, given[1]) as commit:
            done = step(*args, **how)
            note = commit(done.subject, done.paths, Job=done.job)
        return done._replace(said=[*done.said, note], facts={**done.facts, "git": note}) if note else done

    return run


def maintain(
    folder: Folder, at: dt.datetime, model: Model | None, progress: Progress = no_progress, *, dry: bool = False
) -> list[JobDone]:
    """Every job, in the order in which each finds what the one before has left. `dry`: only say what each would do to the
    memories as they are now; nothing is written, and no job waited for."""
    with contextlib.nullcontext() if dry else folder.job_lock():
        followed = [] if dry else [follow_renames(folder, at)]
        if not (dry or model):  # lines of the profile follow what was changed or has ended
            profile = read(consolidated(folder, at, None))
            followed.append(profile._replace(job="profile", said=[f"changed {PROFILE}", *profile.facts["notes"]]))
        done = [
            *(one for one in followed if one.paths),
            read(consolidated(folder, at, model)) if model and not dry else waiting(folder, model=bool(model)),
            compact(folder, at, None, progress, dry=dry),
            sweep(folder, at, progress, dry=dry),
        ]
        if not dry:
            problems = [str(one) for one in History(folder).problems()]
            done += [JobDone("git", problems, {"problems": problems})] if problems else []
            done.append(_tidy(folder, progress))
    return done


# -- consolidation -----------------------------------------------------------------------------------------------


def waiting(folder: Folder, *, model: bool) -> JobDone:
    """What it would cost to read the conversations that wait."""
    cost = consolidation.cost(folder)
    waits = "" if model or not cost.conversations else " No model is configured, so they wait."
    return JobDone("consolidate", [cost.text + waits], {"facts": [], **cost._asdict()})


def read(found: Iterable[tuple[Applied, str]]) -> JobDone:
    """What came of a model's reading, with what git said of it: each decision, any notes, and a line that sums up."""
    told = list(found)
    requests = [one for one, _ in told]
    decided = [one for each in requests for one in each.decisions]
    notes = [note for one in requests for note in (*one.notes, *filter(None, [one.error]))]
    notes += [note for _, note in told if note]
    counts = Counter(_COUNTED[one.action] for one in decided)
    counts["superseded"] = sum(len(one.replaces) for one in decided if one.action == SUPERSEDE)
    words = ("new", "superseded", "updated", "known", "left out", "proposed")
    summed = ", ".join(f"{counts[word]:,} {word}" for word in words if counts[word])
    said = [*(line for one in decided for line in lines(one, whole=True)), *notes]
    said.append(f"{summed or 'Nothing new to remember'}{'; see: filemem review' if counts['proposed'] else '.'}")
    as_json = [
        {
            **{"action": one.action.lower(), "path": one.path, "text": one.claim.text, "reason": one.reason},
            **{"source": list(one.claim.sources), "supersedes": list(one.replaces)},
        }
        for one in decided
    ]
    paths = list(dict.fromkeys(path for one in requests for path in one.paths))
    return JobDone("consolidate", said, {"facts": as_json, "notes": notes}, paths)


# -- compact -----------------------------------------------------------------------------------------------------


@_committed
def compact(
    folder: Folder, at: dt.datetime, days: int | None = None, progress: Progress = no_progress, *, dry: bool = False
) -> JobDone:
    """Summarise and archive what is older than some days; `dry`: only say what would be done."""
    found, made = compaction.plan(folder, at.date(), days, progress), list[dict[str, Any]]()
    if dry:
        made = [{"summary": path, "source": source.path} for path, sources in found.items() for source in sources]
        said = [f"{one['source']} would be summarised in {one['summary']}." for one in made]
    else:
        done = compaction.apply(folder, found, at, progress)
        said = [
            f"{one.source}: {one.before:,} bytes in {one.after:,} of {one.summary}. {one.note}".strip() for one in done
        ]
        made = [one._asdict() for one in done]
    paths = [path for one in made for path in (one["summary"], one["source"], archived(one["source"]))]
    subject = f"Summarise {counted(len(made), 'old conversation')}"
    return JobDone("compact", said or [NONE_OLD], {"summaries": made}, paths, subject)


# -- sweep -------------------------------------------------------------------------------------------------------


@_committed
def sweep(folder: Folder, at: dt.datetime, progress: Progress = no_progress, *, dry: bool = False) -> JobDone:
    """Archive what has faded, bring back what was recalled or never fades; `dry`: only say what would be done."""
    found = sweeper.plan(folder, at.date(), progress)
    stayed = {} if dry else sweeper.apply(folder, found, at, progress)
    going = {path: why for path, why in found.going.items() if path not in stayed}
    coming = {live(path): why for path, why in found.coming.items() if path not in stayed}
    said = [
        *stayed.values(),
        *(f"{'Would bring' if dry else 'Brought'} back {path}: {coming[path]}." for path in coming),
    ]
    said += [f"{'Would archive' if dry else 'Archived'} {path}: {going[path]}." for path in going]
    stay = ", ".join(f"{count:,} {reason}" for reason, count in found.staying.most_common())
    said.append(f"Staying: {stay or 'nothing'}.")
    facts = {"archived": [*going], "restored": [*coming], "staying": found.staying, "notes": [*stayed.values()]}
    both, count = [*going, *coming], counted(len(going), "faded memory", "faded memories")
    subject = f"Archive {count}" + (f", bring back {len(coming)}" if coming else "")
    return JobDone("sweep", said, facts, [*both, *map(archived, both)], subject)


@_committed
def restore(folder: Folder, at: dt.datetime, paths: Sequence[str]) -> JobDone:
    """Bring memories back from the archive; raises NotFound or Refused for what is none."""
    found = [folder.locate(path) for path in paths]
    said, alive = sweeper.restore(folder, paths, at), [live(path) for path in found]
    journal.release(folder, found, at)
    both = [*alive, *map(archived, alive)]
    return JobDone("restore", said, {"paths": alive}, both, f"Restore {first_few(alive)}")


# -- the index, vectors, renames ---------------------------------------------------------------------------------


def _tidy(folder: Folder, progress: Progress) -> JobDone:
    """Bring the index up to date, and make the vector of every passage; if the endpoint fails, those made so far are kept."""
    corpus, known = index.of(folder).corpus(progress), semantic.of(folder)
    said = [f"The index holds {corpus.count:,} passages of {corpus.files:,} files."]
    try:
        said += [f"Embedded {counted(known.update(index.of(folder), progress), 'new passage')}."] if known else []
    except ModelError as error:
        said.append(f"{error} Not every passage has a vector; the next run goes on.")
    return JobDone("tidy", said, {"files": corpus.files, "passages": corpus.count})


def follow_renames(folder: Folder, at: dt.datetime) -> JobDone:
    """Have everything that names a memory which a person has renamed with git name it as it is called now: the profile's lines,
    sources, links and records. Where there is anything to follow it is a job."""
    known, history = folder.paths(), History(folder)
    stand = {*map(live, known)}
    names = {old: new for old, new in history.renames().items() if new in stand and old not in stand}
    named = {old: set[str]() for old in names}
    # Changed as well, what is renamed would no longer be known for that: it waits until it is committed.
    waits = {path for path in history.new() if live(path) in names.values()} if names else set[str]()
    for path in {*known} - waits if names else ():
        with contextlib.suppress(FilememError, OSError):
            data = folder.read(path, LARGEST)
            for old, new in names.items():
                if renamed(data, {old: new}) != data:
                    named[old].add(path)
    recalls = journal.recalled(folder) if names else {}
    names = {old: new for old, new in names.items() if named[old] or old in recalls}
    if not names:
        return JobDone("renames", [], {"followed": []})
    with job(folder, "renames", at, alone=False) as commit:
        log, page = ConsolidationLog(folder), folder.read(PROFILE).decode(errors="replace") if PROFILE in known else ""
        own = [said for _, _, said in consolidation.marked(page) if digest(said) in log.lines]
        touched = set[str]().union(*named.values())
        for path in touched:
            folder.edit(path, lambda data: renamed(data, names))
        deletion.clear_records(folder, DeletionPlan(names=names))
        ours = renamed("\n".join(own).encode(), names).decode()
        log.add({"line": path, "digest": digest(said)} for _, path, said in consolidation.marked(ours))
        said = [f"{old} is now {names[old]}, and called so in {counted(len(named[old]), 'file')}." for old in names]
        paths = [*touched, journal.RECALLS]
        note = commit("Follow renames", paths)
    return JobDone("renames", said + [note] * bool(note), {"followed": said}, paths)


# -- by name -------------------------------------------------------------------------------------------------------------

JOIN = 10  # seconds for the scheduler to answer


class Order(NamedTuple):
    """What is to be done for users of a store: a job of the table, with its options, at a time. Plain values, as it travels.
    `trusted`: the person trusts the store's settings and repository. `many`: the user is one of many."""

    job: str
    store: str
    at: dt.datetime
    options: dict[str, Any]
    trusted: bool = False
    many: bool = False

    @property
    def dry(self) -> bool:
        """Is only to be said what would be done?"""
        return bool(self.options.get("dry_run"))

    def model(self, folder: Folder) -> Model | None:
        """The model that the command has chosen, None where none is asked; raises Refused where it would be at another endpoint
        than the person's."""
        name = self.options.get("model")
        if not name or (self.many and self.dry):
            return None
        if "base_url" in config.withheld(folder.store, trust=folder.trust):
            raise Refused(f"base_url of {config.place(folder.store)} is not trusted on this machine; {trust.REMEDY}.")
        return _model(folder.store, name)


@functools.lru_cache(maxsize=2)
def _model(settled: str, name: str) -> Model | None:
    """One model for all users of a run, so that one that has failed is not asked for each."""
    found = chosen_model(config.load(settled, trust=Trust(given=True)), name)
    return FailFastModel(found) if found else None


def _consolidate(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    """Have the model read what waits. Without a model, or dry, what that takes is told."""
    model = order.model(folder)
    if order.dry or model is None:
        return [waiting(folder, model=bool(order.options["model"]))._replace(job="")]
    found, requests = list[tuple[Applied, str]](), order.options.get("requests", 0)
    for one in consolidated(folder, order.at, model, review=bool(order.options.get("review"))):
        found.append(one)
        show(min(len(found), requests), requests)
    failed = [done.error for done, _ in found if done.error]
    if failed and not any(done.decisions for done, _ in found):
        raise ModelError(failed[0])
    return [read(found)]


def _check(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    found, followed = list[Problem](), list[str]()
    with contextlib.suppress(FilememError, OSError):  # a bookkeeping that is a link, or that may not be written
        found = History(folder).problems()
        followed = follow_renames(folder, order.at).said
    found += overview.problems(folder, show)
    told = [JobDone("", [one], {"followed": one}) for one in followed]
    return told + [JobDone("", [str(one._replace(path=f"{folder.name}/{one.path}"))], one._asdict()) for one in found]


def _status(order: Order, folder: Folder, show: Progress) -> list[JobDone]:
    found = overview.status(folder, order.at, show)
    live, archived = (sum(kind[key] for kind in found.kinds.values()) for key in ("live", "archived"))
    brief = [f"{live:,} live, {archived:,} archived, {len(found.fading):,} fading within {overview.SOON} days"]
    return [JobDone("", brief if order.many else overview.in_words(found), found._asdict())]


JOBS: dict[str, Callable[[Order, Folder, Progress], list[JobDone]]] = {
    "maintain": lambda order, user, show: maintain(user, order.at, order.model(user), show, dry=order.dry),
    "consolidate": _consolidate,
    "compact": lambda order, user, show: [compact(user, order.at, order.options["older_than"], show, dry=order.dry)],
    "sweep": lambda order, user, show: [sweep(user, order.at, show, dry=order.dry)],
    "check": _check,
    "status": _status,
}


# -- for many users --------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What became of a job for one user: what it tells, or why it failed."""

    user: str
    told: list[JobDone]
    error: str = ""


def work(order: Order, user: str) -> Outcome:
    """Do a job for one user; what their files or the system refuse is told in the outcome."""
    try:
        if not os.path.isdir(order.store):
            raise FilememError(f"{socket.gethostname()} does not see {order.store}; mount it there by that name.")
        folder = StoreFolder(order.store, Trust(given=order.trusted)).folder(user)
        return Outcome(user, JOBS[order.job](order, folder, no_progress))
    except (FilememError, OSError) as error:
        return Outcome(user, [], in_words(error))


def outcomes(order: Order, users: Sequence[str], scheduler: str = "") -> Iterator[Outcome]:
    """What becomes of each user, in the order in which they are done; raises FilememError where no scheduler answers."""
    order = order._replace(many=True)
    if not scheduler:
        yield from (work(order, name) for name in users)
        return
    try:
        import distributed  # noqa: PLC0415  Dask takes a second to load, and is an extra
    except ImportError:
        raise missing_extra("what --scheduler needs", "dask") from None
    try:
        client = distributed.Client(scheduler, timeout=JOIN, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = one_line(str(error), 200)
        raise FilememError(f"{scheduler} does not answer ({reason}); see that a scheduler runs there.") from None
    run = os.urandom(4).hex()  # Dask counts by what stands before the first number, and shows JOB-RUN-USER
    with client:
        keys = [f"{order.job}-{run}-{name}" for name in users]
        waiting = client.map(work, [order] * len(users), [*users], key=keys, pure=False)
        names = dict(zip((future.key for future in waiting), users, strict=True))
        for future in distributed.as_completed(waiting, loop=client.loop):
            if future.status == "finished":
                yield future.result()
            else:
                failed = future.exception() if future.status == "error" else None
                gone = "the scheduler has gone; give the same command again."
                lost = f"{type(failed).__name__}: {failed}" if failed else gone
                yield Outcome(names[future.key], [], one_line(lost, 300))
