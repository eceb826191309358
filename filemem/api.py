"""filemem for a program; `Store("memory_store").user("alice")` is one person.

Everything here may be called from several threads: readers take no lock, writers of one
user wait for each other. A disk that refuses is a DiskError with the cause.
"""

import asyncio
import contextlib
import datetime as dt
import functools
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Self

from filemem import importers, index, jobs, overview, renaming
from filemem.chat import conversation as chats
from filemem.chat.listener import Event, Listener, Text
from filemem.chat.recall import prompt_context
from filemem.errors import (
    DiskError,
    FilememError,
    NotFound,
    Problem,
    Refused,
    Stopped,
    in_words,
)
from filemem.forget.delete import plan_whole_user
from filemem.forget.plan import plan_deletion
from filemem.forget.purge import remembers
from filemem.git.history import History
from filemem.git.past import Past, as_of
from filemem.importers import ImportReport, messages, portable
from filemem.jobs import JobRun
from filemem.learn import consolidate, proposals
from filemem.learn.remember import Asked, reject
from filemem.llm.choice import OfflineModel, chosen_model
from filemem.llm.model import Model
from filemem.overview import Counts
from filemem.overview.briefing import briefing
from filemem.reports import (
    MeteredModel,
    Report,
    Waits,
    check_stop,
    report_of,
)
from filemem.search.results import Hit
from filemem.search.searching import search_files
from filemem.store import config, facts, usage
from filemem.store.folder import JOB_WAIT_SECONDS, PERSON_KEY, WAIT_SECONDS, Folder
from filemem.store.gate import Gate
from filemem.store.heard import OnEvent, ignore
from filemem.store.memory import Memory
from filemem.store.paths import PROFILE, Kind, kind_of
from filemem.store.transcript import Transcript
from filemem.store.users import StoreFolder
from filemem.store.zones import ZONE_KEY, find_zone, in_person_zone, person_zone
from filemem.text.plain import one_line
from filemem.tools.grep import Match, grep
from filemem.tools.toolbox import Toolbox
from filemem.work import JobDone

Clock = Callable[[], dt.datetime]
StrPath = str | os.PathLike[str]
AnyModel = Model | str | None
"""A model, its name, or None for that of the settings."""


class Forgotten(list[str]):
    """The files that a forget deleted, and those that lost lines as path:line.

    Attributes:
        left: what still says it, or could not be searched or deleted: a line each,
            with the reason.
    """

    def __init__(self, deleted: Iterable[str], left: Iterable[str]) -> None:
        super().__init__(deleted)
        self.left = list(left)


@dataclass(frozen=True)
class Info:
    """How a person is called, and which days are theirs.

    Attributes:
        name: as prompts, transcripts and facts have it.
        zone: such as `Asia/Tokyo`; '' for the machine's.
    """

    name: str
    zone: str


@dataclass(frozen=True)
class Proposed:
    """What waits for the person: a fact, a lesson, or a wish to forget.

    Attributes:
        user: whose it is.
        path: of its file, which may be edited meanwhile.
        text: what would be kept, or the wish.
        fault: why its form was refused; '' where it was not.
        supersedes: the memories that hold no more once it is accepted.
        forgets: the memories and turns that are deleted then.
    """

    user: "User"
    path: str
    text: str
    fault: str
    supersedes: tuple[str, ...]
    forgets: tuple[str, ...]

    def accept(self, *, wait: float = JOB_WAIT_SECONDS) -> None:
        """Keep it, or delete what it wants forgotten.

        Args:
            wait: seconds to wait for another job, before anything is forgotten.

        Raises:
            NotFound: it is gone.
            Busy: another job works on these memories; nothing was forgotten.
        """
        with self._review() as run:
            found = proposals.read(run.user, self.path)
            done = jobs.accept(run.user, found, run.started_at, wait=wait)
            run.commit(done.subject, done.paths)

    def reject(self) -> None:
        """Delete it, never to be proposed again; raise NotFound if it is gone."""
        with self._review() as run:
            done = reject(run.user, proposals.read(run.user, self.path))
            run.commit(done.subject, done.paths)

    @contextlib.contextmanager
    def _review(self) -> Iterator[JobRun]:
        """Decide in a job; what the disk refuses is one of filemem's errors."""
        run = JobRun(self.user._folder, "review", self.user.now(), exclusive=False)
        with _disk_told(), run:
            yield run


@contextlib.contextmanager
def _disk_told() -> Iterator[None]:
    """Have an error of the disk be one of filemem's, with the cause."""
    try:
        yield
    except OSError as error:
        raise DiskError(in_words(error)) from error


Piece = str | Exception
"""Of an answer: a text; '' behind the last, or what ended it too soon."""


def _hand_text(hand: Callable[[Piece], None], event: Event) -> None:
    if isinstance(event, Text) and event.text:
        hand(event.text)


def _hand_to_loop(
    loop: asyncio.AbstractEventLoop, heard: asyncio.Queue[Piece], piece: Piece
) -> None:
    """Hand a piece to who waits in a loop; one that has ended hears nothing."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(heard.put_nowait, piece)


def _raised(piece: Piece) -> str:
    """Return a piece of text; raise an error."""
    if isinstance(piece, Exception):
        raise piece
    return piece


class Conversation:
    """A talk with a model, or with quotes; each turn is on disk at once.

    `User.conversation` begins one, or takes one up again.
    """

    def __init__(self, talk: chats.Conversation) -> None:
        self._talk = talk

    @property
    def path(self) -> str:
        """Where the session lies; '' before anything is said."""
        return self._talk.transcript.path

    @_disk_told()
    def say(self, text: str, listen: Listener = ignore) -> str:
        """Keep what the person said, answer it, keep the answer, and return that.

        Args:
            text: the message.
            listen: hears Text, ToolCalled and Notice meanwhile; what it raises ends
                the answer.

        Raises:
            FilememError: the message is empty.
            ModelError, or what `listen` raises: all that was said by then is on disk.
        """
        return self._talk.say(text, listen)

    def stream(self, text: str) -> Iterator[str]:
        """Say something, and yield the answer piece by piece as it comes.

        Whoever stops to listen has the answer kept all the same.

        Args:
            text: the message.

        Raises:
            FilememError, ModelError: as `say`.
        """
        heard = SimpleQueue[Piece]()
        self._begin(text, heard.put)
        while piece := heard.get():
            yield _raised(piece)

    async def astream(self, text: str) -> AsyncIterator[str]:
        """Do what `stream` does of a text, in asyncio, which goes on meanwhile.

        Raises:
            FilememError, ModelError: as `say`.
        """
        heard = asyncio.Queue[Piece]()
        loop = asyncio.get_running_loop()
        self._begin(text, functools.partial(_hand_to_loop, loop, heard))
        while piece := await heard.get():
            yield _raised(piece)

    def _begin(self, text: str, hand: Callable[[Piece], None]) -> None:
        """Say something in a thread, which hands on each piece of the answer."""
        threading.Thread(target=self._say_into, args=(text, hand)).start()

    def _say_into(self, text: str, hand: Callable[[Piece], None]) -> None:
        """Say something; '', or what `say` raised, is handed on at last."""
        try:
            self.say(text, functools.partial(_hand_text, hand))
            hand("")
        except Exception as error:  # noqa: BLE001  raised by who listens
            hand(error)


class User:
    """One person's memories: what keeps, finds, maintains and forgets them.

    A store makes it, with its model and clock.
    """

    def __init__(
        self,
        folder: Folder,
        model: AnyModel = None,
        clock: Clock | None = None,
    ) -> None:
        self._folder = folder
        self._given = model
        self._clock = clock

    def __repr__(self) -> str:
        return f"<User {self._folder.name} in {self._folder.store}>"

    @property
    def name(self) -> str:
        """The user's name, from which that of the folder is made."""
        return self._folder.name

    @property
    @_disk_told()
    def profile(self) -> str:
        """The text of profile.md, who this is and how to talk to them; '' for none."""
        try:
            return self._folder.memory(PROFILE).text
        except NotFound:
            return ""

    @_disk_told()
    def info(self, *, name: str = "", zone: str = "") -> Info:
        """Say how the person is called and which days are theirs, or only ask.

        Both are kept in the front matter of profile.md, so they go where the folder
        goes. A name of before still is the person's in what was said.

        Args:
            name: as prompts, transcripts and facts have it.
            zone: such as `Asia/Tokyo`.

        Raises:
            FilememError: there is no such zone, or profile.md cannot be edited.
        """
        if zone and not find_zone(zone):
            what = f"there is no time zone {one_line(zone, 40)}"
            raise FilememError(f"{what}; name one such as Europe/Lisbon.")
        called = one_line(name).strip()
        wanted = {PERSON_KEY: called, ZONE_KEY: zone}
        if any(wanted.values()):
            former = sorted(self._folder.own_names() - {called})
            with JobRun(self._folder, "info", self.now(), exclusive=False) as run:
                jobs.set_profile(self._folder, **wanted, aliases=former)
                run.commit(f"Update {PROFILE}", [PROFILE])
        own = person_zone(self._folder)
        return Info(self._folder.person, str(own or ""))

    # -- remembering -------------------------------------------------------------------

    @_disk_told()
    def add_conversation(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        at: dt.date | None = None,
        id: str = "",
        title: str = "",
    ) -> str:
        """Keep a conversation as a session; return its path, '' if nothing was said.

        Secrets are taken out. Of a conversation that was kept before only the new is
        added.

        Args:
            messages: OpenAI-style messages.
            at: when it began, if its messages have no times.
            id: by which it is recognised; without one, by its first words.
            title: of the session.

        Raises:
            Refused: the session was kept before and a person has deleted it.
            FilememError: something is no message.
        """
        began = self._at(at)
        with JobRun(self._folder, "chat", self.now(), exclusive=False) as run:
            path = importers.add_conversation(
                self._folder, messages, began, str(id or ""), title or ""
            )
            paths = [path] if path else []
            usage.note_turns(self._folder, paths, run.started_at.date())
            talk = f"Talk with {self._folder.person}"
            run.commit(talk, paths, Session=path)
        return path

    @_disk_told()
    def remember(
        self,
        text: str,
        *,
        importance: int | None = None,
        pinned: bool = False,
        tags: Iterable[str] = (),
        on: dt.date | str = "",
        today: dt.date | None = None,
        with_secrets: bool = False,
    ) -> Memory:
        """Keep one fact, dated `today`, and return the memory that holds it.

        That is a new one, or one that says so already. What it contradicts stays.

        Args:
            text: the fact; secrets in it become `[redacted: kind]`.
            importance: from 1 to 10.
            pinned: it never fades.
            tags: of yours.
            on: the day of the event or plan that it tells of; text may be a month.
            today: the fact's day, or moment.
            with_secrets: keep them.

        Raises:
            FilememError: the text is empty, the importance not from 1 to 10, or `on`
                no day.
        """
        asked = Asked(
            text,
            importance=importance,
            pinned=pinned,
            tags=tags,
            on=str(on),
        )
        [path] = self._remembered([asked], today, with_secrets=with_secrets)
        return self.open_file(path)

    @_disk_told()
    def remember_all(
        self, facts: Iterable[str | Mapping[str, Any]], *, today: dt.date | None = None
    ) -> list[str]:
        """Keep many facts in one pass, and return the path of each, '' if it is gone.

        Args:
            facts: each a text, or a mapping with `text` and what else `remember` takes,
                `day` (of the fact), `id` (of another program's: the same text is not
                kept again, though it may be edited or forgotten since; another one
                supersedes that fact, unless it was pinned or forgotten or another id
                tells it; the last of one id counts) and `metadata` (further keys of the
                front matter).
            today: the day of facts that have none.

        Raises:
            FilememError: as `remember`; those before it are kept.
        """
        asked = []
        for fact in facts:
            known = {"text": fact} if isinstance(fact, str) else dict(fact)
            try:
                asked.append(Asked(**known))
            except TypeError as error:
                shown = one_line(repr(fact), 80)
                raise FilememError(f"{shown} is no fact: {error}.") from None
        return self._remembered(asked, today)

    def _remembered(
        self, asked: list[Asked], day: dt.date | None, *, with_secrets: bool = False
    ) -> list[str]:
        at = self._at(day)
        done = jobs.remembered(self._folder, asked, at, with_secrets=with_secrets)
        return [one.path for one in done.decisions]

    @_disk_told()
    def consolidate(
        self,
        model: AnyModel = None,
        *,
        at: dt.date | None = None,
        stop: threading.Event | None = None,
        wait: float = JOB_WAIT_SECONDS,
    ) -> Report:
        """Have a model make facts, lessons and the profile of what was said since.

        Without a model conversations wait, as the report says.

        Args:
            model: one, or its name; else the store's, or that of the settings.
            at: the moment that counts as now.
            stop: once it is set, nothing more is read; what was read by then counts.
            wait: seconds to wait for another job on these memories.

        Raises:
            Refused: you have yet to say where this store's words go.
            Busy: another job works on them still.
            ModelError: the model failed before anything was read. Where it fails later
                the report's notes say so, and the rest waits.
        """
        reader = self._model(model)
        return self._reported(jobs.consolidate, reader, self._at(at), stop, wait)

    # -- looking at it all -------------------------------------------------------------

    def memories(
        self, kind: str = "", after: dt.date | None = None
    ) -> Iterator[Memory]:
        """Yield every memory, archived ones too, in the order of their paths.

        Args:
            kind: a `Kind`, or the name of any folder, such as `facts`.
            after: only those of this day or later.
        """
        since = after or dt.date.min
        for path in self._folder.paths(*filter(None, [kind])):
            memory = self._folder.find(path)
            if memory and (memory.date or dt.date.min) >= since:
                yield memory

    @_disk_told()
    def update(
        self, path: StrPath, text: str, *, today: dt.date | None = None
    ) -> Memory:
        """Have a memory say something else, and return the one that says it.

        A fact is superseded by a new one; what it said and when that held stays in the
        archive. Any other memory keeps its front matter, and its text is replaced.

        Args:
            path: of the memory.
            text: what it says from now on; secrets in it are taken out.
            today: the day of a fact, or moment, since which that holds.

        Raises:
            NotFound: it is no memory, or a fact that something has superseded.
            Refused: it is a conversation, or cannot be edited.
        """
        where = self._folder.locate(os.fspath(path))
        if kind_of(where) == Kind.FACTS:
            [path] = self._remembered([Asked(text, replaces=where)], today)
            return self.open_file(path)
        if kind_of(where) == Kind.SESSIONS:
            what = f"{where} is what was said, which is never rewritten"
            raise Refused(f"{what}; remember what holds instead, or forget a turn.")
        clean = Gate(self._folder).clean(text).text
        change = functools.partial(facts.with_body, where, text=clean)
        with JobRun(self._folder, "update", self.now(), exclusive=False) as run:
            jobs.edit(self._folder, where, change)
            run.commit(f"Update {where}", [where])
        return self.open_file(where)

    @_disk_told()
    def restore(self, path: StrPath, *, wait: float = JOB_WAIT_SECONDS) -> Memory:
        """Bring a memory back from the archive, byte for byte, and return it.

        Args:
            path: of the memory.
            wait: seconds to wait for another job on these memories.

        Raises:
            Busy: another job works on them still.
            Refused: it is not in the archive, or another text is where it would go.
        """
        where = os.fspath(path)
        with self._folder.job_lock(wait):
            done = jobs.restore(self._folder, self.now(), [where])
        if done.facts["failed"]:
            raise Refused(" ".join(done.said))
        return self.open_file(where)

    @_disk_told()
    def review(self) -> list[Proposed]:
        """Return what waits for the person, in the order of the paths."""
        return [
            Proposed(self, one.path, one.text, one.fault, one.supersedes, one.forgets)
            for one in proposals.waiting(self._folder)
        ]

    @_disk_told()
    def status(self, today: dt.date | None = None) -> Counts:
        """Return how many memories there are on a day, what fades, and what waits.

        Args:
            today: the day, or moment, that counts as now.
        """
        return overview.count(self._folder, self._at(today))

    @_disk_told()
    def check(self) -> list[Problem]:
        """Return every problem in the files, each with its remedy."""
        in_git = History(self._folder).problems()
        today = self.now().date()
        return sorted(in_git + overview.problems(self._folder, today))

    # -- recall ------------------------------------------------------------------------

    @_disk_told()
    def search_files(
        self,
        query: str,
        *,
        limit: int | None = None,
        path: str | None = None,
        speaker: str | None = None,
        after: str | dt.date | None = None,
        before: str | dt.date | None = None,
        today: dt.date | None = None,
    ) -> list[Hit]:
        """Return the best passages for a question, best first.

        Args:
            query: words or a question.
            limit: how many, at most; None for those that an agent's answer shows.
            path: a glob of the files to search.
            speaker: only what they said.
            after, before: dates, or days such as `2026-05`, `2026-05-08`, `last week`.
            today: the day, or moment, from which such days count.

        Raises:
            FilememError: a filter means nothing, or `path` names no file.
        """
        if limit is not None and (type(limit) is not int or limit < 1):
            raise FilememError(f"limit is a whole number from 1, not {limit!r}.")
        found = search_files(
            index.of(self._folder),
            query,
            limit=limit,
            path=path,
            speaker=speaker,
            after=f"{after:%Y-%m-%d}" if isinstance(after, dt.date) else after,
            before=f"{before:%Y-%m-%d}" if isinstance(before, dt.date) else before,
            today=self._at(today).date(),
        )
        self._folder.tell("recalled", len(found.hits))
        return sorted(found.hits, key=lambda hit: -hit.score)

    @_disk_told()
    def grep(self, pattern: str, path: str | None = None) -> list[Match]:
        """Return every line that matches a regular expression, newest file first.

        Archived files come after live ones; 20 million characters at most are returned.

        Args:
            pattern: as Python's; without a capital in it, case is ignored.
            path: a glob of the files to search; None for all.

        Raises:
            FilememError: it is no pattern, or `path` names no file.
        """
        return grep(self._folder, pattern, path=path, page=10**9).lines

    @_disk_told()
    def open_file(self, path: StrPath) -> Memory:
        """Return the memory at a path, wherever it lies now.

        Raises:
            NotFound: there is none; the sentence has the nearest paths.
            Refused: the path leads elsewhere.
        """
        return self._folder.memory(self._folder.locate(os.fspath(path)))

    @_disk_told()
    def prompt_context(
        self, message: str = "", *, chat: str = "", tokens: int = 2400
    ) -> str:
        """Return what belongs in the prompt of a chat of your own; '' for nothing.

        That is how the person wants to be addressed, the profile, and what a search for
        `message` finds outside the chat.

        Args:
            message: what the person said last.
            chat: the id under which `add_conversation` keeps the chat going on.
            tokens: how long all of it may be.
        """
        current = messages.going_on(self._folder, chat)
        today = self.now().date()
        return prompt_context(self._folder, message, today, current, tokens)

    @_disk_told()
    def tools(self, *, chat: str = "") -> Toolbox:
        """Return the four tools for an agent.

        Args:
            chat: the id under which `add_conversation` keeps the chat going on, which
                no search and no grep finds from then on; `open` shows all.
        """
        toolbox = Toolbox(self._folder, self.now, briefing)
        if chat:
            going_on = functools.partial(messages.going_on, self._folder, chat)
            toolbox.find_current = going_on
        return toolbox

    @_disk_told()
    def conversation(self, model: AnyModel = None, *, id: str = "") -> Conversation:
        """Return a conversation; each of its turns is on disk at once.

        Args:
            model: one, or its name; else the store's or your configuration's answers,
                or quotes do.
            id: by which it is taken up again, in another process too.

        Raises:
            Refused: you have yet to say where this store's words go.
        """
        origin = messages.origin_of(self._folder, id) if id else ""
        talk = Transcript(self._folder, origin=origin)
        answering = self._model(model) or OfflineModel()
        return Conversation(chats.Conversation(self._folder, answering, self.now, talk))

    @_disk_told()
    def as_of(self, moment: dt.date | dt.datetime) -> "User":
        """Return what was believed at a moment, or at a date's end in local time.

        It is the last commit by then, to read only.

        Args:
            moment: with its zone, or a date.

        Raises:
            NotFound: nothing had been committed by then.
            FilememError: there is no repository.
        """
        past = as_of(self._folder, moment)
        return User(past, self._given, self._clock)

    # -- forgetting --------------------------------------------------------------------

    @_disk_told()
    def maintain(
        self,
        today: dt.date | None = None,
        *,
        model: AnyModel = None,
        stop: threading.Event | None = None,
        wait: float = JOB_WAIT_SECONDS,
    ) -> Report:
        """Consolidate, summarise what is old, archive what has faded.

        Args:
            today: the day, or moment, that counts as now.
            model: one, or its name; else the store's, or that of the settings.
            stop: once it is set the job ends; what it had done by then stays.
            wait: seconds to wait for another job on these memories.

        Raises:
            Busy: another job works on them still.
        """
        reader = None
        with contextlib.suppress(Refused):  # as the report says
            reader = self._model(model)
        report = self._reported(jobs.maintain, reader, self._at(today), stop, wait)
        self._folder.tell("archived", len(report.archived))
        return report

    def _reported(
        self,
        job: jobs.Job,
        model: Model | None,
        at: dt.datetime,
        stop: threading.Event | None,
        wait: float,
    ) -> Report:
        """Do a job, once no other is at work, and report what it did until it stopped.

        Args:
            job: which is done.
            model: that it asks.
            at: the moment that counts as now.
            stop: ends it once it is set.
            wait: seconds to wait for another job.
        """
        if not self._folder.exists():  # and no job begins it, such as after a deletion
            return Report()
        asked = MeteredModel(model, self._folder.tell, stop) if model else None
        progress = functools.partial(check_stop, stop)
        why = Waits.NOTHING if model else self._unread_without_model()
        try:
            with self._folder.job_lock(wait):
                done = jobs.do(job, self._folder, at, asked, progress)
            if any(one.facts.get("waits") for one in done):
                why = Waits.FAILED
        except Stopped as error:
            done = [*error.done, JobDone("", [], {"notes": [str(error)]})]
            why = Waits.STOPPED
        report = report_of(done, asked)
        waiting = consolidate.waiting(self._folder) if why else 0
        return replace(report, waiting=waiting, why=why) if waiting else report

    def _unread_without_model(self) -> Waits:
        """Say why conversations wait where no model was given to the job."""
        if config.unanswered(self._folder.store):
            return Waits.NOT_CONFIRMED
        return Waits.NO_MODEL

    @_disk_told()
    def forget(
        self,
        path: StrPath = "",
        *,
        about: str = "",
        wait: float = JOB_WAIT_SECONDS,
    ) -> Forgotten:
        """Delete memories for good, with what they came from and what cites them.

        git's history keeps what it has: `filemem forget --purge-history` rewrites that.

        Args:
            path: a memory, or `path:line` of one.
            about: instead of a path: words, all of which stand together, also in
                another form, such as other case, accents, separators.
            wait: seconds to wait for another job on these memories.

        Returns:
            The files that were deleted or lost lines; its `left` has what stays.

        Raises:
            Busy: another job works on them still; nothing was changed.
            NotFound: there is nothing to delete.
        """
        if bool(path) == bool(about):
            raise FilememError(
                "name either a memory's path or what to forget is about."
            )
        with self._folder.job_lock(wait):
            named = os.fspath(path)
            plan = plan_deletion(self._folder, named, about=about)
            if not plan:
                raise NotFound(
                    f"nothing contains all the words of {path or about!r};"
                    " name other words, or a path."
                )
            found = jobs.forget(self._folder, plan, self.now()).facts
        return Forgotten(found["deleted"], [*found["stayed"], *found["left"]])

    # -- the rest ----------------------------------------------------------------------

    def now(self) -> dt.datetime:
        """Return the person's time now; of the past, the moment that was asked for."""
        if isinstance(self._folder, Past):
            return self._folder.moment
        now = self._clock() if self._clock else dt.datetime.now(dt.UTC)
        return now.astimezone(person_zone(self._folder))

    def _at(self, day: dt.date | None) -> dt.datetime:
        """Return a moment, or the beginning of a day, in its zone, else the person's.

        Without one it is now.

        Raises:
            FilememError: it is a text, or no date of any kind.
        """
        if day is None:
            return self.now()
        if isinstance(day, dt.date):
            return in_person_zone(self._folder, day)
        what = f"{one_line(repr(day), 80)} is no date"
        raise FilememError(f"{what}; give a datetime.date or a datetime.datetime.")

    def _model(self, model: AnyModel) -> Model | None:
        """Return a model by its name, or the settings'; None where there is none.

        Raises:
            Refused: the person has yet to say where this store's words go.
        """
        if model is None:
            model = self._given
        if model is not None and not isinstance(model, str):
            return model
        question = config.unanswered(self._folder.store, model or "")
        if question:
            raise Refused(question)
        return chosen_model(self._folder, model)


class Store:
    """A folder with one folder per user; `with` is a matter of taste.

    Args:
        root: where it lies; it may not exist yet.
        model: for all that asks one: a model, or its name; None for the settings'.
        clock: returns the moment that counts as now, with its zone; None for the
            machine's clock.
        on_event: hears what happens to any user's memories, without their words.
        wait: seconds that a call that writes waits for others, before it is Busy.
    """

    def __init__(
        self,
        root: StrPath,
        *,
        model: AnyModel = None,
        clock: Clock | None = None,
        on_event: OnEvent = ignore,
        wait: float = WAIT_SECONDS,
    ) -> None:
        self._files = StoreFolder(root, on_event=on_event, wait=wait)
        self.root = self._files.root
        self._model = model
        self._clock = clock
        self._users: dict[str, User] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def users(self) -> list[str]:
        """Return the names, in normal form NFC, of everyone who has a folder here."""
        return self._files.users()

    def user(self, name: str) -> User:
        """Return one user, the same object each time; nothing is created.

        Args:
            name: any that products have, such as an address, a UUID, 外婆.

        Raises:
            Refused: nobody can have it, such as an empty one.
        """
        folder = self._files.folder(name)
        user = User(folder, self._model, self._clock)
        return self._users.setdefault(folder.name, user)

    def _existing(self, name: str) -> User:
        user = self.user(name)
        if not user._folder.exists():
            raise NotFound(f"there is no user {one_line(name)} in {self.root}.")
        return user

    @_disk_told()
    def delete(self, name: str, *, wait: float = JOB_WAIT_SECONDS) -> Forgotten:
        """Delete a user: memories, archive, logs, index, keys, and a repository of
        their own.

        Args:
            name: of the user.
            wait: seconds to wait for a job on these memories.

        Returns:
            What went; `left` has what stays, such as what git keeps of a store, and is
            empty where nothing of this user is left in the store.

        Raises:
            NotFound: there is no such user.
            Busy: a job works on them still; nothing was changed.
        """
        user = self._existing(name)
        folder = user._folder
        plan = plan_whole_user(folder)
        has_git = os.path.lexists(os.path.join(folder.root, ".git"))
        now = user.now()
        history = History(folder, tuple(folder.names()), whole=True)
        with folder.job_lock(wait):
            done = jobs.forget(folder, plan, now, purges=has_git).facts
        self._users.pop(user.name, None)
        left = [*done["stayed"], *remembers(history, plan)]
        left += [f"{folder.root} is there still"] if folder.exists() else []
        return Forgotten(done["deleted"], left)

    @_disk_told()
    def rename(self, old: str, new: str, *, wait: float = JOB_WAIT_SECONDS) -> User:
        """Give a user another name, and return the user.

        Folder and keys go along, and what was said under the old name stays the
        person's. In git that is one commit. What was cut off the same call finishes.

        Args:
            old: the name.
            new: the name from now on.
            wait: seconds to wait for a job on these memories.

        Raises:
            NotFound: there is no such user.
            Refused: somebody has the new name, or profile.md cannot be edited.
            Busy: a job works on them still.
        """
        user = self.user(old)
        former = user.name
        target = self._files.folder(new)
        if target.renamed_from() == former:
            with target.job_lock(wait):
                renaming.finish_rename(target, user.now())
            return self.user(new)
        user = self._existing(old)
        with user._folder.job_lock(wait):
            renaming.rename(user._folder, target, user.now())
        self._users.pop(former, None)
        return self._users.setdefault(user.name, user)

    @_disk_told()
    def export(self, name: str, file: StrPath) -> list[str]:
        """Write all that lies in a user's folder to a file, and return the paths.

        Args:
            name: of the user.
            file: where to. One that ends in `.json` gets JSON, with the text of each
                memory by its path and the logs, any other a zip of the folder as it
                lies, but for hidden files and links.

        Raises:
            NotFound: there is no such user.
        """
        return portable.pack(self._existing(name)._folder, os.fspath(file))

    @_disk_told()
    def import_(
        self, file: StrPath, *, format: str = "filemem", user: str
    ) -> ImportReport:
        """Take in what a user has elsewhere; a second run adds only what is new.

        Args:
            file: what `export` wrote, or another program's export.
            format: `filemem`, or one that `filemem import` knows.
            user: whose memories these become; they may be new.

        Raises:
            FilememError: it is no such file.
        """
        folder = self._files.folder(user)
        at = self.user(user).now()
        return jobs.imported(folder, format, os.fspath(file), at)

    def maintain(
        self,
        *,
        on_error: Callable[[str, FilememError], None] | None = None,
        stop: threading.Event | None = None,
        wait: float = JOB_WAIT_SECONDS,
    ) -> dict[str, Report]:
        """Maintain every user's memories; return a report for each.

        Args:
            on_error: is told who it failed for, and why; their report says so, too.
            stop: once it is set, nobody else's are begun.
            wait: seconds to wait for another job on a user's memories.
        """
        reports = {}
        for name in self.users():
            if stop and stop.is_set():
                break
            try:
                reports[name] = self.user(name).maintain(stop=stop, wait=wait)
            except FilememError as error:
                reports[name] = Report(error=str(error))
                if on_error:
                    on_error(name, error)
        return reports
