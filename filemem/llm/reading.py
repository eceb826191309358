"""What of a turn a model reads that keeps memories."""

import itertools
from collections.abc import Sequence

from filemem.store.memory import Memory
from filemem.store.passages import Passage
from filemem.store.roles import Role
from filemem.text.plain import both_ends, count_tokens, last_sentences

ASSISTANT_TOKENS = 60  # of the last sentences of what an assistant said
SHORT_REPLY_TOKENS = 30  # of a person, which may lean on what an assistant said
PERSON_TOKENS = 3_000  # of each end of what a person said


def leaned_on(memory: Memory, turns: Sequence[Passage]) -> set[int]:
    """Return the lines of the turns of a session that a person's short reply follows.

    It may lean on them: "the second one, please".
    """
    found = set[int]()
    for turn, reply in itertools.pairwise(turns):
        is_short = count_tokens(reply.text) <= SHORT_REPLY_TOKENS
        if is_short and memory.role(reply.speaker) is Role.PERSON:
            found.add(turn.line)
    return found


def read_of(text: str, role: Role, *, is_leaned_on: bool) -> str:
    """Return what a model reads of a turn.

    Args:
        text: the turn; of what is long, and of a tool's or a document's, both ends.
        role: whose words it holds; of an assistant's the last sentences are read.
        is_leaned_on: whether a short reply follows; else nothing of an assistant's is
            read.
    """
    if role is Role.PERSON:
        return both_ends(text, PERSON_TOKENS)
    if role is not Role.ASSISTANT:
        return both_ends(text, ASSISTANT_TOKENS // 2)
    return last_sentences(text, ASSISTANT_TOKENS) if is_leaned_on else ""
