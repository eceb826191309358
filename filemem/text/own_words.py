"""What of a message is a person's own talk, told by structure alone: not quoted, fenced, labelled, marked up or pasted.

Whose words a sentence is when nothing marks it, a model says; nobody guesses it from its language.
"""

import re

from filemem.text import terms

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


LONGEST = 300  # characters of a quote that are looked for
_THOUSANDS = re.compile(r"(?<=\d)[,，.](?=\d{3}(?!\d))")
_COUNTED = re.compile(r"(\d+(?:\.\d+)?)\s*(thousand|k(?!\w)|million|千|万|萬)")
_TIMES = {
    "thousand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "千": 1_000,
    "万": 10_000,
    "萬": 10_000,
}
_BRACKETS = re.compile(r"(?<!\[)\[[^\[\]\n]*\](?!\])")


def comparable(text: str) -> str:
    """Letters and digits alone, in one form: width, case, accents, thousands (9 thousand, 9,000), what stands in brackets."""
    folded = terms.fold(_BRACKETS.sub(" ", text.replace("[[", "").replace("]]", "")))
    return re.sub(r"[\W_]+", "", one_form_of_numbers(folded))


def one_form_of_numbers(text: str) -> str:
    """The text with 9,000, 9.000 and 9 thousand as 9000."""
    return _COUNTED.sub(
        lambda m: f"{float(m[1]) * _TIMES[m[2]]:.0f}", _THOUSANDS.sub("", text)
    )


def stands_in(quote: str, text: str) -> bool:
    """Do the words of a quote stand in a text, in runs, but for a quarter that a model misspells, puts right or leaves out?"""
    words, whole = comparable(quote[:LONGEST]), comparable(text)
    size, found, at = len(words), 0, 0
    least = (
        2 if terms.is_chinese(words) else max(2, min(6, size))
    )  # a shorter run stands in any long text
    while at + least <= size:
        end = at + least
        if words[at:end] not in whole:
            at += 1
            continue
        while end < size and words[at : end + 1] in whole:
            end += 1
        found, at = found + end - at, end
    return size > 1 and 4 * found > 3 * size
