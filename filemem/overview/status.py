"""How a user's memories stand: counts and sizes by kind, tokens in the prompt, what fades soon."""

import datetime as dt
import math
from collections import Counter
from typing import NamedTuple

from filemem.chat.conversation import Conversation
from filemem.files import config
from filemem.files.folder import Folder, Progress, no_progress
from filemem.forgetting.sweeper import YOUNG, standings
from filemem.models.offline import OfflineModel
from filemem.text.plain import count_tokens

SOON = 30  # days
MOST = 12  # lines of what fades


class Status(NamedTuple):
    """`kinds` counts the live and the archived memories of each kind, and their bytes; `fading` are the days and paths of what
    falls under the threshold within SOON days, soonest first; `staying` counts by reason what does not fade.
    """

    kinds: dict[str, dict[str, int]]
    prompt_tokens: dict[str, int]
    fading: list[tuple[dt.date, str]]
    staying: dict[str, int]


def status(folder: Folder, now: dt.datetime, progress: Progress = no_progress) -> Status:
    """How the memories stand now."""
    kinds, staying, fading = dict[str, dict[str, int]](), Counter[str](), []
    today, threshold = now.date(), config.of(folder).threshold
    for one in standings(folder, today, progress):
        kind = kinds.setdefault(one.kind, {"live": 0, "live_bytes": 0, "archived": 0, "archived_bytes": 0})
        where = "archived" if one.archived else "live"
        kind[where] += 1
        kind[f"{where}_bytes"] += one.size
        if one.archived:
            continue
        if one.reason and one.reason != YOUNG:
            staying[one.reason] += 1
        elif one.strength:
            left = math.ceil(one.strength.left(threshold, today))
            if left <= SOON:
                fading.append((today + dt.timedelta(max(0, left)), one.path))
    system = Conversation(folder, OfflineModel(), lambda: now).view().system
    counted = {name: count_tokens(text) for name, text in system}
    return Status(dict(sorted(kinds.items())), counted, sorted(fading), staying)


def in_words(found: Status) -> list[str]:
    """The status as lines for a terminal."""
    said = []
    for name, kind in found.kinds.items():
        kept = f", {kind['archived']:,} archived ({kind['archived_bytes'] / 1000:,.1f} kB)" if kind["archived"] else ""
        said.append(f"{name:<10} {kind['live']:>7,} live ({kind['live_bytes'] / 1000:,.1f} kB){kept}")
    parts = ", ".join(f"{name} {count:,}" for name, count in found.prompt_tokens.items())
    said.append(f"In every prompt: {sum(found.prompt_tokens.values()):,} tokens ({parts}).")
    said += ["", f"Fading within {SOON} days: {len(found.fading):,}."]
    said += [f"  {day}  {path}" for day, path in found.fading[:MOST]]
    if len(found.fading) > MOST:
        said.append(f"  and {len(found.fading) - MOST:,} more; --json lists them all.")
    if found.staying:
        staying = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.staying.items()))
        said.append(f"Not fading: {staying}.")
    return said
