"""Whether a date that may be past or to come is the one or the other, by the words that it depends on.

A bare weekday, a day or month without a year: `we met on Friday`, `a flight for 20 April`, 3月27号去了. What settles it is the
preposition before it and its own verb, the last one before it in its clause, or the first one behind where none is before.
Anything else in between that might have the date for its own (`told me about the exam on Friday`) leaves it unsettled.
"""

import re
from collections.abc import Iterator

from filemem.text.dates.datewords import CJK, MON, WEEKDAY_NAME, regex

PAST, COMING, UNSETTLED = -1, 1, 0

_END = (
    r"[.!?;:()\"“”\n]|(?<!\[)\[(?!\[)|(?<!\])\](?!\])|\s[-–—]\s|[—…]|,\s{1,3}(?:so|then|or)\b"
    r"|\b(?:and|but|because|which|who|that|when|while|though|although|whereas|where|than|what|how|why|after|before)\s"
)
_DOUBT = (
    r"\b(?:if|unless|would|could|should|might|may|wish\w*|imagin\w+|suppos\w+|used\sto|usually|always|every|each|often|"
    r"normally|sometimes|typically|generally|whenever|pretend\w*|dream\w*|like|"
    r"once|back\sthen|as\sa\s(?:kid|child)|years?|about|regarding|instead|rather)\b|['’]d\b"
)
_ELSEWHEN = (
    r"\b(?:(?:last|past|previous|that|next|following)\s(?:week|month|year|spring|summer|fall|autumn|winter)|ago|(?:19|20)\d\d|"
    r"yesterday|tomorrow)\b|[上下][个個]?[周週月星礼]|[去前明]年|那年|天前|年前|昨天|\d年"
)  # what is told of another time has its own Mondays
_EVERY_YEAR = r"\b(?:born|birth\w*|b-?day|anniversar\w*)|[生诞]日|纪念日|出生"
_YEARLY = (
    r"\b(?:annual\w*|yearly|(?!last|first|best)\w+\sday|holiday|festival"
    r"|season|christmas|easter|eve)\b"
)
_ADVERBS = (
    r"(?:\s(?:\w+ly|not|also|still|just|so|very|super|pretty|too|all|both|now|already|soon|I|you|we|they|he|she|it))?"
)
_NOT_DOING = (
    r"(?:morning|evening|\w*thing|wedding|king|ring|spring|string|ceiling|during|amazing|boring|"
    r"interesting|exciting|surprising|outstanding|missing|being|willing)\b"
)
_IRREGULAR = (
    "went came drove flew saw met took got ate drank ran rode wrote made bought brought caught taught built did gave held "
    "kept left lost paid sang sat slept spent stood swam threw won woke wore began broke chose fell felt forgot grew hid "
    "knew lay led rose sent shook spoke stole struck swept tore hung dug fed fought laid lit sold sought"
).split()
_NO_VERB = (
    "need|indeed|feed|speed|seed|weed|bed|red|shed|hundred|sacred|naked|breed|bleed|greed|exceed|proceed|succeed|freed"
)
_VERBS = {
    "doubt": r"(?:was|were|wasn['’]t|weren['’]t|been|had)(?:\s\w+ly)?\s(?:going|supposed|planning|meant|about|hoping|due|"
             r"scheduled|set|planned|expected|to|seeing|meeting|having|leaving|flying|"
             r"coming|starting|moving|getting|taking)\b|(?:said|says?|told|thought|heard|knew|mentioned|announced|asked|learned|"
             r"learnt|found|wanted|hoped|planned|decided|promised|agreed|expected|turned\sout)\b",
    "coming": r"(?:will|shall|won['’]t|gonna|let['’]s|see\sy(?:ou|a)|looking\sforward\sto)\b|(?:['’]ll)\b"
              rf"|(?:\b(?:am|is|are|isn['’]t|aren['’]t)|['’](?:m|re|s)){_ADVERBS}\s"
              rf"(?:going\sto|about\sto|(?!{_NOT_DOING})\w{{2,}}ing)\b"
              r"|(?:plan|hope|want|intend|wait)(?:s|ing)?\sto\b",
    "perfect": rf"(?:\b(?:have|has|haven['’]t|hasn['’]t)|['’]ve|['’]s){_ADVERBS}\s(?:been|\w{{2,}}ed|{'|'.join(_IRREGULAR)}"
               r"|done|gone|seen|taken|eaten|written|given)\b(?<!got)",
    "present": rf"(?:\b(?:am|is|are|isn['’]t|aren['’]t)|['’](?:m|re|s)(?=\s)){_ADVERBS}(?:\s\w{{2,}}ed\b)?"
               r"|(?:(?:have|has)|['’]ve)(?:\sgot)?\b|(?:starts|begins|opens|ends|closes|leaves|departs|arrives|lands)\b"
               r"|(?:I|we|they)\s(?:start|begin|leave|fly|land|arrive|finish|return)\b",
    "past": rf"(?:was|were|wasn['’]t|weren['’]t|did|didn['’]t|had|{'|'.join(_IRREGULAR)})\b|(?!(?:{_NO_VERB})\b)\w{{2,}}ed\b",
}  # fmt: skip
_ADJECTIVE = (
    r"\b(?:an?|the|my|our|his|her|their|your|this|that|these|some|any|no|newly|very|so|too|really|most|of|with)\s$"
)
_MOVED = r"\b(?:moved|pushed|postponed|rescheduled|delayed|shifted|changed)\s(?:\w+\s){0,3}to\s$"
_BOOKED = (
    r"\b(?:booked|reserved|arranged|scheduled|(?:got|bought|have|has|grabbed|ordered|secured|made|paid)\b.{0,40}\b"
    r"(?:tickets?|table|flights?|room|reservations?|booking|appointment|seats?|train|deposit))\b.{0,60}\bfor\s$"
)
_TRAVELLED = (
    r"(?:went|came|drove|flew|walked|moved|travell?ed|returned|headed|ran|rode|took|hiked|brought|visited|stopped)"
)
_ATTENDED = (
    rf"(?:{_TRAVELLED}|had|attended|did|played|hosted|threw|celebrated|was|were|held|completed|finished|performed|enjoyed|"
    r"watched|joined|made|organi[sz]ed|won|lost|led|gave|taught|passed|failed|saw)"
)
_EVENT = (
    r"\b(?:exam|test|meeting|appointment|party|wedding|concert|gig|flight|trip|game|match|interview|deadline|ticket|show|"
    r"class|course|conference|festival|race|marathon|tournament|competition|contest|event|visit|holiday|vacation|ceremony|"
    r"launch|exhibit\w*|recital|reunion|session|workshop|performance|tour|camp|retreat|fundraiser|presentation|date|"
    r"surgery|operation|convention|opening|premiere|move|delivery|job|plan|release|gala|shift|fair|semester|term)s?\b"
)
_NOT_ITS = (
    r"\b(?:for|starting|beginning|opening|coming|happening|leaving|arriving|planning|thinking|hoping|talking|going|looking|"
    r"waiting|taking|scheduled|planned|booked|due)\b"
)
_PLACE = r"(?:the|an?|my|our|his|her|their|your|this|that|its|me|him|us|them|it|you|[A-Z]\w*)\b"
_PREPOSITION = r"(?:^|[\s,])(on|in|since|by|until|till|from|for|to|around|early|late|over|during|of|at|the\send\sof)\s$"
_NO_ONE_DAY = (
    r"\b(?:an?|one|that|the|some|any|most|another|those|following|previous|first|second|third|good|great|nice|lovely|lazy|"
    r"busy|quiet|crazy|fun|bad|wonderful|typical|normal|perfect|long|rough|sunny|rainy|same|other|happy|(?!On|In|Since|By|Until|From|Last)[A-Z]\w+)\s$"
)
_GOES_ON = (
    r"(?:['’]s)?\s{0,2}(?:$|[,.!?;:)\"”…\n\[—–-]|(?:at|with|and|but|so|for|in|to|because|when|after|before|from|by|about|around|"
    r"as|where|we|i|he|she|they|it|you|my|our|was|were|is|are|will|i['’]\w+|we['’]\w+|the(?!\s\d)|of|until|till|on|this|"
    r"instead|too|again|or|though|here|there|then|if|morning|afternoon|evening|night|lunchtime|who|which|that|not)\b)"
)
_LIST = (
    r"\s{0,2}(?:-|–|/|,?\s?(?:to|and|or|through|till|until)\s|,\s?)\s?(?:on\s)?"
    rf"(?:{WEEKDAY_NAME}\b|{MON}\s|\d{{1,2}}(?:st|nd|rd|th)?\b)"
)


def direction(text: str, start: int, end: int, *, weekly: bool) -> int:
    """PAST, COMING or UNSETTLED for the date at `text[start:end]`; `weekly` if it is a weekday, which may be any week's."""
    if regex(_ELSEWHEN).search(text, max(0, start - 200), start) or regex(_EVERY_YEAR).search(
        _sentence(text, start, end)
    ):
        return UNSETTLED
    if regex(CJK).search(text, start, end):
        return _chinese(text, start, end, weekly=weekly)
    if _quoted(text, start) or regex(_LIST).match(text, end) or (weekly and not regex(_GOES_ON).match(text, end)):
        return UNSETTLED
    ends = [match.end() for match in regex(_END).finditer(text, max(0, start - 200), start)]
    before = re.sub(r"\s+", " ", text[max([0, start - 200, *ends]) : start])
    before = before if weekly else before.removesuffix("the ")
    stop = regex(_END).search(text, end, end + 120)
    after = re.sub(r"\s+", " ", text[end : stop.start() if stop else end + 120])
    found = regex(_PREPOSITION).search(before)
    preposition = found[1].lower() if found else ""
    if (
        regex(_DOUBT).search(before)
        or regex(_DOUBT).search(after)
        or regex(_NO_ONE_DAY, 0).search(text[max(0, start - 32) : start])
    ):
        return UNSETTLED
    if regex(_BOOKED).search(before):
        return COMING
    if regex(_MOVED).search(before):
        return UNSETTLED if weekly else COMING
    if preposition == "since":
        return UNSETTLED if regex(r"\s(?:is|was|are|were|will)\b").match(after) else PAST
    return _by_verb(before, after, preposition, weekly=weekly)


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around a place, as far as 200 characters."""
    ends = [match.end() for match in regex(r"[.!?。！？\n]\s?").finditer(text, max(0, start - 200), start)]
    stop = regex(r"[.!?。！？\n]").search(text, end, end + 200)
    return text[max([0, start - 200, *ends]) : stop.start() if stop else end + 200]


def _quoted(text: str, start: int) -> bool:
    """Does somebody else's speech go on there, whose day may be another?"""
    before = text[max(0, start - 1000) : start]
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”")


def _by_verb(before: str, after: str, preposition: str, *, weekly: bool) -> int:
    """What the verb says that a date with this before and behind it depends on."""
    found = list(_verbs(before))
    kind, verb, rest = "", "", ""
    if found:
        kind, match = found[-1]
        verb, rest = match[0], before[match.end() :]
    elif len(before.split()) <= 6 and (first := next(_verbs(after[:60]), None)):
        kind, verb = first[0], first[1][0]
    if kind == "past":
        told = any(other == "doubt" for other, _ in found)  # she said that it closed
        elsewhere = preposition in ("for", "to", "by", "until", "till", "from", "of")
        return UNSETTLED if told or elsewhere or not _owns(verb, rest) else PAST
    if kind in ("coming", "present") and ("," in rest or regex(r"\b(?:i|we|he|she|they|there)\b").search(rest)):
        return UNSETTLED
    if kind == "coming":
        return COMING if preposition != "of" else UNSETTLED
    if kind == "present" and preposition in ("until", "till", "by", "the end of"):
        return COMING
    if kind == "present" and not weekly and preposition in ("on", ""):
        return UNSETTLED if regex(_YEARLY).search(before + after) else COMING
    return UNSETTLED


def _verbs(clause: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The verbs of a clause in order, each with its kind, adjectives made of verbs left out."""
    pattern = "|".join(f"(?P<{kind}>{words})" for kind, words in _VERBS.items())
    for match in regex(rf"(?:\b|(?=['’]))(?:{pattern})").finditer(clause):
        kind = match.lastgroup or ""
        if not (kind == "past" and match[0].endswith("ed") and regex(_ADJECTIVE).search(clause, 0, match.start())):
            yield kind, match


def _owns(verb: str, rest: str) -> bool:
    """Is a date behind a verb in the past, with `rest` between them, that verb's own?"""
    if regex(r"(?:did|was|were)(?:n['’]t)?$").match(verb):  # did we meet
        rest = regex(r"^\s(?:i|we|he|she|they|you|it)\b").sub("", rest)
    if (
        "," in rest
        or len(rest.split()) > 9
        or regex(r"\b(?:i|we|he|she|they|there)\b|\s(?:it|you)\s\w+s?\s").search(rest)
    ):
        return False
    if regex(rf"{_TRAVELLED}$").match(verb):
        return True
    if regex(r"\bto\s(?!" + _PLACE + ")", 0).search(rest) or regex(_NOT_ITS).search(rest):
        return False
    return not regex(_EVENT).search(rest) or regex(rf"{_ATTENDED}$").match(verb) is not None


# --- Chinese ---------------------------------------------------------------------------------------------------------

_CLAUSE = r"[，。！？；：,.!?;:\n“”\"（）()]|然后|但是?|因为|所以"
_ZH_DOUBT = r"[每如若假]|要是|以后|经常|总是|一般|通常|平时|应该|可能|也许|大概|[吗么嘛]|还是|或"
_ZH_COMING = r"(?:打算|准备|计划|约好|约在|约了|定在|订在|定了|订了|预约|预计|买了|报名)了?[^了过]{0,6}$"
_ZH_MOVED = r"(?:改到|改成|改在|改签成?|推到|推迟到|延到|挪到|提前到)$"
_ZH_WILL = r"^.{0,6}?(?:要|会|将)(?![议员点有是不])|(?:要|会|将)$"
_ZH_PAST = (
    r"^[^的要会将想]{0,8}?[^为除极算不到]?[了过](?![来去年节期])|^[^了过要会将想]{1,8}的$|^[^的要会将想]{1,10}了$"
)


def _chinese(text: str, start: int, end: int, *, weekly: bool) -> int:
    """The same of a Chinese date: aspect behind it, 打算 or 改到 before it."""
    ends = [match.end() for match in regex(_CLAUSE).finditer(text, max(0, start - 60), start)]
    before = text[max([0, start - 60, *ends]) : start].strip()
    stop = regex(_CLAUSE).search(text, end, end + 40)
    after = text[end : stop.start() if stop else end + 40].strip()
    if regex(_ZH_DOUBT).search(before + after) or _quoted(text, start):
        return UNSETTLED
    if regex(_ZH_COMING).search(before):
        return COMING
    if regex(_ZH_MOVED).search(before):
        return UNSETTLED if weekly else COMING
    if regex(r"^(?:[的那这至和、]|到(?![的了]))").search(after) or regex(r"[从到至过等]了?$|除了?$").search(before):
        return UNSETTLED
    if regex(_ZH_WILL).search(after) or regex(r"(?:要|将)$").search(before):
        return UNSETTLED if weekly else COMING
    return PAST if regex(f"^(?:以来|{_ZH_PAST})").search(after) else UNSETTLED
