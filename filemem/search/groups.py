"""A question about a group as a whole, such as one's family or work: the best of each of its members, whom the memories name."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from filemem.files.passages import ASSISTANT
from filemem.search.candidates import Candidate
from filemem.search.question import Query, Word
from filemem.text import chinese, tables, terms
from filemem.text.plain import LINK

MEMBER = 0.9  # what the name of a member counts, of a word that tells who is one
MOST = 12  # members
PART = "all of a group"  # of the score of such a passage, by which it is known; no word of a question
LATER = 0.985  # of the score of the line before it, what the next line in the answer has
_ASKING = frozenset(
    "what who whom how know remember recall tell say list name everything anything something much many people members member "
    "person there doing going well currently now these days please could can about summary recap overview whole".split()
)
_ASKING_ZH = re.compile(
    "知道|记得|了解|关于|哪些|哪几个|什么|情况|成员|说说|讲讲|介绍|一下|告诉|怎么样|最近|多少|所有|全部|一切|谁|人|有|事|好|些|几个|请|都|里|我们?|咱们?|你|您|的|是|吗|呢|跟|和|在|过|了"
)
_ALL = re.compile(
    r"\b(?:know|tell|about|who|remember|recall|list|everything|summary|recap|overview)\b|知道|记得|了解|关于|哪些|情况|成员|说说|讲讲|介绍|告诉|谁|怎么样"
)
_NAME = r"(?-i:[A-Z])[\w'’-]+(?: (?-i:[A-Z])[\w'’-]+)?"


_ENDS = "在是有也的住去来说喜做和养最，。、！？"
_NAME_ZH = rf"(?![{_ENDS}都很要会不今明昨上下过刚])[\u4e00-\u9fff]{{2,3}}?(?=[{_ENDS}]|$)"


class Group(NamedTuple):
    """A group: what it is called, the words of who and what is in it, these as a pattern, and a name beside one of them."""

    called: tuple[str, ...]
    words: tuple[str, ...]
    tells: re.Pattern[str]
    beside: re.Pattern[str]


@cache
def _groups() -> list[Group]:
    found, rows = [], re.sub(r"\n +", " ", "\n".join(tables.lines("groups.txt"))).split("\n")
    for called, _, told in (row.partition(": ") for row in rows):
        words = tuple(told.split(", "))
        spelt = "|".join(re.escape(word) if terms.is_cjk(word[0]) else rf"\b{re.escape(word)}\b" for word in words)
        named = rf"(?:is |was |called |named |is called )?(?P<a>{_NAME})|(?:叫做?|名叫|是)?(?P<b>{_NAME_ZH})"
        beside = rf"(?:{spelt})+,? ?(?:{named})|(?P<c>{_NAME})(?: is|,) (?:\w+ ){{1,3}}?(?:{spelt})"
        both = (re.compile(pattern, re.IGNORECASE) for pattern in (spelt, beside))
        found.append(Group(tuple(called.split(", ")), words, *both))
    return found


def asked(question: str) -> Group | None:
    """The group that a question is about and about nothing else; None for any other question."""
    folded = terms.simplified(terms.fold(question))
    if not _ALL.search(folded):
        return None
    for group in _groups():
        for name in sorted(group.called, key=len, reverse=True):
            edge = "" if terms.is_cjk(name[0]) else r"\b"
            rest, count = re.subn(f"{edge}{name}{edge}", " ", folded)
            left = terms.tokens(_ASKING_ZH.sub(" ", rest)) if count else [name]
            if all(token in _ASKING or token in terms.STOP for token in left):
                return group
    return None


def of_words(parsed: Query, group: Group, names: Sequence[str] = ()) -> Query:
    """The question turned into a search for the words of a group and the `names` of its members."""
    stems = dict.fromkeys((terms.stem(token) for word in group.words for token in terms.tokens(word)), 1.0)
    tokens = [token for name in names for token in terms.tokens(name) if len(token) > 1 and token not in terms.STOP]
    stems |= {terms.stem(token): MEMBER for token in tokens}
    first = group.called[0]
    return parsed._replace(
        words=(Word(first, terms.stem(first), 1.0, tuple(stems.items()), False),), runs=(), lists=True
    )


def members(hits: Sequence[Candidate], group: Group, owner: str) -> list[str]:
    """The names of a group's members in some hits, those of the best hits first, without the owner's."""
    found: dict[str, str] = {}
    for hit in hits:
        for name in _named(hit.text, group) if not hit.note else ():
            if terms.fold(name) not in (terms.fold(owner), ""):
                found.setdefault(terms.fold(name), name)
    return list(found.values())[:MOST]


def _named(text: str, group: Group) -> Iterator[str]:
    """The names in sentences that hold a word of the group: linked names, Chinese names, and names beside such a word."""
    for sentence in re.split(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n", text):
        if group.tells.search(sentence):
            yield from (link[1] for link in LINK.finditer(sentence))
            yield from chinese.names(sentence)
            yield from (match["a"] or match["b"] or match["c"] for match in group.beside.finditer(sentence))


def by_member(hits: Sequence[Candidate], group: Group, names: Sequence[str]) -> list[Candidate]:
    """The hits about a group: the best of each member first, then the second best of each, and so on; a hit that names no member
    counts as one of its own."""
    rows: dict[str, list[Candidate]] = {name: [] for name in names}
    for hit in hits:
        if hit.speaker == ASSISTANT or terms.flags(hit.text) & terms.IS_QUESTION:
            continue
        folded = terms.fold(hit.text)
        who = [name for name in names if terms.fold(name) in folded]
        if who:
            rows[min(who, key=lambda name: len(rows[name]))].append(hit)
        elif group.tells.search(hit.text):
            rows.setdefault(f"{hit.path}:{hit.line}", []).append(hit)
    turns = max(map(len, rows.values()), default=0)
    order = [row[n] for n in range(turns) for row in rows.values() if n < len(row)]
    best = max((hit.score for hit in order), default=0.0)
    return [hit.counting(best * LATER ** (place + 1), PART) for place, hit in enumerate(order)]
