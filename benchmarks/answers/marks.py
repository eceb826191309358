"""Marks of an answer that need no model: refusal, patterns, evidence shown, a judge's verdict read; and tables in Markdown."""

import json
import re
import string
from collections.abc import Iterable

_ARTICLES = frozenset({"a", "an", "the"})
_WIDE = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_SIGNS = re.compile(
    f"[{re.escape(string.punctuation)}，。！？、；：“”‘’（）《》【】…—·]"
)
_REFUSALS = re.compile(
    r"\b(?:do(?:es)? ?n[o']t|did ?n[o']t|can ?not|can't|could ?n[o']t|unable to|not able to) "
    r"(?:\w+ ){0,2}?(?:know|remember|recall|find|tell|say|mention|answer|determine)"
    r"|\bno (?:(?:such|relevant|specific) )?(?:information|mention|record|memory|memories|evidence|answer)\b"
    r"|\bnot (?:\w+ )?(?:mentioned|specified|stated|available|recorded|provided|known|in (?:my|the) memory)\b"
    r"|\b(?:unanswerable|cannot be answered|there is nothing about|nothing (?:was|is) (?:said|mentioned|recorded))\b"
    r"|不知道|不记得|不清楚|不确定|没有(?:找到|提到|提及|记录|记载|相关|说过|这方面)|未(?:提到|提及|找到|记录|说明)|无法(?:回答|确定|得知|判断)"
    r"|找不到|查不到",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"<memory[^>]*>\n(.*?)\n</memory>", re.DOTALL)
_VERDICT = re.compile(r"\bverdict\W+(correct|wrong|yes|no)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(correct|wrong|incorrect|yes|no)\b", re.IGNORECASE)
_RIGHT = frozenset({"correct", "yes"})
EVIDENCE = 120  # letters and digits by which a turn is known again
_PLAIN, _BRACKETS = re.compile(r"[\W_]+"), re.compile(r"\[[^\]\n]*\]")


def tokens(text: str) -> list[str]:
    """SQuAD's words: small letters without articles and signs; a Chinese, Japanese or Korean character is a word of its own."""
    text = _SIGNS.sub("", text.lower().replace("-", " "))
    return [
        word for word in _WIDE.sub(r" \g<0> ", text).split() if word not in _ARTICLES
    ]


def refused(answer: str) -> bool:
    """Does the answer say that it is not known? An empty one does."""
    return not answer.strip() or bool(_REFUSALS.search(answer.replace("’", "'")))


def fits(answer: str, want: Iterable[str], unwanted: Iterable[str]) -> bool:
    """Does the answer say each of `want` and none of `unwanted`, regular expressions in which ^ and $ are a line's?"""
    how = re.IGNORECASE | re.MULTILINE
    return all(re.search(one, answer, how) for one in want) and not any(
        re.search(one, answer, how) for one in unwanted
    )


def given(text: str) -> str:
    """What a memory put before a question, unasked."""
    return "\n".join(_MEMORY.findall(text))


def plain(text: str) -> str:
    """Letters and digits alone, without what stands in square brackets: captions, and dates that a memory has written out."""
    return _PLAIN.sub("", _BRACKETS.sub("", text.lower()))


def shown(read: str, evidence: Iterable[str]) -> float | None:
    """The share of the turns with the answer that stand in what the model read; None where none are known."""
    wanted = [start for text in evidence if (start := plain(text)[:EVIDENCE])]
    read = plain(read)
    return sum(text in read for text in wanted) / len(wanted) if wanted else None


def verdict(reply: str) -> bool | None:
    """What a judge decided: its last VERDICT line, the label of its JSON, or the one word of the kind; None where unclear."""
    if found := _VERDICT.findall(reply):
        return found[-1].lower() in _RIGHT
    if labelled := re.search(r"\{[^{}]*\}", reply):
        try:
            return verdict(str(json.loads(labelled[0])["label"]))
        except (ValueError, KeyError, TypeError):
            pass
    said = {word.lower() in _RIGHT for word in _WORD.findall(reply)}
    return said.pop() if len(said) == 1 else None


def blind(answer: str, names: Iterable[str]) -> str:
    """An answer as a judge reads it: without paths, tags and names by which it could tell the system."""
    answer = re.sub(
        r"[(\[]?`?\b[\w-]+(?:/[\w.-]+)+\.(?:md|ya?ml|txt)(?::\d+)?`?[)\]]?", "", answer
    )
    for name in names:
        answer = re.sub(re.escape(name), "memory", answer, flags=re.IGNORECASE)
    return answer.replace("<", "‹").replace(">", "›").strip()


def grid(head: str, rows: Iterable[Iterable[object]]) -> str:
    """A table, as every program of the benchmarks prints its figures; the names of its columns are parted by `|`."""
    names = head.split("|")
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)
