"""What a passage's words count for the passages around it. Passages stand at places in their file, given in half steps; what
words count elsewhere than in their own passage is a matter of the distance alone (`REACH`)."""

import itertools
import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from filemem.search.lookup import REACH

_FINE = 1024  # a share of 1 as a whole number
_SHARES = [math.ceil(share * _FINE) for share in (*REACH[:0:-1], *REACH)]  # from one end of the reach to the other
_KERNEL = sum(share << 32 * place for place, share in enumerate(_SHARES))
_MOST = (1 << 32) // sum(_SHARES) - 2
_LEAST = 1e-9  # as little as a word ever counts; less would overflow the scale


def around(places: Sequence[int], at: int) -> tuple[int, tuple[float, ...]]:
    """The first passage in reach of the one `at` in a file, and what the words of each from there on count for it."""
    here = places[at]
    first, end = bisect_right(places, here - len(REACH)), bisect_left(places, here + len(REACH))
    return first, tuple([REACH[abs(place - here)] for place in places[first:end]])


def totals(files: Sequence[tuple[Sequence[int], Sequence[float]]]) -> Iterator[list[float]]:
    """For each file, given the places of its passages and what each holds, what all those in reach of each passage give
    it, or a little more.

    One multiplication of two large numbers finds them all: with what passages hold as the digits of the one, and the shares by
    distance as those of the other, each digit of the product is the sum over one passage's reach.
    """
    sizes = [places[-1] + len(REACH) for places, _ in files]  # so far apart no file reaches the next
    starts = list(itertools.accumulate(sizes, initial=0))
    scale = _MOST / max(_LEAST, max((max(held) for _, held in files), default=_LEAST))
    digits = array("I", bytes(4 * starts[-1]))
    for start, (places, held) in zip(starts, files, strict=False):
        for place, value in zip(places, held, strict=True):
            if value:
                digits[start + place] = math.ceil(value * scale)
    product = int.from_bytes(digits.tobytes(), sys.byteorder) * _KERNEL
    sums = array("I", product.to_bytes(4 * (len(digits) + len(_SHARES) - 1), sys.byteorder))
    unit = 1 / (scale * _FINE)
    for start, (places, _) in zip(starts, files, strict=False):
        middle = start + len(REACH) - 1
        yield [sums[middle + place] * unit for place in places]
