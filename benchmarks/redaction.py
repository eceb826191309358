"""How many secrets are taken out of text, and how many look-alikes with them, as a table for docs/security.md.

    python benchmarks/redaction.py [--missed]

`secrets.txt` beside this program says what it holds. A secret is caught if no letter and
no digit of it stays; a look-alike is a false alarm if anything is taken out of it. What
only a sentence tells, and no form, is counted apart: nothing is promised of it.
"""

import argparse
import random
import re
import string
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.answers.marks import grid
from filemem.text.redaction import redact

ALPHABETS = {
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase + "234567",
    "alnum": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
}
ALIKE = "-"
TOLD = "told"


class Sample(NamedTuple):
    """One line of the file.

    Its kind ("-" for a look-alike, "told" for what has no form), its text, and where in
    it secrets stand.
    """

    kind: str
    text: str
    secrets: list[tuple[int, int]]


def samples() -> dict[str, list[Sample]]:
    """The lines by set, with what is left to chance filled in: the same at every run."""
    sets: dict[str, list[Sample]] = {}
    for line in (
        (Path(__file__).parent / "secrets.txt").read_text(encoding="utf-8").splitlines()
    ):
        if line.startswith("["):
            name = line.strip("[]")
            sets[name], chance = [], random.Random(f"{name}.txt")
        elif not line.startswith("#"):
            kind, _, marked = line.split(" | ", 2)
            sets[name].append(_sample(kind, marked, chance))
    return sets


def _sample(kind: str, marked: str, chance: random.Random) -> Sample:
    marked = re.sub(
        r"⟪(\w+)(?: (\d+))?⟫",
        lambda place: _filled(place, chance),
        marked.replace("\\n", "\n"),
    )
    text, secrets = "", []
    for part in re.split("(‹[^›]*›)", marked):
        if part.startswith("‹"):
            secrets.append((len(text), len(text) + len(part) - 2))
        text += part.strip("‹›")
    return Sample(kind, text, secrets)


def _filled(place: re.Match[str], chance: random.Random) -> str:
    if place[1] == "pem":
        edges = [
            "-----" + edge + " RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END")
        ]
        lines = ["".join(chance.choices(ALPHABETS["b64"], k=64)) for _ in range(3)]
        return "\n".join([edges[0], *lines, edges[1]])
    return "".join(chance.choices(ALPHABETS[place[1]], k=int(place[2])))


def right(sample: Sample) -> bool:
    """Whether every letter and digit of every secret is gone; of a look-alike, whether all of it stays."""
    found = redact(sample.text)[1]
    if sample.kind == ALIKE:
        return not found
    gone = {at for one in found for at in range(one.start, one.end)}
    return all(
        at in gone or not sample.text[at].isalnum()
        for start, end in sample.secrets
        for at in range(start, end)
    )


def row(name: str, lines: list[Sample]) -> list[str]:
    """The sums of one set."""
    forms = [right(line) for line in lines if line.kind not in (ALIKE, TOLD)]
    told = [right(line) for line in lines if line.kind == TOLD]
    alike = [right(line) for line in lines if line.kind == ALIKE]
    return [
        name,
        f"{sum(forms)} of {len(forms)}",
        f"{sum(told)} of {len(told)}",
        f"{len(alike) - sum(alike)} of {len(alike)}",
    ]


def main() -> None:
    """Print the table, and with --missed each line that came out wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--missed", action="store_true", help="the lines that came out wrong, too"
    )
    options = parser.parse_args()
    sets = samples()
    print(
        grid(
            "set|with a form|told in a sentence|look-alikes taken out",
            [row(name, lines) for name, lines in sets.items()],
        )
    )
    for sample in (one for lines in sets.values() for one in lines if options.missed):
        if not right(sample):
            print(sample.kind, repr(sample.text), "->", repr(redact(sample.text)[0]))


if __name__ == "__main__":
    main()
