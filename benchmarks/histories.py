"""Ask made-up histories what holds now, what held before, and what held on a day.

    python -m benchmarks.histories [--histories 150] [--seed 52] [--misses]

A history is one matter of one person (where they live, whom they see for their
teeth, ...) whose value was told and then changed twice, each value a fact with its
interval that supersedes the one before, among facts of other matters. Each is asked
six ways, without a model: now; before the last value, by name; before the first
change, by name, in an answer of any length and in one of the shortest; in a month and
on a day on which the middle value held. What holds now or held then must stand in the
first line that `search_files` shows; what held before a value that the question names,
anywhere in the answer, its headings included.
"""

import argparse
import datetime as dt
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filemem import Store

FIRST_DAY = dt.date(2018, 1, 15)
DAYS_BETWEEN = (200, 900)  # between two changes of a value
MATTERS = 6  # of each person, of which one is asked about
ENGLISH_MONTHS = (
    "January February March April May June July August September October November"
    " December"
).split()


@dataclass(frozen=True)
class Matter:
    """Something of which a person has one at a time.

    Each text has `{who}` and, but for `now` and `at`, `{value}`; `at` has `{when}`.
    """

    told: str
    now: str
    before: str
    at: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Held:
    """A value and the days from and to which it held; `until` of the last is None."""

    value: str
    since: dt.date
    until: dt.date | None


@dataclass(frozen=True)
class Asked:
    """A question, what kind it is, the value that answers it, and a limit of hits."""

    kind: str
    question: str
    answer: str
    limit: int | None = None


MATTERS_EN = (
    Matter(
        "{who} lives in {value}.",
        "Where does {who} live?",
        "Where did {who} live before {value}?",
        "Where did {who} live in {when}?",
        ("Porto", "Coimbra", "Lisbon", "Ghent", "Turin", "Malmo", "Bergen", "Nantes"),
    ),
    Matter(
        "{who} works at {value}.",
        "Where does {who} work?",
        "Where did {who} work before {value}?",
        "Where did {who} work in {when}?",
        ("Altamar", "Bexley", "Corvina", "Dunmore", "Estrel", "Farrow", "Gantry"),
    ),
    Matter(
        "{who}'s dentist is Dr {value}.",
        "Who is {who}'s dentist?",
        "Who was {who}'s dentist before Dr {value}?",
        "Who was {who}'s dentist in {when}?",
        ("Quint", "Rasmus", "Silveira", "Tamm", "Ullrich", "Varga", "Wentz"),
    ),
    Matter(
        "{who} drives a {value}.",
        "What car does {who} drive?",
        "What did {who} drive before the {value}?",
        "What car did {who} drive in {when}?",
        ("Corolla", "Fabia", "Panda", "Zoe", "Leon", "Astra", "Yaris"),
    ),
    Matter(
        "{who} is learning {value}.",
        "Which language is {who} learning?",
        "Which language was {who} learning before {value}?",
        "Which language was {who} learning in {when}?",
        ("Basque", "Czech", "Danish", "Estonian", "Finnish", "Georgian", "Hungarian"),
    ),
    Matter(
        "{who} takes {value} for the migraine.",
        "What does {who} take for the migraine?",
        "What did {who} take for the migraine before {value}?",
        "What did {who} take for the migraine in {when}?",
        ("topiramate", "propranolol", "candesartan", "erenumab", "flunarizine"),
    ),
)
MATTERS_ZH = (
    Matter(
        "{who}住在{value}。",
        "{who}住在哪里？",
        "{who}搬到{value}之前住在哪里？",
        "{who}{when}住在哪里？",
        ("苏州", "南京", "成都", "厦门", "青岛", "昆明", "西安"),
    ),
    Matter(
        "{who}在{value}上班。",
        "{who}在哪里上班？",
        "{who}去{value}之前在哪里上班？",
        "{who}{when}在哪里上班？",
        ("远帆科技", "宏达贸易", "青禾设计", "海川物流", "明德书局", "百草药业"),
    ),
    Matter(
        "{who}的牙医是{value}医生。",
        "{who}的牙医是谁？",
        "{value}医生之前{who}的牙医是谁？",
        "{who}{when}的牙医是谁？",
        ("欧阳", "慕容", "司徒", "诸葛", "上官", "夏侯"),
    ),
    Matter(
        "{who}开的车是{value}。",
        "{who}开什么车？",
        "{who}开{value}之前开什么车？",
        "{who}{when}开什么车？",
        ("卡罗拉", "思域", "朗逸", "凯美瑞", "途观", "轩逸"),
    ),
    Matter(
        "{who}正在学{value}。",
        "{who}现在在学什么？",
        "{who}学{value}之前在学什么？",
        "{who}{when}在学什么？",
        ("吉他", "二胡", "书法", "游泳", "围棋", "陶艺"),
    ),
    Matter(
        "{who}每天早上吃{value}。",
        "{who}早上吃什么？",
        "{who}早上改吃{value}之前吃什么？",
        "{who}{when}早上吃什么？",
        ("豆浆油条", "燕麦粥", "小笼包", "煎饼果子", "阳春面"),
    ),
)
NAMES_EN = ("Ana", "Bob", "Clara", "Denis", "Edith", "Farid", "Greta", "Hugo")
NAMES_ZH = ("小林", "阿芳", "老周", "晓梅", "志强", "丽华")


def month_of(day: dt.date, chinese: bool) -> str:
    """Write a day's month as a person writes it in a question."""
    if chinese:
        return f"{day.year}年{day.month}月"
    return f"{ENGLISH_MONTHS[day.month - 1]} {day.year}"


def asked_of_day(matter: Matter, who: str, day: dt.date, chinese: bool) -> str:
    """Write the question of what held on a day.

    Args:
        matter: what it is about.
        who: the person.
        day: in question.
        chinese: whether it is asked in Chinese.
    """
    if chinese:
        return matter.at.format(who=who, when=f"{month_of(day, True)}{day.day}日")
    asked = matter.at.replace(" in {when}", " on {when}")
    return asked.format(who=who, when=f"{day.day} {month_of(day, False)}")


def history(matter: Matter, choice: random.Random) -> list[Held]:
    """Draw three values of a matter, oldest first."""
    values = choice.sample(matter.values, 3)
    starts = [FIRST_DAY + dt.timedelta(days=choice.randint(0, 500))]
    for _ in values[1:]:
        starts.append(starts[-1] + dt.timedelta(days=choice.randint(*DAYS_BETWEEN)))
    ends = [*starts[1:], None]
    return [Held(*one) for one in zip(values, starts, ends, strict=True)]


def write(root: Path, number: int, matter: Matter, who: str, held: list[Held]) -> None:
    """Write one fact a value, which supersedes the one before, as a job does.

    Args:
        root: the person's folder.
        number: of the matter, which is in the names of the files.
        matter: what it is about.
        who: the person.
        held: its values, oldest first.
    """
    paths = [f"facts/{one.since}-matter-{number}.md" for one in held]
    for place, one in enumerate(held):
        front = [f"valid_from: {one.since}"]
        if one.until:
            front.append(f"valid_until: {one.until}")
            front.append(f"superseded_by: {paths[place + 1]}")
        if place:
            front.append(f"supersedes: {paths[place - 1]}")
        path = paths[place]
        told = matter.told.format(who=who, value=one.value)
        text = "---\n" + "\n".join(front) + f"\n---\n\n{told}\n"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def questions(matter: Matter, who: str, held: list[Held], chinese: bool) -> list[Asked]:
    """Ask for the value now, before each change, and in the midst of the middle one."""
    first, middle, last = held
    assert middle.until
    midst = middle.since + (middle.until - middle.since) / 2
    when = month_of(midst, chinese)
    before_last = matter.before.format(who=who, value=last.value)
    before_middle = matter.before.format(who=who, value=middle.value)
    on_day = asked_of_day(matter, who, midst, chinese)
    return [
        Asked("now", matter.now.format(who=who), last.value),
        Asked("before the last", before_last, middle.value),
        Asked("before the first change", before_middle, first.value),
        Asked("before it, limit 1", before_middle, first.value, limit=1),
        Asked("in a month", matter.at.format(who=who, when=when), middle.value),
        Asked("at a day", on_day, middle.value),
    ]


def first_line(answer: str) -> str:
    """Return the first line of a memory in an answer of `search_files`."""
    for line in answer.splitlines():
        number = line.split()[:1]
        if line.startswith("  ") and number and number[0].isdigit():
            return line
    return ""


def measure(histories: int, seed: int) -> tuple[dict[str, int], list[str]]:
    """Return how many answers of each kind are right, and a line for each wrong one."""
    choice = random.Random(seed)
    right: dict[str, int] = {}
    misses = []
    for number in range(histories):
        chinese = number % 3 == 2
        matters = list(MATTERS_ZH if chinese else MATTERS_EN)
        who = choice.choice(NAMES_ZH if chinese else NAMES_EN)
        choice.shuffle(matters)
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "someone")
            told = [history(matter, choice) for matter in matters]
            for place, matter in enumerate(matters):
                write(folder, place, matter, who, told[place])
            with Store(root) as store:
                user = store.user("someone")
                for asked in questions(matters[0], who, told[0], chinese):
                    call = {"query": asked.question, "limit": asked.limit}
                    answer = user.tools().call("search_files", call)
                    line = first_line(answer)
                    if asked.kind.startswith("before"):
                        hit = asked.answer in answer
                    else:
                        hit = asked.answer in line
                    right[asked.kind] = right.get(asked.kind, 0) + hit
                    if not hit:
                        misses.append(f"{asked.kind}: {asked.question} -> {line}")
    return right, misses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=150)
    parser.add_argument("--seed", type=int, default=52)
    parser.add_argument("--misses", action="store_true", help="print each wrong one")
    options = parser.parse_args()
    right, misses = measure(options.histories, options.seed)
    for kind, count in right.items():
        print(f"{kind:24s} {count:4d} of {options.histories}")
    if options.misses:
        print("\n".join(misses))


if __name__ == "__main__":
    main()
