"""A model's summary of some conversations: asked for once, checked, asked for once more, and else done without."""

import re
from collections.abc import Sequence

from filemem.files.memory import Memory
from filemem.files.sections import Bullet
from filemem.forgetting.extractive import CJK_PER_WORD, day_of, length
from filemem.models import Model, ModelError, prompt
from filemem.text import bounded, redaction
from filemem.text.bounded import DatedText
from filemem.text.own_patterns import Own
from filemem.text.plain import one_line
from filemem.text.statements.sentences import is_chinese

_BULLET = re.compile(
    r"\s*[-*•]\s+(.+?)\s*[(\[（【]\s*(\d+:\d+(?:\s*[,;，、]\s*\[?\d+:\d+\]?)*)\s*[)\]）】]\s*[.。]?\s*$"
)
_LABEL = re.compile(r"(\d+):(\d+)")
LONGEST = 1000  # characters of one statement
TEXT = 0.65  # of a summary's bytes, what is text; the rest are links
LEAST = 60  # words


def bullets(model: Model, memories: Sequence[Memory], share: float, own: Own) -> tuple[list[Bullet], list[str]]:
    """The model's statements on some conversations, none where it has failed twice; and a sentence for each failure.

    A statement's first line of the sources decides which conversation it belongs to.
    """
    told = [_told(number, memory, own) for number, memory in enumerate(memories, 1)]
    ask = [
        {"role": "system", "content": prompt.template("compact").replace("{room}", _room(memories, share))},
        {"role": "user", "content": "\n".join(told)},
    ]
    failures: list[str] = []
    for _ in range(2):
        try:
            reply = model.ask(ask, [], lambda _: None)
        except ModelError as error:
            return [], [*failures, f"no summary from the model: {error}"]
        found = _parsed(reply.text, memories, own)
        wrong = _wrong(found, memories, reply.finish)
        if not wrong:
            return found, failures
        failures.append(f"the model's summary was refused: {wrong}")
        ask += [
            {"role": "assistant", "content": reply.text or "(nothing)"},
            {"role": "user", "content": f"This was refused: {wrong} Write it again by the rules."},
        ]
    return [], failures


def _room(memories: Sequence[Memory], share: float) -> str:
    """How long a summary may be: `300 words`, or characters where most is Chinese."""
    said = " ".join(p.text for memory in memories for p in memory.passages)
    chinese = is_chinese(said)
    room = share * TEXT * length(said)
    return f"{max(LEAST, round(room * CJK_PER_WORD if chinese else room))} {'characters' if chinese else 'words'}"


def _told(number: int, memory: Memory, own: Own) -> str:
    """One conversation as the model reads it, secrets taken out, each turn with its label."""
    lines = [
        f"[{number}:{p.line}] {p.speaker + ': ' if p.speaker else ''}{' '.join(p.text.split())}"
        for p in memory.passages
    ]
    day = day_of(memory)
    text = redaction.redact("\n".join(lines), own)[0]
    return f"Conversation {number}{f', of {day:%A %d %B %Y}' if day else ''}:\n{prompt.data(memory.path, text)}"


def _parsed(answer: str, memories: Sequence[Memory], own: Own) -> list[Bullet]:
    """The statements in an answer whose every label is a line of a turn; all else is passed over."""
    turns = [{p.line for p in memory.passages} for memory in memories]
    found = []
    for line in answer.split("\n"):
        match = _BULLET.match(line)
        labels = [(int(a), int(b)) for a, b in _LABEL.findall(match[2])] if match else []
        if match and all(0 < number <= len(turns) and at in turns[number - 1] for number, at in labels):
            first = labels[0][0]
            lines = tuple(dict.fromkeys(at for number, at in labels if number == first))
            text = redaction.redact(one_line(match[1].replace("**", ""), LONGEST), own)[0]
            found.append(Bullet("", text, memories[first - 1].path, lines))
    return found


def _wrong(found: Sequence[Bullet], memories: Sequence[Memory], finish: str) -> str:
    """Why an answer is not used, as a sentence; empty for a good one."""
    if finish == "length":
        return "it was cut off."
    if not found:
        return "it holds no statement with the labels of its lines."
    if sum(len(bullet.text) for bullet in found) > sum(len(p.text) for memory in memories for p in memory.passages):
        return "it is longer than the conversations."
    sources = []
    for memory in memories:
        sources += [
            DatedText(f"{p.speaker}: {p.text}" if p.speaker else p.text, p.day or day_of(memory))
            for p in memory.passages
        ]
    extra = bounded.unsupported_details((bullet.text for bullet in found), sources)
    return f"the conversations do not have {', '.join(one_line(item, 40) for item in extra[:5])}." if extra else ""
