"""How certain it is that an answer stands among the passages shown, in a measure that compares across questions."""

from collections.abc import Sequence

from filemem.index.corpus import Corpus
from filemem.search.candidates import Candidate
from filemem.search.hits import Hit
from filemem.search.question import Query
from filemem.text import terms

STRONG, PARTIAL = 0.65, 0.35  # certainty from which on a match is strong, and in part
ITSELF = 0.3  # of the certainty, what the best passage gives by the words in it itself, the rest by its neighbours' too
DOUBTFUL = 0.6  # of it, what is left for each of: somebody else says it, it asks, it is of another day than asked for
TENTH, CLEAR = 9, 0.6  # where the tenth passage has more than this of the best score, nothing stands out: so much less


def certainty(hits: list[Hit], found: Sequence[Candidate], parsed: Query, corpus: Corpus, *, beside: bool) -> float:
    """What the best of the `hits` shown holds of the question, less where it is doubtful and where many others match as well.
    `found` are all, best first; `beside`: hits of other days than the question names are shown, too."""
    if not hits or parsed.has_no_content_words:
        return 0.0
    best = max(hits, key=lambda hit: hit.score)
    itself = len(best.has) / max(1, len(best.has) + len(best.near) + len(best.lacks))
    named = [corpus.speaker_names[place] for place in parsed.about | parsed.others]
    another = parsed.about and best.speaker and terms.fold(best.speaker) not in named
    doubts = bool(another) + ("question" in best.parts) + beside
    tenth = found[TENTH].score / best.score if len(found) > TENTH else 0.0
    held = (1 - ITSELF) * best.strength + ITSELF * itself
    return held * DOUBTFUL**doubts * (1 - min(1.0, max(0.0, tenth - CLEAR)))
