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
    "en": ("By the way, the code of {who}'s {what} is {code}.", "What is the code of {who}'s {what}?"),
    "zh": ("对了，{who}的{what}的密码是{code}。", "{who}的{what}的密码是多少？"),
}
_WHO = {
    "en": "Orla|Pavel|Quinn|Rosa|Sven|Tilda|Umar|Vera|Wendel|Xenia|Yusuf|Zelda",
    "zh": "欧拉|潘维|秦恩|罗莎|沈文|田达|吴玛|魏拉|温德|夏妮|于素|曾达",
}
_WHAT = {"en": "bicycle lock|cellar door|suitcase|letter box", "zh": "自行车锁|地窖门|行李箱|信箱"}


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
            for depth, (told, question, code) in zip(depths, needles(language, depths, seed), strict=True):
                kind = f"{language} {length:,} at {depth} %"
                questions.append(
                    Question(f"{name}/{depth}", name, question, code, kind, asked, evidence=(told,), want=(code,))
                )
    return Bench(histories, questions, {"seed": seed, "lengths": lengths, "depths": depths, "languages": languages})


def needles(language: str, depths: tuple[int, ...], seed: int, other: bool = False) -> list[tuple[str, str, str]]:
    """For each depth what is said, the question and the code; `other` gives those that lead astray."""
    chance = random.Random(f"{language} {seed}")
    people, things = _WHO[language].split("|"), _WHAT[language].split("|")
    pairs = [(who, what) for who in people for what in things]
    chance.shuffle(pairs)
    made = []
    for who, what in pairs[len(depths) :] if other else pairs[: len(depths)]:
        told, question = _NEEDLE[language]
        code = str(random.Random(f"{who} {what} {seed}").randrange(100_000, 1_000_000))
        made.append((told.format(who=who, what=what, code=code), question.format(who=who, what=what), code))
    return made[: len(depths)]


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
    for other in (True, False):  # those that lead astray stand in the same session
        for depth, (told, _, _) in zip(depths, needles(language, depths, seed, other), strict=True):
            home = made[depth * (count - 1) // 100].turns
            place = 3 if other else 8
            home[place] = home[place]._replace(text=told)
    return made
