"""A conversation asks to forget: what it means is withheld at once, and deleted when the next message says yes."""

import datetime as dt
import re
from typing import NamedTuple

from filemem.files import withheld
from filemem.files.folder import Folder
from filemem.files.passages import Passage
from filemem.forgetting import deletion, erasure, withholding
from filemem.forgetting.wording import Wording
from filemem.text.statements import Utterance, told
from filemem.text.statements.sentences import is_chinese

SHOWN = 12  # places that are named
WITHHELD = ("Kept back from now on, and not deleted yet:", "从现在起不再提，但还没有删除：")
NOTHING = (
    "I found nothing else that says it; the request itself is kept back.",
    "没有找到别的相关内容；这个请求本身不再提。",
)
HOW = (
    'To delete it for good say yes, or: /forget --about "{0}" (in the shell: filemem forget --about "{0}"). '
    "To have it back: filemem restore, with the path of a fact.",
    "要彻底删除请说“好”，或者：/forget --about “{0}”（命令行：filemem forget --about “{0}”）。要恢复：filemem restore 加上路径。",
)
DELETED = ("Deleted: {}.", "已删除：{}。")
_YES = re.compile(
    r"(?:yes|yep|yeah|yes please|sure|ok(?:ay)?|please do|do it|go ahead|delete it"
    r"|确认|确定|好|好的|好啊|是|是的|可以|删吧?|删除|行)[\s.!。！~]*",
    re.IGNORECASE,
)


class Answer(NamedTuple):
    """What is said to it; `gone` is what was deleted, with the new names of conversations, where something was."""

    text: str
    gone: Wording | None = None
    moved: dict[str, str] = {}  # never changed


def answer(user: Folder, path: str, turns: list[Passage], at: dt.datetime) -> Answer | None:
    """What follows from the last of a conversation's turns; None where it neither asks to forget nor agrees to delete."""
    said = turns[-1]
    if words := _request(said, at.date()):
        kept = withholding.withhold(user, words, f"{path}:{said.line}", at)
        return Answer(_proposal(kept.places, words, chinese=is_chinese(said.text)))
    before = next((turn for turn in reversed(turns[:-1]) if turn.speaker == said.speaker), None)
    if before and _YES.fullmatch(said.text.strip()) and f"{path}:{before.line}" in withheld.read(user).places:
        return _deleted(user, _request(before, at.date()), at, chinese=is_chinese(said.text))
    return None


def keep_back(user: Folder, path: str, turns: list[Passage], line: int, at: dt.datetime) -> None:
    """Withhold the answer at a line along with the request before it, as it names the places."""
    asked = next(turn.line for turn in reversed(turns) if turn.line < line)
    withheld.withhold(user, f"{path}:{asked}", [f"{path}:{line}"], at)


def _request(turn: Passage, day: dt.date) -> str:
    """What a turn asks to be forgotten, as words to look for; empty where it asks for nothing."""
    wishes = told(Utterance(turn.speaker, turn.text), day, to_assistant=True).forget
    return wishes[0] if wishes else ""


def _proposal(places: list[str], words: str, *, chinese: bool) -> str:
    if not places:
        return NOTHING[chinese]
    more = [f"… {len(places) - SHOWN}"] if len(places) > SHOWN else []
    listed = [f"- {place}" for place in [*places[:SHOWN], *more]]
    return "\n".join([WITHHELD[chinese], *listed, "", HOW[chinese].format(words.replace('"', ""))])


def _deleted(user: Folder, words: str, at: dt.datetime, *, chinese: bool) -> Answer:
    plan = deletion.mentions(user, words)
    done = erasure.apply(user, plan, at)
    counts = [(len(done.deleted), ("file", "个文件")), (len(done.redacted), ("passage", "处"))]
    said = [f"{n}{what[1]}" if chinese else f"{n} {what[0]}{'s' * (n != 1)}" for n, what in counts if n]
    gone = DELETED[chinese].format(("，" if chinese else ", ").join(said) or "-")
    return Answer("\n".join([gone, *done.stayed]), plan.wording, plan.moved)
