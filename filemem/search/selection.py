"""Which of the passages found an answer shows, and in what order."""

import math
from collections.abc import Callable

from filemem.files.archive import archived
from filemem.files.memory import ARCHIVE, PROFILE, SOURCE_MARK, kind_of
from filemem.files.sections import parse
from filemem.search.candidates import THEN, Candidate
from filemem.search.evidence import PARTIAL, STRONG
from filemem.search.filters import OUTDATED
from filemem.search.question import Query
from filemem.text import dates, terms, tokens

WORTH = 0.28  # of the best score, what a hit must have to be shown where no limit is given,
DEARER = 0.125 / 1000  # more for each token that is shown already: the longer an answer, the dearer,
LONGER, USUAL = 0.08, 50  # more for a hit e times as long as one of so many tokens, less for a shorter one,
BESIDE = 0.035  # more for each line of the same file,
TAIL = 0.5  # of the best score, what a hit must have where the best one is strong
WEAKER = 0.15  # and more for one that holds none of what the strongest of the first holds of the question
ROOM = ((STRONG, 1900), (PARTIAL, 1350), (0.0, 580))
"""Tokens of an answer without a limit, by the least strength of its best hits: where little matches, more of it helps little."""
HEADING, LINE = 14, 6  # tokens of a file's heading; of a line's number and speaker
SHORTEST = LONGER * math.log((LINE + HEADING) / USUAL)
STATE = 0.85  # of the best score, what a file must have to be shown by its date, where the question asks how things are
PART = 20  # hits of each further part of an answer that was asked for more
WHOLE = 0.95  # strength of a fact that holds the whole question
SHARED = 0.4  # of what a fact's score is above its turn's, what the turn gets
_PUT_IN = frozenset(map(terms.stem, "says asked others own going evening weekend 自 己 大 家".split()))
"""Words that a retelling brings in."""


def without_episodes(hits: list[Candidate]) -> list[Candidate]:
    """The hits without each session's episode of which a turn of it that was found holds as much of the question."""
    said = {hit.path: 0.0 for hit in hits if hit.is_episode}
    for hit in hits:
        if hit.path in said and not hit.is_episode:
            said[hit.path] = max(said[hit.path], hit.strength)
    return [hit for hit in hits if not hit.is_episode or hit.strength > said[hit.path]]


def with_originals(hits: list[Candidate]) -> list[Candidate]:
    """The hits, with each line of a summary made one piece of evidence with the turns that it stands for, and each of the
    profile with its fact.

    Those of them that were found count what the line does, and stand in its place: they tell the same in full.
    """
    out = {f"{hit.path}:{hit.line}": hit for hit in hits}
    facts = {hit.path: line for line, hit in out.items() if hit.path.startswith(("facts/", "lessons/"))}
    for line, hit in list(out.items()):
        found = [key for key in _stands_for(hit, facts) if key in out and key != line]
        for key in found:
            out[key] = out[key].counting(max(out[key].score, hit.score), kind_of(hit.path))
        if found:
            del out[line]
    return list(out.values())


def _stands_for(hit: Candidate, facts: dict[str, str]) -> list[str]:
    """The places that a line of a summary or the profile tells over again; `facts` has the place of each one found."""
    if hit.path == PROFILE:
        mark = SOURCE_MARK.search(hit.text)
        return [facts[mark[1]]] if mark and mark[1] in facts else []
    bullet = parse(hit.text, hit.path, hit.line) if kind_of(hit.path) == "summaries" else None
    places = [f"{bullet.path}:{number}" for number in bullet.lines] if bullet else []
    return [key for place in places for key in (place, archived(place))]


def with_sources(hits: list[Candidate], turn: Callable[[str, Candidate], Candidate | None]) -> list[Candidate]:
    """The hits, best first, with each fact and the turn that it was taken from made one piece of evidence.

    The turn (see `Candidate.cited`) counts nearly what the fact does, and is brought in where it was not found
    itself: `turn` gives the hit for a `path:line`. Of the facts that hold the whole question or outrank every turn those
    are shown that tell more than their turns; the best one that holds the whole question stands first. One that quotes its
    turn never stands beside it, see `_one_of`.
    """
    turns = [hit for hit in hits if not hit.sources]
    best = max((hit.score for hit in turns), default=0.0)
    out = {f"{hit.path}:{hit.line}": hit for hit in hits}
    first, rank = True, {key: place for place, key in enumerate(out)}
    for key, fact in list(out.items()):
        found = [out.get(source) or out.get(archived(source)) or turn(source, fact) for source in fact.cited]
        told = [(f"{hit.path}:{hit.line}", hit) for hit in found if hit]
        if told and _quotes(fact, told[0][1]):
            del out[key]
            out.pop(told[0][0], None)
            one = _one_of(fact, told[0][1], found=told[0][0] in rank)
            out[f"{one.path}:{one.line}"] = one
            rank[f"{one.path}:{one.line}"] = rank.get(told[0][0], rank[key])
            continue
        if told and not fact.lapsed:
            whole = fact.strength >= WHOLE
            worth = whole or fact.score >= best
            if not (whole and _alone(fact, turns)) and (not worth or _retells(fact, told[0][1])):
                del out[key]
            elif first and whole:
                first = False
                out[key] = fact = fact.counting(max(fact.score, 1.01 * best), "fact")
        for source, hit in told:
            shared = hit.score + SHARED * (fact.score - hit.score)
            score = hit.score * OUTDATED if fact.newer else max(hit.score, shared)
            out[source] = hit.counting(score, "fact")
    return sorted(out.values(), key=lambda hit: (-hit.score, rank.get(f"{hit.path}:{hit.line}", len(rank))))


def _quotes(fact: Candidate, turn: Candidate) -> bool:
    """Is a fact what was said in its turn, word for word?"""
    return bool(fact.speaker) and " ".join(fact.text.split()) in " ".join(turn.text.split())


def _one_of(fact: Candidate, turn: Candidate, *, found: bool) -> Candidate:
    """A quotation or its turn: the fact where it holds and is the whole turn, else the turn, which a fact that was replaced
    takes along under what replaced it. It counts what the turn does where that was found itself: said once, it is as good
    an answer as if it had been kept as a fact, too."""
    if fact.newer:
        old = turn.counting(min(turn.score, fact.score), "fact")
        old.newer = fact.newer
        return old
    live = not fact.lapsed and (
        fact.note.startswith(THEN) or turn.path.startswith(ARCHIVE) or not fact.path.startswith(ARCHIVE)
    )
    whole = fact.text.split() == turn.text.split()
    one, other = (fact, turn) if live and whole else (turn, fact)
    return one.counting(turn.score if found else max(one.score, other.score), "fact")


def _alone(fact: Candidate, turns: list[Candidate]) -> bool:
    """Does no turn hold as much of the question? One that asks holds no answer, even if it asks just that."""
    return all(hit.strength < fact.strength or terms.flags(hit.text) & terms.IS_QUESTION for hit in turns)


def _retells(fact: Candidate, turn: Candidate) -> bool:
    """Does a fact say nothing that its turn does not, where the day is known, who speaks, and what was said before?"""
    known = f"{' '.join(turn.company)} {turn.before} {turn.text}"
    if turn.date:
        days = (dates.in_words(dates.Span(turn.date, turn.date), chinese) for chinese in (False, True))
        known = " ".join([dates.annotate(known, turn.date), *days])
    return _said(fact.text) <= _said(known) | _PUT_IN


def _said(text: str) -> set[str]:
    """The stems of a text; of Chinese the characters."""
    found = (token for token in terms.tokens(text) if token not in terms.STOP)
    return {terms.stem(token) for token in found if len(token) == 1 or not terms.is_cjk(token)}


def chosen(
    hits: list[Candidate], others: list[Candidate], limit: int | None, parsed: Query
) -> tuple[list[Candidate], int]:
    """The hits to show, by file, its lines in order: the `limit` best ones, `others` last, else those that are worth their
    room; and how many more there are."""
    best = max((hit.score for hit in hits), default=0.0)
    if not limit:
        shown, left = _worth_their_room(hits, hits)
        return _by_file(shown, best, parsed), left + len(others)
    said: set[str] = set()
    told = [hit for hit in (*hits, *others) if _tells(hit, said)]
    told.sort(key=lambda hit: hit.wordless)
    shown, _ = _worth_their_room(told[:limit], hits)  # comes first, then the rest
    rest = [hit for hit in told[:limit] if hit not in shown]
    parts = [told[:limit]] if parsed.order else [shown, *(rest[at : at + PART] for at in range(0, len(rest), PART))]
    return [hit for part in parts for hit in _by_file(part, best, parsed)], len(told[limit:])


def _tells(hit: Candidate, said: set[str]) -> bool:
    """Does a hit tell something, and what nobody has `said` before in the same words?"""
    if hit.empty or hit.excerpt in said:
        return False
    said |= {hit.excerpt} if hit.speaker else set()
    return True


def _worth_their_room(some: list[Candidate], hits: list[Candidate]) -> tuple[list[Candidate], int]:
    """Those of `some` hits that have a share of the best score that grows with their length and with what is shown already,
    above all of the same file: one line of each of many files tells more than one and its neighbours. What no longer holds,
    or rests in the archive, is shown where it holds as much of the question. And how many are left; what cannot be among
    those shown, whatever it says, is not read."""
    shown: list[Candidate] = []
    lines: dict[str, int] = {}
    spent = left = 0
    said: set[str] = set()
    best = max((hit.score for hit in hits), default=0.0)
    strength = max((hit.strength for hit in hits[:5]), default=0.0)
    room = next(room for least, room in ROOM if strength >= least)
    for hit in some:
        rests, known = bool(hit.note) or hit.path.startswith(ARCHIVE), lines.get(hit.path, 0)
        cheapest = best * (WORTH + DEARER * spent + SHORTEST + BESIDE * known)
        if shown and ((hit.score < cheapest and not rests) or spent + LINE > room):
            left += 1
            continue
        if hit.wordless or not _tells(hit, said):
            continue
        cost = _cost(hit)
        dear = DEARER * spent + LONGER * math.log((cost + HEADING) / USUAL)
        over = hit.score - best * (WORTH + dear + BESIDE * known)
        tail = strength >= STRONG and hit.score < TAIL * best and hit.strength < strength and hit.path != some[0].path
        worth = not tail and over >= 0 and over >= best * WEAKER * (strength - hit.strength)
        rests = rests and hit.strength >= strength
        cost += 0 if known else HEADING
        if shown and (not (worth or rests) or spent + cost > room):
            left += 1
            continue
        shown.append(hit)
        spent += cost
        lines[hit.path] = known + 1
    return shown, left


def _cost(hit: Candidate) -> int:
    """The tokens of a hit, as it is shown."""
    return tokens.count(hit.excerpt) + LINE


def _by_file(hits: list[Candidate], best: float, parsed: Query) -> list[Candidate]:
    """Hits by file, that of the best one first, what was replaced below what replaced it, unless the past is asked
    for; the newest of the strong ones first where it asks how things are; or all by date; each file's by line."""
    files: dict[str, list[Candidate]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    groups = sorted(files.values(), key=lambda group: max(hit.score for hit in group), reverse=True)
    if parsed.state and not parsed.past:
        strong = [group for group in groups if group[0].date and max(hit.score for hit in group) >= STATE * best]
        newest = sorted(strong, key=lambda group: (group[0].date, group[0].path), reverse=True)
        groups = newest + [group for group in groups if group not in strong]
    groups.sort(
        key=lambda group: kind_of(group[0].path) == "sessions" or group[0] is not hits[0]
    )  # a fact that is best
    for group in [group for group in groups if group[0].newer in files and not parsed.past]:
        newer = groups.index(files[group[0].newer])
        groups.insert(max(newer, groups.index(group)), groups.pop(groups.index(group)))
    if parsed.order:
        dated = [group for group in groups if group[0].date]
        dated.sort(key=lambda group: (group[0].date, group[0].path), reverse=parsed.order < 0)
        if parsed.order < 0:  # the newest of those that hold as much of the question as any
            most = max((hit.strength for hit in hits), default=0.0)
            dated.sort(key=lambda group: max(hit.strength for hit in group) < STATE * most)
        groups = dated + [group for group in groups if not group[0].date]
    return [hit for group in groups for hit in sorted(group, key=lambda hit: hit.line)]
