"""One search of the memory for a message: its best passages stand beside it in the prompt, or are the answer without a model."""

import bisect
import datetime as dt
import re
from collections.abc import Iterator, Sequence

from filemem import index
from filemem.errors import FilememError
from filemem.files.folder import CurrentConversation, Folder
from filemem.files.memory import ASSISTANT, PROFILE, SOURCE_MARK, FileDate, kind_of
from filemem.models.offline import FOUND, NEAREST, NOTHING, SAID, UNRECORDED, in_chinese
from filemem.search import PARTIAL, STRONG, Found, Hit, question, ranking, search_files
from filemem.text import dates
from filemem.text.plain import count_tokens, escape_controls
from filemem.tools import answers

SURE, BESIDE_TOOLS, ALONE = 250, 400, 1200  # tokens: of a strong match, of another, of any for a model without tools
MOST_PASSAGES = 30  # passages for a model without tools
LONGEST_QUERY = 2000  # characters of a message that are searched for: its beginning and its end
FEW = 1  # words to look for, up to which a message is taken to go on with what was said before
BEFORE = 2  # of the person's turns that such a message goes on with
QUOTES, NEAR = 3, 2  # of an answer, and of one that is not sure
MEANING = 4  # times what a search counts it, for quotes: a few weak words weigh less here
ALIKE = 0.6  # of the best score, from which on a passage answers about as well as the best one
LOOKED_AT = 20  # passages among which quotes are chosen, as questions and answers are left out
_ITEM = re.compile(r"^[-*+]\s+")
_WEEKDAYS = "一二三四五六日"


def recall(
    folder: Folder,
    said: Sequence[str],
    today: dt.date,
    current: CurrentConversation | None,
    room: int,
    *,
    weak: bool,
    least: float = ranking.PARTIAL,
    sure: int = 0,
) -> str:
    """The best passages for the last of a person's messages, whole ones within `room` tokens, of a strong match within `sure`,
    and how many of how many these are; of those weaker than `least` none, unless `weak`."""
    try:
        limit = MOST_PASSAGES if weak else None
        found = search_files(index.of(folder), searched(said), limit=limit, today=today, current=current)
    except FilememError as error:
        return f"Error: {error}" if weak else ""
    if not weak and max((hit.strength for hit in found.hits), default=0.0) < least:
        return ""
    if not found.hits:
        return escape_controls(answers.searched(found, calls=False))
    room = sure if sure and found.certainty >= STRONG else room
    fits = bisect.bisect_right(
        range(2, len(found.hits) + 1), room, key=lambda count: count_tokens(_shown(found, count))
    )
    return _shown(found, 1 + fits)


def _shown(found: Found, count: int) -> str:
    """The best `count` of the passages found."""
    best = sorted(range(len(found.hits)), key=lambda place: -found.hits[place].score)[:count]
    part = found._replace(hits=[found.hits[place] for place in sorted(best)])
    shown = escape_controls(answers.searched(part, calls=False))
    return f"shown {count} of {len(found.hits) + found.more}: {shown}"


def searched(said: Sequence[str]) -> str:
    """What to search for on the last of a person's messages; one with little to look for, such as "and since when?", goes on
    with those before it."""
    text = said[-1]
    if len(question.parse(text).content) <= FEW:
        text = "\n".join(said[-1 - BEFORE :])
    half = LONGEST_QUERY // 2
    return text if len(text) <= LONGEST_QUERY else f"{text[:half]} {text[-half:]}"


def reply(
    folder: Folder, said: Sequence[str], today: dt.date, current: CurrentConversation | None, *, kept: bool
) -> str:
    """What is said to the last of a person's messages, without a model; `kept` tells whether it is in a transcript."""
    chinese, asks = in_chinese(said[-1]), "?" in said[-1] or "？" in said[-1]
    try:
        asked = searched(said if asks else said[-1:])  # thanks for an answer asks for no more of it
        found = search_files(index.of(folder), asked, limit=LOOKED_AT, today=today, current=current)
    except FilememError:
        found = Found([], 0, "", [], 0)
    of_its_days = asks and found.strength.endswith(" alone")  # the days that it names, of which these are all
    sure = of_its_days or found.certainty >= (PARTIAL if asks else STRONG)
    hits = every = list(_telling(folder, found.hits))
    if sure and not of_its_days:
        # None, where there are others, that has neither a word of the question, nor answers one that has, nor its meaning.
        hits = [hit for hit in hits if hit.held.itself or hit.before or hit.parts.get("meaning")] or hits
    if asks and (days := _days(said[-1], today)):  # what is of the day comes first, whatever its words
        telling = [hit for hit in every if days & _days(hit.text, hit.date or today, hit.date)]
        hits, sure = telling or hits, sure or bool(telling)
    hits = hits[: QUOTES if sure else NEAR if asks else 0]
    parts = [] if asks else [(SAID if kept else UNRECORDED)[chinese]]
    if hits or asks:
        # Of those that answer about as well the newest first, of a day facts, which may have been edited; superseded ones last.
        good = ALIKE * max((hit.score for hit in hits), default=0.0)
        days_of = {id(hit): hit.date.toordinal() if hit.date and hit.score >= good else 0 for hit in hits}
        hits.sort(key=lambda hit: (days_of[id(hit)], kind_of(hit.path) == "facts"), reverse=True)
        hits.sort(key=lambda hit: (bool(hit.newer), hit.score < good))
        opening = (FOUND if hits and sure else NEAREST if hits else NOTHING)[chinese]
        parts.append("\n".join([opening, *(_quote(hit, chinese=chinese) for hit in hits)]))
    return "\n\n".join(parts)


def _days(text: str, today: dt.date, own: dt.date | None = None) -> set[dt.date]:
    """Each single day that a text names, and its own."""
    spans = [span for one in dates.mentioned(text, today) for span in one.spans]
    return {span.start for span in spans if span.start == span.end} | ({own} if own else set())


def _telling(folder: Folder, hits: Sequence[Hit]) -> Iterator[Hit]:
    """The hits that tell something, by words the more they hold of the question and by meaning, best first; of those that tell
    the same only one. No question, answer, heading or front matter."""
    lines = folder.memory(PROFILE).lines if any(hit.path == PROFILE for hit in hits) else []
    told: set[str] = set()

    def worth(hit: Hit) -> float:
        meaning = hit.parts.get("meaning", 0.0)
        return (hit.score - meaning) * hit.strength + MEANING * meaning

    for hit in sorted(hits, key=worth, reverse=True):
        text = SOURCE_MARK.sub("", hit.text).strip()
        places = {text, f"{hit.path}:{hit.line}", *hit.sources}
        heading = hit.path == PROFILE and lines[hit.line - 1].startswith("#")
        front = kind_of(hit.path) == "sessions" and not hit.speaker
        asked = text.endswith(("?", "？")) or hit.speaker == ASSISTANT or "pasted" in hit.parts
        if not (heading or front or asked or told & places):
            told |= places
            yield hit


def _quote(hit: Hit, *, chinese: bool) -> str:
    """A passage as a list item under a blank line: who said it and what, then its day and `path:line`."""
    shown = ("… " if hit.cut and not hit.text.startswith(hit.excerpt[:20]) else "") + hit.excerpt
    lines = (SOURCE_MARK.sub("", line).rstrip() for line in _ITEM.sub("", shown).split("\n"))
    first, *rest = [answers.line_text(line, hit.date, hit.path, hit.line) for line in lines]
    who = f"{hit.speaker or hit.title}: " if hit.speaker or hit.title else ""
    of_month = hit.when and hit.when.month and hit.date == hit.when.date
    when = hit.when if of_month or not hit.date else FileDate(hit.date, False, "")
    where = ", ".join(filter(None, (day_of(when, chinese=chinese) if when else "", f"{hit.path}:{hit.line}")))
    note = f"  ({hit.note})" if hit.note else ""
    return "\n".join(["", f"- {who}{first}", *(f"  {line}" for line in rest), f"  {where}{note}"])


def day_of(when: FileDate, *, chinese: bool) -> str:
    """A file's day, or its month where that is all it has, as a person writes it."""
    day = when.date
    if chinese:
        named = f"{day.year}年{day.month}月"
        return named if when.month else f"{named}{day.day}日 周{_WEEKDAYS[day.weekday()]}"
    return f"{day:%B %Y}" if when.month else f"{day:%a} {day.day} {day:%B %Y}"
