"""Whose words a turn holds is what its file says, and no one is taken for another by a name."""

from pathlib import Path

import pytest
from programs import filemem

from filemem import Store
from filemem.store.passages import NO_ANSWER
from filemem.store.roles import Role, role_of


@pytest.mark.parametrize(
    ("speaker", "front", "role"),
    [
        ("mara", {}, Role.PERSON),
        ("Assistant", {}, Role.ASSISTANT),
        ("chatgpt", {"assistant": "ChatGPT"}, Role.ASSISTANT),
        ("ChatGPT", {}, Role.PERSON),
        ("Event", {"origin": "added:c1"}, Role.PERSON),
        ("tool", {"origin": "openai-jsonl:c1"}, Role.TOOL),
        ("tool", {}, Role.PERSON),
        ("Scanner", {"document": ["Scanner", "fax"]}, Role.DOCUMENT),
    ],
)
def test_the_role_is_what_the_file_says(
    speaker: str, front: dict[str, object], role: Role
) -> None:
    assert role_of(speaker, front) is role


def test_a_session_whose_answers_failed_is_listed_and_waits(tmp_path: Path) -> None:
    """What a person asked of a dead endpoint is what a person said, whatever its sign."""
    question = "Can you note that I'm allergic to penicillin?"
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": NO_ANSWER},
    ]
    path = Store(tmp_path / "memory_store").user("mara").add_conversation(messages)
    assert path in filemem("list", cwd=tmp_path).stdout
    assert "penicillin" in filemem("timeline", "sessions/**", cwd=tmp_path).stdout
    assert "1 conversation" in filemem("consolidate", cwd=tmp_path).stdout
