"""Whom a question is about: kin by any of their words, people by the names that the memories give them; and how old they are.

Pure functions.
"""

import datetime as dt
import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from filemem.models.responder import topics
from filemem.models.responder.evidence import Evidence
from filemem.text import chinese, dates, tables, terms
from filemem.text.statements.sentences import plainly
from filemem.text.statements.table import compiled, in_standard_words

_PRONOUN = re.compile(
    r"^\W*(?:(?:and|so|but|ok(?:ay)?|then)\W+)?(?:(?:who|what|when|where|which|why|how|is|are|was|were|does|did|do|has|have|can|"
    r"will|would|should|old|many|much|long|tall|often|time|day|about|tell me)(?:'s)?\s+)+(he|she|him|her|his|hers)\b"
    r"|^[^，。]{0,3}?([他她])(?!们)",
    re.IGNORECASE,
)
_SAYS = re.compile(r"\s*(?:says?|said|told|tells)\b|\s*(?:说|讲|提到)")
_CALLED = r"(?:'s)?(?: (?:real |full |first |middle |own )?name)?(?:'s| is| are|,|:)?(?: called| named)? "
_NAME = r"(?-i:[A-Z])[a-z]+"
_LIST = rf"{_NAME}(?: \(\d{{1,2}}\))?(?:(?:, | and |, and | & ){_NAME}(?: \(\d{{1,2}}\))?)*"
_VERB = r"(?:is|was|has|had|passed|died|lives|works|in|and|who|loves|likes|hates|turned|her|his|fell|broke|went)"
_ACTS = re.compile(  # what somebody does, behind a word for them and before one that follows a name, too: "mum fell in"
    r".*(?:ed|ing)|(?:fell|got|gave|went|came|rang|took|made|said|sent|told|left|lost|met|won|put|let|cut|hit|felt|ate|drove)"
    r"|(?:say|live|work|like|love|drive|turn|want|think|call|come|go|get|move|start|look|seem|keep|need|sleep|stay)e?s"
)
_NO_NAME = frozenset(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August September "
    "October November December Christmas Easter".split()
)
_SURNAMES = "".join(tables.words("names-zh.txt")["kin"])
_GIVEN = re.compile(
    rf"\b(?:called|named|name is|name's) ((?-i:[A-Z])[a-z]{{2,}})|\bname is ([a-z]{{3,}})(?=$|[,.])"
    rf"|(?<!我)叫([{_SURNAMES}][\u4e00-\u9fff]{{1,2}})(?=$|[，。！、 ])",
    re.IGNORECASE,
)
_SPELT = re.compile(  # a name in letters: 弟弟叫 Jun Hao, 闺蜜阿Kay是…
    r"(?:的名字)?(?:名?叫|是)\s*([A-Za-z]\w+(?: [A-Za-z]\w+)?)(?=\s*(?:$|[,，.。、!！]))"
    r"|([小老阿]?[A-Z][A-Za-z]+)(?=[是在说的有要去，,])"
)
_AGED = re.compile(  # a given name right before its owner's age: 闺女晓雨18上高三
    r"(?:名?叫|是)?(?!今年|已经|现在|刚刚?满|快要?|马上|都|才|正|那年|[当每]时)([\u4e00-\u9fff]{2})(?=\d{1,2}(?:岁|了|上|[，。、]|$))"
)
_ALSO = (  # whom or what another name is for, and that name
    re.compile(rf"\b(\w{{3,}}) (?:named|called|nicknamed|aka) ({_NAME})"),
    re.compile(
        rf"\b(?:an?|my|our|the) (?:\w+ )??(\w{{3,}})\b[^!?\n]{{0,60}}?\b(?:her|his|its) name(?:'s| is) ((?i:{_NAME}))",
        re.IGNORECASE,
    ),
    compiled(
        r"\b(?:my|our) (?:\w+ )?(@pet@),? (?!@notname@)((?-i:[A-Z])[a-z]+|[a-z]{3,}(?= (?:he's|she's|is|has|was|will)\b))"
    ),
    re.compile(
        r"([\u4e00-\u9fff]{2,3}?)(?:是|，)[^。！？]{0,14}(?:大名|本名|真名|全名|小名|外号|绰号|人称|又叫|也叫)(?:叫|是)?"
        r"([\u4e00-\u9fff]{2,3})(?=$|[，。！、])"
    ),
    compiled(r"(@chongwu@|[兔马车船])(?:的?名字|取名|[，,])*叫([\u4e00-\u9fff]{2,3}|[A-Z]\w+)(?=$|[^\u4e00-\u9fff\w])"),
    compiled(
        r"(?<![\u4e00-\u9fff])([\u4e00-\u9fff]{2,3}|[A-Z]\w+)是(?:我们?|一?[只条])(?:家|养)?[^，。！？]{0,8}?(@chongwu@)(?=$|[，。！])"
    ),
)
_SPECIES = {"dog": ("dog", "狗"), "cat": ("cat", "猫"), "bird": ("bird", "鸟")}  # what a breed is called, by its topic
_MALE = frozenset("father son brother grandfather nephew uncle father-in-law son-in-law brother-in-law".split())
_FEMALE = frozenset("mother daughter sister grandmother niece aunt mother-in-law daughter-in-law sister-in-law".split())
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|me|my|mine|we|our|us)\b|[我咱]", re.IGNORECASE)


class Person(NamedTuple):
    """Somebody: how the memories may call them, and the words for them with which they give their name."""

    name: str
    words: re.Pattern[str]
    kin: re.Pattern[str] | None = None

    def named(self, text: str) -> bool:
        """Does a text name this person?"""
        return self.words.search(_folded(text)) is not None

    def word_in(self, text: str) -> str:
        """The word by which a text names this person, empty where it does not."""
        match = self.words.search(_folded(text))
        return match[0] if match else ""

    def introduced(self, text: str) -> bool:
        """Does a text give this person's name?"""
        if self.kin is None:
            given = (match.groups() for pattern in _ALSO for match in pattern.finditer(in_standard_words(text)))
            return any(self.named(name) for names in given for name in names)
        return any(map(_names_beside, self.kin.finditer(text)))

    def reports(self, text: str) -> bool:
        """Does a text tell what this person says?"""
        folded = _folded(text)
        return any(_SAYS.match(folded[match.end() :]) for match in self.words.finditer(folded))


class People:
    """The people whom some texts tell of; `aliases` are what else names stand for, as folded words."""

    def __init__(self, texts: Iterable[str], aliases: Mapping[str, list[str]] | None = None) -> None:
        self._aliases = aliases or {}
        self._texts = [*map(in_standard_words, texts)]
        self._kin = ("", "")
        self._kin = (
            _any(self.names("partner")[:1]),
            _any([*self.names("child"), *self.names("son"), *self.names("daughter")]),
        )

    @functools.cached_property
    def every_name(self) -> frozenset[str]:
        """The names of everybody whom the table has a word for."""
        kin = (name for row in topics.table()["person"] for name in self.names(row["name"]))
        called = (next(filter(None, match.groups())) for text in self._texts for match in _GIVEN.finditer(text))
        return frozenset(form for name in (*kin, *called) for form in _forms(name))

    @functools.cached_property
    def _other_names(self) -> dict[str, list[str]]:
        """What else somebody or something is called: the dog Pickle, 老郭 郭建设."""
        found: dict[str, list[str]] = {}
        for text in self._texts:
            for one, other in (match.groups() for pattern in _ALSO for match in pattern.finditer(text)):
                kinds = [(word, other) for word in _species(one)] + [(word, one) for word in _species(other)]
                for name, also in ((one, other), (other, one), *kinds):
                    found.setdefault(terms.fold(name), []).append(also)
        return {name: others for name, others in found.items() if name not in terms.STOP}

    def names(self, kin: str) -> list[str]:
        """The names that the texts give somebody, the newest text's first."""
        found: dict[str, None] = {}
        words = self._pattern(kin)
        for text in self._texts:
            for match in words.finditer(text):
                found.update(dict.fromkeys(_names_beside(match)))
        return list(found)

    def asked(self, question: str) -> list[Person]:
        """The people whom a question names, the user aside."""
        said = question.replace("’", "'")
        found = []
        for row in topics.table()["person"]:
            if self._pattern(row["name"]).search(said):
                found.append(self._person(row))
        names = (*self._other_names, *chinese.names(said), *_capitals(said), *self.every_name)
        for name in {terms.fold(name): name for name in names}.values():
            if re.search(_name_pattern(name), _folded(said)):
                others = (*self._aliases.get(terms.fold(name), ()), *self._other_names.get(terms.fold(name), ()))
                called = [name, *(other for other in others if " " not in other)]
                found.append(Person(name, re.compile("|".join(map(_name_pattern, called)), re.IGNORECASE)))
        return found

    def _person(self, row: dict[str, object]) -> Person:
        kin = [str(row["name"]), *map(str, row.get("also", ()))]  # type: ignore[call-overload]
        parts = [self._pattern(name).pattern for name in kin]
        parts += [_name_pattern(form) for one in kin for name in self.names(one) for form in _forms(name)]
        kin_words = "|".join(self._pattern(name).pattern for name in kin)
        return Person(kin[0], re.compile("|".join(parts), re.IGNORECASE), re.compile(kin_words, re.IGNORECASE))

    def _pattern(self, kin: str) -> re.Pattern[str]:
        return _compiled(kin, *self._kin)


@functools.lru_cache(maxsize=256)
def _compiled(kin: str, partner: str, child: str) -> re.Pattern[str]:
    row = next(row for row in topics.table()["person"] if row["name"] == kin)
    return re.compile(
        row["one"].replace("{partner}", partner or "(?!)").replace("{child}", child or "(?!)"), re.IGNORECASE
    )


def _any(names: list[str]) -> str:
    return "|".join(map(re.escape, names))


def is_about_self(question: str) -> bool:
    """Does the one who asks speak of themselves?"""
    return _FIRST_PERSON.search(question) is not None


def pronoun(question: str) -> str:
    """The pronoun of the third person that a question has, empty where it has none."""
    match = _PRONOUN.search(question)
    return (match[1] or match[2]) if match else ""


def meant_by_pronoun(pronoun: str, who: list[Person]) -> list[Person]:
    """Those of some people named together whom a pronoun may mean: no brother by `she`."""
    of_one, of_other = (_MALE, _FEMALE) if pronoun.lower() in ("he", "him", "his", "他") else (_FEMALE, _MALE)
    sure = [one for one in who if one.name in of_one]
    return sure or ([] if any(one.name in of_other for one in who) else who)


def _names_beside(found: re.Match[str]) -> list[str]:
    """The names that stand beside a word for somebody; what is theirs, "mums birthday is", is none."""
    text, owned = found.string, found[0].endswith("s") and found.re.fullmatch(found[0][:-1])
    names = _names_behind(text[found.end() :], text[: found.start()])
    return [name for name in names if not owned or not name.islower()]


def _names_behind(after: str, before: str) -> list[str]:
    """The names that stand behind, or right before, a word for somebody."""
    if match := re.match(r":([^.!?\n]*)", after):
        found = re.findall(rf"(?<!in )(?<!at )(?<!from )(?<!the )\b{_NAME}\b", match[1])
        return [name for name in found if name not in _NO_NAME]
    if match := re.match(rf"{_CALLED}({_LIST})", after, re.IGNORECASE):
        return [name for name in re.findall(_NAME, match[1]) if name not in _NO_NAME]
    if match := re.search(r"\b(\w{3,})(?:'s| is) (?:my|our) (?:\w+ ){0,2}$", before, re.IGNORECASE):
        return [match[1]] if match[1].lower() not in terms.STOP else []
    match = re.match(rf" ([a-z]{{3,}}) {_VERB}\b", after)
    if match and match[1] not in terms.STOP and not _ACTS.fullmatch(match[1]):
        return [match[1]]
    if match := _SPELT.match(after) or _AGED.match(after):
        return [next(filter(None, match.groups()))]
    if match := re.match(
        r"(?:的)?姓([\u4e00-\u9fff])[，,]?(?:单?名|叫)(?:\1)?([\u4e00-\u9fff]{1,2})(?=$|[，。])", after
    ):
        return [match[1] + match[2]]
    if match := re.match(r"(?:的名字|[小大]名)?(?:名?叫|是|，)?([\u4e00-\u9fff]{2,4})", after):
        named = (
            name for name in chinese.names(after[: match.end() + 1]) if name in match[1] + after[match.end() :][:1]
        )
        whole = re.match(
            rf"(?:的名字|[小大]名)?(?:名?叫|是)?([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}(?=$|[^\u4e00-\u9fff]|[今在是跟和读的])"
            r"|(?:(?<=[小大]名)|(?<=[小大]名叫))[\u4e00-\u9fff]{2,3}(?=$|[，。])|([\u4e00-\u9fff])\2)",
            after,
        )
        return [whole[1]] if whole else list(named)[:1]
    return []


def _species(word: str) -> list[str]:
    """What a word for an animal means: of a border collie a dog."""
    return [kind for name, kinds in _SPECIES.items() if topics.named(name).hold.search(word) for kind in kinds]


def _forms(name: str) -> list[str]:
    """How somebody of a name is called: by all of it, and where a Chinese one has a surname, by what follows that."""
    return [name, name[1:]] if len(name) == 3 and terms.is_cjk(name) else [name]


def _capitals(question: str) -> list[str]:
    """The words of a question that only a name would begin with a capital."""
    found = re.findall(rf"(?<=[\w,'] ){_NAME}(?=\b)", question)
    return [word for word in found if word.lower() not in terms.STOP and word not in _NO_NAME]


@functools.lru_cache(maxsize=10_000)
def _folded(text: str) -> str:
    return terms.fold(in_standard_words(text))


def _name_pattern(name: str) -> str:
    name = terms.fold(name)
    return re.escape(name) if not name.isascii() else rf"\b{re.escape(name)}(?:s\b|\b)"


_TELLS = r"\b(?:is|am|i'm|im|turn(?:s|ed|ing)?|aged?|be|he's|she's|just)\b|,|\("
_AGE = re.compile(
    rf"(?:{_TELLS})\s?(?:now |just |only |nearly )?(\d{{1,3}})(?=$|[.,;!)]| (?:years|and|now|today|this))"
    r"|\b(\d{1,3}) (?:years old|today|now)"
    r"|(?:今年|现在|满|快|刚|都|[，, ]|我|^)(\d{1,3}|[一二三四五六七八九十]{1,3})(?:岁|[啦了]|(?=$|[，。, ]))",
    re.IGNORECASE,
)
_DIGITS = {sign: value for value, sign in enumerate("一二三四五六七八九", 1)}


class Birthday(NamedTuple):
    """A day of birth, whose year is 0 where it is not known."""

    month: int
    date: int
    year: int


def now(told: Iterable[tuple[Evidence, str]], born: Iterable[tuple[Evidence, str]], today: dt.date) -> int | None:
    """The age on a day by sentences that tell it and by sentences that tell a birthday, the best first.

    None where no birthday is known, or no birthday has gone by since the age was told.
    """
    birthday = next((found for one, sentence in born if one.day and (found := _birthday(sentence, one.day))), None)
    if birthday is None:
        return None
    if birthday.year:
        return _years(birthday.year, birthday, today)
    age = next(((value, one.day) for one, sentence in told if one.day and (value := _age(sentence))), None)
    if age is None:
        return None
    value, day = age
    passed = _years(day.year - value, birthday, today) - _years(day.year - value, birthday, day)
    return value + passed if passed > 0 else None


def _years(year: int, birthday: Birthday, day: dt.date) -> int:
    return day.year - year - ((day.month, day.day) < (birthday.month, birthday.date))


def _birthday(sentence: str, day: dt.date) -> Birthday | None:
    said = plainly(sentence)
    for mention in dates.mentioned(said, day):
        start, end = mention.span.start, mention.span.end
        if start == end:
            year = start.year if re.search(r"\d{4}", said[mention.start : mention.end]) and start.year < day.year else 0
            return Birthday(start.month, start.day, year)
    return None


def _age(sentence: str) -> int | None:
    match = _AGE.search(plainly(sentence))
    value = next(filter(None, match.groups())) if match else ""
    if value.isascii():
        return int(value) if value else None
    tens, _, ones = value.rpartition("十")
    return (10 * _DIGITS.get(tens, 1) if "十" in value else 0) + _DIGITS.get(ones, 0)
