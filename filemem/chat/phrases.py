"""What a chat says itself, in English and in Chinese, of traditional characters.

Each traditional character is one simplified one, so one text serves both.
"""

import re

from filemem.store.paths import FileDate
from filemem.text import terms
from filemem.tools import render

FOUND = ("From your memories:", "在記憶裡找到：")
NEAREST = (
    "I found no strong match; the nearest:",
    "沒有找到含有全部詞語的記憶；最接近的：",
)
REPEATED = (  # a question of before, or the same statement
    "I found little more than your own words; the nearest:",
    "找到的幾乎只是同樣的話；最接近的：",
)
NOTHING = (
    "I found nothing that holds this; your message is kept.",
    "記憶裡沒有找到相關內容；這句話已經保存。",
)
NOTHING_KEPT = (
    "I found nothing that holds this; nothing of this is kept.",
    "記憶裡沒有找到相關內容；這句話不會保存。",
)
KEPT = ("Kept as a fact: “{}”, {}", "已記為一條事實：“{}”，{}")
NOT_KEPT = ("Not kept as a fact: {}", "沒有記為事實：{}")
NONE_FOUND = ("Nothing was found.", "沒有找到。")
ASKS_TO_DELETE = ("Delete all this for good?", "永久刪除以上全部內容？")
NONE_DELETED = ("Nothing was deleted.", "什麼都沒有刪除。")
OFF_THE_RECORD = (
    "Off the record, so not kept as a fact.",
    "不留記錄，所以沒有記為事實。",
)
OWN_BEGINNINGS = tuple(  # of what is said of the memory, and so quoted to nobody
    said.partition("{}")[0]
    for english, chinese in (FOUND, NEAREST, REPEATED, NOTHING, NOTHING_KEPT, KEPT)
    for said in (english, chinese, terms.simplified(chinese))
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
