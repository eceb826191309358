"""The jobs, each by its name, and the one way to run them: in a `JobRun`.

It takes the user's lock and commits what was written. One job at a time works on a
user's memories; a conversation going on meanwhile is not disturbed, as jobs hold the
user's lock for moments only. A job for many users does each on their own, one after the
other here, or on the workers of a Dask cluster. What was cut off anywhere is done again
to the same end, so the same command again does no harm.
"""

import contextlib
import datetime as dt
import functools
import gc
import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Self

from filemem import index, overview
from filemem.errors import (
    FilememError,
    NotFound,
    Refused,
    Stopped,
    in_words,
    missing_extra,
)
from filemem.forget import delete, purge
from filemem.forget.plan import DeletionPlan, plan_deletion, split_place
from filemem.forget.summaries import apply_compaction, plan_compaction
from filemem.forget.sweep import Large, apply_sweep, plan_sweep, restore_memories
from filemem.git.history import DELETED, LOGS, History
from filemem.git.job_frame import JobFrame
from filemem.importers import ImportReport, import_file
from filemem.index import vectors
from filemem.learn import consolidate as reading
from filemem.learn import proposals
from filemem.learn import remember as keeping
from filemem.learn.consolidate import cost
from filemem.learn.outcome import Applied
from filemem.learn.proposals import Proposal
from filemem.learn.remember import Asked
from filemem.learn.sessions import Ended
from filemem.llm.choice import model_of_run
from filemem.llm.model import Model, ModelError
from filemem.store import config, keys, person, usage
from filemem.store.facts import page, reference, set_front
from filemem.store.folder import JOB_WAIT_SECONDS, Folder
from filemem.store.learned import LearnLog
from filemem.store.paths import PROFILE, Kind
from filemem.store.problems import bundle_problems
from filemem.store.users import StoreFolder, folder_name, remove_folder
from filemem.text.plain import counted, one_line
from filemem.work import JobDone, Progress, no_progress


class JobRun:
    """One job at work on a user's memories. Use it as a context manager.

    Args:
        user: whose memories the job changes.
        name: the job's name, as the commit's `Job:` trailer has it.
        started_at: the moment that the job counts as now.
        exclusive: wait for other jobs of this user, and make them wait. Short work,
            such as keeping one fact, needs no such turn.
        dry: only look at the memories as the job would find them, and wait for nobody.

    What jobs that were cut off have left is committed first. Raises Busy if another
    exclusive job holds these memories.
    """

    def __init__(
        self,
        user: Folder,
        name: str,
        started_at: dt.datetime,
        *,
        exclusive: bool = True,
        dry: bool = False,
    ) -> None:
        self.user = user
        self.name = name
        self.started_at = started_at
        self.exclusive = exclusive
        self.dry = dry
        self._frame = JobFrame(History(user))
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            held.enter_context(self.user.only(self.user.found()))
            if self.dry:
                held.callback(setattr, self.user, "drafts", self.user.drafts)
                with contextlib.suppress(FilememError, OSError):  # as git is missing
                    self.user.drafts = self._frame.history.drafts()
            else:
                if self.exclusive:
                    held.enter_context(self.user.job_lock())
                held.enter_context(self._frame.at_work())
            self._held = held.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._held.__exit__(*error)

    def commit(self, subject: str, paths: Iterable[str], **trailers: str) -> list[str]:
        """Commit what the job wrote; return what git has to say of it."""
        written = list(dict.fromkeys(paths))
        if self.dry or not written:
            return []
        trailers = {"Job": self.name, **trailers}
        note = self._frame.record(subject, written, trailers, self.started_at)
        return [f"git: {note}"] if note else []

    def committed(self, done: JobDone) -> JobDone:
        """Commit what was done, and return it with what git has to say."""
        notes = self.commit(done.subject, done.paths)
        told = [*done.facts.get("notes", []), *notes]
        return replace(done, said=done.said + notes, facts=done.facts | {"notes": told})


def remembered(
    folder: Folder,
    facts: Sequence[Asked],
    at: dt.datetime,
    source: str = "",
    *,
    with_secrets: bool = False,
) -> Applied:
    """Keep facts, and commit them.

    Args:
        folder: whose memories they become.
        facts: what is to be kept.
        at: the moment of keeping.
        source: who else asked for it, for the commit.
        with_secrets: keep secrets.
    """
    if not facts:
        return Applied()
    with JobRun(folder, "remember", at, exclusive=False) as run:
        done = keeping.remember_all(folder, facts, at, with_secrets=with_secrets)
        usage.note_use(folder, at.date())
        subject = f"Remember {len(facts)} facts"
        if len(facts) == 1:
            subject = f"Remember: {done.decisions[0].claim.text}"
        # What was known already may have got a further id, which is in a log.
        paths = [*LOGS, *done.paths]
        return done.with_notes(run.commit(subject, paths, Source=source))


def read_conversations(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress = no_progress,
    *,
    review: bool = False,
    ended: Ended | None = None,
) -> Applied:
    """Have a model read all that waits, and commit what becomes of each request.

    What was noted has its vectors then, where there are any. Where the model fails the
    result says so, and what was read before stands.

    Args:
        folder: whose conversations these are.
        at: the moment that counts as now.
        model: who reads; without one only what a killed run has left is finished.
        progress: told how many requests are done.
        review: only propose.
        ended: read no conversation that is not over.
    """
    whole = Applied()
    with JobRun(folder, "consolidate", at) as run:
        try:
            read = reading.run(folder, at, model, progress, review=review, ended=ended)
            for done in read:
                whole = whole.plus(done)
                whole = whole.with_notes(run.commit(done.subject, done.paths))
        except Stopped as error:
            error.done.append(whole.told())
            raise
    if model:
        vectors.catch_up(index.of(folder))
    return whole


def imported(
    folder: Folder, format_: str, file: str, at: dt.datetime, **how: Any
) -> ImportReport:
    """Take in an export, and commit it.

    Args:
        folder: of the user whose memories these become.
        format_: the export's format, by its name.
        file: the export.
        at: the moment that counts as now.
        how: options of `importers.import_file`.
    """
    if how.get("dry_run"):
        return import_file(folder, format_, file, **how)
    with JobRun(folder, "import", at, exclusive=False) as run:
        report = import_file(folder, format_, file, **how)
        paths = [entry.path for entry in (*report.added, *report.updated)]
        usage.note_turns(folder, paths, at.date())
        name = os.path.basename(file)
        subject = f"Import {counted(len(paths), 'memory', 'memories')} from {name}"
        report.notes.extend(run.commit(subject, paths, Source=f"{format_}:{name}"))
    return report


def forget(
    user: Folder,
    plan: DeletionPlan,
    at: dt.datetime,
    *,
    purges: bool = False,
) -> JobDone:
    """Delete what a plan names, and commit that.

    Args:
        user: whose memories.
        plan: what goes; a file that was saved since it was made stays.
        at: the moment that counts as now.
        purges: rewrite the history of the user's repository without it, before anything
            is deleted: so the same request finishes what is cut off.

    Returns:
        The facts `deleted`, `stayed`, `left` and `notes` (git's), and with `purges`
        `rewritten`: what was done to the history.

    Raises:
        Busy: another job is at work; nothing was changed.
        FilememError: the history cannot be rewritten; nothing was deleted.
    """
    own_git = os.path.lexists(os.path.join(user.root, ".git"))
    takes_git = plan.whole_user and purges and own_git
    facts: dict[str, Any] = {"rewritten": []}
    if purges and not user.exists():
        return _forget_in_git(user, plan)
    with contextlib.ExitStack() as held:
        held.enter_context(user.job_lock())
        if plan.whole_user:
            keys.revoke_user(user.store, user.name)
            _forget_former(user)
        if purges and not takes_git:
            with JobFrame(History(user)).at_work():
                pass  # what was cut off is committed before it is rewritten
            history = History(user, whole=plan.whole_user)
            facts["rewritten"] = purge.purge(history, plan)
        if plan.whole_user:  # until all is gone nobody writes
            held.enter_context(user.locked())
        with JobRun(user, "forget", at) as run:
            user.delete_copies()
            done = delete.delete(user, plan)
            notes = list[str]()
            if not takes_git:
                whose = user.own_folder if plan.whole_user else ""
                notes = run.commit(done.subject, done.paths, **{DELETED: whose})
        done = delete.conclude(user, plan, done)
        if plan.whole_user and notes:  # the same request commits it
            done.facts["stayed"].extend(notes)
        elif plan.whole_user and not done.facts["stayed"]:
            remove_folder(user, repository=takes_git)
            person.forget(user.root)
    user.tell("forgotten", len(done.facts["deleted"]))
    return replace(done, facts={**done.facts, **facts, "notes": notes})


def _forget_former(user: Folder) -> None:
    """Keep nothing about the folder from which a user was being renamed, if any.

    It stays where somebody has that name by now.
    """
    former = user.renamed_from()
    place = os.path.join(user.store, folder_name(former))
    if former and not os.path.lexists(place):
        person.forget(place)


def _forget_in_git(user: Folder, plan: DeletionPlan) -> JobDone:
    """Rewrite the history of a user of whom only git has anything, as `forget` does."""
    if plan.whole_user:
        keys.revoke_user(user.store, user.name)
    rewritten = purge.purge(History(user), plan)
    facts: dict[str, Any] = {"rewritten": rewritten, "deleted": []}
    return JobDone("forget", [], facts | {"stayed": [], "left": [], "notes": []})


def edit(folder: Folder, path: str, change: Callable[[bytes], bytes | None]) -> None:
    """Change a memory by a function of its bytes; raise Refused where that fails."""
    try:
        folder.edit(path, change)
    except ValueError as error:
        raise Refused(f"{path} cannot be edited: {error}; correct it.") from None


def set_profile(folder: Folder, *, aliases: Sequence[str], **wanted: str) -> None:
    """Set keys of the front matter of profile.md, which is made where there is none.

    Args:
        folder: whose.
        aliases: the other names under which the person's own turns may stand.
        wanted: values by their key; empty ones stay as they are.

    Raises:
        Refused: it cannot be edited.
    """
    values = {key: [value] for key, value in wanted.items()} | {"aliases": aliases}
    with folder.locked():
        if not list(folder.existing(PROFILE)):
            folder.create(PROFILE, page(Kind.PROFILE))
        for key, listed in values.items():
            if any(listed):
                value = reference(listed)
                change = functools.partial(set_front, PROFILE, key=key, value=value)
                edit(folder, PROFILE, change)


def accept(
    user: Folder,
    found: Proposal,
    at: dt.datetime,
    *,
    wait: float = JOB_WAIT_SECONDS,
) -> Applied:
    """Keep what was proposed, or delete what a wish to forget means, which it was.

    The caller commits what the first has written. Before the second, another job is
    waited for, `wait` seconds at most.
    """
    found = proposals.read(user, found.path)
    if not found.forgets:
        return keeping.accept(user, LearnLog.of(user), found, at)
    there = [one for one in found.forgets if user.find(split_place(one).path)]
    said: list[str] = []
    if there:
        with user.job_lock(wait):
            said = forget(user, plan_deletion(user, places=there), at).said
    with contextlib.suppress(NotFound):  # it went with what it names
        keeping.reject(user, found)  # last, so that a job at work loses no wish
    return Applied(notes=said)


# -- what keeps a memory in order ------------------------------------------------------

Job = Callable[..., JobDone | list[JobDone]]
"""Of a folder, a moment, `progress` and options of its own."""


def maintain(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress = no_progress,
    *,
    dry: bool = False,
) -> list[JobDone]:
    """Do every job, in the order in which each finds what the one before has left.

    Where the person has yet to say where a store's words go, nothing is read or
    summarised.

    Args:
        folder: whose memories.
        at: the moment that counts as now.
        model: who reads and summarises; without one conversations wait.
        progress: told how far each job is.
        dry: only say what each would do to the memories as they are now; nothing is
            written, and no job waited for.
    """
    question = "" if model else config.unanswered(folder.store)
    if question:
        told = "Nothing was read or summarised: say with filemem model where words go."
        waiting = JobDone("consolidate", [told], {"question": question})
        return [waiting, sweep(folder, at, progress, dry=dry, large=Large.A_FIFTH)]
    done: list[JobDone] = []
    with contextlib.nullcontext() if dry else folder.job_lock():
        try:
            for one in _every_job(folder, at, model, progress, dry=dry):
                done.append(one)
        except Stopped as error:
            error.done[:0] = done
            raise
    return done


def _every_job(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress,
    *,
    dry: bool,
) -> Iterator[JobDone]:
    """Do every job as `maintain` has them, and yield what each has done."""
    if not dry:
        folder.delete_abandoned()
        learned = read_conversations(folder, at, model)
        if learned.paths or model:
            yield learned.told()
    if dry or not model:
        yield cost(folder, model)
    yield compact(folder, at, progress, model=model, dry=dry)
    yield sweep(folder, at, progress, dry=dry, large=Large.A_FIFTH)
    if dry:
        return
    problems = [str(one) for one in History(folder).problems()]
    if problems:
        yield JobDone("git", problems, {"problems": problems})
    yield vectors.tidy(index.of(folder), progress)


def compact(
    folder: Folder,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    model: Model | None = None,
    dry: bool = False,
) -> JobDone:
    """Summarise what is older than the settings say, and archive it.

    A model's words are used if there is one; `dry`: only say what would be done.
    """
    with JobRun(folder, "compact", at, dry=dry) as run:
        plan = plan_compaction(
            folder, at.date(), progress, with_model=model is not None
        )
        done = apply_compaction(folder, plan, at, progress, model=model, dry=dry)
        return run.committed(done)


def sweep(
    folder: Folder,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    dry: bool = False,
    large: Large = Large.WAITS,
) -> JobDone:
    """Archive what has faded, and bring back what was recalled or never fades.

    `dry`: only say what would be done; `large`: what a large sweep does.
    """
    with JobRun(folder, "sweep", at, dry=dry) as run:
        plan = plan_sweep(folder, at.date(), progress, large=large)
        return run.committed(apply_sweep(folder, plan, at, dry=dry))


def restore(folder: Folder, at: dt.datetime, paths: Sequence[str]) -> JobDone:
    """Bring memories back from the archive; raises NotFound or Refused for others."""
    with JobRun(folder, "restore", at) as run:
        return run.committed(restore_memories(folder, paths, at))


# -- for one user or for many ----------------------------------------------------------


def consolidate(
    folder: Folder,
    at: dt.datetime,
    model: Model | None,
    progress: Progress = no_progress,
    *,
    dry: bool = False,
    review: bool = False,
) -> JobDone:
    """Have the model read what waits.

    Args:
        folder: whose conversations these are.
        at: the moment that counts as now.
        model: who reads; without one, what that takes is told.
        progress: told how many requests are done.
        dry: only tell what that takes.
        review: only propose.

    Raises:
        ModelError: nothing could be read.
    """
    if dry or not model:
        return replace(cost(folder, model), job="")
    done = read_conversations(folder, at, model, progress, review=review)
    if done.error and not done.decisions:
        raise ModelError(done.error)
    return done.told()


def check(
    folder: Folder,
    at: dt.datetime,
    progress: Progress = no_progress,
    *,
    okf: bool = False,
) -> list[JobDone]:
    """Tell every problem in the files.

    Args:
        folder: whose files.
        at: the moment that counts as now.
        progress: told how many files have been, of how many.
        okf: tell why the files are no bundle of the Open Knowledge Format instead.
    """
    if okf:
        found = bundle_problems(folder)
    else:
        found = History(folder).problems()
        found += overview.problems(folder, at.date(), progress)
    return [JobDone("", [str(one)], asdict(one)) for one in found]


def do(task: Job, *given: Any, **options: Any) -> list[JobDone]:
    """Do a job with a folder, a moment and its options."""
    done = task(*given, **options)
    return [done] if isinstance(done, JobDone) else done


@dataclass(frozen=True)
class UserJob:
    """A job for any user of a store, in values that can be sent to a worker.

    `options` are the job's; a `model` is among them by its name. `run` names this run.
    """

    task: Job
    store: str
    at: dt.datetime
    options: dict[str, Any]
    run: str

    def __call__(self, user: str) -> list[JobDone]:
        """Do the job for one user; what their files or the system refuse is told."""
        options = dict(self.options)
        try:
            if not os.path.isdir(self.store):
                raise FilememError(
                    f"{socket.gethostname()} does not see {self.store}; mount it there"
                    " by that name."
                )
            if options.get("model"):
                model = model_of_run(self.run, self.store, options["model"])
                options["model"] = model
            folder = StoreFolder(self.store).folder(user)
            return do(self.task, folder, self.at, **options)
        except (FilememError, OSError) as error:
            return _failed(in_words(error))


class UserDone(NamedTuple):
    """What a job did for a user."""

    user: str
    results: list[JobDone]


def for_each(users: Sequence[str], scheduler: str, work: UserJob) -> Iterator[UserDone]:
    """Do a job for each of some users; yield what was done, as they are done.

    Args:
        users: their names.
        scheduler: the address of a Dask cluster; empty to do it here, one by one.
        work: the job.

    Raises:
        FilememError: no scheduler answers there.
    """
    if not scheduler:
        for user in users:
            yield UserDone(user, work(user))
        return
    try:
        import distributed  # noqa: PLC0415  takes a second to load, and is an extra
    except ImportError:
        raise missing_extra("what --scheduler needs", "dask") from None
    with _cluster(distributed, scheduler) as client:
        futures = client.map(work, list(users), pure=False)
        users_of = dict(zip(futures, users, strict=True))
        for future in distributed.as_completed(futures, loop=client.loop):
            error = future.exception()
            done = _failed(one_line(repr(error), 300)) if error else future.result()
            yield UserDone(users_of[future], done)


def _cluster(distributed: Any, scheduler: str) -> Any:
    """Return a client of the cluster; raise FilememError where it does not answer."""
    try:
        return distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        reason = one_line(repr(error))
    gc.collect()  # the client that came to nothing, or Python's end waits for its end
    raise FilememError(
        f"{scheduler} does not answer ({reason}); see that a scheduler runs there."
    )


def _failed(reason: str) -> list[JobDone]:
    return [JobDone("", [], {"error": reason})]
