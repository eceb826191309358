"""One hop along `[[links]]`: what a question does not name itself, but a memory that holds a part of it."""

from collections.abc import Sequence

from filemem.search.candidates import Candidate
from filemem.search.evidence import PARTIAL
from filemem.search.question import Query
from filemem.text import terms
from filemem.text.plain import LINK

HOP = 0.6  # what the name of a thing linked to counts, of the words beside which it stands
FIRST = 5  # passages whose links are followed


def followed(hits: Sequence[Candidate], parsed: Query) -> Query | None:
    """The question with what its best passages link to, for the words of it that they hold: `Alice's sister` is then Beth as
    well. None where a passage holds all of it, or links to nothing else."""
    words, asked = list(parsed.words), {word.stem for word in parsed.words}
    if not hits or not all(hit.held.lacks for hit in hits[:FIRST]):
        return None
    for hit in hits[:FIRST]:
        if hit.strength < PARTIAL or hit.note or "[[" not in hit.text:
            continue
        names = [terms.tokens(link[1]) for link in LINK.finditer(hit.text)]
        stems = {terms.stem(token) for name in names for token in name if len(token) > 1 and token not in terms.STOP}
        more = tuple((stem, HOP) for stem in sorted(stems - asked))
        for place, word in enumerate(words):
            if more and any(word.text in text for text in hit.held.has):
                words[place] = word._replace(others=tuple(dict(word.others + more).items()))
    return parsed._replace(words=tuple(words)) if words != [*parsed.words] else None
