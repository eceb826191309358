"""The responder where no model is configured: it searches with the same four tools and quotes what it found."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from filemem.memory import RESTS_ON, When, when_of
from filemem.model import Reply, ToolCall, Usage

QUOTES = 5
MOST = 160  # passages to ask for where earlier answers of ours stand among the first
NOTICE = (
    "No model is configured, so answers are quotes from your memories. To talk with a model, set OPENAI_API_KEY "
    "(and OPENAI_BASE_URL for another endpoint) and name it with --model, FILEMEM_MODEL or `model:` in filemem.yaml."
)
# What an answer opens with, in English and in Chinese. Each is told apart by its first words when it is found again.
FOUND = ("From your memories:", "在记忆里找到：")
WEAK = ("I found no strong match; the nearest I have is:", "没有很确定的结果，最接近的是：")
KEPT = ("Kept.", "记下了。")
RELATED = ("Kept. Related memories:", "记下了。相关的记忆：")
_NOWHERE = ("Nowhere in memory:", "记忆里没有：")
NOTHING = ("I found nothing about that in your memories.", "记忆里没有找到相关内容。")

OPENINGS = (*FOUND, *WEAK, *RELATED, *NOTHING)  # behind which nothing but what is in the memories already stands

_HAN = re.compile("[\u3400-\u9fff]")
_ASKS = re.compile(
    r"[?？]\s*$|^(?:who|what|when|where|which|why|how|whose|whom|do|does|did|is|are|was|were|can|could|have|has|had|will|"
    r"would|should|tell me|remind me|show|find|list|search)\b|什么|什麼|谁|誰|哪|吗|嗎|呢|几|幾|多少|怎么|怎麼|为什么|记得|記得",
    re.IGNORECASE,
)
_HIT = re.compile(r" {0,3}(\d+)  (.*)")
_MORE = "      "  # in front of a passage's further lines
_HEADING = re.compile(r"(\S.*?\.\w+)(?:  .*)?$")  # a path, two spaces, a date; a sentence ends with a full stop
_OURS = re.compile(
    r"assistant(?: \d\d:\d\d)?: "
    rf"(?:{'|'.join(map(re.escape, OPENINGS))}|(?:{'|'.join(map(re.escape, KEPT))})$)"
)
_WEEKDAYS = "一二三四五六日"


class Quote(NamedTuple):
    """One passage of a search's answer: its lines, the first with its speaker, and where it stands."""

    lines: list[str]
    path: str
    line: int


class OfflineModel:
    """A model that only quotes; it speaks the protocol of any other."""

    name = "offline"

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]], on_text: Callable[[str], None]) -> Reply:
        """First a search for the last message, then an answer made of what the search returned.

        Its own earlier answers, and the question asked before, are no evidence: where they stand among the passages
        found, it asks for more.
        """
        asked = max(n for n, message in enumerate(messages) if message["role"] == "user")
        question = messages[asked]["content"]
        found = [message["content"] for message in messages[asked + 1 :] if message["role"] == "tool"]
        worth = {(quote.path, quote.line): quote for text in found for quote in _quotes(text, question)}
        limit = QUOTES * 2 ** len(found)
        if tools and (not found or (len(worth) < QUOTES and _may_hold_more(found[-1], limit))):
            arguments = json.dumps({"query": question, "limit": limit}, ensure_ascii=False)
            return Reply("", (ToolCall("search", "search_files", arguments),), Usage(0, 0), "tool_calls")
        text = answer(question, found[0] if found else "", list(worth.values())[:QUOTES])
        on_text(text)
        return Reply(text, (), Usage(0, 0), "stop")


def _may_hold_more(found: str, limit: int) -> bool:
    """May a search with this limit find more than the last one, which stopped at half of it?"""
    return limit <= MOST and sum(map(bool, map(_HIT.match, found.split("\n")))) >= limit // 2


def answer(question: str, found: str, quotes: list[Quote]) -> str:
    """The quotes with date and `path:line`, or a plain word that nothing was found; `found` is the search's answer."""
    chinese = bool(_HAN.search(question))
    weak = "no strong match" in found.split("\n", 1)[0]
    asks = bool(_ASKS.search(question.strip()))
    if not asks and (weak or not quotes):
        return KEPT[chinese]
    if not quotes:
        notes = [line for line in found.split("\n")[1:] if line.startswith(_NOWHERE[0])]
        if chinese:
            notes = [note.replace(_NOWHERE[0], _NOWHERE[1]).replace("nearest:", "最接近的是") for note in notes]
        return "\n".join([NOTHING[chinese], *notes])
    opening = WEAK if weak else FOUND if asks else RELATED
    return "\n".join([opening[chinese], *(_shown(quote, chinese=chinese) for quote in quotes)])


def _shown(quote: Quote, *, chinese: bool) -> str:
    """A quote as a list item under a blank line: its lines, then its date and `path:line`."""
    first, *rest = [RESTS_ON.sub("", line).rstrip() for line in quote.lines]
    when = when_of(quote.path)
    date = f"{_date(when, chinese=chinese)}, " if when else ""
    return "\n".join(
        ["", f"- {re.sub('^[-*+] ', '', first)}", *(f"  {line}" for line in rest), f"  {date}{_place(quote)}"]
    )


def _place(quote: Quote) -> str:
    return f"{quote.path}:{quote.line}"


def _date(when: When, *, chinese: bool) -> str:
    """A date as a person of the question's language writes it."""
    day = when.date
    if chinese:
        month = f"{day.year}年{day.month}月"
        return month if when.month else f"{month}{day.day}日 周{_WEEKDAYS[day.weekday()]}"
    return f"{day:%B %Y}" if when.month else f"{day:%a} {day.day} {day:%B %Y}"


def _is_echo(quote: Quote, question: str) -> bool:
    """Is this one of our own answers, or the question as it was asked before?"""
    text = "\n".join(quote.lines)
    return bool(_OURS.match(text)) or _letters(question) in (_letters(text), _letters(text.partition(": ")[2]))


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _quotes(found: str, question: str) -> Iterator[Quote]:
    """The passages of a search's answer that are worth quoting."""
    path, quotes = "", list[Quote]()
    for line in found.split("\n")[1:]:
        if path and (hit := _HIT.match(line)):
            quotes.append(Quote([hit[2]], path, int(hit[1])))
        elif quotes and line.startswith(_MORE):
            quotes[-1].lines.append(line.removeprefix(_MORE))
        elif heading := _HEADING.match(line):
            path = heading[1]
    return (quote for quote in quotes if not _is_echo(quote, question))
