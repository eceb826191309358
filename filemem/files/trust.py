"""What a person has agreed to: whose settings and whose repository may decide where text goes or what runs.

Whatever lies in a store is data: it may come from a stranger, a clone, a shared folder. So the answers are kept outside every
store, in the person's own configuration folder, by path and content: what has changed since is asked about anew.
"""

import contextlib
import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from filemem.errors import FilememError
from filemem.files import safe

NAME = "trusted.json"
VARIABLE = (
    "FILEMEM_TRUST"  # 1 for everything, or the stores' folders, separated as in PATH
)
REMEDY = (
    f"if it is yours, say so once with --trust, or set {VARIABLE} to the store's folder"
)
WISHES = {
    "wishes": "followed"
}  # what a person agrees to of a user's folder: that it says how to talk with them

Content = Mapping[str, Any]


def folder() -> str:
    """The person's own configuration folder; a relative XDG_CONFIG_HOME does not count, as its specification says."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    above = (
        given
        if os.path.isabs(given)
        else os.path.join(os.path.expanduser("~"), ".config")
    )
    return os.path.join(above, "filemem")


def wishes(root: str) -> str:
    """The place under which the answer on the wishes in a user's folder is kept."""
    return os.path.join(root, "lessons")


class Trust:
    """A person's answers: those kept, as they were when one was first asked for, and the environment's. With `given` everything
    is agreed to, as by the flag --trust, and what is settled so is kept."""

    def __init__(self, *, given: bool = False) -> None:
        self.given = given

    @functools.cached_property
    def _answers(self) -> dict[str, Any]:
        """Also those that could not be kept."""
        return _kept()

    def known(self, path: str, content: Content) -> bool:
        """Has the person agreed to what `content` at a real `path` asks for, now or before?"""
        variable = os.environ.get(VARIABLE, "")
        named = [
            os.path.realpath(place)
            for place in variable.split(os.pathsep)
            if place and variable != "1"
        ]
        agreed = (
            self.given
            or variable == "1"
            or any(path.startswith(place.rstrip(os.sep) + os.sep) for place in named)
        )
        return agreed or self.kept(path, content)

    def kept(self, path: str, content: Content) -> bool:
        """Is it kept that the person has agreed?"""
        return self._answers.get(path) == {"trusted": True, "content": dict(content)}

    def first(self, path: str, content: Content) -> bool:
        """Was the person never told that this is not used? From now on they were, and have not answered."""
        if self._answers.get(path, {}).get("content") == dict(content):
            return False
        self.keep(path, content, trusted=None)
        return True

    def settle(self, path: str, content: Content) -> bool:
        """Has the person agreed? What is `given` is kept."""
        if self.given and not self.kept(path, content):
            self.keep(path, content, trusted=True)
        return self.known(path, content)

    def keep(self, path: str, content: Content, *, trusted: bool | None) -> None:
        """Keep an answer, for this process at least: a configuration folder that cannot be written stops nothing."""
        self._answers[path] = answer = {"trusted": trusted, "content": dict(content)}
        with contextlib.suppress(OSError, FilememError):
            safe.make_folder(folder())
            with safe.lock(os.path.join(folder(), "lock")):
                text = json.dumps(
                    {**_kept(), path: answer}, ensure_ascii=False, indent=1
                )
                safe.write(
                    os.path.join(folder(), NAME),
                    text.encode("utf-8", "surrogateescape"),
                )


def _kept() -> dict[str, Any]:
    """The answers in the person's configuration folder by path; none where the file is missing or is no such file."""
    with contextlib.suppress(
        FilememError, OSError, ValueError, RecursionError, AttributeError
    ):
        found = json.loads(
            safe.read(os.path.join(folder(), NAME)).decode("utf-8", "surrogateescape")
        )
        return {
            path: answer for path, answer in found.items() if isinstance(answer, dict)
        }
    return {}
