"""How a chat without a model opens what it says of the memory.

Each is in English and in Chinese of traditional characters, of which each is one
simplified one, so that one text serves both.
"""

from filemem.text import terms

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
_OPENINGS = tuple(
    said.partition("{}")[0]
    for english, chinese in (FOUND, NEAREST, REPEATED, NOTHING, NOTHING_KEPT, KEPT)
    for said in (english, chinese, terms.simplified(chinese))
)


def tells_of_memory(answer: str) -> bool:
    """Say whether an assistant's answer is one of these, and so quotes what is kept."""
    return answer.startswith(_OPENINGS)
