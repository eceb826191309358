"""Relative dates of a sentence written out, so that it still tells the day when the conversation is forgotten."""

from datetime import date, timedelta

from filemem.dates import Mention, mentioned
from filemem.dates.spans import MONTHS, Span, in_month, in_words, month_index
from filemem.statements.utterance import is_chinese, regex
from filemem.statements.verbs import is_past

_SETTLED = r"^(?:today|tonight|this \w+|今[天日晚早年]\w?|这个?[周月]末?|本[周月])"
_FUTURE = (
    r"\b(?:will|shall|going to|gonna|plan(?:s|ning)?|hop(?:e|ing) to|upcoming|soon|want to|(?:am|are|'m|'re) \w+ing)\b|'ll\b|"
    r"[要会将]|打算|准备|计划"
)
_PAST = r"[了过刚]|曾|\bbeen\b"
_WEEKDAY = r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|^(?:周|星期|礼拜)"
_YEARLESS = rf"^(?:(?:{'|'.join(MONTHS)})|\d{{1,2}}月)|^\d{{1,2}}\w{{0,2}} (?:{'|'.join(MONTHS)})"
_YEARLY = r"birthday|anniversary|\bborn\b|\bevery\b|\beach\b|生日|纪念日|每年?"


def dated(text: str, today: date) -> tuple[str, date | None]:
    """The text with relative dates written out, and the first day that it names.

    A weekday or month alone is the last one where the text tells of the past, the next one where it tells of what will be.
    """
    pieces, at, first = [], 0, None
    for found in mentioned(text, today):
        words = text[found.start : found.end]
        mention = _by_tense(text, found, words, today)
        vague = mention.relative and not mention.annotated and _since(words, today)
        if not (mention.annotated or regex(_SETTLED).search(words) or vague) and mention.relative:
            continue
        first = first or mention.span.start
        if vague or mention.annotated or regex(_SETTLED).search(words):
            pieces += [text[at : mention.start], vague or _written(text, mention, words)]
            at = mention.end
    return "".join(pieces) + text[at:], first


def _by_tense(text: str, mention: Mention, words: str, today: date) -> Mention:
    """A weekday, or a date without its year, as the day or month that the text's tense means."""
    bare = not mention.relative and regex(_YEARLESS).search(words) and not regex(r"\d{4}").search(words)
    yearless = bool(bare) and not regex(_YEARLY).search(text)
    if not yearless and not regex(_WEEKDAY).search(words):
        return mention
    if regex(_FUTURE).search(text):
        try:
            span = _year_later(mention.span, today) if yearless else _week_later(mention.span, today)
        except (ValueError, OverflowError):  # 29 February, or beyond the years 1 to 9999
            return mention
        return mention._replace(span=span, annotated=True)
    past = regex(_PAST).search(text) or any(map(is_past, regex(r"[a-z']+").findall(text)))
    return mention._replace(annotated=True) if past else mention


def _year_later(span: Span, today: date) -> Span:
    if span.start > today:
        return span
    index = month_index(span.start) + 12
    return in_month(index, span.start.day, 31 if (span.end + timedelta(1)).day == 1 else span.end.day)


def _week_later(span: Span, today: date) -> Span:
    days = timedelta(7 if span.start < today else 0)
    return Span(span.start + days, span.end + days)


def _since(words: str, today: date) -> str:
    """What is so many weeks ago, no one knows exactly, told from the day on which it was said; empty for anything else."""
    if words.lower().endswith(" ago"):
        return f"{words[:-4]} before {in_words(Span(today, today), False)}"
    return f"{in_words(Span(today, today), True)}的{words}" if regex(r"前$").search(words) else ""


def _written(text: str, mention: Mention, words: str) -> str:
    """A settled date with the preposition that its place asks for: on 7 May 2023; (since) 7 May 2023."""
    if is_chinese(words):
        aged = regex(r"[\d一二三四五六七八九十]{1,3}岁").match(text, mention.end)
        subject = not aged and regex(r"(?:我|们|你|[a-z])$").search(text[: mention.start])
        return (
            ("在" if subject else "") + in_words(mention.span, True) + "".join(regex(r"[晚早][上晨]?$").findall(words))
        )
    label = in_words(mention.span, False)
    if regex(r"\b(?:about|around|roughly)\s+$").search(text[: mention.start]):
        return label
    if regex(r"\b(?:over|almost|nearly|than)\s+$").search(text[: mention.start]):
        return words
    if words.lower().endswith(("'s", "’s")):
        return f"the {label}"
    opens = regex(r"(?:^|[,;:.!?–-]|\b(?:and|but|so))\s*$").search(text[: mention.start])
    if opens and regex(r"\s*(?:was|is|has|will|were|'s)\b").match(text, mention.end):
        return f"the week of {label}" if _preposition(mention.span, words) == "in the week of" else label
    before = regex(
        r"\b(in|on|since|from|until|till|for|by|of|before|after|to|during|over|around|the|between|between \S[^,;.]{0,30} and)\s+$"
    ).search(text[: mention.start])
    if before:
        return label
    return f"{_preposition(mention.span, words)} {label}"


def _preposition(span: Span, words: str) -> str:
    if regex(r"\bweekend").search(words):
        return "on the weekend of"
    if regex(r"\b(?:night|evening|tonight)").search(words):
        return "on the evening of"
    if span.start == span.end:
        return "on"
    whole = span.start.day == 1 and (span.end.day >= 28)
    return "in" if whole else "in the week of" if (span.end - span.start).days == 6 else "around"
