"""What a model saw, for the trace: every section, turn and tool's answer by reference, and that again for a person.

A text is noted once a trace, as a step `saw` with the digest that names it; a request names the digests.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from filemem.errors import NotFound
from filemem.files import trace
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE
from filemem.files.passages import Passage
from filemem.files.references import ByReference
from filemem.files.transcript import ASSISTANT
from filemem.models import prompt
from filemem.text.plain import digest

SIZE = 12  # hexadecimal digits of a digest


class Seen(NamedTuple):
    """One text that a model saw: in which role, its name among the sections; what it is now, and whether it is as it was."""

    role: str
    name: str
    text: str
    same: bool


class PromptRecorder:
    """Notes what a model sees in one conversation; `noted` are the digests that its trace has already."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._noted: dict[str, set[str]] = {}

    def steps(
        self,
        session: str,
        system: Iterable[prompt.Section],
        turns: Iterable[Passage],
        worked: Iterable[prompt.Message],
        lessons: Iterable[str],
    ) -> tuple[list[dict[str, Any]], list[list[str]]]:
        """The texts that the session's trace has not yet, and the request as role, name and digest of each text."""
        said = [("system", part.name, part.text, 1) for part in system]
        said += [("assistant" if turn.speaker == ASSISTANT else "user", "", turn.text, turn.line) for turn in turns]
        said += [(one["role"], _calls(one), _words(one.get("content")), 1) for one in worked]
        known, new = self._noted.setdefault(session, set()), list[dict[str, Any]]()
        named = [[role, name, digest(text, SIZE)] for role, name, text, _ in said]
        references = ByReference(self._folder)
        for (_, name, text, line), (_, _, id) in zip(said, named, strict=True):
            if id not in known:
                known.add(id)
                beside = [*lessons, PROFILE] if name == "wishes" else [session] if session else []
                new.append({"id": id, "parts": references.parts(text, beside, line)})
        return new, named


def _calls(message: prompt.Message) -> str:
    """The calls of a message, as a name for it."""
    called = (call.get("function") or {} for call in message.get("tool_calls") or ())
    return "; ".join(f"{one.get('name')} {one.get('arguments')}" for one in called)


def _words(content: Any) -> str:
    """A message's content as a text; the parts that a client sends as JSON."""
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False) if content else ""


def replay(folder: Folder, session: str, number: int) -> Iterator[Seen]:
    """What the model saw of a session's request, counted from 1; raises NotFound where there was none or it was not noted."""
    steps = trace.read(folder, session)
    asked = [step for step in steps if step.get("kind") == "model" and isinstance(step.get("saw"), list)]
    if not 1 <= number <= len(asked):
        have = f"its requests are 1 to {len(asked)}" if asked else "it has none that could be rebuilt"
        raise NotFound(f"the trace of {session} has no request {number}; {have}.")
    texts = {step.get("id"): step.get("parts") for step in steps if step.get("kind") == "saw"}
    references = ByReference(folder)
    for role, name, id in asked[number - 1]["saw"]:
        given = texts.get(id)
        text = references.text(given) if isinstance(given, list) else "[gone: forgotten since]"
        yield Seen(str(role), str(name), text, digest(text, SIZE) == id)
