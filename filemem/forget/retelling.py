"""What a summary tells of a conversation: in a model's words, else in quotes.

A model tells what came of it; code checks that each line cites turns that were shown.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, groupby
from typing import Any, NamedTuple

from filemem.forget.sections import write_section
from filemem.llm import prompt
from filemem.llm.asking import ask
from filemem.llm.model import Model, ModelError
from filemem.llm.reading import leaned_on, read_of
from filemem.store.bullets import Bullet
from filemem.store.compactions import Compacted
from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.paths import live
from filemem.store.roles import Role
from filemem.text import dates, terms
from filemem.text.lenient_json import Listed, read_list
from filemem.text.plain import (
    SENTENCE_END,
    count_tokens,
    escape_controls,
    one_line,
)
from filemem.text.redaction import redact
from filemem.text.shown import ShownText

MAX_LINE_CHARS = 400
MAX_TITLE_CHARS = 60
MAX_SPEAKER_CHARS = 80
MOST_SHARE = 0.5  # of a conversation's tokens that its quotes may have
TOLD_SHARE = 0.1  # of the tokens of a person's turns that a model may tell
LEAST_LINES = 3  # that it may tell: a tenth of a short talk is one, and loses decisions
LINE_TOKENS = 40  # that a line may well have
UNSURE = "(unsure)"  # behind a line with a number or a name that was not shown
ASK_AGAIN = (
    "\n\nYour last answer could not be read. Tell by one call of `tell`, or by one "
    "JSON object of the same form and nothing else."
)
_PASTED = re.compile(  # a block of code, or a line that quotes: others' words
    r"^[ \t]*```.*?(?:^[ \t]*```|\Z)|^[ \t]*>[^\n]*", re.DOTALL | re.MULTILINE
)
_LABEL = re.compile(r"\b\d+:\d+\b")


@dataclass(frozen=True)
class Source:
    """A conversation that is due.

    Attributes:
        memory: its file.
        turns: what may be told of it.
        digest: of the file.
        old: what the log says of it, if anything.
    """

    memory: Memory
    turns: tuple[Passage, ...]
    digest: str
    old: Compacted | None

    @property
    def path(self) -> str:
        """Return where it lies when it is live: the name by which it is logged."""
        return live(self.memory.path)


# -- quotes ----------------------------------------------------------------------------


def quote(source: Source, share: float) -> list[Bullet]:
    """Quote a few whole sentences of the person's own, in their order.

    The longest say the most; they are taken as long as they fit into a share of the
    conversation's tokens.
    """
    sentences = list(_sentences(source))
    longest_first = sorted(sentences, key=lambda one: len(one.text), reverse=True)
    chosen = set(_fitting(longest_first, source, share))
    return [one for one in sentences if one in chosen]


def _fitting(bullets: Iterable[Bullet], source: Source, share: float) -> list[Bullet]:
    """Return the quotes that fit into the section of a conversation.

    Args:
        bullets: the quotes, the weightiest first.
        source: the conversation.
        share: of its tokens that the section may have; one line it has in any case, if
            that is at most half of them.
    """
    heading_tokens = count_tokens(write_section(source.path, []).decode())
    tokens = count_tokens(source.memory.text)
    room = min(share, MOST_SHARE) * tokens - heading_tokens
    limit = MOST_SHARE * tokens - heading_tokens
    taken = list[Bullet]()
    for bullet in bullets:
        if bullet.tokens <= limit:
            taken.append(bullet)
            room -= bullet.tokens
            limit = room
    return taken


def _own_turns(source: Source) -> Sequence[Passage]:
    """Return the turns of the person's own, or where there are none, all."""
    role = source.memory.role
    own = [turn for turn in source.turns if role(turn.speaker) is Role.PERSON]
    return own or source.turns


def _sentences(source: Source) -> Iterator[Bullet]:
    """Yield the sentences of the person's own, or where there are none, of all.

    What stands in them as pasted, by its form, is nobody's sentence.
    """
    memory = source.memory
    for turn in _own_turns(source):
        speaker = one_line(turn.speaker, MAX_SPEAKER_CHARS)
        words = _PASTED.sub(" ", terms.CAPTION.sub(" ", turn.text))
        for sentence in SENTENCE_END.split(words):
            text = redact(escape_controls(" ".join(sentence.split()))).text
            if re.search(r"\w", text):
                day = turn.day or memory.date
                text = dates.annotate(text, day) if day else text
                if turn.day:  # another than the heading has
                    text = f"[{turn.day}] {text}"
                yield Bullet(speaker, text, source.path, (turn.line,))


# -- a model's words -------------------------------------------------------------------


class About(StrEnum):
    """What a line tells; what comes first here stands first, and is left out last."""

    CORRECTED = "corrected"  # never left out: else what it puts right would stand
    DECIDED = "decided"
    OPEN = "open"
    RESULT = "result"


_ORDER = list(About)


@dataclass(frozen=True)
class ToldLine:
    """A line as a model told it.

    Attributes:
        about: what it tells of.
        title: of the conversation, '' for none.
        bullet: the line as it will stand in a summary.
    """

    about: About
    title: str
    bullet: Bullet


class Chosen(NamedTuple):
    """Which lines on a conversation stand in a summary.

    Attributes:
        kept: those, in their order.
        left_out: the others, for which there was no room.
    """

    kept: list[Bullet]
    left_out: list[Bullet]


def most_telling(told: Iterable[ToldLine], source: Source) -> Chosen:
    """Choose LEAST_LINES, all that corrects, and what else has room in TOLD_SHARE.

    Args:
        told: of a conversation; of what is about the same the weightiest first.
        source: the conversation.

    Returns:
        The lines in their order, the first with the first title that was told.
    """
    chosen = Chosen([], [])
    lines = sorted(told, key=lambda one: _ORDER.index(one.about))
    room = TOLD_SHARE * sum(count_tokens(turn.text) for turn in _own_turns(source))
    for line in lines:
        tokens = count_tokens(line.bullet.text)
        is_due = len(chosen.kept) < LEAST_LINES or line.about is About.CORRECTED
        if is_due or tokens <= room:
            chosen.kept.append(line.bullet)
            room -= tokens
        else:
            chosen.left_out.append(line.bullet)
    titles = [line.title for line in told if line.title]
    if chosen.kept and titles:
        chosen.kept[0] = replace(chosen.kept[0], title=titles[0])
    return chosen


@dataclass(frozen=True)
class ReadTurn:
    """A turn as a model reads it.

    Attributes:
        source: the conversation.
        line: of its file.
        day: from which its words count; None if none is known.
        text: the speaker and what is read.
        own_tokens: of the person's words in it.
    """

    source: Source
    line: int
    day: dt.date
    text: str
    own_tokens: int


class Retelling:
    """A model that tells conversations, several a request, until it fails.

    Args:
        sources: all of them, in the order in which they will be asked for.
        model: tells.

    Attributes:
        model: tells.
        error: why it told no more, if it failed.
        requests: that were made.
        tokens: that these took, as the endpoint reports them.
    """

    def __init__(self, sources: Iterable[Source], model: Model) -> None:
        self.error = ""
        self.requests = 0
        self.tokens = 0
        self.model = model
        self._waiting = list(_batches(sources))
        self._unread = Counter(map(_path_of, chain(*self._waiting)))
        self._told = dict[str, list[ToldLine]]()

    def estimate(self) -> None:
        """Count the requests that wait, and the tokens that they will take, as made."""
        rules = prompt.template("retell") + prompt.template("retell.json")
        self.requests = len(self._waiting)
        self.tokens = self.requests * count_tokens(rules)
        for turn in chain(*self._waiting):
            self.tokens += count_tokens(turn.text)

    def tell(self, sources: Iterable[Source]) -> dict[str, list[ToldLine]]:
        """Have conversations told, with what shares their requests.

        Returns:
            The lines by the path of a conversation, none where nothing is worth one.
            One is missing of which a request has failed, or an answer was not clear.
        """
        told = dict[str, list[ToldLine]]()
        for path in (source.path for source in sources):
            while self._unread[path] and not self.error:
                turns = self._waiting.pop(0)
                self._ask(turns)
                if not self.error:
                    self._unread.subtract(map(_path_of, turns))
            is_blank = path not in self._unread
            if not self._unread[path] and (is_blank or path in self._told):
                told[path] = self._told.get(path, [])
        return told

    def _ask(self, turns: list[ReadTurn]) -> None:
        """Make one request.

        Where all that is told can be read, a conversation of which nothing is told has
        nothing that is worth keeping.
        """
        by_label = dict[str, ReadTurn]()
        request = _written(turns, by_label)
        shown = ShownText(request, turns)
        lines: list[ToldLine | None] = []
        is_whole = False
        try:
            found = self._listed(request) or self._listed(request + ASK_AGAIN)
        except ModelError as error:
            self.error = str(error)
            return
        for listed in found:
            lines += [_line(one, by_label, shown) for one in listed.elements]
            is_whole = not listed.is_cut_off
        if not (lines or is_whole):
            self.error = f"{self.model.name} told nothing that can be read."
            return
        if is_whole and None not in lines:
            for path in map(_path_of, turns):  # of which it may tell nothing
                self._told.setdefault(path, [])
        for line in filter(None, lines):
            self._told.setdefault(line.bullet.path, []).append(line)

    def _listed(self, request: str) -> list[Listed]:
        """Ask, and return the lists in the answer; none where it cannot be read.

        Raises:
            ModelError: the model fails.
        """
        reply = ask(self.model, "retell", request, by_call=True)
        self.requests += 1
        self.tokens += sum(reply.usage)
        lists = [read_list(text, "lines") for text in reply.texts]
        return [one for one in lists if one and (one.elements or not one.is_cut_off)]


def _batches(sources: Iterable[Source]) -> Iterator[list[ReadTurn]]:
    """Pack the turns of conversations into requests that are not too long.

    Yields:
        The turns of one request, in order; a long conversation goes into several.
    """
    batch = list[ReadTurn]()
    spent_tokens = 0
    for turn in chain.from_iterable(map(_read_turns, sources)):
        tokens = count_tokens(turn.text)
        if batch and spent_tokens + tokens > prompt.REQUEST_TOKENS:
            yield batch
            batch = []
            spent_tokens = 0
        batch.append(turn)
        spent_tokens += tokens
    if batch:
        yield batch


def _read_turns(source: Source) -> Iterator[ReadTurn]:
    """Yield what a model reads of a conversation, turn by turn.

    What is not read has none; of the person's words each tells how many it has.
    """
    memory = source.memory
    leaned = leaned_on(memory, source.turns)
    own = {turn.line for turn in _own_turns(source)}
    for turn in source.turns:
        role = memory.role(turn.speaker)
        text = read_of(turn.text, role, is_leaned_on=turn.line in leaned)
        if not text.strip():
            continue
        tokens = 0
        if turn.line in own:
            tokens = count_tokens(text)
        day = turn.day or memory.date or dt.date.min
        yield ReadTurn(source, turn.line, day, f"{turn.speaker}: {text}", tokens)


def _path_of(turn: ReadTurn) -> str:
    return turn.source.path


def _written(turns: Iterable[ReadTurn], by_label: dict[str, ReadTurn]) -> str:
    """Write the turns of a request, each conversation with its room, under its days.

    Args:
        turns: those of one conversation side by side, one that began in the request
            before, too.
        by_label: learns what each label means.
    """
    written: list[str] = []
    for number, (_, group) in enumerate(groupby(turns, _path_of), 1):
        told = list(group)
        own_tokens = sum(turn.own_tokens for turn in told)
        most = max(LEAST_LINES, int(TOLD_SHARE * own_tokens / LINE_TOKENS))
        day = None
        for turn in told:
            words = turn.text
            heading = f"Conversation {number}, at most {most} lines"
            if turn.day != dt.date.min:
                heading += f", {turn.day:%A} {turn.day}"
                words = dates.annotate(words, turn.day)
            if turn.day != day:
                written.append(f"{heading}:")
                day = turn.day
            label = f"{number}:{turn.line}"
            by_label[label] = turn
            written.append(f"[{label}] {words}".replace("\n", "\n  "))
    return redact(prompt.data("sessions", "\n".join(written))).text


def _line(
    told: Any, by_label: dict[str, ReadTurn], shown: ShownText
) -> ToldLine | None:
    """Return what is told as a line on one conversation.

    Secrets are taken out; a number or a name that was not shown is marked.

    Args:
        told: the line in a model's answer, of whatever form.
        by_label: the turns that it was shown.
        shown: what stood in its request.

    Returns:
        None if it is no text, or cites no turn that was shown.
    """
    if not isinstance(told, dict):
        return None
    labels = dict.fromkeys(_LABEL.findall(str(told.get("turns"))))
    cited = [by_label[label] for label in labels if label in by_label]
    said = told.get("text")
    if not (cited and said and isinstance(said, str)):
        return None
    text = redact(one_line(said, MAX_LINE_CHARS)).text
    title = told.get("title")
    title = one_line(title, MAX_TITLE_CHARS) if isinstance(title, str) else ""
    title = redact(title.replace("*", "")).text.strip()
    source = cited[0].source
    lines = tuple(turn.line for turn in cited if turn.source is source)
    if not shown.holds(f"{title} {text}"):
        text = f"{text} {UNSURE}"
    about = About.RESULT
    if told.get("about") in _ORDER:
        about = About(told["about"])
    return ToldLine(about, title, Bullet("", text, source.path, lines))
