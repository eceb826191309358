"""Relative dates of a sentence written out, so that it still tells the day when the conversation is forgotten."""

from datetime import date

from filemem.dates import Mention, mentioned
from filemem.spans import Span, in_words
from filemem.utterance import is_chinese, regex


def dated(text: str, today: date) -> tuple[str, date | None]:
    """The text with relative dates written out, and the first day that it names."""
    pieces, at, first = [], 0, None
    for mention in mentioned(text, today):
        words = text[mention.start : mention.end]
        settled = mention.annotated or regex(
            r"^(?:today|tonight|this \w+|今[天日晚早年]\w?|这个?[周月]末?|本[周月])"
        ).search(words)
        if not settled and mention.relative:
            continue
        first = first or mention.span.start
        if settled:
            pieces += [text[at : mention.start], _written(text, mention, words)]
            at = mention.end
    return "".join(pieces) + text[at:], first


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
        r"\b(in|on|since|from|until|till|for|by|of|before|after|to|during|over|around|the|between|and)\s+$"
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
