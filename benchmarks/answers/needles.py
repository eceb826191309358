"""Needles in a haystack: facts hidden at given depths of a history as long as wanted, in English or Chinese, from a seed.

Everything is made up here. Each history has a needle at every depth, and beside each needle one of the same shape about
somebody else, so that finding the words is not finding the answer.
"""

import datetime as dt
import functools
import random

from benchmarks.answers.data import Bench, History, Question, Session, Turn

START = dt.datetime(2015, 1, 5, 9)
TURNS = 20  # of a session
TOKENS = {"en": 34, "zh": 41}  # of a turn, about
SPEAKERS = {"en": ("Ada", "Bert"), "zh": ("阿岚", "小伯")}
_ABOUT = {
    "en": "the bus|our garden|a recipe|the neighbours|some film|the weather|that train|my desk|the market|a walk|the radio",
    "zh": "公交车|院子|一道菜|邻居|一部电影|天气|那趟火车|书桌|菜市场|散步|收音机",
}
_SAID = {
    "en": "I keep thinking about {a}, and then {b} came up again, so in the end we left {c} for another {d} and had some tea.",
    "zh": "我一直在想{a}的事，后来又说起{b}，结果我们把{c}放到{d}再说，先喝了一杯茶。",
}
_LATER = {"en": "day|week|month|morning|evening", "zh": "明天|下周|下个月|早上|晚上"}
_NEEDLE = {
    "en": ("By the way, {who} keeps the {what} in {place} now.", "Where does {who} keep the {what}?"),
    "zh": ("对了，{who}现在把{what}放在{place}了。", "{who}把{what}放在哪里？"),
}
_WHO = {
    "en": "Orla|Pavel|Quinn|Rosa|Sven|Tilda|Umar|Vera|Wendel|Xenia|Yusuf|Zelda",
    "zh": "欧拉|潘维|秦恩|罗莎|沈文|田达|吴玛|魏拉|温德|夏妮|于素|曾达",
}
_WHAT = {"en": "harp|telescope|canoe|loom", "zh": "竖琴|望远镜|独木舟|织布机"}
_PLACE = {"en": ("Bal|Cor|Dun|Fen|Gor|Hal|Kil|Mor|Tar|Wex", "by|dale|ford|ham|mouth|ness|stead|thorpe|wick|worth")}
_PLACE["zh"] = ("柏|枫|葛|荷|槐|菊|兰|柳|桃|竹", "岸镇|坝镇|谷村|湖镇|角村|岭镇|桥镇|沙镇|田村|屿镇")


def bench(
    lengths: tuple[int, ...] = (10_000, 100_000, 1_000_000),
    depths: tuple[int, ...] = (0, 25, 50, 75, 100),
    languages: tuple[str, ...] = ("en", "zh"),
    seed: int = 1,
) -> Bench:
    """A history for each length (in tokens) and language, and a question for each depth (in percent, 0 the oldest)."""
    histories, questions = {}, []
    for language in languages:
        for length in lengths:
            name, count = f"{language}-{length}", max(length // TOKENS[language] // TURNS, 1)
            histories[name] = History(name, functools.partial(sessions, language, count, depths, seed))
            asked = START + dt.timedelta(days=count)
            for depth, (told, question, place) in zip(depths, needles(language, depths, seed), strict=True):
                kind = f"{language} {length:,} at {depth} %"
                questions.append(
                    Question(f"{name}/{depth}", name, question, place, kind, asked, evidence=(told,), want=(place,))
                )
    return Bench(histories, questions, {"seed": seed, "lengths": lengths, "depths": depths, "languages": languages})


def needles(language: str, depths: tuple[int, ...], seed: int, other: bool = False) -> list[tuple[str, str, str]]:
    """For each depth what is said, the question and the place; `other` gives those that lead astray. No two share a place."""
    chance = random.Random(f"{language} {seed}")
    lists = [_WHO[language], _WHAT[language], *_PLACE[language]]
    people, things, starts, ends = (one.split("|") for one in lists)
    pairs = [(who, what) for who in people for what in things]
    places = [start + end for start in starts for end in ends]
    chance.shuffle(pairs)
    chance.shuffle(places)
    first = len(depths) if other else 0
    told, question = _NEEDLE[language]
    return [
        (told.format(who=who, what=what, place=place), question.format(who=who, what=what), place)
        for (who, what), place in list(zip(pairs, places, strict=False))[first : first + len(depths)]
    ]


def sessions(language: str, count: int, depths: tuple[int, ...], seed: int) -> list[Session]:
    """So many sessions of small talk, one a day, with the needles in them."""
    chance = random.Random(f"{language} {count} {seed}")
    about, later = _ABOUT[language].split("|"), _LATER[language].split("|")
    made = []
    for number in range(count):
        at, turns = START + dt.timedelta(days=number), []
        for turn in range(TURNS):
            a, b, c = chance.sample(about, 3)
            text = _SAID[language].format(a=a, b=b, c=c, d=chance.choice(later))
            turns.append(Turn(f"{number}:{turn}", SPEAKERS[language][turn % 2], text, at + dt.timedelta(minutes=turn)))
        made.append(Session(f"session-{number + 1}", at, turns))
    last = count * TURNS - 1
    for other in (True, False):  # those that lead astray stand beside the needles
        for depth, (told, _, _) in zip(depths, needles(language, depths, seed, other), strict=True):
            place = depth * last // 100
            place += (1 if place < last else -1) if other else 0
            home = made[place // TURNS].turns
            home[place % TURNS] = home[place % TURNS]._replace(text=told)
    return made
