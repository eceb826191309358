"""What in a turn of a conversation is worth keeping, in the speaker's own words, and what each of its sentences does."""

from filemem.text.statements.reading import (
    Statement,
    TurnReading,
    elliptical,
    heading_of,
    is_empty_talk,
    is_instruction,
    is_phrase,
    kind_of,
    may_tell,
    names_nobody,
    read_turn,
    remember_request,
    steers,
    subject_of,
    talk,
    tells_more,
)
from filemem.text.statements.sentences import Utterance

__all__ = [
    "Statement",
    "TurnReading",
    "Utterance",
    "elliptical",
    "heading_of",
    "is_empty_talk",
    "is_instruction",
    "is_phrase",
    "kind_of",
    "may_tell",
    "names_nobody",
    "read_turn",
    "remember_request",
    "steers",
    "subject_of",
    "talk",
    "tells_more",
]
