"""What a session was about, what came of it, what is left to do: quoted, or in a model's words that its turns bear out."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, config, episode, pending_deletion
from filemem.files.episode import Episode
from filemem.files.folder import Folder
from filemem.files.memory import Memory, encoding_of, is_archived
from filemem.files.pending_deletion import PendingDeletion
from filemem.files.transcript import ASSISTANT, EVENTS
from filemem.models.offline import program_says
from filemem.remembering import injection
from filemem.remembering.ledger import Ledger, digest, turn_digest
from filemem.remembering.rules import SECRET
from filemem.remembering.sessions import Session, SessionTurn, load, passages, users_turns
from filemem.text import bounded, dates, terms
from filemem.text.bounded import DatedText
from filemem.text.own_patterns import OwnPatterns
from filemem.text.plain import one_line
from filemem.text.redaction import redact
from filemem.text.statements import table, talk
from filemem.text.statements.sentences import TELLING, Sentence, plainly
from filemem.text.statements.words import amount, content

TITLE, SENTENCE = 80, 160  # characters of a title, and of what else is told
BEGINS = 4  # the first turns of people, in which what was wanted is looked for
ENDS = 8  # the last turns, in which what came of it is
MOST = {"findings": 3, "open": 5, "tags": 6}
BORNE = 0.4  # of the words of what a model says, those that the turns must have
SAME = 0.6  # of the words of what was to be done, those that what was done has
FORM = {
    "type": "object",
    "description": "What the whole conversation is about and came to.",
    "properties": {
        "title": {"type": "string", "description": "A few words."},
        "intent": {"type": "string", "description": "What was wanted."},
        "outcome": {"type": "string", "description": "What came of it."},
        "findings": {"type": "array", "items": {"type": "string"}, "description": "Of a task: what was found out."},
        "open": {"type": "array", "items": {"type": "string"}, "description": "What is left to do."},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Names and subjects."},
    },
}
_BARE = re.compile(r"\[[^\[\]]*\]")  # what stands in the place of words: [forgotten], [interrupted]
_ASKS = re.compile("[?？]")
# Words with a capital, one behind the other.
_NAME = re.compile(r"[^\W\d_a-z][\w'’-]*(?: (?:d[aeo]s? )?[^\W\d_a-z][\w'’-]*)*")
_SAYS_NO_MORE = frozenset(terms.stem(word) for word in "need still get just already done finish".split())


# -- by rules ----------------------------------------------------------------------------------------------------------


def quoted(session: Session) -> Episode:
    """What a session says of itself, in the words of those who speak in it; nothing where they say nothing that may be quoted."""
    people = [(one, said) for one in session.turns if not one.is_foreign for said in _sentences(one)]
    first = next((said.text for _, said in people), "")
    begun = {one.line for one in [one for one in session.turns if not one.is_foreign][:BEGINS]}
    wants = (said for one, said in people if one.line in begun and (said.role == "request" or _ASKS.search(said.text)))
    asked = next((said.text for said in wants), "")
    last = [(one, said) for one in session.turns[-ENDS:] for said in _sentences(one)]
    task, titled = "actions" in session.memory.front, bool(session.memory.front.get("title"))
    done = [said.text for _, said in last if said.role == TELLING and _sign("came of it", said)]
    if task and not done:
        done = [said.text for one, said in last if one.speaker == ASSISTANT and said.role == TELLING][-1:]
    worked = (said for one in session.turns if task and one.speaker == ASSISTANT for said in _sentences(one))
    found = [said.text for said in worked if said.role == TELLING and _sign("found out", said)]
    return Episode(
        title=one_line(first, TITLE) if not titled else "",
        intent=one_line(asked, SENTENCE) if titled or asked != first or len(asked) > TITLE else "",
        outcome=one_line(done[-1], SENTENCE) if done else "",
        findings=tuple(one_line(text, SENTENCE) for text in dict.fromkeys(found))[: MOST["findings"]],
        open=tuple(one_line(text, SENTENCE) for text in _left(last, promises=task))[-MOST["open"] :],
        tags=tuple(_names(session)[: MOST["tags"]]) if first else (),
    )


def _talks(said: SessionTurn) -> bool:
    """Is this a person, or an assistant that does more than to quote what is remembered?"""
    return not said.is_foreign or (said.speaker == ASSISTANT and not program_says(said.text))


def _sentences(said: SessionTurn) -> Iterator[Sentence]:
    """The sentences of a turn that may be quoted: no courtesy, no secret, nothing that gives orders to its reader."""
    if not _talks(said) or injection.suspicious(said.text, own=not said.is_foreign):
        return
    for part in talk(said.text):
        quotable = part.role not in ("forget", "private", "taken back") and SECRET not in part.text
        if quotable and not _BARE.fullmatch(part.text) and not terms.is_courtesy(part.text):
            yield part


def _sign(name: str, said: Sentence) -> re.Match[str] | None:
    return table.sign(name, plainly(said.text))


def _left(last: Sequence[tuple[SessionTurn, Sentence]], *, promises: bool) -> Iterator[str]:
    """What somebody said was still to do and nobody reported done; with `promises` what an assistant said, too."""
    for place, (one, said) in enumerate(last):
        sign = _sign("left to do", said) if promises or not one.is_foreign else None
        if sign and said.role in (TELLING, "remember", "request") and not table.sign("hedge", plainly(said.text)):
            wanted = _words(plainly(said.text)[sign.end() :]) or _words(said.text)
            after = (_words(later.text) for _, later in last[place + 1 :] if _sign("came of it", later))
            if not any(amount(wanted & words) >= SAME * amount(wanted) for words in after):
                yield said.text


def _words(text: str) -> set[str]:
    return content(text) - _SAYS_NO_MORE


def _names(session: Session) -> list[str]:
    """The names that people say, those of the speakers aside, the most frequent first."""
    known = {terms.fold(name) for name in (*session.speakers, session.user)}
    counts, spelt, day = Counter[str](), dict[str, str](), session.turns[0].day
    for one in session.turns:
        if not one.is_foreign and not injection.suspicious(one.text, own=True):
            names = bounded.details([DatedText(one.text, one.day)]).names
            found = {key: name for key, name in names.items() if terms.is_cjk(key[:1])}
            for match in _NAME.finditer(one.text):
                words = [word for word in match[0].split() if terms.fold(word).removesuffix("'s") in names]
                found |= {terms.fold(" ".join(words)): " ".join(words)} if words else {}
            for key, name in found.items():
                counts[key] += 1
                spelt.setdefault(key, name)
    told = [one_line(spelt[key], 40) for key, _ in counts.most_common() if key not in known]
    return [name for name in told if SECRET[1:] not in name and not dates.mentioned(name.removesuffix("s"), day)]


# -- by a model --------------------------------------------------------------------------------------------------------


def borne_out(entry: dict[str, Any], session: Session, by: str) -> Episode:
    """What a model says of a session, without what its turns do not bear out; a quotation where it gives no title that holds."""
    own = quoted(session)
    sources = [DatedText(f"{one.speaker}: {one.text}", one.day) for one in session.turns]
    found: dict[str, Any] = {}
    for key, value in episode.of(entry)._asdict().items():
        given, longest = value if key in episode.LISTS else (value,), TITLE if key in ("title", "tags") else SENTENCE
        kept = tuple(text for one in given if (text := line_borne_out(one, sources, session.own, longest)))
        if kept and key != "by":
            found[key] = kept[: MOST[key]] if key in episode.LISTS else kept[0]
    return Episode(**{"title": own.title, **found, "by": one_line(by, TITLE)}) if found else own


def line_borne_out(text: str, sources: Sequence[DatedText], own: OwnPatterns, longest: int) -> str:
    """What a model says, on one line, where its sources have its names, numbers and dates and most of its other words, and it
    gives no orders; else empty."""
    text = one_line(redact(text, own)[0], longest)
    words, known = content(text), content(" ".join(source.text for source in sources))
    wrong = SECRET in text or injection.suspicious(text) or amount(words & known) < BORNE * amount(words)
    return "" if wrong or bounded.unsupported_details([text], sources) else text


# -- in the file -------------------------------------------------------------------------------------------------------


class New(NamedTuple):
    """What of a session is to be looked at: the places of the turns that were not read yet; the turns, by one digest, that its
    episode is to be about, empty where it may have none of the program's; and whether it has none of these turns."""

    unread: list[int]
    about: str = ""
    due: bool = False


def new_of(memory: Memory, book: Ledger, hidden: PendingDeletion, until: int | None) -> New:
    """What is new of a session; of a conversation that goes on, only the turns before the line `until`."""
    said = passages(memory)
    digests = [turn_digest(memory.path, passage) for passage in said]
    unread = [n for n in book.unread(memory.path, digests) if until is None or said[n].line < until]
    if not said or until is not None or not _may_have_one(memory, book):
        return New(unread)
    kept_back = [str(one.line) for one in said if hidden.hides(memory.path, one.line)]
    about, here = digest("\n".join([*digests, *kept_back])), memory.lines[memory.episode_line - 1 : memory.episode_line]
    stands = [line for line in here if book.episodes.get(memory.path, {}).get(digest(line)) == about]
    return New(unread, about, not stands)


def line(session: Session, said: Episode) -> str:
    """The line of a session's episode: of what a model said of it, else quoted; empty where nothing can be told."""
    found = said if said.text else quoted(session)
    return found.line if found.text else ""


def sum_up(folder: Folder, path: str) -> None:
    """Quote a session that has ended, where its episode is not about all of it yet."""
    book, memory, hidden = Ledger(folder), load(folder, path), pending_deletion.read(folder)
    new = new_of(memory, book, hidden, None) if memory else None
    if memory and new and new.due:
        written = line(users_turns(memory, folder.name, hidden, config.of(folder).own), episode.NONE)
        book.add(write(folder, path, written, new.about, book)[0] if written else [])


def _may_have_one(memory: Memory, book: Ledger) -> bool:
    """Is a session live, with room for an episode or with nothing but the program's in it?"""
    if is_archived(memory.path) or memory.path.endswith(f"-{EVENTS}.md") or encoding_of(memory.data) != "utf-8":
        return False
    here = memory.lines[memory.episode_line - 1 : memory.episode_line]
    here += [memory.lines[n - 1] for n in episode.places(memory.lines, memory.front_end) if not memory.episode_line]
    if here:
        return all(_is_ours(line, book, memory.path) for line in here)
    room = memory.front_end and memory.lines[memory.front_end : memory.front_end + 1] == [""]
    return bool(room) and episode.KEY not in memory.front and (memory.front != {} or memory.front_end == 2)


def _is_ours(line: str, book: Ledger, path: str) -> bool:
    """Did the program write this line, or blank it?"""
    blanked = line.partition(":")[2].strip() == episode.OWN_NAME
    return blanked or digest(line) in book.episodes.get(archive.live(path), {})


def write(folder: Folder, path: str, written: str, turns: str, book: Ledger) -> tuple[list[dict[str, Any]], int]:
    """Set a session's episode to a line about these turns; returns what the ledger keeps, and by how many bytes the file grew."""
    grown = 0

    def change(data: bytes) -> bytes | None:
        nonlocal grown
        lines = episode.once(data.decode().split("\n"), Memory(path, data).front_end)
        memory = Memory(path, "\n".join(lines).encode())
        if f"{written}\n" not in memory.text and not _may_have_one(memory, book):
            return None
        lines = episode.put(lines, memory.front_end, memory.episode_line, written)
        after = "\n".join(lines).encode()
        grown = len(after) - len(data)
        return after

    try:
        folder.edit(path, change)
        here = folder.memory(path)
    except (FilememError, UnicodeDecodeError):
        return [], 0
    if here.episode_line and here.lines[here.episode_line - 1] == written:
        return [{"episode": path, "written": digest(written), "turns": turns}], grown
    return [], 0
