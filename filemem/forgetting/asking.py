"""A conversation asks to forget: what it means is withheld at once, and deleted when the next message says yes."""

import contextlib
import datetime as dt
import re
from typing import NamedTuple

from filemem.errors import FilememError
from filemem.files import archive, pending_deletion
from filemem.files.facts import set_front
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, kind_of
from filemem.files.passages import Passage
from filemem.forgetting import deletion, erasure
from filemem.forgetting.wording import Wording, width
from filemem.text.statements import read_turn
from filemem.text.statements.sentences import Utterance, is_chinese

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
LEAST = 4  # columns of one thing of several that are to be forgotten
_AND = re.compile(r"\s+(?:and|or|&)\s+|\s*[,，、]\s*|\s*(?:跟|和|与|及|还有|以及|還有|與)\s*")
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


def answer(folder: Folder, path: str, turns: list[Passage], at: dt.datetime) -> Answer | None:
    """What follows from the last of a conversation's turns; None where it neither asks to forget nor agrees to delete."""
    said = turns[-1]
    if words := _request(folder, path, said, at.date()):
        places = _withhold(folder, words, f"{path}:{said.line}", at)
        return Answer(_proposal(places, words, chinese=is_chinese(said.text)))
    before = next((turn for turn in reversed(turns[:-1]) if turn.speaker == said.speaker), None)
    if before and _YES.fullmatch(said.text.strip()) and f"{path}:{before.line}" in pending_deletion.read(folder).places:
        return _deleted(folder, _request(folder, path, before, at.date()), at, chinese=is_chinese(said.text))
    return None


def keep_back(folder: Folder, path: str, turns: list[Passage], line: int, at: dt.datetime) -> None:
    """Withhold the answer at a line along with the request before it, as it names the places."""
    asked = next(turn.line for turn in reversed(turns) if turn.line < line)
    pending_deletion.hold_back(folder, f"{path}:{asked}", [f"{path}:{line}"], at)


def _withhold(folder: Folder, words: str, by: str, at: dt.datetime) -> list[str]:
    """Keep back all that a request to forget means with these words; `by` is the request's own turn, as `path:line`.

    Facts and lessons go to the archive, marked, and their lines leave the profile. The note comes first, so what is cut off
    is withheld already.
    """
    plan = deletion.mentions(folder, words)
    places = [item.place for item in plan.items]
    with folder.locked():
        pending_deletion.hold_back(folder, by, dict.fromkeys([*places, by]), at)
        memories = [path for path in plan.whole if kind_of(path) in ("facts", "lessons")]
        for path in memories:
            with contextlib.suppress(ValueError, FilememError):
                folder.edit(path, lambda data, path=path: set_front(path, data, pending_deletion.MARK, "true"))  # type: ignore[misc]
        gone = set(map(archive.live, memories))
        with contextlib.suppress(FilememError):
            folder.edit(PROFILE, lambda data: _without(data, gone))
        archive.move_in(folder, [path for path in memories if path == archive.live(path)], at)
    return [place for place in places if place != by]


def _without(data: bytes, paths: set[str]) -> bytes:
    """The profile without the program's lines that rest on some memories."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    kept = [line for line in lines if not ((rests := SOURCE_MARK.search(line)) and rests[1] in paths)]
    return "\n".join(kept).encode("utf-8", "surrogateescape")


def _request(folder: Folder, path: str, turn: Passage, day: dt.date) -> str:
    """What a turn asks to be forgotten, as words to look for: all of them, or of several things the first that is found, where
    nothing tells of all; empty where it asks for nothing."""
    wishes = read_turn(Utterance(turn.speaker, turn.text), day, to_assistant=True).forget
    if not wishes:
        return ""
    things = [thing for thing in _AND.split(wishes[0]) if width(thing) >= LEAST]
    if not things[1:]:
        return wishes[0]
    return next((words for words in (wishes[0], *things) if _told_before(folder, words, path, turn.line)), wishes[0])


def _told_before(folder: Folder, words: str, path: str, line: int) -> bool:
    """Does anything tell of these words but the request at a line and what follows it there? So a later look finds the same."""
    items = deletion.mentions(folder, words).items
    return any(item.path != path or 0 < item.line < line for item in items)


def _proposal(places: list[str], words: str, *, chinese: bool) -> str:
    if not places:
        return NOTHING[chinese]
    more = [f"… {len(places) - SHOWN}"] if len(places) > SHOWN else []
    listed = [f"- {place}" for place in [*places[:SHOWN], *more]]
    return "\n".join([WITHHELD[chinese], *listed, "", HOW[chinese].format(words.replace('"', ""))])


def _deleted(folder: Folder, words: str, at: dt.datetime, *, chinese: bool) -> Answer:
    plan = deletion.mentions(folder, words)
    done = erasure.apply(folder, plan, at)
    counts = [(len(done.deleted), ("file", "个文件")), (len(done.redacted), ("passage", "处"))]
    said = [f"{n}{what[1]}" if chinese else f"{n} {what[0]}{'s' * (n != 1)}" for n, what in counts if n]
    gone = DELETED[chinese].format(("，" if chinese else ", ").join(said) or "-")
    return Answer("\n".join([gone, *done.stayed]), plan.wording, plan.moved)
