"""What can be said of a regular expression without running it: what it costs at most, and what it cannot do without.

Both are read off the tree that `re` itself parses (`re._parser`, in every Python from 3.11 on).
"""

import bisect
from collections.abc import Iterable, Iterator, Set
from re import _casefix, _parser  # type: ignore[attr-defined]
from re._constants import (  # type: ignore[import-not-found]
    ASSERT,
    ASSERT_NOT,
    AT,
    ATOMIC_GROUP,
    BRANCH,
    GROUPREF,
    GROUPREF_EXISTS,
    IN,
    LITERAL,
    MAX_REPEAT,
    MIN_REPEAT,
    POSSESSIVE_REPEAT,
    SUBPATTERN,
)
from typing import Any

Nodes = Iterable[tuple[Any, Any]]
"""A parsed sequence: pairs of an operation of `re._constants` and its argument."""

ENDLESS = 10**12
"""Steps that no one waits for; bounds are not counted further."""

_REPEATS = (MAX_REPEAT, MIN_REPEAT, POSSESSIVE_REPEAT)


def parse(text: str, flags: int) -> Any:
    """The parsed sequence of `text`; raises what `re.compile` raises for a wrong one."""
    return _parser.parse(text, flags)


# Cost


def longest_line(nodes: Nodes, steps: int) -> int:
    """The longest line, in characters (a power of two up to 2**24), that is searched within `steps` steps;
    -1 where not even an empty one is."""
    nodes = list(nodes)
    powers = bisect.bisect_right(range(25), steps, key=lambda power: (2**power + 1) * cost(nodes, 2**power)[1])
    return 2 ** (powers - 1) if powers else -1


def cost(nodes: Nodes, length: int) -> tuple[int, int]:
    """(ways, steps): upper bounds, at one place of a line of `length` characters, on the ways to match there and on
    the single tests that a backtracking search makes until it has tried them all. Both are at most ENDLESS.

    A sequence multiplies ways, a branch adds them up, a repeat raises them to the power of its count.
    """
    ways, steps = 1, 0
    for operation, argument in nodes:
        more_ways, more_steps = _cost_of_one(operation, argument, length)
        steps = min(ENDLESS, steps + ways * more_steps)
        ways = min(ENDLESS, ways * more_ways)
    return ways, steps


def _cost_of_one(operation: Any, argument: Any, length: int) -> tuple[int, int]:
    if operation is SUBPATTERN:
        return cost(argument[3], length)
    if operation in _REPEATS:
        return _cost_of_repeat(operation, argument, length)
    if operation is BRANCH or operation is GROUPREF_EXISTS:
        branches = argument[1] if operation is BRANCH else argument[1:]
        costs = [cost(branch or (), length) for branch in branches]
        return min(ENDLESS, sum(ways for ways, _ in costs)), min(ENDLESS, sum(steps + 1 for _, steps in costs))
    if operation is ATOMIC_GROUP:
        return 1, cost(argument, length)[1]
    if operation is ASSERT or operation is ASSERT_NOT:
        return 1, cost(argument[1], length)[1] + 1
    if operation is GROUPREF:
        return 1, length + 1
    # Characters outside the first 65,536 are looked up range by range.
    return 1, 1 + len(argument) // 16 if operation is IN else 1


def _cost_of_repeat(operation: Any, argument: tuple[int, int, Any], length: int) -> tuple[int, int]:
    least, most, body = argument
    # A round that matches nothing ends an open repeat; only the rounds that must be are made all the same.
    rounds = max(least, min(most, length // max(1, body.getwidth()[0]) + 1))
    body_ways, body_steps = cost(body, length)
    if operation is POSSESSIVE_REPEAT:
        return 1, min(ENDLESS, rounds * (body_steps + 1))
    if body_ways == 1:
        return rounds - least + 1, min(ENDLESS, rounds * (body_steps + 1) + 1)
    ways = steps = 0
    reached = 1
    for done in range(rounds + 1):
        ways += reached if done >= least else 0
        steps += reached * (body_steps + 1)
        reached *= body_ways
        if reached > ENDLESS:
            return ENDLESS, ENDLESS
    return min(ENDLESS, ways), min(ENDLESS, steps)


# What must be there


def fold(text: str) -> str:
    """`text` without case, so that what `re` matches without regard to case is equal, but for `_is_plain`'s exceptions.

    Beside lower-casing that is the dotted and the dotless Turkish i and the long s.
    """
    folded = text.lower()
    if folded.isascii():
        return folded
    return folded.replace("i\u0307", "i").replace("ı", "i").replace("ſ", "s")


def required(nodes: Nodes) -> list[frozenset[str]]:
    """Sets of folded strings: whatever the expression matches holds, once folded, one string of every set."""
    found: list[frozenset[str]] = []
    run = ""
    for part in _parts(nodes):
        if isinstance(part, str) and part:
            run += part
            continue
        if run:
            found.append(frozenset((run,)))
            run = ""
        if part:
            found.append(part)
    return [*found, frozenset((run,))] if run else found


def _parts(nodes: Nodes) -> Iterator["str | frozenset[str]"]:
    """The expression as a row of folded characters; "" where it matches something else between them; a set of strings
    one of which stands there."""
    for operation, argument in nodes:
        if operation is LITERAL:
            yield _plain(argument)
        elif operation is IN:
            letters = {_plain(value) if kind is LITERAL else "" for kind, value in argument}
            yield letters.pop() if len(letters) == 1 else ""
        elif operation is SUBPATTERN:
            yield from _parts(argument[3])
        elif operation is ATOMIC_GROUP:
            yield from _parts(argument)
        elif operation is BRANCH:
            yield _one_of(argument[1])
        elif operation in _REPEATS:
            least, most, body = argument
            if least:
                yield from _parts(body)
            if (least, most) != (1, 1):
                yield ""
        elif operation not in (AT, ASSERT, ASSERT_NOT):
            yield ""


def _one_of(branches: Iterable[Nodes]) -> "str | frozenset[str]":
    """The most telling set of every branch, in one; "" where a branch needs nothing."""
    union: set[str] = set()
    for branch in branches:
        needed = required(branch)
        if not needed:
            return ""
        union |= max(needed, key=shortest)
    return frozenset(union)


def shortest(strings: Set[str]) -> int:
    """The length of the shortest string: how telling a set is."""
    return min(map(len, strings))


def _plain(code: int) -> str:
    """The folded character, or "" for one that `re` also takes for a character that folds to another.

    Sigma, for one, is folded by where it stands in its word, and the dot above goes with its i.
    """
    folded = fold(chr(code))
    same = folded in ("i", "s") or (ord(folded) not in _casefix._EXTRA_CASES if len(folded) == 1 else False)
    return folded if same and folded != "\u0307" else ""
