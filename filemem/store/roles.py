"""Whose words a turn holds: a person's, an assistant's, a tool's or a document's.

The file says so and nothing else does: the turn's speaker, and the front matter. No
text is looked at.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Whose words a turn holds; the value is also the front matter's key for it."""

    PERSON = "person"
    ASSISTANT = "assistant"
    TOOL = "tool"
    DOCUMENT = "document"


ASSISTANT = Role.ASSISTANT
"""The speaker of an assistant's turns, where the front matter names no other."""

TOOL = Role.TOOL
"""The speaker under which an intake writes a tool's call and its answer."""

ROLE_NAMES = frozenset("assistant developer document function system tool user".split())
"""Names of roles, under which no person is written or has a folder."""

# A session that came in from elsewhere has an `origin`. Whoever wrote it wrote no
# person under these names, so they are the roles; elsewhere a person may be called so.
_INTAKE_ROLES = {
    "document": Role.DOCUMENT,
    "system": Role.TOOL,
    "tool": Role.TOOL,
}


def role_of(speaker: str, front: Mapping[str, Any]) -> Role:
    """Tell whose words the turns of a speaker are.

    Args:
        speaker: the speaker as the file has it.
        front: the file's front matter. `assistant`, `tool` and `document` name the
            speakers who are one; `origin` tells that the program took the turns in.

    Returns:
        The role; whoever is not named otherwise is a person.
    """
    name = speaker.casefold()
    if name == ASSISTANT:
        return Role.ASSISTANT
    for role in (Role.ASSISTANT, Role.TOOL, Role.DOCUMENT):
        if name in _names(front.get(role)):
            return role
    if front.get("origin"):
        return _INTAKE_ROLES.get(speaker, Role.PERSON)
    return Role.PERSON


def _names(value: object) -> set[str]:
    """The names in a front matter value, folded: one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return {str(name).casefold() for name in values if name is not None}
