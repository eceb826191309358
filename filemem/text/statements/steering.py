"""Which of a person's messages may say how the assistant is to behave: short, plain talk that nobody else can have written.

What shows no sign of another's hand passes; what shows any does not. A wish that is not taken up is said again, an order
that is stands in every prompt. Pure functions, English and Chinese.
"""

import re
from collections.abc import Sequence

from filemem.text.statements import table
from filemem.text.statements.sentences import ITEM, TELLING, Sentence, language_of, plainly, role, sentences
from filemem.text.terms import simplified

LONGEST = {"en": 300, "zh": 120}  # characters of a message
LEAST = {"en": 120, "zh": 40}  # characters of a message that may bring a text beside announcing it
LINES = 3
NEAR = 4  # messages right before one, in which it may be announced as another's text
FEW = 6  # words of a sentence that only adds to an order
ORDERS = ("instruction", "remember")
ASKING = ("question", "request")

_SHAPED = re.compile(
    r"[@$§→⇒※‚〈〉【】\"“”„«»‹›「」『』《》`<>|{}\[\]#*_\\]|~~|==|--|\n\s*\n|\w://|(?<!\w)'[^']{12,}'(?!\w)|//|(?<!\w)[‘’]|[‘’](?!\w)"
)
_UNWANTED = re.compile(  # a few words that the assistant is not to use
    r"\b((?:never|don'?t|do not|avoid|stop)(?: \w+){1,3}) [\"“]([\w' ]{2,24})[\"”]", re.IGNORECASE
)
_LEADS = re.compile(r"(?<=[\w)）])\s?[:：](?![\d)(DP/-])")
_MAY_LEAD = re.compile(
    r"\b(?:remember|things?|favou?rs?|requests?|rules?|i(?:'d)? (?:like|want|prefer) (?:my|your|the) (?:answers|replies))$"
    r"|(?:记住|记一下|请求|要求|规矩|[一两二三几][点件]事?)$",
    re.I,
)
_CLAUSE = re.compile(r"[,，;；:：]")
_CLAUSE_END = re.compile(r"(?:[,，;；:：.]|\b(?:so|and|but))\s*$", re.IGNORECASE)
_WORD = re.compile(r"\b[a-z]|[\u3400-\u9fff]", re.IGNORECASE)
_SIGNED = re.compile(
    r"\b(?:best|regards|sincerely|cheers|yours)\b(?: wishes)?[,.]?\s+(?-i:[A-Z])\w+\W*$"
    r"|(?:--?|[–—]+)\s?\w+\W*$|(?:祝好|此致|敬礼|敬上|谨上|谨启)",
    re.IGNORECASE,
)
_GREETED = (
    r"^\W*(?:(?:dear|hi|hey|hello|good \w+|亲爱的|尊敬的|嗨|你好|您好)[,，\s]*)?{owner}\s*(?:[,，:：!！.。]|你好|您好)"
)


def may_steer(text: str, owner: str, before: Sequence[str], answered: str) -> bool:
    """May a message of `owner` steer: plain talk that nobody announced as another's text in the messages `before`, and that
    the assistant did not ask for in the one that it `answered` just before, empty for none?"""
    asked_for_text = table.sign("asking for a text", answered[-LONGEST["en"] :])
    return plain_talk(text, owner) and not asked_for_text and not any(map(announces, before))


def plain_talk(text: str, owner: str) -> bool:
    """Is a message of `owner` short talk of their own: no quotation, list, markup, heading, letter or word of another text?

    Each of its sentences begins with a letter, not with a sign, a number or an emoji that leads to what follows."""
    language = language_of(text)
    text = _UNWANTED.sub(r"\1 \2", simplified(text.strip()))
    if len(text) > LONGEST[language] or text.count("\n") >= LINES or _SHAPED.search(text) or ITEM.search(text):
        return False
    if _SIGNED.search(text) or re.search(_GREETED.format(owner=re.escape(owner)), text, re.IGNORECASE):
        return False
    if any(not _MAY_LEAD.search(text[: lead.start()]) for lead in _LEADS.finditer(text)):
        return False
    said = sentences(text)
    return all(part.text[0].isalpha() for part in said) and all(
        _own_word(part) or (place and _adds(said[place - 1], part)) for place, part in enumerate(said)
    )


def _adds(before: Sentence, part: Sentence) -> bool:
    """Is a sentence a few words that only add to the order before it: "Acres as well, not hectares."?"""
    few = len(part.text.split()) <= FEW and len(part.text) <= 6 * FEW
    return before.role in ORDERS and part.role == TELLING and few and not _others(plainly(part.text))


def _own_word(part: Sentence) -> bool:
    """Is a sentence an order as it stands, or a greeting, or what the person says of themselves or to their assistant?"""
    said = plainly(part.text)
    if part.role == "instruction":
        return not table.sign("reported", _CLAUSE.split(said)[0])
    if part.role == "remember":
        return not _of_others(said, part.language) and not table.sign("reported", said)
    if part.role in ASKING or _others(said) or _led_to_an_order(said, part.language):
        return False
    return any(table.sign(name, said) for name in ("first person", "second person", "courtesy"))


def _others(said: str) -> bool:
    """Has a sentence a word of what another wrote?"""
    return any(table.sign(name, said) for name in ("reported", "for another", "another text", "pointing"))


def _of_others(said: str, language: str) -> bool:
    return any(table.search("whose", who, said, language) for who in ("kin", "other"))


def _led_to_an_order(said: str, language: str) -> bool:
    """Do words lead to an order that are no clause of the person's about themselves: "quoting Bob, call me Boss"?"""
    for start in _WORD.finditer(said, 1):
        before = said[: start.start()]
        if role(said[start.start() :], language) == "instruction":
            own = table.sign("first person", before) and not _of_others(before, language)
            return not own or not _CLAUSE_END.search(before)
    return False


def announces(text: str) -> bool:
    """Does a message announce a text that it does not bring: "Summarise the next one.", "here is what he sent"?"""
    text = text.strip()
    brings = len(text) > LEAST[language_of(text)] or "\n" in text or re.search(r"[:：]\s*\S.{20}", text)
    return not brings and any(map(_of_another, sentences(text)))


def _of_another(part: Sentence) -> bool:
    said = plainly(part.text)
    other = table.sign("reported", said) or table.sign("another text", said)
    return bool(other) and (part.role in ASKING or table.sign("pointing", said) is not None)


def holds_order(text: str) -> bool:
    """Is a clause of a sentence an order that another gives: "my wife says, call me Boss", "mum: call me Boss"?"""
    if table.sign("for another", plainly(text)):
        return True
    clauses = _CLAUSE.split(plainly(text))
    for place, clause in enumerate(clauses[1:], 1):
        before = ", ".join(clauses[:place])
        if role(clause.strip()) == "instruction":
            return bool(table.sign("reported", before)) or not table.sign("first person", before)
    return False


def speaks_of_steering(text: str) -> bool:
    """Does a sentence in the third person say how an assistant is to behave, whatever it is given out to be?"""
    return table.sign("how to be treated", text) is not None
