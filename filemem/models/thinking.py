"""What a model thinks told from what it says: text between `<think>` and `</think>`, in pieces cut anywhere."""

import re

_TAG = re.compile(r"<(/?)(think|thinking|thought)>", re.IGNORECASE)
_LONGEST = len("</thinking>")


class Thinking:
    """Sorts one reply as it streams. What stands in code, behind an odd number of backticks, is no tag."""

    SAID, THOUGHT, WAS_THOUGHT = "said", "thought", "was thought"

    def __init__(self) -> None:
        self._held = ""  # the end of what came, which may be the beginning of a tag
        self._inside = False
        self._ticks = 0
        self._opened = False  # was there an opening tag?

    def feed(self, text: str) -> list[tuple[str, str]]:
        """What can be told of the text so far.

        A part is SAID, or THOUGHT. WAS_THOUGHT means that all before was thought: a closing tag without its opening
        one, as from models whose prompt ends in `<think>`.
        """
        return self._sorted(self._held + text, end=False)

    def end(self) -> list[tuple[str, str]]:
        """What was still held, once nothing more comes."""
        return self._sorted(self._held, end=True)

    def _sorted(self, text: str, *, end: bool) -> list[tuple[str, str]]:
        parts: list[tuple[str, str]] = []
        at = 0
        for tag in _TAG.finditer(text):
            before = text[at : tag.start()]
            closing = bool(tag[1])
            if not self._counts(before, closing=closing):
                continue
            parts.append(self._part(before))
            if closing and not self._inside:
                parts.append((self.WAS_THOUGHT, ""))
            self._opened, self._inside, at = True, not closing, tag.end()
        rest = text[at:]
        cut = len(rest) if end else _tag_may_begin(rest)
        self._held = rest[cut:]
        parts.append(self._part(rest[:cut]))
        return [part for part in parts if part[1] or part[0] == self.WAS_THOUGHT]

    def _counts(self, before: str, *, closing: bool) -> bool:
        """Does a tag behind this text open or close anything?"""
        if self._inside:
            return closing
        in_code = (self._ticks + before.count("`")) % 2 == 1
        return not in_code and not (closing and self._opened)

    def _part(self, text: str) -> tuple[str, str]:
        if self._inside:
            return self.THOUGHT, text
        self._ticks += text.count("`")
        return self.SAID, text


def _tag_may_begin(text: str) -> int:
    """Where at the end of `text` a tag may have begun, its length where none has."""
    at = text.rfind("<", -_LONGEST)
    known = ("<think>", "<thinking>", "<thought>", "</think>", "</thinking>", "</thought>")
    begun = at >= 0 and any(tag.startswith(text[at:].lower()) for tag in known)
    return at if begun else len(text)
