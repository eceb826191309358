"""The tools that are offered only where the person says so.

A client's model is not the person. What it keeps is a fact, never a wish, a lesson or
a line of the profile: an order in it is text like any other, and steers nobody. What
is to be forgotten is shown first, with a token that the second call must bring.
"""

import datetime as dt
import json
from pathlib import Path
from typing import Any

from filemem.errors import FilememError, NotFound
from filemem.forget.plan import plan_deletion
from filemem.jobs import forget, remembered
from filemem.learn import remember
from filemem.learn.remember import Asked
from filemem.store.folder import Folder
from filemem.store.memory import REFERENCE
from filemem.text.plain import digest, one_line
from filemem.tools.toolbox import checked

SCHEMAS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "prompts/mcp_write.json").read_text("utf-8")
)
PARAMETERS = {one["function"]["name"]: one["function"]["parameters"] for one in SCHEMAS}
TAG = "mcp"  # of what a client's model kept


def write(folder: Folder, name: str, arguments: dict[str, Any], at: dt.datetime) -> str:
    """Make a call of a tool that writes, and return its answer.

    Raises:
        FilememError: the call is wrong, or cannot be made.
    """
    known = checked(name, arguments, PARAMETERS[name])
    if name == "forget":
        return _forget(folder, known, at)
    path = known.get("path", "")
    cited = REFERENCE.match(path)
    if cited:  # a search shows it with a line
        path = cited["path"]
    asked = Asked(
        known["text"],
        importance=known.get("importance"),
        tags=[TAG],
        on=known.get("on", ""),
        replaces=path,
    )
    done = remembered(folder, [asked], at, TAG)
    return "\n".join(remember.told(done))


def _forget(folder: Folder, known: dict[str, str], at: dt.datetime) -> str:
    """Delete what the same call has shown; show it where there is no right token.

    The token is the digest of what was shown, so that no call need be remembered, and
    one whose effect has changed meanwhile shows anew.
    """
    path = known.get("path", "")
    about = known.get("about", "")
    if bool(path) == bool(about):
        raise FilememError(
            "forget takes a path or what it is about; add the token of the first call"
            " to delete."
        )
    plan = plan_deletion(folder, path, about=about)
    if not plan:
        words = one_line(path or about, 80)
        raise NotFound(f"nothing contains all the words of {words!r}; name others.")
    shown = "\n".join(plan.told())
    token = digest(shown, 16)
    if known.get("token") == token:
        return "\n".join(forget(folder, plan, at).said)
    return (
        f"{shown}\nNothing is deleted yet. Show the person this list; if they agree,"
        f' make the same call with "token": "{token}".'
    )
