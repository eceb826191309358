"""What a chat says itself, in English and in Chinese, of traditional characters.

Each traditional character is one simplified one, so one text serves both.
"""

import re

from filemem.store.paths import FileDate
from filemem.text import terms
from filemem.tools import render

NOT_KEPT = ("Not kept as a fact: {}", "沒有記為事實：{}")
NONE_FOUND = ("Nothing was found.", "沒有找到。")
ASKS_TO_DELETE = ("Delete all this for good?", "永久刪除以上全部內容？")
NONE_DELETED = ("Nothing was deleted.", "什麼都沒有刪除。")
OFF_THE_RECORD = (
    "Off the record, so not kept as a fact.",
    "不留記錄，所以沒有記為事實。",
)
_REMEMBER = re.compile(  # matched with simplified characters
    r"\s*(?:remember that\b|remember\s*[:：]|请?记住)[\s:：,，]*", re.IGNORECASE
)
_WEEKDAYS = "一二三四五六日"
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W\d\u3400-\u9fff]+")


def said_to(message: str, both: tuple[str, str]) -> str:
    """Return the English or the Chinese text, as the message is written.

    A message with more Chinese characters than other words is Chinese; the answer has
    the characters, simplified or traditional, that the message has.
    """
    english, chinese = both
    if len(_HAN.findall(message)) <= len(_WORD.findall(message)):
        return english
    if terms.simplified(message) != message:
        return chinese
    return terms.simplified(chinese)


def day_of(when: FileDate, message: str) -> str:
    """Return a file's day, or its month, as whoever wrote the message writes it."""
    day = when.date
    chinese = f"{day.year}年{day.month}月"
    if when.day_unknown:
        return said_to(message, (f"{day:%B %Y}", chinese))
    chinese += f"{day.day}日 週{_WEEKDAYS[day.weekday()]}"
    return said_to(message, (render.spelt(day), chinese))


def to_remember(message: str) -> str:
    """Return what a message asks to be remembered, in its own words; '' for nothing."""
    opening = _REMEMBER.match(terms.simplified(message))
    if not opening:
        return ""
    words = message[opening.end() :].strip()
    return words if re.search(r"\w", words) else ""
