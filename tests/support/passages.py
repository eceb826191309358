"""What the index should hold of a passage, the long way."""

from collections import Counter

from filemem.text import terms


def indexed(text: str) -> tuple[dict[str, int], int]:
    """Token -> count, those of captions with `[` in front; and how many of the speech there are, stop words left out."""
    speech, caption = terms.split_captions(text)
    said = [token for token in terms.tokens(speech) if token not in terms.STOP]
    shown = [f"[{token}" for token in terms.tokens(caption) if token not in terms.STOP]
    return dict(Counter(said + shown)), len(said)
