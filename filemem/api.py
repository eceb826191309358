"""filemem for a program; `Store("memory_store").user("alice")` is one person.

Everything here may be called from several threads: readers take no lock, writers of one
user wait for each other.
"""

import datetime as dt
import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

from filemem import importers, index, jobs
from filemem.chat.conversation import Conversation
from filemem.chat.recall import prompt_context
from filemem.errors import FilememError, NotFound, Refused
from filemem.forget.plan import plan_for
from filemem.git.past import Past, as_of
from filemem.jobs import JobRun, forget, read_conversations, remembered
from filemem.learn.records import Decision
from filemem.llm.choice import OfflineModel, chosen_model
from filemem.llm.model import Model, ModelError
from filemem.search.results import Hit
from filemem.search.searching import search_files
from filemem.store import config
from filemem.store.folder import JOB_WAIT_SECONDS, CurrentConversation, Folder, JobDone
from filemem.store.memory import Memory
from filemem.store.paths import PROFILE
from filemem.store.users import StoreFolder
from filemem.store.zones import in_person_zone, local_now
from filemem.text.plain import one_line
from filemem.tools.grep import Match, grep
from filemem.tools.toolbox import Toolbox


class Forgotten(list[str]):
    """The files that a forget deleted, and those that lost lines as path:line.

    Attributes:
        left: what still says it, in these words or in another form, or could not be
            searched or deleted: a line each, with the reason.
    """

    def __init__(self, deleted: Iterable[str], left: Iterable[str]) -> None:
        super().__init__(deleted)
        self.left = list(left)


class User:
    """One person's memories: what keeps, finds, maintains and forgets them.

    `folder` is the folder of files that filemem's own modules take.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"<User {self.folder.name} in {self.folder.store}>"

    @property
    def name(self) -> str:
        """The user's name, which is that of the folder."""
        return self.folder.name

    @property
    def profile(self) -> str:
        """The text of profile.md, who this is and how to talk to them; '' for none."""
        try:
            return self.folder.memory(PROFILE).text
        except NotFound:
            return ""

    # -- remembering -------------------------------------------------------------------

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
        with JobRun(
            self.folder, "chat", _moment(self.folder, None), exclusive=False
        ) as run:
            path = importers.add_conversation(
                self.folder,
                messages,
                _moment(self.folder, at),
                str(id or ""),
                title or "",
            )
            run.commit(f"Talk with {self.name}", [path] if path else [], Session=path)
            return path

    def remember(
        self,
        text: str,
        *,
        importance: int | None = None,
        pinned: bool = False,
        tags: Iterable[str] = (),
        today: dt.date | None = None,
        with_secrets: bool = False,
    ) -> Memory:
        """Keep one fact, dated `today`, and return the memory that holds it.

        That is a new one, or the one that says so already. What it contradicts stays.
        Secrets become `[redacted: kind]` unless `with_secrets`.

        Raises:
            FilememError: the text is empty, or the importance not from 1 to 10.
        """
        done = remembered(
            self.folder,
            text,
            self._at(today),
            importance=importance,
            pinned=pinned,
            tags=tags,
            with_secrets=with_secrets,
        )
        return self.open_file(done.decisions[0].path)

    def consolidate(
        self, model: Model | str | None = None, *, at: dt.date | None = None
    ) -> list[Decision]:
        """Have a model make facts, lessons and the profile of what was said since.

        Returns what was done. Without a model, conversations wait.

        Raises:
            Busy: another job works on these memories.
            ModelError: the model failed; what it had read by then is kept.
        """
        moment = _moment(self.folder, at)
        done = read_conversations(self.folder, moment, self._model(model))
        if done.error:
            raise ModelError(done.error)
        return done.decisions

    # -- recall ------------------------------------------------------------------------

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
            limit: how many, at most; None for those that an agent's answer shows.
            path: a glob of the files to search.
            after, before: dates, or days such as `2026-05`, `2026-05-08`, `last week`.

        Raises:
            FilememError: a filter means nothing.
        """
        if limit is not None and (type(limit) is not int or limit < 1):
            raise FilememError(f"limit is a whole number from 1, not {limit!r}.")
        found = search_files(
            index.of(self.folder),
            query,
            limit=limit,
            path=path,
            speaker=speaker,
            after=f"{after:%Y-%m-%d}" if isinstance(after, dt.date) else after,
            before=f"{before:%Y-%m-%d}" if isinstance(before, dt.date) else before,
            today=self._at(today).date(),
        )
        return sorted(found.hits, key=lambda hit: -hit.score)

    def grep(self, pattern: str, path: str | None = None) -> list[Match]:
        """Return every line that matches a regular expression, newest file first.

        Archived files come after live ones; 20 million characters at most are returned.
        """
        return grep(self.folder, pattern, path=path, page=10**9).lines

    def open_file(self, path: str | os.PathLike[str]) -> Memory:
        """Return the memory at a path, wherever it lies now.

        Raises:
            NotFound: there is none; the sentence has the nearest paths.
            Refused: the path leads elsewhere.
        """
        return self.folder.memory(self.folder.locate(os.fspath(path)))

    def prompt_context(
        self,
        message: str = "",
        *,
        tokens: int = 1200,
        current: CurrentConversation | None = None,
    ) -> str:
        """Return what belongs in the prompt of a chat of your own; '' for nothing.

        That is how the person wants to be addressed, the profile, and what a search for
        `message` finds outside the conversation `current`, within so many `tokens`.
        """
        return prompt_context(
            self.folder, message, self._at(None).date(), current, tokens
        )

    def tools(self) -> Toolbox:
        """The four tools for an agent."""
        return Toolbox(self.folder, lambda: self._at(None))

    def conversation(self, model: Model | str | None = None) -> Conversation:
        """Return a new conversation; each of its turns is on disk at once.

        `model` is one, or its name; else your configuration's answers, or quotes do.
        """
        return Conversation(
            self.folder,
            self._model(model) or OfflineModel(),
            lambda: _moment(self.folder, None),
        )

    def as_of(self, moment: dt.date | dt.datetime) -> "User":
        """Return what was believed at a moment, or at a date's end in local time.

        It is the last commit by then, to read only.

        Raises:
            NotFound: nothing had been committed by then.
            FilememError: there is no repository.
        """
        return User(as_of(self.folder, moment))

    # -- forgetting --------------------------------------------------------------------

    def maintain(
        self, today: dt.date | None = None, *, model: Model | str | None = None
    ) -> list[JobDone]:
        """Consolidate, summarise what is old, archive what has faded.

        Returns what each job did. Raises Busy while another works on these memories.
        """
        if model is None or isinstance(model, str):
            model = chosen_model(self.folder, model)
        return jobs.maintain(self.folder, self._at(today), model)

    def forget(
        self,
        path: str | os.PathLike[str] = "",
        *,
        about: str = "",
        others: bool | None = None,
        wait: float = JOB_WAIT_SECONDS,
    ) -> "Forgotten":
        """Delete memories for good, with what they came from and what cites them.

        git's history keeps what it has: `filemem forget --purge-history` rewrites that.

        Args:
            path: a memory, or `path:line` of one.
            about: instead of a path: words, all of which stand together.
            others: take along what says the same elsewhere or in another form, such as
                other case, accents, separators. None: yes for words, as nobody can be
                asked here; no for a path.
            wait: seconds to wait for another job on these memories.

        Returns:
            The files that were deleted or lost lines; its `left` has what stays.

        Raises:
            Busy: another job is at work; nothing was changed.
            NotFound: there is nothing to delete.
        """
        if bool(path) == bool(about):
            raise FilememError(
                "name either a memory's path or what to forget is about."
            )
        with self.folder.job_lock(wait):
            named = os.fspath(path)
            if others is None:
                others = bool(about)
            plan = plan_for(self.folder, named, about=about, others=others)
            if not plan:
                raise NotFound(
                    f"nothing contains all the words of {path or about!r};"
                    " name other words, or a path."
                )
            facts = forget(self.folder, plan, _moment(self.folder, None)).facts
        left = [*facts["stayed"], *facts["left"]]
        return Forgotten(facts["deleted"], left)

    # -- the rest ----------------------------------------------------------------------

    def _at(self, day: dt.date | None) -> dt.datetime:
        """Return the beginning of a day; without one now, or the moment of the past."""
        if isinstance(self.folder, Past) and not day:
            return self.folder.moment
        return _moment(self.folder, day)

    def _model(self, model: Model | str | None) -> Model | None:
        """Return a model by its name, or the settings'; None where there is none.

        Raises:
            Refused: the person has yet to say where this store's words go.
        """
        if model is not None and not isinstance(model, str):
            return model
        question = config.unanswered(self.folder.store, model or "")
        if question:
            raise Refused(question)
        return chosen_model(self.folder, model)


class Store(StoreFolder):
    """A folder with one folder per user; `with` is a matter of taste."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        super().__init__(root)
        self._users: dict[str, User] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def user(self, name: str) -> User:
        """Return one user, the same object each time; nothing is created.

        Raises Refused for a name that could lead elsewhere.
        """
        folder = self.folder(name)
        return self._users.setdefault(folder.name, User(folder))


def _moment(folder: Folder, at: dt.date | None) -> dt.datetime:
    """Return a moment, or the beginning of a day, as the person has it.

    Its zone is the one that it has, else the person's own; without one it is now.

    Raises:
        FilememError: it is a text, or no date of any kind.
    """
    if at is None:
        return local_now(folder)
    if isinstance(at, dt.date):
        return in_person_zone(folder, at)
    what = f"{one_line(repr(at), 80)} is no date"
    raise FilememError(f"{what}; give a datetime.date or a datetime.datetime.")
