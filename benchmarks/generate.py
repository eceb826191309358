"""Makes a store of session files from a seed: 12 turns each, about 1.8 kB, words as frequent as Zipf's law has them.

    python benchmarks/generate.py FOLDER FILES

writes FOLDER/ann/sessions/YYYY/…; the same seed and number give the same bytes.
"""

import datetime as dt
import itertools
import os
import random
import sys
from collections.abc import Iterator

USER = "ann"
TURNS, WORDS, VOCABULARY = 12, 18, 20_000
COMMON = (
    "the i to a and you it of that in my was for is we so with me have on this but at be had about he she they went what "
    "yesterday when your got really last time how just there very said week day today do did two like good new who where"
).split()


def vocabulary(chance: random.Random) -> list[str]:
    """Words by rank: everyday English ones, then made ones of one to four syllables."""
    words = dict.fromkeys(COMMON)
    while len(words) < VOCABULARY:
        words[
            "".join(chance.choice("bcdfghjklmnprstvz") + chance.choice("aeiou") for _ in range(chance.randint(2, 5)))
        ] = None
    return list(words)


def sessions(files: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """The path under the store and the text of each file."""
    chance = random.Random(seed)
    words = vocabulary(chance)
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))
    start = dt.datetime(2000, 1, 1, 9)
    for number in range(files):
        at = start + number * dt.timedelta(hours=2, minutes=17)
        turns = []
        for turn in range(TURNS):
            said = " ".join(chance.choices(words, cum_weights=weights, k=WORDS)).capitalize()
            turns.append(
                f"- **{('Ann', 'Ben')[turn % 2]}** {at + dt.timedelta(minutes=turn):%H:%M}: {said}{'.?'[turn % 5 == 0]}\n"
            )
        front = f"---\ndate: {at:%Y-%m-%dT%H:%M:%S}\n---\n\n"
        yield f"{USER}/sessions/{at:%Y}/{at:%Y-%m-%d-%H%M}-session-{number}.md", front + "".join(turns)


def write(folder: str, files: int) -> None:
    """Write the store."""
    for path, text in sessions(files):
        where = os.path.join(folder, path)
        os.makedirs(os.path.dirname(where), mode=0o700, exist_ok=True)
        with open(where, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
