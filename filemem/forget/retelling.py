"""What a summary tells of a conversation: in a model's words, else in quotes.

A model tells what came of it; code checks that each line cites turns that were shown.
"""

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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


@dataclass(frozen=True)
class LabelledTurn:
    """A turn as a model reads it.

    Attributes:
        heading: the conversation and the day, which stand over its turns.
        label: by which it is cited.
        source: the conversation.
        line: of its file.
        day: from which its words count.
        text: the turn, behind its label.
    """

    heading: str
    label: str
    source: Source
    line: int
    day: dt.date
    text: str


@dataclass(frozen=True)
class Retold:
    """What a model told.

    Attributes:
        lines: by the path of the conversation; each cites turns. None where a model
            found nothing worth keeping.
        error: why it told no more, if it failed.
    """

    lines: dict[str, list[Bullet]] = field(default_factory=dict)
    error: str = ""


def most_telling(bullets: Iterable[Bullet], source: Source) -> list[Bullet]:
    """Return the first of what was told, and what else has room in TOLD_SHARE.

    Args:
        bullets: the lines on a conversation, the weightiest first.
        source: the conversation.
    """
    words = sum(count_tokens(turn.text) for turn in _own_turns(source))
    room = TOLD_SHARE * words
    taken = list[Bullet]()
    for bullet in bullets:
        room -= count_tokens(bullet.text)
        if taken and room < 0:
            break
        taken.append(bullet)
    return taken


def retell(sources: Sequence[Source], model: Model) -> Retold:
    """Have a model tell conversations, several a request, until it fails.

    Nothing is told of a conversation of which a request has failed.
    """
    lines: dict[str, list[Bullet]] = {}
    error = ""
    for turns in _requests(sources):
        if not error:
            error = _ask(turns, model, lines)
        if error:
            for turn in turns:
                lines.pop(turn.source.path, None)
    return Retold(lines, error)


def _requests(sources: Sequence[Source]) -> Iterator[list[LabelledTurn]]:
    """Pack the turns of conversations into requests that are not too long."""
    request = list[LabelledTurn]()
    spent_tokens = 0
    for number, source in enumerate(sources, 1):
        for turn in _labelled(number, source):
            tokens = count_tokens(turn.text)
            if request and spent_tokens + tokens > prompt.REQUEST_TOKENS:
                yield request
                request = []
                spent_tokens = 0
            request.append(turn)
            spent_tokens += tokens
    if request:
        yield request


def _labelled(number: int, source: Source) -> Iterator[LabelledTurn]:
    """Yield what a model reads of a conversation, turn by turn."""
    memory = source.memory
    leaned = leaned_on(memory, source.turns)
    for turn in source.turns:
        role = memory.role(turn.speaker)
        text = read_of(turn.text, role, is_leaned_on=turn.line in leaned)
        if not text.strip():
            continue
        label = f"{number}:{turn.line}"
        text = f"[{label}] {turn.speaker}: {text}".replace("\n", "\n  ")
        heading = f"Conversation {number}"
        day = turn.day or memory.date
        if day:
            text = dates.annotate(text, day)
            heading += f", {day:%A} {day}"
        day = day or dt.date.min
        yield LabelledTurn(heading, label, source, turn.line, day, text)


def _ask(
    turns: list[LabelledTurn], model: Model, lines: dict[str, list[Bullet]]
) -> str:
    """Make one request.

    Each conversation in it stands under its day, one that began in the request before
    it, too. Where all that is told can be read, a conversation of which nothing is told
    has nothing that is worth keeping.

    Args:
        turns: what it shows.
        model: is asked.
        lines: to which what is told is added.

    Returns:
        Why it failed, or ''.
    """
    told_under: list[str] = []
    for heading, group in itertools.groupby(turns, key=lambda turn: turn.heading):
        told_under += [f"{heading}:", *(turn.text for turn in group)]
    request = redact(prompt.data("sessions", "\n".join(told_under))).text
    shown = ShownText(request, turns)
    by_label = {turn.label: turn for turn in turns}
    bullets: list[Bullet | None] = []
    is_whole = False
    try:
        found = _listed(model, request) or _listed(model, request + ASK_AGAIN)
    except ModelError as error:
        return str(error)
    for listed in found:
        bullets += [_bullet(one, by_label, shown) for one in listed.elements]
        is_whole = not listed.is_cut_off
    if not (bullets or is_whole):
        return f"{model.name} told nothing that can be read."
    if is_whole and None not in bullets:
        for turn in turns:  # of which it may tell nothing
            lines.setdefault(turn.source.path, [])
    for bullet in filter(None, bullets):
        before = lines.setdefault(bullet.path, [])
        before.append(replace(bullet, title="") if before else bullet)
    return ""


def _listed(model: Model, request: str) -> list[Listed]:
    """Ask a model, and return the lists in its answer; none where it cannot be read.

    Raises:
        ModelError: it fails.
    """
    reply = ask(model, "retell", request, by_call=True)
    lists = [read_list(text, "lines") for text in reply.texts]
    return [one for one in lists if one and (one.elements or not one.is_cut_off)]


def _bullet(
    told: Any, by_label: dict[str, LabelledTurn], shown: ShownText
) -> Bullet | None:
    """Return what is told as a line on one conversation; None if it cites none that was
    shown. Secrets are taken out; a number or a name that was not shown is marked."""
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
    return Bullet("", text, source.path, lines, title)
