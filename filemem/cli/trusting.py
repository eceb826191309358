"""What a store asks for and only the person may decide: asked once on a terminal, refused without one, and told."""

from typing import Any

from filemem.cli.screen import put
from filemem.files import config
from filemem.files.store import StoreFolder
from filemem.files.trust import REMEDY
from filemem.text.plain import escape_controls, one_line


def settled(store: StoreFolder) -> dict[str, Any]:
    """The settings of the store that do not count, after the person was asked where that can be done; says which."""
    held = config.withheld(store.root, trust=store.trust)
    if not held and not (store.trust.given and config.asked(store.root)):
        return {}
    where = config.place(store.root)
    asks = [f"{key}: {config.spelt(value)} ({config.PERSONS[key]})" for key, value in held.items()]
    question = "\n  ".join([f"{one_line(where)} was not agreed to on this machine, and says:", *asks])
    if store.trust.settle(where, config.asked(store.root), question):
        config.read_again()
        return {}
    told = f"Not trusted, hence not done: {one_line(where)} says {'; '.join(asks)}; {REMEDY}."
    put(escape_controls(told), err=True)
    return held
