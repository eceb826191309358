"""The responder's own sentences, in English and Chinese, and how it tells kinds of messages apart."""

import datetime as dt
import functools
import re

from filemem.models.responder.topics import table
from filemem.text.statements import read_turn, steers, talk
from filemem.text.statements.sentences import PASTED_LINES, Utterance, hands_over
from filemem.text.statements.table import in_standard_words
from filemem.text.terms import simplified

FOUND = ("From your memories:", "在记忆里找到：")
WEAK = ("I found no strong match; the nearest I have is:", "没有很确定的结果，最接近的是：")
HELD = {"then": ("then", "当时"), "now": ("now", "现在")}  # when something held that does not hold always
NOTHING = ("I found nothing about that in your memories.", "记忆里没有找到相关内容。")
ABOUT = ("What I know about you:", "关于你，我知道：")
BY_NOW = ("Counted on to today: {} now.", "算到今天：现在{}岁。")
KEPT = ("Kept", "记下了")  # alone where an older version said so, else with what was kept
HEARD = ("All right.", "好的。")
HELLO = ("Hello.", "你好。")
WELCOME = ("You are welcome.", "不客气。")
BYE = ("Goodbye.", "再见。")
NEEDS_MODEL = (
    "Without a model I can only look things up in your memories.",
    "没有配置模型时，我只能在记忆里查找。",
)
WHOM = ("I cannot tell whom “{}” means; name the person.", "我不知道“{}”指的是谁，请说出名字。")
RELATED = ("Kept. Related memories:", "记下了。相关的记忆：")  # of an older version
# Behind which nothing but what is in the memories already stands.
OPENINGS = (*FOUND, *WEAK, *RELATED, *NOTHING, *ABOUT)
_PLAIN = (*HEARD, *HELLO, *WELCOME, *BYE, *NEEDS_MODEL)
OURS = re.compile(
    rf"(?:{'|'.join(map(re.escape, OPENINGS))}|{KEPT[0]}[.:]|{KEPT[1]}[。：]|(?:{'|'.join(map(re.escape, _PLAIN))})$"
    r"|I cannot tell whom “|我不知道“|Kept back from now on|从现在起不再提|Deleted: |已删除：|I found nothing else|没有找到别的)"
)
SHOWN = 120  # characters of what was kept
LONGEST = 600  # characters of a message that are looked for
LONG = 1_500  # characters of a message from which on it is a pasted text, unless it opens or ends with a question

_HAN = re.compile("[\u3400-\u9fff]")
_TAIL = re.compile(r"[\s\W_]+$")
_WEEKDAYS = "一二三四五六日"
_LINES = {"hello": HELLO, "thanks": WELCOME, "bye": BYE}


@functools.cache
def _message(name: str) -> re.Pattern[str]:
    """A pattern of the table for messages, in simplified characters."""
    return re.compile(simplified("|".join(table()["message"][name])), re.IGNORECASE)


def is_chinese(text: str) -> bool:
    """Is a message answered in Chinese?"""
    return _HAN.search(text) is not None


def small_talk(message: str) -> str:
    """The answer to a greeting, thanks or a farewell; empty for any other message."""
    said = simplified(_TAIL.sub("", message.strip()))
    found = (lines for name, lines in _LINES.items() if _message(name).fullmatch(said))
    return next((lines[is_chinese(message)] for lines in found), "")


def is_about_me(message: str) -> bool:
    """Does a message ask for all that is known of the one who asks?"""
    return _message("about me").search(simplified(message)) is not None


def needs_lookup(message: str) -> bool:
    """Does a message ask for something that the memories may hold?"""
    parts = talk(message)
    if small_talk(message) or not parts or hands_over(parts[0]) or parts[0].role == "remember":
        return False
    if _is_long(message):
        return bool(_asking(message))
    if any(part.role == "question" for part in parts) or _message("look up").search(simplified(message)):
        return True
    return _message("asks").search(simplified(message.strip())) is not None


def _is_long(message: str) -> bool:
    """Is a message a pasted text?"""
    return len(message) > LONG or message.count("\n") >= PASTED_LINES


def _asking(message: str) -> str:
    """The first or the last sentence of a pasted text, if it asks."""
    ends = (*talk(message[:LONG])[:1], *talk(message[-LONG:])[-1:])
    return next((part.text for part in ends if part.role == "question"), "")


def statements(message: str, *, may_steer: bool = True) -> list[str]:
    """What of a message is worth keeping, as it was said; `may_steer`: what it says on how to be talked to is, too."""
    said = read_turn(Utterance("", message), dt.date.min, to_assistant=True).statements
    return [one.text for one in said if may_steer or not steers(one)]


def subject(message: str) -> str:
    """What is to be looked up, without the words that ask for it; of a pasted text the sentence at its ends that asks."""
    if _is_long(message):
        message = _asking(message) or message
    message = message[:LONGEST]
    return _message("look up").sub(" ", in_standard_words(message)).strip() or message


def acknowledgement(message: str, *, may_steer: bool) -> str:
    """A short answer to a message that asks for nothing: what of it is kept, or a plain word.

    `may_steer`: what it says on how to be talked to is kept too.
    """
    chinese, kept = is_chinese(message), statements(message, may_steer=may_steer)
    if not kept:
        asks = any(part.role == "request" or hands_over(part) for part in talk(message)[:1])
        return (NEEDS_MODEL if asks else HEARD)[chinese]
    said = " ".join(kept[0].split())
    shown = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    return f"{KEPT[1]}：“{shown}”" if chinese else f"{KEPT[0]}: “{shown}”"


def date(day: dt.date, *, month: bool, chinese: bool) -> str:
    """A date as a person of the question's language writes it."""
    if chinese:
        named = f"{day.year}年{day.month}月"
        return named if month else f"{named}{day.day}日 周{_WEEKDAYS[day.weekday()]}"
    return f"{day:%B %Y}" if month else f"{day:%a} {day.day} {day:%B %Y}"
