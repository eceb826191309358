"""What was said and no model has read yet, turn by turn."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from filemem.errors import FilememError
from filemem.learn.log import LearnLog, ReadFile, digest
from filemem.store.folder import Folder, Stat
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import is_archived, kind_of, live, when_of
from filemem.store.roles import Role
from filemem.text.plain import both_ends

MACHINE_TOKENS = 30  # of each end of what an assistant or a tool said
CONTEXT_TURNS = 4  # before an unread one, to be understood by


@dataclass(frozen=True)
class Session:
    """The file of one conversation.

    Attributes:
        path: the live one, even where it lies in the archive.
        file: as it was when the turns were taken from it.
        began: the clock time of its beginning, if its name has one.
        last: the day and clock time of its last turn, in a form that sorts.
        is_imported: whether it comes from another program's export, or from notes;
            what a program adds itself is the person's talk with it.
        digests: of all its turns.
    """

    path: str
    file: ReadFile
    began: str
    last: str
    is_imported: bool
    digests: frozenset[str]


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
        is_machine: whether an assistant's, a tool's or a document's words are in it.
        is_own: whether it is the turn of the person whose memories these are.
        before: the turns right before it.
    """

    session: Session
    line: int
    speaker: str
    text: str
    day: dt.date
    digest: str
    is_machine: bool
    is_own: bool
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
        """What a model reads of it: a person's words whole, of a machine's both ends.

        On the last ones a short reply leans: "the second one, please".
        """
        return both_ends(self.text, MACHINE_TOKENS) if self.is_machine else self.text


def unread(folder: Folder, log: LearnLog) -> Iterator[SaidTurn]:
    """Yield the turns that were not read, session by session, by date and time.

    Args:
        folder: whose sessions these are, archived ones among them.
        log: knows what was read.
    """
    found = []
    for stat in folder.files():
        path = live(stat.path)
        when = when_of(path)
        if kind_of(path) != "sessions" or when is None:
            continue
        if not _is_read(folder, log, stat):
            found.append((when.date, when.time, path, stat))
    for *_, stat in sorted(found):
        memory = folder.find(stat.path)
        if memory and not memory.binary:
            yield from _unread_of(folder, memory, stat.changed, log)


def speaker(memory: Memory, passage: Passage) -> str:
    """Name who speaks, as a sentence has it: a person by name, else the role."""
    role = memory.role(passage.speaker)
    return display(passage.speaker) if role is Role.PERSON else role.value


def display(name: str) -> str:
    """Write a user's name as a sentence has it: mara is Mara."""
    return name[:1].upper() + name[1:] if name.isalpha() and name.islower() else name


def _is_read(folder: Folder, log: LearnLog, stat: Stat) -> bool:
    """Tell whether a session was read whole, and has not been edited since.

    Its bytes are compared where its time alone has changed, as by a checkout of git; a
    log of before knows no digest. A move to the archive changes nothing but the time.
    """
    before = log.files.get(live(stat.path))
    if before is None or before.size != stat.size:
        return False
    is_as_before = stat.changed == before.changed or is_archived(stat.path)
    if is_as_before or not before.digest:
        return True
    with suppress(FilememError, OSError):
        return digest(folder.read(stat.path)) == before.digest
    return False


def _unread_of(
    folder: Folder, memory: Memory, changed: int, log: LearnLog
) -> Iterator[SaidTurn]:
    """Yield the unread turns of a session, each with those before it.

    Args:
        folder: whose session it is.
        memory: the session.
        changed: when its file changed last, as the folder listed it before.
        log: knows what was read.
    """
    passages = [one for one in memory.passages if one.speaker]
    if not passages:
        return
    digests = _digests(memory, passages)
    last_day = passages[-1].day or memory.date
    own_names = set(map(display, folder.own_names()))
    clock = passages[-1].time or f"{dt.datetime.fromtimestamp(changed / 1e9):%H:%M}"
    session = Session(
        path=live(memory.path),
        file=ReadFile(len(memory.data), digest(memory.data), changed),
        began=memory.when.time if memory.when else "",
        last=f"{last_day} {clock:0>5}",
        is_imported=not str(memory.front.get("origin", "added:")).startswith("added:"),
        digests=frozenset(digests),
    )
    turns: list[SaidTurn] = []
    for passage, said in zip(passages, digests, strict=True):
        name = speaker(memory, passage)
        is_machine = memory.role(passage.speaker) is not Role.PERSON
        turn = SaidTurn(
            session=session,
            line=passage.line,
            speaker=name,
            text=passage.text,
            day=passage.day or memory.date or dt.date.min,
            digest=said,
            is_machine=is_machine,
            is_own=not is_machine and name in own_names,
            before=tuple(turns[-CONTEXT_TURNS:]),
        )
        turns.append(turn)
        if said not in log.read:
            yield turn


def _digests(memory: Memory, passages: Iterable[Passage]) -> list[str]:
    """Return what each turn is known by: its words, and how often they came before."""
    when = memory.when
    begun = f"{when.date} {when.time}\0" if when else ""
    times = Counter[str]()
    found: list[str] = []
    for passage in passages:
        said = f"{begun}{passage.speaker}\0{passage.text}"
        if times[said]:
            found.append(digest(f"{said}\0{times[said]}"))
        else:
            found.append(digest(said))
        times[said] += 1
    return found
