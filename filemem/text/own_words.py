"""What of a message is a person's own talk, told by structure alone: not quoted, fenced, labelled, marked up or pasted.

Whose words a sentence is when nothing marks it, a model says; nobody guesses it from its language.
"""

import re

_FENCE = re.compile(
    r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)
_QUOTED = re.compile(
    "[\"“„][^\"“”„]+[\"”]|「[^「」]+」|『[^『』]+』|(?<!\\w)'[^'\n]{12,}'(?!\\w)|《[^《》]+》"
)
_QUOTE_LINE = re.compile(r"^[ \t]*[>＞].*$", re.MULTILINE)
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?!br\b|hr\b|img\b)([a-zA-Z][\w-]*)(?=[\s>/])[^<>]*(?<!/)>.*?(?:</\1\s*>|\Z)",
    re.DOTALL,
)
_CLOCK = r"\[?\(?(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}[ T,]*)?\d{1,2}[:：]\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?\)?\]?"
_LABEL = re.compile(  # [10:02] Tom: …, Tom 10:02 over a line, From: …, **Tom**: …
    rf"^[ \t]*(?:{_CLOCK}[ \t,，-]*(?:\*\*)?(?P<clocked>[^\n:：]{{1,30}}?)(?:\*\*)?[ \t]*[:：]"
    rf"|(?:\*\*)?(?P<named>[^\W\d_][^\n:：,，.。!！?？]{{0,28}}?)(?:\*\*)?[ \t]+{_CLOCK}[ \t]*(?:[:：]|$)"
    r"|(?:\*\*)(?P<bold>[^*\n]{1,30})(?:\*\*[ \t]*[:：]|[:：][ \t]*\*\*)"
    r"|(?P<head>[A-Z][\w.'’-]{0,20}(?: [A-Z][\w.'’-]{0,20}){0,2}|[\u4e00-\u9fff]{2,4})[:：](?=[ \t]*\S))",
    re.MULTILINE,
)
_HANDED_OVER = re.compile(
    r"[:：][ \t]*\n(?=[ \t]*\n|(?![ \t]*(?:[-*•·]|\(?\d{1,3}[.)、]))[^\n]{60})"
)
_PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_CODE = re.compile(
    r"(?:[{}]|\w\([^()\n]{0,80}\)[ \t]*[:;])[ \t]*$", re.MULTILINE
)  # home():
_RULE = re.compile(r"^[ \t]*[-=_*]{3,}.*$", re.MULTILINE)


def own_part(text: str, name: str = "") -> str:
    """The text with blanks in the place of what is not the own talk of the person called `name`, as long as before.

    Behind another's label, a ruler or a colon that ends a line with a block below it, all is another's.
    """
    kept = list(text)

    def blank(start: int, end: int) -> None:
        kept[start:end] = [one if one == "\n" else " " for one in kept[start:end]]

    for pattern in (_FENCE, _QUOTE_LINE, _QUOTED, _MARKUP):
        for match in pattern.finditer(text):
            blank(*match.span())
    for match in _PARAGRAPH.finditer(text):
        if _CODE.search(match[0]):
            blank(*match.span())
    labels = list(_LABEL.finditer(text))
    heads = {
        match["head"] for match in labels if match["head"]
    }  # one alone is a heading, several are a dialogue
    said = [match for match in labels if not match["head"] or len(heads) > 1]
    names = {
        match.start(): next(filter(None, match.groups()), "").strip() for match in said
    }
    begins = [
        at for at, speaker in names.items() if speaker.casefold() != name.casefold()
    ]
    begins += [match.start() for match in _RULE.finditer(text)] + [
        match.end() for match in _HANDED_OVER.finditer(text)
    ]
    if begins:
        blank(min(begins), len(text))
    return "".join(kept)
