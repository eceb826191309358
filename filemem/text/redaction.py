"""Secrets taken out of text: keys, tokens, passwords, codes, card and account numbers, national ids. Pure functions.

What has a form of its own (an issuer's prefix, a check digit) is found wherever it stands, all else beside words that tell
it, in English and Chinese. The words and patterns stand in `data/secret-*.txt`; docs/security.md measures them. Patterns are for
re.ASCII, so that a Chinese character ends a word, and without case but in (?-i:). A match begins at a word, and what repeats
is bounded, so that the work grows with the length of the text alone.

They are looked for in a shadow that has as many characters as the text: full-width forms and traditional Chinese are folded
one for one, and what is already redacted is NUL, which no pattern matches.
"""

import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from filemem.text import expression, tables

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE = "api key", "token", "private key", "password", "code"
CARD, ACCOUNT, NATIONAL_ID = "card number", "bank account", "national id"
OWN = "own pattern"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, CODE, CARD, ACCOUNT, NATIONAL_ID)

_DONE = rf"\[redacted: (?:{'|'.join((*KINDS, OWN))})\]"

Span = tuple[int, int]
Find = Callable[[str], Iterator[Span]]
Match = re.Match[str]


# -- a person's own patterns, of their settings -----------------------------------------------------------------------

# They are matched on pieces of PIECE characters, each of which overlaps the next by half, and one that could take more than STEPS
# steps at one place is refused. So no pattern makes the work grow other than with the length of the text.

# Characters of a line in which a pattern is looked for at a time; no longer secret of one's own is found whole.
PIECE = 400
STEPS = 8_000  # of matching at one place of such a piece, at worst
LONGEST = 1_000  # characters of a pattern


class OwnPatterns(NamedTuple):
    """What is taken out besides, and what is not taken out if it is the whole of what was found."""

    also: tuple[re.Pattern[str], ...] = ()
    never: tuple[re.Pattern[str], ...] = ()

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the patterns of `also` match, line by line, in order; what overlaps is one."""
        start = end = 0
        for first, last in sorted(place for pattern in self.also for place in _matches_of(pattern, text)):
            if first >= end:
                if end:
                    yield start, end
                start = first
            end = max(end, last)
        if end:
            yield start, end

    def allows(self, secret: str) -> bool:
        """Is this, which was taken for a secret, none?"""
        return len(secret) <= PIECE and any(pattern.fullmatch(secret) for pattern in self.never)


NONE = OwnPatterns()


@lru_cache
def own(also: Sequence[str], never: Sequence[str]) -> OwnPatterns:
    """The patterns as they are written in settings; each was checked by `wrong`."""
    return OwnPatterns(tuple(map(re.compile, also)), tuple(map(re.compile, never)))


def wrong(pattern: str) -> str:
    """Why a pattern cannot be used, with a remedy; empty where it can."""
    if len(pattern) > LONGEST:
        return f"has {len(pattern):,} characters; use at most {LONGEST:,}"
    try:
        nodes = expression.parse(pattern, 0)
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression ({error}); to mean a sign itself write \\ before it"
    if compiled.match(""):
        return "matches nothing at all, and so everywhere; write + for *"
    if expression.weight(nodes) > STEPS * PIECE or expression.cost(nodes, PIECE)[1] > STEPS:
        return "may take too long; bound its repeats: \\w{1,40} for \\w+, and none inside another"
    return ""


def _matches_of(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Every match in a piece of a line; one that reaches into the next piece comes in two parts that overlap."""
    at = 0
    for line in text.splitlines(keepends=True):
        for first in range(at, at + max(1, len(line) - PIECE // 2), PIECE // 2):
            last = min(first + PIECE, at + len(line.rstrip("\n")))
            yield from (match.span() for match in pattern.finditer(text, first, last) if match.end() > match.start())
        at += len(line)


# -- all of them -------------------------------------------------------------------------------------------------------


class Redaction(NamedTuple):
    """What was taken out: its kind, one of KINDS or OWN, and where it stood in the text that was given."""

    kind: str
    start: int
    end: int


def redact(text: str, own: OwnPatterns = NONE) -> tuple[str, list[Redaction]]:
    """`text` with every secret as `[redacted: kind]`, all else character by character, and what was taken out, in order.

    `own` are patterns that a person has for what else is a secret, and for what is none.
    """
    folded = text if text.isascii() else text.translate(_plain())
    seen = _blanked(folded, [match.span() for match in re.finditer(_DONE, folded)])
    blanks = [match.span() for match in re.finditer("\0+", seen)]
    found = [Redaction(OWN, start, end) for start, end in own.spans(_blanked(text, blanks))]
    seen = _blanked(seen, [(at.start, at.end) for at in found])
    while new := _sweep(seen):
        found += [at for at in new if not own.allows(text[at.start : at.end])]
        seen = _blanked(seen, [(at.start, at.end) for at in new])
    found.sort(key=lambda at: at.start)
    pieces, done = [], 0
    for at in found:
        pieces += [text[done : at.start], f"[redacted: {at.kind}]"]
        done = at.end
    return "".join([*pieces, text[done:]]), found


def kinds(found: list[Redaction]) -> str:
    """What was taken out, in words: each kind once, in the order of the text."""
    return ", ".join(dict.fromkeys(one.kind for one in found))


def _sweep(seen: str) -> list[Redaction]:
    """What every finder finds, the surest first, each not looking where one before it found something."""
    found: list[Redaction] = []
    lower = seen.lower()
    for kind, anchors, find in _finders():
        if (not anchors or any(anchor in lower for anchor in anchors)) and (spans := list(find(seen))):
            found += [Redaction(kind, start, end) for start, end in spans]
            seen = _blanked(seen, spans)
    return sorted(found, key=lambda at: at.start)


def _blanked(text: str, spans: list[Span]) -> str:
    """The text with NUL for every character of the spans, which are in order."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], "\0" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


@cache
def _plain() -> dict[int, str]:
    """Full-width letters, digits and signs, the many dashes and spaces, and traditional characters: one for one."""
    signs = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz:=-@_"
    table = {ord(sign) + 0xFEE0: sign for sign in signs}
    table.update(dict.fromkeys([*range(0x2010, 0x2016), 0x2212], "-"))
    table.update(dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000], " "))
    table.update({ord(pair[0]): pair[1] for pair in _words()["fold"]})
    return table


# -- the tables ------------------------------------------------------------------------------------------------------


@cache
def _words() -> dict[str, list[str]]:
    """By what they do in a sentence."""
    table: dict[str, list[str]] = {}
    for line in tables.lines("secret-words.txt"):
        role, _, words = line.partition(": ")
        table.setdefault(role, []).extend(words.split(", "))
    return table


@cache
def _any_of(role: str) -> str:
    """A pattern for any word of this role, the longest first; in lower case, for (?i)."""
    found = sorted(_words()[role], key=len, reverse=True)
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"[ _-]?") for word in found) + ")"


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    """With every ‹name› written out: a part of the table of patterns, or any word of a role."""
    known = {role: _any_of(role) for role in _words()} | tables.parts("secret-patterns.txt")
    return re.compile(f"(?i){tables.expanded(pattern, known)}", re.ASCII)


def _is(form: str) -> re.Pattern[str]:
    return _pattern(f"‹{form}›")


@cache
def _finders() -> tuple[tuple[str, tuple[str, ...], Find], ...]:
    """A kind, texts of which one must be there in lower case, if any, and what finds it."""
    told = []
    for kind, where, check, pattern in (row for row in tables.rows("secret-patterns.txt") if len(row) == 4):
        names = () if where == "*" else where.replace(r"\0", "\0").split(" ")
        anchors = {re.split("[ ']", word)[0] for name in names for word in _words().get(name, [name])}
        told.append((kind, tuple(anchors), partial(_spans, _pattern(pattern), _CHECKS[check])))
    return (
        (PASSWORD, (), _seed_phrases),
        (CODE, (), _recovery_codes),
        *told,
        *((kind, (), partial(_near, roles)) for roles, (kind, _) in _NEAR.items()),
        (ACCOUNT, (), _ibans),
        (CARD, (), _cards),
    )


def _spans(pattern: re.Pattern[str], accepts: Callable[[Match], bool], text: str) -> Iterator[Span]:
    """Where the group that took part stands, if accepted; else the search goes on one character later."""
    at = 0
    while match := pattern.search(text, at):
        start, end = match.span(match.lastindex or 0)
        at = match.start() + 1
        if start < end and accepts(match):
            yield start, end
            at = end


# -- what a value must be --------------------------------------------------------------------------------------------


def _value(match: Match) -> str:
    """The match's one group that took part."""
    return match[match.lastindex or 0]


def _by_chance(value: str, cases: float = 0.4) -> bool:
    """Thrown, not made of words: letters and digits that take turns, or letters whose case does, so often a letter."""
    if "://" in value or len(value) < 8:
        return False
    runs = re.findall("[A-Za-z0-9]+", value)
    if re.search("[+/]", value) and len("".join(runs)) >= 30:  # base64, which its signs cut into runs
        whole = "".join(runs)
        return _changes(str.isdigit, whole) >= 4 or (
            _changes(str.isdigit, whole) > 0 and _changes(str.islower, whole) >= 0.2 * len(whole)
        )
    long = [run for run in runs if len(run) >= 16]
    return any(_changes(str.isdigit, run) >= 3 for run in runs) or any(
        _changes(str.isdigit, run) or _changes(str.islower, run) >= cases * len(run) for run in long
    )


def _changes(of: Callable[[str], bool], run: str) -> int:
    """How often a sign that is so stands beside one that is not."""
    return sum(of(a) != of(b) for a, b in pairwise(run))


def _placeholder(value: str) -> bool:
    return _is("placeholder").match(value) is not None


def _chinese(match: Match) -> bool:
    return bool(re.search("[\u3400-\u9fff]", match[0]))


def _counts(match: Match) -> bool:
    """Whether what follows says that the value is a number of something."""
    rest = match.string[match.end() : match.end() + 24]
    return bool(re.match(rf"(?i)[\s-]*(?:{_any_of('unit')}(?![a-z])|%)", rest) or _is("zh unit").match(rest))


def _strong(value: str) -> bool:
    """Not a word of any sentence: four digits or more, letters with digits, or signs within."""
    core = value.rstrip("!")
    if len(core) < 4 or _is("technical").match(core):
        return False
    digits, letters = any(map(str.isdigit, core)), any(map(str.isalpha, core))
    return (digits and (letters or core.isdigit())) or (len(core) > 4 and any(sign in core for sign in "!@#$%^&*+=~"))


def _usual_name(value: str) -> bool:
    """Whether a word with digits or signs in it is no secret: an address, a path, a measure, a product."""
    return bool(_is("usual").fullmatch(value)) or not _strong(value) or not any(map(str.isalpha, value))


def _made_up(value: str) -> bool:
    """Hard to guess: letters with a sign within, or small and capital letters with digits."""
    if _usual_name(value) or _placeholder(value):
        return False
    cases = len(value) >= 8 and all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    return any(sign in value for sign in "!#$%^&*=~") or (cases and not re.fullmatch(r"[A-Z][a-z]+\d{1,4}", value))


def _password(match: Match) -> bool:
    """After "password is" or 密码是: in quotes, strong, or a plain word that ends the clause and is no usual predicate."""
    value = _value(match).rstrip("!")
    if _placeholder(value) or match.lastgroup == "quoted":
        return not _placeholder(value)
    if value.casefold() in _words()["predicate"]:
        return False
    if _strong(_value(match)):
        return not _counts(match)
    zh, rest = "zh " if _chinese(match) else "", match.string[match.end() : match.end() + 24]
    return bool(_is(f"{zh}plain word").fullmatch(value) and _is(f"{zh}end").match(rest))


def _strong_said(match: Match) -> bool:
    """After a word that is a password's name at times only, or with no verb between: in quotes, or strong and not short."""
    value = _value(match)
    long = len(value) >= (4 if _chinese(match) else 5 if value.isdigit() else 6)
    return not _placeholder(value) and (match.lastgroup == "quoted" or (_strong(value) and long and not _counts(match)))


def _mixed(match: Match) -> bool:
    """Strong, and no mere number."""
    return _strong_said(match) and not re.fullmatch(r"[\d.,:/-]+", _value(match))


def _phrase(match: Match) -> bool:
    """Words that make no sentence about a password.

    Of two or three none only joins and none says how a password is; behind a sign, and of more, some may. With an article
    begins what is called a phrase.
    """
    said, before = (
        re.split("[ -]", _value(match).lower()),
        match.string[match.start() : match.start(match.lastindex or 0)],
    )
    joins, says, clause = (set(_words()[role]) for role in ("function", "predicate", "clause"))
    if said[0] in clause and len(said) > 4 and re.search("(?i)phrase", before):
        return (says - joins).isdisjoint(said)
    if said[0] in joins or said[0].endswith("ly") or not _is("plain word").fullmatch(said[0]):
        return False
    if joins.isdisjoint(said) or said[0] in says:
        return joins.isdisjoint(said) and (len(said) > 3 or says.isdisjoint(said))
    signed = re.search(r"[:=][\s\"'“*]*$", before)
    usual = (says - joins) | (clause if signed or "and" in said else set(_words()["and-end"]) - {"and"})
    return (bool(signed) or len(said) > 3) and usual.isdisjoint(said)


def _hard(match: Match) -> bool:
    """Made up, with a digit: a name may have a sign."""
    return _made_up(_value(match)) and any(map(str.isdigit, _value(match)))


def _behind_name(match: Match) -> bool:
    """Made up, behind a name that has signs or digits; behind an address with letters and digits."""
    address = "@" in re.split(r"[\s,/]", match[0])[0]
    return (_hard(match) or address) and _mixed(match) and not _usual_name(_value(match))


_CHECKS: dict[str, Callable[[Match], bool]] = {
    "any": bool,
    "random": lambda match: _by_chance(_value(match)),
    # Behind an issuer's prefix letters alone will do; their case changes more seldom than this in one key of 300.
    "issued": lambda match: _by_chance(_value(match), 0.25),
    "no_placeholder": lambda match: not _placeholder(_value(match)),
    "resident": lambda match: _resident(match[1].replace(" ", "").upper()),
    # A code counts nothing, and has three digits or more, in Chinese one.
    "code": lambda match: (
        not _counts(match) and len(re.findall("[0-9]", _value(match))) >= (1 if _chinese(match) else 3)
    ),
    # Twelve words behind the name of a seed phrase, of which two at most are common.
    "seed": lambda match: sum(word in _words()["function"] for word in re.findall("[a-z]+", match[1].lower())) <= 2,
    **{"password": _password, "strong_said": _strong_said, "mixed": _mixed, "phrase": _phrase},
    **{"made_up": _hard, "behind_name": _behind_name},
}


# -- values that stand in one sentence with a word that tells a secret, whatever is between the two ------------------

_REACH = 60  # characters between the word and its value
_SENTENCE = re.compile(r"[^.!。！；\n\0]*(?:[.!](?!\s|$)[^.!。！；\n\0]*)*")
_TOKEN = re.compile(r"[!-<>-~]{4,200}", re.ASCII)
_EDGE = "\"'`“”‘’()[]{}<>,;:.?!*"
_HASH = r"(?i)\b(?:commits?|sha-?\d*|md5|hash(?:es)?|checksum|digest|fingerprint|uuid|guid|id|build|revision)\b"
_NUMBER = re.compile(r"(?!(?:19|20)\d\d$|\d\d:\d\d$)(?:#?\d{4,8}#?|\d(?:-\d){2,7}|\d{3}-\d{3})")


def _near_password(value: str, before: str, after: str) -> bool:
    """Letters with digits or signs, as no usual name is written; a word with a number is one behind an article or such."""
    name = rf"(?i)(?<![a-z])(?:{_any_of('my')}|its|for|in|on|of|at)\s+$"
    if re.fullmatch(r"[A-Za-z]?[a-z]+\d{1,4}", value) and re.search(name, before):
        return False
    return _made_up(value) or bool(len(value) >= 6 and re.search("[A-Za-z]{3}", value) and not _usual_name(value))


def _near_key(value: str, before: str, after: str) -> bool:
    """A random string; of digits alone behind a word that leads to it; of another sort than a hash."""
    led = re.search(r"(?i)(?:[:=]|\bis|\bkeys?)\s*$", before)
    if "&" in value or re.search(_HASH, before + after):
        return False
    if value.isdigit():
        return len(value) >= 16 and led is not None
    return bool(led and len(value) >= 12 and _made_up(value)) or (
        len(value) >= 20 and _by_chance(value) and not _usual_name(value)
    )


def _near_number(value: str, before: str, after: str) -> bool:
    """Four digits or more to which the words before it lead, and that count nothing."""
    led = re.search(rf"(?i)(?:[:=*]|(?<![a-z]){_any_of('leads')},?)\s*[\"'“(*]?$", before)
    counts = re.match(rf"(?i)[\"'”)]*\s*(?:{_any_of('unit')}(?![a-z])|an?\b|per\b|[%°€$])", after)
    return bool(_NUMBER.fullmatch(value) and led and not counts)


_NEAR = {  # the roles whose words tell a value, its kind, and what it must be beside what stands before and behind it
    ("password", "password-short", "password-zh", "guards"): (PASSWORD, _near_password),
    ("key", "cookie"): (API_KEY, _near_key),
    ("code-name", "opens-what", "verifies", "password"): (CODE, _near_number),
}


def _near(roles: tuple[str, ...], text: str) -> Iterator[Span]:
    words = "|".join(f"‹{role}›" for role in roles)
    cue = _pattern(rf"(?<![a-z0-9])(?:{words})s?(?![a-z0-9])(?![ _-]?‹about›\b)")
    for sentence in _SENTENCE.finditer(text) if cue.search(text) else ():
        cues = [match.span() for match in cue.finditer(text, *sentence.span())]
        for token in _TOKEN.finditer(text, *sentence.span()) if cues else ():
            start = token.end() - len(token[0].lstrip(_EDGE))
            end = token.start() + len(token[0].rstrip(_EDGE))
            after = bisect.bisect_left(cues, (start, start))
            near = any(max(first - end, start - last) <= _REACH for first, last in cues[max(0, after - 1) : after + 1])
            around = text[max(sentence.start(), start - _REACH) : start], text[end : min(sentence.end(), end + _REACH)]
            if start < end and near and _NEAR[roles][1](text[start:end], *around):
                yield start, end


# -- secrets of several parts ----------------------------------------------------------------------------------------

_ITEM = re.compile(
    r"[\s,;:•*–-]{0,8}(?:(?:and|和)\s)?(?:\d{1,2}[.)]\s)?"
    r"((?=[A-Za-z-]{0,11}\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,8})(?![\w-])",
    re.ASCII,
)


def _recovery_codes(text: str) -> Iterator[Span]:
    """Every code that follows a name such as "recovery codes", as far as the list goes."""
    done, gap = 0, r"[^\n\0\d:：]{0,30}"
    names = rf"‹codes›(?:{gap}[:：]|\s+‹is›(?![a-z])|{gap})(?![A-Za-z0-9]*(?<=[A-Za-z])\d)"
    for name in _pattern(names).finditer(text):
        at = max(done, name.end())
        while item := _ITEM.match(text, at):
            if len(item[1]) >= 4 and not re.fullmatch(r"(?:19|20)\d\d", item[1]):
                yield item.span(1)
            at = done = item.end()


# -- numbers that a check digit tells; a number met by chance passes one time in ten to one in ninety-seven ---------------

_SEED_SIZES = (24, 21, 18, 15, 12)  # words of a seed phrase (BIP-39)

_IBAN = r"(?<![A-Za-z0-9_])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}[0-9]{2}[a-z0-9]{11,30})"
_DIGIT_RUN = re.compile(r"(?<![A-Za-z0-9_+])(?<![0-9]\.)[0-9]+(?:[ -]{1,3}[0-9]+)*(?![A-Za-z0-9_])(?!\.[0-9])")
# American Express; Diners Club; Visa; Mastercard; Maestro; Discover, UnionPay, RuPay, Mir, JCB, ICBC.
_CARD = re.compile(
    r"3[47]\d{13}|3(?:0[0-5]\d|[689]\d\d)\d{10,15}|4\d{12}(?:\d{3}){0,2}|(?:5[1-5]\d\d|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12}"
    r"|(?:50(?:18|20|38)|5893|6304|67(?:59|6[1-3]))\d{9,15}|(?:6[0245]\d\d|8[12]\d\d|220[0-4]|35(?:2[89]|[3-8]\d)|9558)\d{12,15}"
)
_ROW_OF_WORDS = re.compile(
    r"(?<![A-Za-z])[A-Za-z]{3,8}(?:[\s,;]{1,4}(?:\d{1,2}[.)]\s?)?[A-Za-z]{3,8}(?![A-Za-z])){11,}", re.ASCII
)


def _resident(code: str) -> bool:
    """GB 11643-1999: seventeen digits and the check character of ISO 7064 MOD 11-2."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return "10X98765432"[sum(int(digit) * by for digit, by in zip(code[:17], weights, strict=True)) % 11] == code[17]


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers with right check digits (ISO 13616), in groups or in one piece: the longest that pass, to a word's end."""
    for match in re.finditer(_IBAN, text):
        places = [at for at, char in enumerate(match[1]) if char.isalnum()]
        for length in range(min(34, len(places)), 14, -1):
            end = match.start(1) + places[length - 1] + 1
            code = "".join(match[1][at] for at in places[:length])
            if not text[end : end + 1].isalnum() and _iban(code):
                yield match.start(1), end
                break


def _iban(code: str) -> bool:
    """The country and check digits moved behind the rest, letters as 10 to 35, modulo 97 is 1."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


# -- payment cards ---------------------------------------------------------------------------------------------------


def _cards(text: str) -> Iterator[Span]:
    """Card numbers in runs of digits that are grouped in any way, each from the first digit of a group to the last of one."""
    for run in _DIGIT_RUN.finditer(text):
        groups = [group.span() for group in re.finditer("[0-9]+", run[0])]
        before = text[max(0, run.start() - 40) : run.start()].rpartition("\0")[2]
        named = re.search("(?i)card|visa|卡", before) is not None
        first = last = 0
        while first < len(groups):
            # Inside a long row of fours, as a parcel's number is, four of the groups are no card.
            begins = named or first == last or groups[first - 1][1] - groups[first - 1][0] != 4
            count = _card_groups(run[0], groups[first : first + 19], first + 19 >= len(groups), named) if begins else 0
            if count:
                last = first + count
                yield run.start() + groups[first][0], run.start() + groups[last - 1][1]
            first += count or 1


def _card_groups(run: str, groups: list[Span], to_end: bool, named: bool) -> int:
    """How many groups make up one card number, at most, the last of them being the run's last or not; 0 where they do not.

    A whole run may be grouped in any way, a part of one as on a card. Thirteen digits are a barcode sooner than a Visa card of
    old, unless a card is named. One that is named may lack the check digit from 16 digits on, as it may be mistyped.
    """
    found = 0
    for count in range(1, len(groups) + 1):
        parts = [run[start:end] for start, end in groups[:count]]
        digits, sizes = "".join(parts), "-".join(str(len(part)) for part in parts)
        whole = to_end and count == len(groups)
        usual = whole or re.fullmatch(r"(?:4-)*[1-4]|\d+|4-3-3-3|4-6-[45]|6-1[03]", sizes)
        right = _CARD.fullmatch(digits) and (_luhn(digits) or (named and len(digits) >= 16))
        if right and usual and (named or len(digits) > 13):
            found = count
        if len(digits) > 19:
            break
    return found


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0


# -- seed phrases ----------------------------------------------------------------------------------------------------


def _seed_phrases(text: str) -> Iterator[Span]:
    """Twelve words of BIP-39 or more, numbered or not, with its checksum, which one row of its words in sixteen has by chance."""
    for run in _ROW_OF_WORDS.finditer(text):
        words = list(re.finditer("[A-Za-z]+", run[0]))
        places = [_places().get(word[0].lower(), -1) for word in words]
        first = 0
        while first + 12 <= len(words):
            size = next((size for size in _SEED_SIZES if _checksum(places[first : first + size], size)), 0)
            if size:
                yield run.start() + words[first].start(), run.start() + words[first + size - 1].end()
            first += size or 1


def _checksum(places: list[int], size: int) -> bool:
    """BIP-39: eleven bits a word; the last bits, one for three words, are the first of the SHA-256 of all before."""
    if len(places) != size or -1 in places:
        return False
    import hashlib  # noqa: PLC0415  it loads OpenSSL, which takes a twentieth of a cold start

    bits = "".join(f"{place:011b}" for place in places)
    split = len(bits) * 32 // 33
    entropy = int(bits[:split], 2).to_bytes(split // 8, "big")
    return f"{hashlib.sha256(entropy).digest()[0]:08b}".startswith(bits[split:])


@cache
def _places() -> dict[str, int]:
    """Where each word of BIP-39 stands in its list."""
    return {word: place for place, word in enumerate(" ".join(tables.lines("seed-words.txt")).split())}
