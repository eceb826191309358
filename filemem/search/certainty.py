"""What the first line of an answer says of it: how certain it is that the answer stands there, what it has and lacks."""

from collections.abc import Sequence

from filemem.index.corpus import Corpus
from filemem.search.candidates import Candidate
from filemem.search.hits import Hit
from filemem.search.question import Query
from filemem.text import terms
from filemem.text.plain import one_line

LEVELS = ((0.65, "strong match"), (0.35, "partial match"), (0.0, "no strong match"))  # by the least certainty
ITSELF = 0.3  # of the certainty, what the best passage gives by the words in it itself, the rest by its neighbours' too
DOUBTFUL = 0.6  # of it, what is left for each of: somebody else says it, it asks, it is of another day than asked for
TENTH, CLEAR = 9, 0.6  # where the tenth passage has more than this of the best score, nothing stands out: so much less


def header(
    hits: list[Hit], found: Sequence[Candidate], parsed: Query, corpus: Corpus, unknown: list[str], *, beside: bool
) -> str:
    """The rest of an answer's first line: how certain it is that the answer is among the `hits` shown, in a measure that
    compares across questions, and which words these have together. `found` are all, best first; `unknown` are its words
    that stand nowhere, `beside`: hits of other days than the question names are shown, too."""
    if not hits:
        return ""
    order = {1: "; oldest first", -1: "; newest first"}.get(parsed.order, "")
    if parsed.has_no_content_words and (parsed.spans or parsed.about or parsed.others):
        return f"; found by names and dates alone{order}"
    certain = _certainty(hits, found, parsed, corpus) * (DOUBTFUL if beside else 1.0)
    level = next(name for least, name in LEVELS if certain >= least)
    has = dict.fromkeys(text for hit in hits for text in (*hit.has, *hit.near) if text not in unknown)
    lacks = dict.fromkeys(text for hit in hits for text in hit.lacks if text not in has)
    named = f"has {', '.join(has) or 'none of the words'}"
    rest = f"lacks {', '.join(lacks)}" if lacks else named if unknown else "has every word"
    holds = f"{named}; {rest}" if lacks and len(has) <= len(lacks) else rest
    return f"; {level}: {certain:.0%}, {holds}{_said_by_another(hits, parsed, corpus)}{order}"


def _certainty(hits: list[Hit], found: Sequence[Candidate], parsed: Query, corpus: Corpus) -> float:
    """What the best passage holds of the question, less where it is doubtful and where many others match as well."""
    best = max(hits, key=lambda hit: hit.score)
    itself = len(best.has) / max(1, len(best.has) + len(best.near) + len(best.lacks))
    certain = (1 - ITSELF) * best.strength + ITSELF * itself
    named = _names(parsed.about | parsed.others, corpus)
    another = parsed.about and best.speaker and terms.fold(best.speaker) not in named
    doubts = bool(another) + ("question" in best.parts)
    tenth = found[TENTH].score / best.score if len(found) > TENTH else 0.0
    return certain * DOUBTFUL**doubts * (1 - min(1.0, max(0.0, tenth - CLEAR)))


def _names(places: frozenset[int], corpus: Corpus) -> list[str]:
    return [corpus.speaker_names[place] for place in sorted(places)]


def _said_by_another(hits: list[Hit], parsed: Query, corpus: Corpus) -> str:
    """A note that the best passage is said by somebody else than the person asked about; empty where it is not."""
    asked = _names(parsed.about, corpus)
    best = max(hits, key=lambda hit: hit.strength)
    own = any(terms.fold(hit.speaker) in asked and not (hit.near or hit.lacks) for hit in hits)
    if not asked or own or not best.speaker or terms.fold(best.speaker) in asked or best.lacks:
        return ""
    return f"; said by {one_line(best.speaker, 60)}, not {one_line(' or '.join(name.title() for name in asked), 60)}"
