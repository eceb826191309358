"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers, national ids. Pure functions.

What has a form of its own (an issuer's prefix, a check digit) is found wherever it stands, all else beside words that tell
it, in English and Chinese. The words and patterns stand in `data/secret-*.txt`; docs/security.md measures them. Patterns are for
re.ASCII, so that a Chinese character ends a word, and without case but in (?-i:). A match begins at a word, and what repeats
is bounded, so that the work grows with the length of the text alone.

They are looked for in a shadow that has as many characters as the text: full-width forms and traditional Chinese are folded
one for one, and what is already redacted is NUL, which no pattern matches.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import groupby, pairwise
from typing import NamedTuple

from filemem.text import terms
from filemem.text.terms import simplified

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE = (
    "api key",
    "token",
    "private key",
    "password",
    "code",
)
CARD, ACCOUNT, NATIONAL_ID = "card number", "bank account", "national id"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE, CARD, ACCOUNT, NATIONAL_ID)

_DONE = rf"\[redacted: (?:{'|'.join(KINDS)})\]"

Span = tuple[int, int]
Find = Callable[[str], Iterator[Span]]
Match = re.Match[str]
Check = Callable[[Match, str, str], bool]  # of a match, its value and what follows


# -- all of them -------------------------------------------------------------------------------------------------------


class Redaction(NamedTuple):
    """What was taken out: its kind, one of KINDS, and where it stood in the text that was given."""

    kind: str
    start: int
    end: int


def redact(text: str) -> tuple[str, list[Redaction]]:
    """`text` with every secret as `[redacted: kind]`, all else character by character, and what was taken out, in order."""
    folded = text if text.isascii() else simplified(text.translate(_plain()))
    seen = _blanked(folded, [match.span() for match in re.finditer(_DONE, folded)])
    found, spans = list[Redaction](), [(0, 0)]
    while (
        spans
    ):  # the surest first, each not looking where one before it found something
        spans, lower = [], seen.lower()
        for kind, anchors, find in _finders():
            if (not anchors or any(anchor in lower for anchor in anchors)) and (
                here := list(find(seen))
            ):
                found += [Redaction(kind, start, end) for start, end in here]
                seen, spans = _blanked(seen, here), [*spans, *here]
    found.sort(key=lambda at: at.start)
    pieces = list(text)
    for at in found:
        pieces[at.start : at.end] = [
            f"[redacted: {at.kind}]",
            *[""] * (at.end - at.start - 1),
        ]
    return "".join(pieces), found


def kinds(found: list[Redaction]) -> str:
    """What was taken out, in words: each kind once, in the order of the text."""
    return ", ".join(dict.fromkeys(one.kind for one in found))


def _blanked(text: str, spans: list[Span]) -> str:
    """The text with NUL for every character of the spans."""
    characters = list(text)
    for start, end in spans:
        characters[start:end] = "\0" * (end - start)
    return "".join(characters)


@cache
def _plain() -> dict[int, str]:
    """Full-width letters, digits and signs, the many dashes and spaces, and traditional characters: one for one."""
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:=-@_"
    table = {ord(sign) + 0xFEE0: sign for sign in signs}
    dashes, blanks = (
        [*range(0x2010, 0x2016), 0x2212],
        [0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000],
    )
    return table | dict.fromkeys(dashes, "-") | dict.fromkeys(blanks, " ")


# -- the tables ------------------------------------------------------------------------------------------------------


@cache
def _words(role: str) -> frozenset[str]:
    """The words that do this in a sentence."""
    return frozenset(terms.table_words("secret-words.txt").get(role, ()))


def _roles() -> dict[str, str]:
    """By each role a pattern for any of its words, the longest first, in lower case."""
    parts = {}
    for role, words in terms.table_words("secret-words.txt").items():
        found = sorted(words, key=lambda word: (-len(word), word))
        parts[role] = (
            "(?:"
            + "|".join(re.escape(word).replace(r"\ ", r"[ _-]?") for word in found)
            + ")"
        )
    return parts


_pattern = terms.Patterns("secret-patterns.txt", _roles)


@cache
def _finders() -> tuple[tuple[str, tuple[str, ...], Find], ...]:
    """A kind, texts of which one must be there in lower case, if any, and what finds it."""
    told = []
    for kind, where, check, pattern in (
        row for row in terms.table_rows("secret-patterns.txt") if len(row) == 4
    ):
        names = () if where == "*" else where.replace(r"\0", "\0").split(" ")
        anchors = {
            re.split("[ ']", word)[0]
            for name in names
            for word in _words(name) or [name]
        }
        told.append(
            (kind, tuple(anchors), partial(_spans, _pattern(pattern), _CHECKS[check]))
        )
    return (
        (PASSWORD, (), _seed_phrases),
        (CODE, (), _recovery_codes),
        *told,
        *((kind, (), partial(_near, roles, accepts)) for kind, roles, accepts in _NEAR),
        (ACCOUNT, (), _ibans),
        (CARD, (), _cards),
    )


def _spans(pattern: re.Pattern[str], accepts: Check, text: str) -> Iterator[Span]:
    """Where the group that took part stands, if accepted; else the search goes on one character later."""
    at = 0
    while match := pattern.search(text, at):
        start, end = match.span(match.lastindex or 0)
        at = match.start() + 1
        if start < end and accepts(
            match, text[start:end], text[match.end() : match.end() + 24]
        ):
            yield start, end
            at = end


# -- what a value must be --------------------------------------------------------------------------------------------


def _is(form: str, value: str) -> bool:
    """Whether a value begins with a form of the table."""
    return _pattern(f"‹{form}›").match(value) is not None


def _by_chance(value: str) -> bool:
    """Thrown, not made of words: letters and digits that take turns, or letters whose case does, so often a letter."""

    def thrown(run: str) -> bool:
        digits, cases = (
            sum(of(a) != of(b) for a, b in pairwise(run))
            for of in (str.isdigit, str.islower)
        )
        return digits >= 3 or (len(run) >= 16 and (digits > 0 or cases >= len(run) / 4))

    return (
        len(value) >= 8
        and "://" not in value
        and any(map(thrown, re.findall("[A-Za-z0-9]+", value)))
    )


def _counts(rest: str) -> bool:
    """Whether what follows a value says that it is a number of something."""
    return (
        _pattern("[\"'”)\\s-]*(?:‹unit›(?![a-z])|[%°€$])|‹zh unit›").match(rest)
        is not None
    )


def _strong(value: str) -> bool:
    """Not a word of any sentence: four digits or more, letters with digits, or signs within."""
    core = value.rstrip("!")
    if len(core) < 4 or _is("technical", core):
        return False
    digits, letters = any(map(str.isdigit, core)), any(map(str.isalpha, core))
    return (digits and (letters or core.isdigit())) or any(
        sign in core for sign in "!@#$%^&*+=~"
    )


def _usual_name(value: str) -> bool:
    """Whether a word with digits or signs in it is no secret: an address, a path, a measure, a product."""
    return _is("usual", value) or not _strong(value) or not any(map(str.isalpha, value))


def _made_up(value: str) -> bool:
    """Hard to guess: letters with a sign among them, or small and capital letters with digits."""
    if _usual_name(value) or _is("placeholder", value):
        return False
    cases = len(value) >= 8 and all(
        any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit)
    )
    return any(sign in value for sign in "!#$%^&*=~") or (
        cases and not re.fullmatch(r"[A-Z][a-z]+\d{1,4}", value)
    )


def _hard(value: str) -> bool:
    """Made up, with a digit: a name may have a sign."""
    return _made_up(value) and any(map(str.isdigit, value))


def _strong_said(match: Match, value: str, rest: str) -> bool:
    """After a word that is a password's name at times only, or with no verb between: in quotes, or strong."""
    said = match.lastgroup == "quoted" or (_strong(value) and not _counts(rest))
    return said and not _is("placeholder", value)


def _password(match: Match, value: str, rest: str) -> bool:
    """After "password is" or 密码是: in quotes, strong, or a plain word that ends the clause and is no usual predicate."""
    word = value.rstrip("!")
    if (
        _is("placeholder", word)
        or match.lastgroup == "quoted"
        or word.casefold() in _words("predicate")
    ):
        return match.lastgroup == "quoted" and not _is("placeholder", word)
    return (
        not _counts(rest)
        if _strong(value)
        else _is("plain word", word) and _is("end", rest)
    )


def _phrase(match: Match, value: str, rest: str) -> bool:
    """Words that make no sentence about a password: of two or three none only joins and none says how a password is; behind a
    sign, and of more, some may."""
    said, joins, says = (
        re.split("[ -]", value.lower()),
        _words("function"),
        _words("predicate"),
    )
    if said[0] in joins or not _is("plain word", said[0]):
        return False
    if joins.isdisjoint(said) or said[0] in says:
        return joins.isdisjoint(said) and (len(said) > 3 or says.isdisjoint(said))
    signed = (
        re.search(r"[:=][\s\"'“*]*$", match.string[: match.start(match.lastindex or 0)])
        is not None
    )
    usual = (says - joins) | (
        _words("clause") if signed or "and" in said else _words("and-end") - {"and"}
    )
    return (signed or len(said) > 3) and usual.isdisjoint(said)


def _behind_name(match: Match, value: str, rest: str) -> bool:
    """Made up with a digit, behind a name that has signs or digits; behind an address with letters and digits."""
    address = "@" in re.split(r"[\s,/]", match[0])[0]
    return (_hard(value) or address) and _strong_said(match, value, rest)


def _code(match: Match, value: str, rest: str) -> bool:
    """A code has a digit, and counts nothing."""
    return re.search("[0-9]", value) is not None and not _counts(rest)


_CHECKS: dict[str, Check] = {
    "any": lambda match, value, rest: True,
    "random": lambda match, value, rest: _by_chance(value),
    "no_placeholder": lambda match, value, rest: not _is("placeholder", value),
    "made_up": lambda match, value, rest: _hard(value),
    "resident": lambda match, value, rest: _resident(value.replace(" ", "").upper()),
    # Twelve words behind the name of a seed phrase, of which two at most are common.
    "seed": lambda match, value, rest: (
        sum(map(_words("function").__contains__, value.lower().split())) <= 2
    ),
    **{
        check.__name__.strip("_"): check
        for check in (_password, _strong_said, _phrase, _behind_name, _code)
    },
}


# -- values that stand in one sentence with a word that tells a secret, whatever is between the two ------------------

_REACH = 70  # characters between the word's begin and its value
_SENTENCE_END = re.compile(r"[.!](?=\s|$)|[。！；\n\0]")
_EDGE = "\"'`“”‘’()[]{}<>,;:.?!*"


def _near_password(value: str, before: str) -> bool:
    """Letters with digits or signs, as no usual name is written; a word with a number is one behind an article or such."""
    name = _pattern(r"(?<![a-z])(?:‹my›|its|for|in|on|of|at)\s+$")
    if re.fullmatch(r"[A-Za-z]?[a-z]+\d{1,4}", value) and name.search(before):
        return False
    return _made_up(value) or bool(
        len(value) >= 6 and re.search("[A-Za-z]{3}", value) and not _usual_name(value)
    )


def _near_key(value: str, before: str) -> bool:
    """A random string; of digits alone behind a word that leads to it."""
    led = re.search(r"(?i)(?:[:=]|\bis|\bkeys?)\s*$", before) is not None
    if value.isdigit():
        return len(value) >= 16 and led
    return (led and len(value) >= 12 and _made_up(value)) or (
        len(value) >= 20 and _by_chance(value)
    )


def _near_number(value: str, before: str) -> bool:
    """Four digits or more to which the words before it lead."""
    led = _pattern("(?:[:=*]|(?<![a-z])‹leads›,?)\\s*[\"'“(*]?$")
    return bool(_pattern("‹number›").fullmatch(value) and led.search(before))


_NEAR = (  # a kind, the roles whose words tell a value, and what it must be behind what stands before it
    (PASSWORD, ("password", "password-short", "password-zh", "guards"), _near_password),
    (API_KEY, ("key", "cookie"), _near_key),
    (CODE, ("code-name", "opens-what", "verifies", "password"), _near_number),
)


def _near(
    roles: tuple[str, ...], accepts: Callable[[str, str], bool], text: str
) -> Iterator[Span]:
    words = "|".join(f"‹{role}›" for role in roles)
    cue = _pattern(rf"(?<![a-z0-9])(?:{words})s?(?![a-z0-9])(?![ _-]?‹about›\b)")
    for token in _pattern("‹token›").finditer(text) if cue.search(text) else ():
        start, end = (
            token.end() - len(token[0].lstrip(_EDGE)),
            token.start() + len(token[0].rstrip(_EDGE)),
        )
        before = _SENTENCE_END.split(text[max(0, start - _REACH) : start])[-1]
        after = _SENTENCE_END.split(text[end : end + _REACH])[0]
        if (
            start < end
            and (cue.search(before) or cue.search(after))
            and accepts(text[start:end], before)
        ):
            yield start, end


# -- secrets of several parts ----------------------------------------------------------------------------------------


def _recovery_codes(text: str) -> Iterator[Span]:
    """Every code that follows a name such as "recovery codes", as far as the list goes."""
    done, gap = 0, r"[^\n\0\d:：]{0,30}"
    names = (
        rf"‹codes›(?:{gap}[:：]|\s+‹is›(?![a-z])|{gap})(?![A-Za-z0-9]*(?<=[A-Za-z])\d)"
    )
    for name in _pattern(names).finditer(text):
        at = max(done, name.end())
        while item := _pattern("‹item›").match(text, at):
            yield item.span(1)
            at = done = item.end()


# -- numbers that a check digit tells; a number met by chance passes one time in ten to one in ninety-seven ---------------


def _resident(code: str) -> bool:
    """GB 11643-1999: seventeen digits and the check character of ISO 7064 MOD 11-2."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return (
        "10X98765432"[
            sum(int(digit) * by for digit, by in zip(code[:17], weights, strict=True))
            % 11
        ]
        == code[17]
    )


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers with right check digits (ISO 13616), in groups or in one piece: the longest that pass, to a word's end."""
    for match in _pattern("‹iban›").finditer(text):
        for end in range(match.end(), match.start() + 14, -1):
            code = re.sub("[ -]", "", text[match.start() : end])
            whole = (
                text[end - 1].isalnum()
                and not text[end : end + 1].isalnum()
                and 15 <= len(code) <= 34
            )
            if (
                whole
                and int("".join(str(int(char, 36)) for char in code[4:] + code[:4]))
                % 97
                == 1
            ):
                yield match.start(), end
                break


def _cards(text: str) -> Iterator[Span]:
    """Card numbers in runs of digits that are grouped in any way: the longest that are one, from the first digit of a group to
    the last of one."""
    for run in _pattern("‹digit run›").finditer(text):
        groups, at = list(re.finditer("[0-9]+", run[0])), 0
        while at < len(groups):
            ends = range(min(len(groups), at + 19), at, -1)
            end = next(
                (
                    end
                    for end in ends
                    if _is_card("".join(one[0] for one in groups[at:end]))
                ),
                at,
            )
            if end > at:
                yield (
                    run.start() + groups[at].start(),
                    run.start() + groups[end - 1].end(),
                )
            at = max(end, at + 1)


def _is_card(digits: str) -> bool:
    """Is this a card number of an issuer's, with its check digit (ISO/IEC 7812-1, annex B)?"""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0 and _is("card", digits)


def _seed_phrases(text: str) -> Iterator[Span]:
    """Twelve words of BIP-39 or more in a row, most of them different, numbered or not."""
    for run in _pattern("‹row of words›").finditer(text):
        for known, group in groupby(
            re.finditer("[A-Za-z]+", run[0]),
            lambda word: word[0].lower() in _seed_words(),
        ):
            words = list(group)
            if known and len(words) >= 12 < 2 * len(
                {word[0].lower() for word in words}
            ):
                yield run.start() + words[0].start(), run.start() + words[-1].end()


@cache
def _seed_words() -> frozenset[str]:
    return frozenset(" ".join(terms.table_lines("seed-words.txt")).split())
