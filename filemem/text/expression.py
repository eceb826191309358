"""What can be said of a regular expression without running it: what it costs at most.

That is read off the tree that `re` itself parses (`re._parser`, in every Python from 3.11 on).
"""

import bisect
import re
from collections.abc import Iterable, Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Nodes = Iterable[tuple[Any, Any]]
"""A parsed sequence: pairs of an operation of `re._constants` and its argument."""

ENDLESS = 10**12
"""Steps that no one waits for; bounds are not counted further."""

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_BODIES = {op.SUBPATTERN: 3, op.ASSERT: 1, op.ASSERT_NOT: 1, op.ATOMIC_GROUP: 0, **dict.fromkeys(_REPEATS, 2)}
"""Where in its argument an operation has what it holds."""


def parse(text: str, flags: int) -> Any:
    """The parsed sequence of `text`; raises what `re.compile` raises for a wrong one."""
    return _parser.parse(text, flags)


def _inside(operation: Any, argument: Any) -> list[Any]:
    """The sequences that a node holds: one of them matches, in its place."""
    if operation is op.BRANCH:
        return list(argument[1])
    if operation is op.GROUPREF_EXISTS:
        return [branch or () for branch in argument[1:]]
    place = _BODIES.get(operation)
    return [] if place is None else [argument if operation is op.ATOMIC_GROUP else argument[place]]


def weight(nodes: Nodes) -> int:
    """How many characters the sets of an expression name."""
    found = 0
    for operation, argument in nodes:
        if operation is op.IN:
            found += sum(value[1] - value[0] for kind, value in argument if kind is op.RANGE)
        found += sum(map(weight, _inside(operation, argument)))
    return found


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
        inner = [cost(body, length) for body in _inside(operation, argument)]
        more_ways = sum(count for count, _ in inner) or 1
        more_steps = 1 + len(inner) + sum(count for _, count in inner)
        if operation is op.IN:
            more_steps += len(argument) // 16  # outside the first 65,536 they are looked up range by range
        elif operation is op.GROUPREF:
            more_steps += length
        elif operation in _REPEATS:
            least, most, body = argument
            # A round that matches nothing ends an open repeat; only the rounds that must be are made all the same.
            rounds = max(least, min(most, length // max(1, body.getwidth()[0]) + 1))
            within = more_ways ** min(rounds + 1, 40)  # the sum of its powers up to the number of rounds is less
            more_steps *= rounds + 1 if more_ways == 1 else within
            more_ways = rounds - least + 1 if more_ways == 1 else within
        steps = min(ENDLESS, steps + ways * more_steps)
        ways = min(ENDLESS, ways * more_ways)
    return ways, steps


# A person's own pattern is matched on pieces of PIECE characters, each of which overlaps the next by half, and one that could
# take more than STEPS steps at one place is refused. So none makes the work grow other than with the length of the text.
PIECE = 400  # characters of a line in which a pattern is looked for at a time; nothing longer is found whole
STEPS = 8_000  # of matching at one place of such a piece, at worst
LONGEST = 1_000  # characters of a pattern


def wrong(pattern: str) -> str:
    """Why a pattern cannot be used, with a remedy; empty where it can."""
    if len(pattern) > LONGEST:
        return f"has {len(pattern):,} characters; use at most {LONGEST:,}"
    try:
        nodes = parse(pattern, 0)
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression ({error}); to mean a sign itself write \\ before it"
    if compiled.match(""):
        return "matches nothing at all, and so everywhere; write + for *"
    if weight(nodes) > STEPS * PIECE or cost(nodes, PIECE)[1] > STEPS:
        return "may take too long; bound its repeats: \\w{1,40} for \\w+, and none inside another"
    return ""


def matches_in_pieces(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Every match in a piece of a line; one that reaches into the next piece comes in two parts that overlap."""
    at = 0
    for line in text.splitlines(keepends=True):
        for first in range(at, at + max(1, len(line) - PIECE // 2), PIECE // 2):
            last = min(first + PIECE, at + len(line.rstrip("\n")))
            yield from (match.span() for match in pattern.finditer(text, first, last) if match.end() > match.start())
        at += len(line)
