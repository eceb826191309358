"""What a chat says itself, in English and Chinese, the latter in traditional characters.

Each traditional character is one simplified one, so one text serves both.
"""

import re

from filemem.text import terms

FOUND = ("From your memories:", "在記憶裡找到：")
NEAREST = ("The nearest:", "最接近的是：")
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
OFF_THE_RECORD = (
    "Off the record, so not kept as a fact.",
    "不留記錄，所以沒有記為事實。",
)
SAY_NOTHING = frozenset(  # of the memory, so they are quoted to nobody
    told
    for both in (NOTHING, NOTHING_KEPT)
    for told in (*both, terms.simplified(both[1]))
)
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
