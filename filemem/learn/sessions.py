"""What was said and no model has read yet, turn by turn."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from filemem.errors import FilememError
from filemem.index.ingest import PAUSE_MINUTES
from filemem.llm.reading import leaned_on, read_of
from filemem.store.folder import Folder, Stat
from filemem.store.learned import NOT_READ, LearnLog, ReadFile, digest
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import Kind, is_archived, live, when_of
from filemem.store.roles import Role

PAUSE = dt.timedelta(minutes=PAUSE_MINUTES)  # after which a conversation is over
CONTEXT_TURNS = 4  # before an unread one, to be understood by


@dataclass(frozen=True)
class Session:
    """The file of one conversation, or a fact that is read as one.

    Attributes:
        path: the live one, even where it lies in the archive.
        digests: of all its turns.
        file: as it was when the turns were taken from it.
        last: the day and clock time of its last turn, in a form that sorts.
        is_imported: whether it comes from another program's export, or from notes;
            what a program adds itself is the person's talk with it.
    """

    path: str
    digests: frozenset[str]
    file: ReadFile = NOT_READ
    last: str = ""
    is_imported: bool = False


@dataclass(frozen=True)
class SaidTurn:
    """One turn.

    Attributes:
        session: the conversation that it is of.
        line: of the file, where it begins.
        speaker: who speaks, as a sentence has it.
        text: what is said; of a turn that is to be forgotten nothing.
        day: on which it was said.
        digest: of its words; the log knows it by this.
        role: whose words are in it.
        is_own: whether it is the turn of the person whose memories these are.
        is_leaned_on: whether a short reply follows, which may lean on it.
        before: the turns right before it.
    """

    session: Session
    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str
    role: Role = Role.PERSON
    is_own: bool = True
    is_leaned_on: bool = False
    before: tuple["SaidTurn", ...] = field(default=(), repr=False, compare=False)

    @property
    def place(self) -> str:
        """Where it stands: `path:line`."""
        return f"{self.session.path}:{self.line}"

    @property
    def has_words(self) -> bool:
        """Whether there is anything in it to be read."""
        return re.search(r"\w", self.text) is not None

    @property
    def shown(self) -> str:
        """What a model reads of it."""
        return read_of(self.text, self.role, is_leaned_on=self.is_leaned_on)


@dataclass(frozen=True)
class Ended:
    """Which conversations are over.

    Attributes:
        now: the moment; one of which the last turn is a PAUSE older is over.
        named: the paths of others.
    """

    now: dt.datetime
    named: Collection[str] = ()

    def holds(self, session: Session) -> bool:
        """Tell whether a conversation is over."""
        latest = f"{self.now - PAUSE:%Y-%m-%d %H:%M}"
        return session.path in self.named or session.last <= latest


def unread(
    folder: Folder, log: LearnLog, ended: Ended | None = None
) -> Iterator[SaidTurn]:
    """Yield the turns that were not read, session by session, by date and time.

    Args:
        folder: whose sessions these are, archived ones among them.
        log: knows what was read.
        ended: leave out the conversations that are not over.
    """
    found = []
    for stat in folder.files(Kind.SESSIONS):
        when = None if _is_read(folder, log, stat) else when_of(live(stat.path))
        if when:
            found.append((when.date, when.time, live(stat.path), stat))
    for *_, stat in sorted(found):
        memory = folder.find(stat.path)
        if memory and not memory.binary:
            for turn in _turns(folder, memory, stat.changed):
                is_over = ended is None or ended.holds(turn.session)
                if is_over and turn.digest not in log.read:
                    yield turn


def speaker(memory: Memory, passage: Passage) -> str:
    """Name who speaks, as a sentence has it: a person by name, else the role.

    Args:
        memory: the session.
        passage: the turn.
    """
    role = memory.role(passage.speaker)
    return display(passage.speaker) if role is Role.PERSON else role


def display(name: str) -> str:
    """Write a user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


def _is_read(folder: Folder, log: LearnLog, stat: Stat) -> bool:
    """Tell whether a session was read whole, and has not been edited since.

    Its bytes are compared where its time alone has changed, as by a checkout of git. A
    move to the archive changes nothing but the time.
    """
    before = log.files.get(live(stat.path))
    if before is None or before.size != stat.size:
        return False
    if before.changed == stat.changed or is_archived(stat.path):
        return True
    with suppress(FilememError, OSError):
        return digest(folder.read(stat.path)) == before.digest
    return False


def _turns(folder: Folder, memory: Memory, changed: int) -> Iterator[SaidTurn]:
    """Yield the turns of a session, each with those right before it.

    Args:
        folder: whose session it is.
        memory: the session.
        changed: when its file changed last, as the folder listed it before.
    """
    passages = [one for one in memory.passages if one.speaker]
    digests = _digests(memory, passages)
    session = _session(memory, passages, frozenset(digests), changed)
    own_names = set(map(display, folder.own_names()))
    owner = display(folder.person)
    leaned = leaned_on(memory, passages)
    before: list[SaidTurn] = []
    for passage, said in zip(passages, digests, strict=True):
        name = speaker(memory, passage)
        role = memory.role(passage.speaker)
        is_own = role is Role.PERSON and name in own_names
        if is_own:
            name = owner  # whatever they were called then
        turn = SaidTurn(
            session=session,
            line=passage.line,
            speaker=name,
            text=passage.text,
            day=passage.day or memory.date or dt.date.min,
            digest=said,
            role=role,
            is_own=is_own,
            is_leaned_on=passage.line in leaned,
            before=tuple(before[-CONTEXT_TURNS:]),
        )
        before.append(turn)
        yield turn


def _session(
    memory: Memory, passages: list[Passage], digests: frozenset[str], changed: int
) -> Session:
    """Return what is known of the conversation in a file.

    Args:
        memory: the file.
        passages: its turns.
        digests: what these are known by.
        changed: when the file changed last, in nanoseconds.
    """
    last_day = memory.date
    clock = f"{dt.datetime.fromtimestamp(changed / 1e9):%H:%M}"
    if passages:
        last_day = passages[-1].day or last_day
        clock = passages[-1].time or clock
    origin = str(memory.front.get("origin", "added:"))
    return Session(
        path=live(memory.path),
        digests=digests,
        file=ReadFile(len(memory.data), digest(memory.data), changed),
        last=f"{last_day} {clock:0>5}",
        is_imported=not origin.startswith("added:"),
    )


def _digests(memory: Memory, passages: Iterable[Passage]) -> list[str]:
    """Return what each turn is known by: its words, and how often they came before."""
    when = memory.when
    begun = f"{when.date} {when.time}\0" if when else ""
    times = Counter[str]()
    found: list[str] = []
    for passage in passages:
        said = f"{begun}{passage.speaker}\0{passage.text}"
        again = f"\0{times[said]}" if times[said] else ""
        found.append(digest(said + again))
        times[said] += 1
    return found
