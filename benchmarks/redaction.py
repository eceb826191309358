"""How many secrets are taken out of text, and how many look-alikes with them, as tables for docs/security.md.

    python benchmarks/redaction.py [--missed] [FILE ...]

Without FILE, the first beside this program by kind and a row for each later one; their first lines say
what they hold. A secret is caught if no letter and no digit of it stays; a look-alike is a false alarm if anything
is taken out of it.
"""

import argparse
import random
import re
import string
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from filemem.text.redaction import redact

HERE = Path(__file__).parent
LATER = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
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


class Sample(NamedTuple):
    """One line of the file: its kind ("-" for a look-alike), language, text, and where in it secrets stand."""

    kind: str
    language: str
    text: str
    secrets: list[tuple[int, int]]


def samples(path: Path) -> list[Sample]:
    """The file's lines, with what is left to chance filled in: the same at every run."""
    chance = random.Random(path.name)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [_sample(*line.split(" | ", 2), chance) for line in lines]


def _sample(kind: str, language: str, marked: str, chance: random.Random) -> Sample:
    marked = re.sub(r"⟪(\w+)(?: (\d+))?⟫", lambda place: _filled(place, chance), marked.replace("\\n", "\n"))
    text, secrets = "", []
    for part in re.split("(‹[^›]*›)", marked):
        if part.startswith("‹"):
            secrets.append((len(text), len(text) + len(part) - 2))
        text += part.strip("‹›")
    return Sample(kind, language, text, secrets)


def _filled(place: re.Match[str], chance: random.Random) -> str:
    if place[1] == "pem":
        edges = ["-----" + edge + " RSA PRIVATE" + " KEY-----" for edge in ("BEGIN", "END")]
        lines = ["".join(chance.choices(ALPHABETS["b64"], k=64)) for _ in range(3)]
        return "\n".join([edges[0], *lines, edges[1]])
    return "".join(chance.choices(ALPHABETS[place[1]], k=int(place[2])))


def right(sample: Sample) -> bool:
    """Whether every letter and digit of every secret is gone; of a look-alike, whether all of it stays."""
    found = redact(sample.text)[1]
    if sample.kind == ALIKE:
        return not found
    gone = {at for one in found for at in range(one.start, one.end)}
    return all(at in gone or not sample.text[at].isalnum() for start, end in sample.secrets for at in range(start, end))


def table(path: Path) -> list[str]:
    """The measure of one file, a row for each kind and one for each sum."""
    total, good = Counter[str](), Counter[str]()
    for sample in samples(path):
        total[sample.kind] += 1
        good[sample.kind] += right(sample)
    secrets, caught = sum(total.values()) - total[ALIKE], sum(good.values()) - good[ALIKE]
    rows = [f"| {kind} | {total[kind]} | {good[kind]} |" for kind in total if kind != ALIKE]
    rows.append(f"| **all secrets** | {secrets} | {caught} ({100 * caught / secrets:.0f} %) |")
    alarms = total[ALIKE] - good[ALIKE]
    rows.append(f"| look-alikes taken out | {total[ALIKE]} | {alarms} ({100 * alarms / total[ALIKE]:.0f} %) |")
    return ["| kind | in the text | taken out |", "| --- | --- | --- |", *rows]


def row(name: str) -> str:
    """The sums of a later set."""
    cells = [line.strip("| ").split(" | ") for line in table(HERE / "secrets" / f"{name}.txt")[-2:]]
    return "| " + " | ".join([name, *(f"{done.partition(' ')[0]} of {total}" for _, total, done in cells)]) + " |"


def main() -> None:
    """Print the tables, and with --missed each line that came out wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--missed", action="store_true", help="the lines that came out wrong, too")
    options = parser.parse_args()
    for path in options.files or [HERE / "secrets" / "first.txt"]:
        print("\n".join(table(path)), end="\n\n")
    if not options.files:
        print(
            "\n".join(["| set | secrets taken out | look-alikes taken out |", "| --- | --- | --- |", *map(row, LATER)])
        )
    every = [HERE / "secrets" / "first.txt", *(HERE / "secrets" / f"{name}.txt" for name in LATER)]
    for sample in (one for path in options.files or every for one in samples(path) if options.missed):
        if not right(sample):
            print(sample.kind, sample.language, repr(sample.text), "->", repr(redact(sample.text)[0]))


if __name__ == "__main__":
    main()
