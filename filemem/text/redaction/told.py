"""Secrets that a sentence, a setting or a command tells as such, in the languages of `data/secret-words.txt`.

Where a value could be something else as well, it goes only beside a word that says what it is. The patterns stand in
`data/secret-patterns.txt`. All are for re.ASCII, so that a Chinese character ends a word, and without case but in (?-i:). A
match begins at a word, and what repeats is bounded, so that the work grows with the length of the text alone.
"""

import re
from functools import cache

from filemem.text import tables
from filemem.text.redaction.issued import by_chance
from filemem.text.redaction.words import Accepts, Finder, any_of, beginnings, one_of, roles

KEY, TOKEN, PASSWORD, CODE = "api key", "token", "password", "code"


# -- what a value must be --------------------------------------------------------------------------------------------


def value_of(match: re.Match[str]) -> str:
    """The match's one group that took part."""
    return match[match.lastindex or 0]


def _rest(match: re.Match[str]) -> str:
    return match.string[match.end() : match.end() + 24]


def _no_template(match: re.Match[str]) -> bool:
    """No placeholder, and no name of what should stand there."""
    return _no_placeholder(match) and value_of(match).casefold() not in ("password", "passwd", "pass", "pwd", "secret")


def _any(match: re.Match[str]) -> bool:
    return True


def _random(match: re.Match[str]) -> bool:
    return by_chance(value_of(match))


def _no_placeholder(match: re.Match[str]) -> bool:
    return not _is("placeholder").match(value_of(match))


def _counts(match: re.Match[str]) -> bool:
    """Whether what follows says that the value is a number of something."""
    rest = _rest(match)
    return bool(re.match(rf"(?i)[\s-]*(?:{any_of('unit')}(?![a-z])|%)", rest) or _is("zh unit").match(rest))


def strong(value: str) -> bool:
    """Not a word of any sentence: four digits or more, letters with digits, or signs within."""
    core = value.rstrip("!")
    if len(core) < 4 or _is("technical").match(core):
        return False
    digits, letters = any(map(str.isdigit, core)), any(map(str.isalpha, core))
    return (digits and (letters or core.isdigit())) or (len(core) > 4 and any(sign in core for sign in "!@#$%^&*+=~"))


def usual_name(value: str) -> bool:
    """Whether a word with digits or signs in it is no secret: an address, a path, a measure, a product."""
    return bool(_is("usual").fullmatch(value)) or not strong(value) or not any(map(str.isalpha, value))


def made_up(value: str) -> bool:
    """Made up to be hard to guess: letters with a sign within, or small and capital letters with digits."""
    if usual_name(value):
        return False
    cases = any(map(str.islower, value)) and any(map(str.isupper, value)) and any(map(str.isdigit, value))
    product = re.fullmatch(r"[A-Z][a-z]+\d{1,4}", value)
    return any(sign in value for sign in "!#$%^&*=~") or (cases and len(value) >= 8 and not product)


def _settled(match: re.Match[str]) -> bool | None:
    """What needs no look at the value's form: a placeholder or usual predicate is no password, a value in quotes is one."""
    value = value_of(match).rstrip("!")
    if _is("placeholder").match(value):
        return False
    if match.lastgroup == "quoted":
        return True
    return False if value.casefold() in one_of("predicate") else None


def _password(match: re.Match[str]) -> bool:
    """After "password is": in quotes, strong, or a plain word that ends the clause and is no usual predicate."""
    settled = _settled(match)
    if settled is not None:
        return settled
    if strong(value_of(match)):
        return not _counts(match)
    plain = _is("plain word").fullmatch(value_of(match).rstrip("!"))
    return bool(plain and _is("end").match(_rest(match)))


def _zh_password(match: re.Match[str]) -> bool:
    """After 密码是: in quotes, strong, or a plain word with no Chinese that goes on after it."""
    settled = _settled(match)
    if settled is not None:
        return settled
    value = value_of(match).rstrip("!")
    plain = re.fullmatch("[A-Za-z]{3,}(?:[_-][A-Za-z]+)*", value) and _is("zh end").match(_rest(match))
    return not _counts(match) and (strong(value_of(match)) or bool(plain))


def _zh_phrase(match: re.Match[str]) -> bool:
    """Chinese words that say nothing of where the password is or how."""
    return not re.search(any_of("predicate-zh"), value_of(match))


def _strong_said(match: re.Match[str]) -> bool:
    """After a word that is a password's name at times only, or with no verb between: strong, and not short."""
    value = value_of(match)
    long = len(value) >= (4 if re.search("[\u3400-\u9fff]", match[0]) else 5 if value.isdigit() else 6)
    return strong(value) and long and not _counts(match) and not _is("placeholder").match(value)


def _told_before(match: re.Match[str]) -> bool:
    """Before "as the password": in quotes, or strong."""
    return match.lastgroup == "quoted" or _strong_said(match)


def _mixed(match: re.Match[str]) -> bool:
    """Strong, and no mere number."""
    return _strong_said(match) and not re.fullmatch(r"[\d.,:/-]+", value_of(match))


def _made_up(match: re.Match[str]) -> bool:
    """Made up to be hard to guess, as no name and no address is."""
    return made_up(value_of(match)) and not _is("placeholder").match(value_of(match))


def _made_up_too(match: re.Match[str]) -> bool:
    """Made up, with a digit: a network's name may have a sign."""
    return _made_up(match) and any(map(str.isdigit, value_of(match)))


def _behind_name(match: re.Match[str]) -> bool:
    """Made up, behind a name that has signs or digits; behind an address with letters and digits."""
    address = "@" in re.split(r"[\s,/]", match[0])[0]
    return (_made_up_too(match) or address) and _mixed(match) and not usual_name(value_of(match))


def _pair(match: re.Match[str]) -> bool:
    """Behind a name in a pair: with letters and digits; else strong, or behind a name that is no plain word."""
    if match["between"] == ", ":
        return _mixed(match) and not usual_name(value_of(match))
    return strong(value_of(match)) or bool(re.search(r"[\d._@]", match[1]))


def _phrase(match: re.Match[str]) -> bool:
    """Words that make no sentence about a password.

    Of two or three none only joins and none says how a password is; behind a sign, and of more, some may. With an article
    begins what is called a phrase.
    """
    said = re.split("[ -]", value_of(match).lower())
    joins, says, clause = one_of("function"), one_of("predicate"), one_of("clause")
    if (
        said[0] in clause
        and len(said) > 4
        and re.search("(?i)phrase|frase", match[0][: match.start(match.lastindex or 0) - match.start()])
    ):
        return (says - joins).isdisjoint(said)
    if said[0] in joins or said[0].endswith("ly") or not _is("plain word").fullmatch(said[0]):
        return False
    if joins.isdisjoint(said) or said[0] in says:
        return joins.isdisjoint(said) and (len(said) > 3 or says.isdisjoint(said))
    signed = re.search(r"[:=][\s\"'“*]*$", match.string[: match.start(match.lastindex or 0)])
    usual = (says - joins) | (clause if signed or one_of("and") & set(said) else one_of("and-end") - one_of("and"))
    return (bool(signed) or len(said) > 3) and usual.isdisjoint(said)


def _code(match: re.Match[str]) -> bool:
    """A code has three digits or more, and does not count something."""
    return not _counts(match) and sum(map(str.isdigit, value_of(match))) >= 3


def _zh_code(match: re.Match[str]) -> bool:
    return not _counts(match) and any(map(str.isdigit, value_of(match)))


_ACCEPTS: dict[str, Accepts] = {
    accepts.__name__[1:]: accepts
    for accepts in (
        *(_any, _random, _no_placeholder, _no_template, _password, _phrase, _told_before, _strong_said, _mixed),
        *(_made_up, _made_up_too, _behind_name, _pair, _code, _zh_code, _zh_password, _zh_phrase),
    )
}


@cache
def finders() -> tuple[Finder, ...]:
    """Every way to tell a secret, the surest first."""
    return tuple(
        Finder(row[0], _expanded(f"(?i){row[3]}"), _ACCEPTS[row[2]], _anchors(row[1]))
        for row in tables.rows("secret-patterns.txt")
        if len(row) == 4
    )


def _anchors(where: str) -> tuple[str, ...]:
    names = where.replace(r"\0", "\0").split(" ")
    return tuple(text for name in names for text in (beginnings(name) if name in roles() else (name,)))


@cache
def _expanded(pattern: str) -> str:
    """The pattern with every ‹name› written out."""
    return tables.expanded(pattern, _parts())


@cache
def _parts() -> dict[str, str]:
    return {role: any_of(role) for role in roles()} | tables.parts("secret-patterns.txt")


@cache
def _is(form: str) -> re.Pattern[str]:
    """What begins with a form of the table."""
    return re.compile(_expanded(f"(?i)‹{form}›"))
