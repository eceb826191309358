"""Make filemem/data/words-zh.txt: Chinese words by how frequent they are, and those that only join others.

    python benchmarks/words_zh.py DICT

DICT is dict.txt of jieba 0.42.1 (MIT licence, on PyPI): a word, its frequency and its part of speech a line.
"""

import math
import re
import sys
from collections import defaultdict
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "filemem" / "data" / "words-zh.txt"
# Times that a word stands in the dictionary's corpus; one that is a character, and joins others, or is a verb or a measure.
LEAST, ALONE, EVERYDAY = 50, 15_000, 2_000
# Prepositions, conjunctions, pronouns, particles, places.
JOINING = frozenset("p c r u uj ul uz uv ud ug y e f".split())
# Of the first only characters, as 首都 is among its adverbs; of numbers only those with one: 一个, 一场.
ADVERB, NUMBER = "d", ("m", "mq")
VERB = frozenset("v vg q m".split())  # and measures
WORD = re.compile(r"[\u4e00-\u9fff]{1,4}")
HEAD = """\
# Words of two to four characters, each line begun by the power of two of their frequency; `=`: those that only join others;
# `+`: frequent characters that are verbs or measures by themselves, and what asks how many (几辆).
# From the dictionary of jieba 0.42.1, Copyright (c) 2013 Sun Junyi, MIT licence; made by benchmarks/words_zh.py.
"""


def main() -> None:
    """Write the table."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        word, count, kind = line.split()
        if int(count) < LEAST or not WORD.fullmatch(word):
            continue
        joins = (
            kind in JOINING
            or (kind == ADVERB and len(word) == 1)
            or (kind in NUMBER and word.startswith("一"))
        )
        if joins and (len(word) > 1 or int(count) >= ALONE):
            found["="].append(word)
        verb, how_many = (
            len(word) == 1 and kind in VERB,
            kind in NUMBER and word.startswith("几") and len(word) == 2,
        )
        if how_many or (verb and int(count) >= EVERYDAY):
            found["+"].append(word)
        if len(word) > 1:
            found[str(round(math.log2(int(count))))].append(word)
    lines = [
        f"{key} {' '.join(sorted(words))}\n" for key, words in sorted(found.items())
    ]
    OUT.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(
        f"{OUT}: {sum(map(len, found.values())):,} words, {OUT.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main()
