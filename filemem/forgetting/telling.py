"""A forgetting in words: what would go, and what went."""

from collections.abc import Iterable

from filemem.forgetting.deletion import DeletionPlan
from filemem.forgetting.erasure import Erased
from filemem.text.plain import one_line

NOWHERE = "No file of the store says it any more."
TOO_SHORT = "It is too short to be looked for elsewhere; other files may say it."


def planned(found: DeletionPlan) -> Iterable[str]:
    """What would go, a line each."""
    whole = [item for item in found.items if not item.line]
    lines = [item for item in found.items if item.line]
    for heading, items in (("These files go:", whole), ("These passages go, their lines stay:", lines)):
        if items:
            yield heading
        for item in items:
            text = f"  {one_line(item.text, 80)}" if item.text else ""
            yield f"  {item.place}{text}  ({item.why})"
    for old, new in found.moved.items():
        yield f"  {old} is renamed {new}, as its name told of it"
    yield from found.notes


def report(done: Erased, still: list[str]) -> Iterable[str]:
    """Sentences on what was deleted, and what of it is still to be found."""
    yield from (f"Deleted {path}." for path in done.deleted)
    if done.redacted:
        yield f"Redacted {', '.join(done.redacted)}."
    if done.beside:
        yield f"Cleared {', '.join(done.beside)}."
    yield from done.stayed
    for line in still:
        yield f"Still says it: {line}"
    if not still:
        yield NOWHERE if done.sought else TOO_SHORT
