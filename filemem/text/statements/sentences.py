"""The sentences of what somebody said, as they wrote them, and what each of them does. English and Chinese."""

import functools
import re
from typing import NamedTuple

from filemem.text.statements import table
from filemem.text.terms import CJK, simplified, split_captions

LONGEST = 4_000  # characters of a turn that are looked at, so that no pattern meets an endless text
TELLING = "telling"
HEADING = 30  # characters of a heading that stands above a list of one's own
PASTED_LINES = 12  # a message of more lines is somebody's text, not somebody's talk

_PAUSE = re.compile("(?<=[\u4e00-\u9fff])[ \u3000]+(?=[\u4e00-\u9fff])")
_HAN = re.compile(f"[{CJK}]")
_LATIN = re.compile("[A-Za-z]+")
_APOSTROPHES = str.maketrans("’‘`´", "''''")
_EMOJI = re.compile("[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
# A sentence ends behind its mark where white space and no small letter follow; a Chinese one right behind its mark.
_END = re.compile(
    r"(?<=[.!?…])[\"”')\]]*(?:\s*[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+)*\s+(?=[^a-z\s])|(?<=[!?])\s+(?=[a-z])"
    r"|(?<=[。！？…])(?:[”’」』）]+\s*|\s*)(?![。！？…”’」』）\s])|\s*\n\s*"
)
_SMALL_END = re.compile(r"(?<=[\w)][.!?…])\s+(?=[a-z])")  # where nobody uses capitals
_NO_END = re.compile(r"(?:\b[A-Z]|\b(?i:mr|ms|mrs|dr|st|vs|e\.g|i\.e|a\.m|p\.m|approx|ave))\.$")
_MARKER = (
    r"(?:\(?(?:\d{1,3}|[a-z]|[一二三四五六七八九十]{1,3})(?:[.)]\s|[、．）])|（[\d一二三四五六七八九十]{1,3}）"
    r"|[①-⑳]|[-*•‣·>]\s|step \d+\b)"
)
ITEM = re.compile(rf"^[^\S\n]*{_MARKER}|[①-⑳]", re.MULTILINE | re.IGNORECASE)
# The stop of "1.", which ends no sentence.
_ITEM_END = re.compile(r"^[^\S\n]*\(?(?:\d{1,3}|[a-zA-Z])\.\Z", re.MULTILINE)
_QUOTE = re.compile(r"[\"“「『]([^\"”」』]{2,})[\"”」』]?|(?<!\w)'([^']{12,})'(?!\w)")
_WHOLE = re.compile(r"[.!?。！？]\W$")  # a quotation of a sentence
_FOREIGN = re.compile(
    r"^\s*(?:from|to|subject|date|sent|cc|fwd?|re|发件人|收件人|主题|日期|转发|回复)\s?[:：]\s?\S|^\s*>|```|^~~~"
    r"|^-{3,}\s*(?:original|forwarded|转发|原)|^begin forwarded|^(?:on|am|le) .{6,80} (?:wrote|schrieb|a écrit)\s?:",
    re.IGNORECASE | re.MULTILINE,
)
_TO_WORK_ON = re.compile(
    r"\b(?:translat\w+|summari[sz]e\w*|proof-?read|rewrite|rephrase|paraphrase|correct|edit|fix|polish|improve|check|shorten"
    r"|reply to|respond to|answer|review|read|explain|turn|convert|what does|transcribe|spell|analy[sz]e|say|write|draft)\b"
    r".{0,80}?(?:[:：]|\bthis\b|\bfollowing\b|\bbelow\b|\bfor me\b|[\"“])"
    r"|(?:翻译|翻成|译成|译一下|总结|概括|润色|修改|改写|校对|改一下|看看|读一下|写|回复|解释|朗读|扩写|缩写).{0,24}?(?:[:：]|[“「])",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(  # the head of what another one wrote: "my colleague wrote:"
    r"\b(?:wrote|writes|says|said|asks|posted|texted|sent|reads|goes|replied|e-?mail\w*|message|letter|article|page|memo|notice|sign"
    r"|draft|prompt|(?<!ground )(?<!house )rules|instructions"
    r"|transcript)\b[^:：]{0,30}[:：]|(?:写道|写着|说|发来的?|发给我的?|内容|原文|邮件|短信|通知|提示|规定|网页)\s?[:：]",
    re.IGNORECASE,
)
_OWN_CLAUSE = re.compile(
    r"[,，;；]\s*(?=(?:i'm|i’m|im|i am|i've|i have|my)\b|我(?![想要该能会得需应可]))", re.IGNORECASE
)
_LEAD = re.compile(  # what an order may stand behind: a heading, or why somebody wants to be answered so
    r"(?:(?:(?:ground|house|basic|my) )?rules?(?: for you)?|one thing|(?:two|a few|some) things|heads up|fyi"
    r"|just so you know|how i(?:'d)? (?:like|want|prefer) (?:my|your|the) (?:answers|replies))\s?[:,]\s*"
    r"|my (?:eyes?|eyesight|hearing|english|hands?|memory)\b[^,;:.!?]{2,40}[,;] (?:so |please )*"
    r"|(?:几[条个点]规矩|规矩|约定|[一两几][点件]事?|先说好)[：:，,]|我(?:眼|耳|手|记性|文化|英[文语]|中文|普通话)[^，。！？：:]{1,12}[，,](?:所以|请|你)*",
    re.IGNORECASE,
)
_FOR_ANOTHER = re.compile(
    r"\b(?:write|draft|say|tell|text|message|translat\w+|pretend|imagine|act|play|be|poem|story|song|letter|email)\b"
    r"|写|[说讲]|告诉|翻|译|假装|扮|演|装|回复|发|编",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"\b(?:said|says|wrote|writes|texted|sent|asked|goes|told|posted|reads|replied|quote)\b.{0,30}$|(?:说|写道|写着|问|发|喊|回)(?:了|的|我)?.{0,8}$",
    re.IGNORECASE,
)


class Utterance(NamedTuple):
    """What `speaker` said in one go; `line` is where it stands in its file, passed through and never looked at."""

    speaker: str
    text: str
    line: int = 0


class Sentence(NamedTuple):
    """A sentence as it was written, what it does, and its language, `en` or `zh`."""

    text: str
    role: str
    language: str


def is_chinese(text: str) -> bool:
    """Whether most of the text's words are CJK characters."""
    return len(_HAN.findall(text)) > len(_LATIN.findall(text))


def language_of(text: str) -> str:
    """The language of a text, as the tables name it: `en` or `zh`."""
    return "zh" if is_chinese(text) else "en"


def sentences(text: str) -> list[Sentence]:
    """The sentences of what was said, in order, captions of pictures left out."""
    parts = split(split_captions(text[:LONGEST])[0])
    return [one for part in parts for one in _with_own_clause(Sentence(part, role(part), language_of(part)))]


def split(text: str) -> list[str]:
    """The text cut into sentences, each as it was written, list items and quoted lines whole."""
    small = not re.search(r"[.!?]\s+[A-Z]", text)
    pieces: list[str] = []
    at = 0
    ends = [*_END.finditer(text), *(_SMALL_END.finditer(text) if small else ())]
    for match in sorted(ends, key=lambda match: match.start()):
        before = text[at : match.start()]
        closing = re.match(r"[\"”')\]’」』）]*", match[0])
        stops = _NO_END.search(before) or _ITEM_END.search(text, text.rfind("\n", 0, match.start()) + 1, match.start())
        if match.start() < at or (stops and "\n" not in match[0]):
            continue
        pieces.append(before + (closing[0] if closing else ""))
        at = match.end()
    pieces.append(text[at:])
    return [part.strip() for part in pieces if re.search(r"\w", part)]


@functools.lru_cache(maxsize=10_000)
def plainly(sentence: str) -> str:
    """The sentence as patterns read it: standard words, straight apostrophes, no emoji, no quotations, on one line; and a comma
    for each space between Chinese words, which many set in its place."""
    said = table.in_standard_words(_EMOJI.sub(" ", sentence.translate(_APOSTROPHES)))
    said = _PAUSE.sub("，", said)
    return " ".join(_QUOTE.sub(_few_words, said).split())


def _few_words(quote: re.Match[str]) -> str:
    """A quotation of a few words as it stands; nothing of one of whole sentences."""
    return quote[0] if len(quote[0]) < 14 and not _WHOLE.search(quote[0]) else " … "


def role(sentence: str, language: str = "") -> str:
    """What a sentence does: the first row of the table that fits, else it tells something.

    One that mixes both languages is read by the patterns of both."""
    said, language = plainly(sentence), language or language_of(sentence)
    mixed = _HAN.search(said) and len(_LATIN.findall(said)) > 1
    languages = (language, "zh" if language == "en" else "en") if mixed else (language,)
    names = (row["name"] for row in table.rows("role"))
    found = next((name for name in names for one in languages if table.search("role", name, said, one)), TELLING)
    return "instruction" if found == TELLING and any(_ordered(said, one) for one in languages) else found


def _ordered(said: str, language: str) -> bool:
    """Is what stands behind a heading or a reason how the assistant is to behave: "ground rules: no emojis", "my eyes are bad,
    keep it short"?"""
    lead = _LEAD.match(said)
    return lead is not None and table.search("role", "instruction", said[lead.end() :], language) is not None


def own_sentences(text: str) -> list[Sentence]:
    """The sentences that are the speaker's own talk: none of a text that they quote, forward, paste or hand over to be worked on.

    What follows a request such as "translate this:" or a head such as "he wrote:" is no talk, nor are list items but those
    under a heading of the speaker's own; a message of many lines is none at all.
    """
    if _FOREIGN.search(simplified(text)) or text.count("\n") >= PASTED_LINES:
        return []
    if listed := _own_list(text):
        return [listed]
    own: list[Sentence] = []
    for sentence in sentences(text):
        if sentence.role in ("request", "question") and hands_over(sentence):
            break
        if _INTRODUCES.search(simplified(sentence.text)):
            break
        if not ITEM.search(sentence.text) and not quotes_another(sentence.text):
            own.append(sentence)
    return own


def _own_list(text: str) -> Sentence | None:
    """A list under a short heading of the speaker's own, "my family", as one sentence; None for any other text."""
    heading, *items = sentences(text) or [Sentence("", TELLING, "en")]
    told = all(ITEM.match(one.text) and role(ITEM.sub("", one.text, count=1)) == TELLING for one in items)
    own = heading.role == TELLING and table.sign("first person", plainly(heading.text))
    if not own or not told or not items or len(heading.text) > HEADING or ITEM.search(heading.text):
        return None
    return Sentence(" ".join(text.split()), TELLING, language_of(text))


def _with_own_clause(sentence: Sentence) -> list[Sentence]:
    """A sentence; behind a request what its speaker says of themselves, "recommend a place, I'm allergic to nuts", by itself."""
    match = _OWN_CLAUSE.search(sentence.text) if sentence.role == "request" else None
    if not match or _FOR_ANOTHER.search(simplified(sentence.text[: match.start()])):
        return [sentence]
    clause = sentence.text[match.end() :]
    if role(clause, sentence.language) != TELLING:
        return [sentence]
    return [sentence._replace(text=sentence.text[: match.start()]), Sentence(clause, TELLING, sentence.language)]


def hands_over(sentence: Sentence) -> bool:
    """Does a request hand a text over to be worked on, such as one to translate, or whatever it has behind a colon?"""
    text = sentence.text
    asked = sentence.role == "question" and text.endswith((":", "："))
    behind = sentence.role == "request" and re.search(r"[:：]\s+\w.{8}(?!.*[?？])|：\w.{4}(?!.*？)", text)
    return bool(asked or behind or _TO_WORK_ON.search(simplified(text)))


def quotes_another(sentence: str) -> bool:
    """Does the sentence hold little but a quotation of some length behind a word such as "said", or is it one?"""
    quote = max(_QUOTE.finditer(sentence.translate(_APOSTROPHES)), key=lambda match: len(match[0]), default=None)
    if quote is None:
        return False
    enough = 6 if is_chinese(quote[0]) else 16
    before = sentence[: quote.start()].rstrip(" :：,，")
    if table.sign("settles", ",".join(re.split(r"[,，;；]", before)[:-1])):
        return False  # clauses of the speaker's own stand before it
    return len(quote[0]) >= enough and (bool(_REPORTS.search(simplified(before))) or 2 * len(quote[0]) > len(sentence))
