"""What a person decides themselves: one fact kept, a proposal accepted or rejected."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from filemem.errors import FilememError, NotFound
from filemem.learn import profile
from filemem.learn.decide import KnownMemories, said_in, texts_of
from filemem.learn.log import LearnLog, digest
from filemem.learn.outcome import Applied
from filemem.learn.proposals import Proposal
from filemem.learn.records import ADD, SUPERSEDE, Action, Claim, Decision
from filemem.learn.write import Writer
from filemem.store import config, facts, files
from filemem.store.folder import Folder
from filemem.store.gate import Gate
from filemem.store.paths import kind_of, live
from filemem.text.plain import one_line, printable
from filemem.text.redaction import kinds, redact

DEFAULT_IMPORTANCE = 8  # of what a person asks to be remembered
KEEPS_ALL = "filemem remember --with-secrets keeps it all"


def remember(
    user: Folder,
    text: str,
    at: dt.datetime,
    importance: int | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    with_secrets: bool = False,
    source: str = "",
    replaces: str = "",
) -> Applied:
    """Keep one fact; told again it stays the memory that it was.

    Args:
        user: whose memory it becomes.
        text: the fact; secrets are taken out, which a note says.
        at: the moment of keeping, whose day is the fact's.
        importance: from 1 to 10.
        pinned: whether it never fades.
        tags: of the person's.
        with_secrets: keep secrets, as where the store's settings do.
        source: `path:line` of the turn that says it, if it was said in a conversation.
        replaces: the path of a fact that it supersedes.

    Raises:
        FilememError: the text is empty or only a secret, the importance is out of
            range, `replaces` is no fact that may be superseded, or nothing can be
            written.
    """
    body = printable(text.replace("\r\n", "\n")).strip()
    if not body:
        example = "filemem remember 'Prefers oolong tea.'"
        raise FilememError(f"there is nothing to remember; say what, as in: {example}")
    if importance is not None and importance not in range(1, 11):
        raise FilememError(
            f"importance is a whole number from 1 to 10, not {importance}."
        )
    notes: list[str] = []
    if config.of(user).redact and not with_secrets:
        body, notes = _without_secrets(body)
    gate = Gate(user, with_secrets=with_secrets)
    named = [tags] if isinstance(tags, str) else [*tags]
    claim = Claim(
        text=" ".join(body.split()),
        day=at.date(),
        sources=(source,) if source else (),
        importance=importance or DEFAULT_IMPORTANCE,
        pinned=pinned,
        tags=tuple(gate.clean(str(tag)).text for tag in named),
        body=body,
        action=SUPERSEDE if replaces else ADD,
        target=replaces,
    )
    with user.locked():
        log = LearnLog(user)
        known = KnownMemories(user, log)
        if replaces:
            _check_may_be_superseded(known, replaces, at.date())
        done = keep(user, log, known.decide(claim), at)
    return replace(done, notes=[*notes, *done.notes])


def keep(user: Folder, log: LearnLog, decision: Decision, at: dt.datetime) -> Applied:
    """Carry out one decision of the person's; raises FilememError where it cannot be."""
    writer = Writer(user, log, at)
    writer.write(decision)
    return Applied(writer.done, writer.paths, writer.notes)


def accept(user: Folder, log: LearnLog, proposal: Proposal, at: dt.datetime) -> Applied:
    """Keep what was proposed, as its file says it now; one that was edited is theirs.

    Raises FilememError where it cannot be written.
    """
    claim = Claim(proposal.text, at.date(), proposal.memory.kind)
    with user.locked():
        same = KnownMemories(user, log).same(claim)
        if same:
            known = Decision(Action.NOOP, same.path, claim, "it is known already")
            done = Applied([known])
        else:
            page = proposal.page()
            path = user.create(proposal.memory.path, page)
            if log.proposals.get(proposal.path) == digest(proposal.memory.data):
                log.add([{"wrote": live(path), "digest": digest(page), "from": []}])
            done = finish(user, log, at, path, proposal.section)
        reject(user, proposal)
    return replace(done, paths=[*done.paths, proposal.path])


def finish(
    user: Folder, log: LearnLog, at: dt.datetime, path: str, section: str
) -> Applied:
    """Do what a memory asks for that a person has taken in, or a killed run written.

    What it supersedes goes to the archive, and the profile has a line about it. If the
    log does not know it, it is the person's from now on.
    """
    memory = user.memory(path)
    day = memory.date or at.date()
    claim = Claim(said_in(memory), day, memory.kind, sources=tuple(memory.sources))
    replaces = texts_of(memory.front.get("supersedes"))
    writer = Writer(user, log, at)
    for old in replaces:
        writer.supersede(old, path, memory.metadata.get("valid_from") or day)
    if live(path) not in log.written:
        log.add([{"wrote": live(path), "digest": "", "from": []}])
    fresh = {live(path): section} if section else {}
    revised = profile.revise(user, log, at.date(), fresh)
    action = SUPERSEDE if replaces else ADD
    decision = Decision(action, path, claim, "", replaces)
    paths = [path, *writer.paths, *revised.paths]
    return Applied([decision], paths, [*writer.notes, *revised.notes])


def reject(user: Folder, proposal: Proposal) -> None:
    """Delete a proposal; it is not made a second time."""
    files.delete(user.absolute(proposal.path))


def detach(user: Folder, wish: Proposal) -> None:
    """Have what a wish to forget lets stay cite no turn that goes."""
    for path in wish.keeps:
        for place in user.existing(path):
            sources = user.memory(place).sources
            rest = [source for source in sources if source not in wish.forgets]
            value = facts.reference(rest) if rest else ""
            change = partial(facts.set_front, place, key="source", value=value)
            user.edit(place, change)


def told(done: Applied) -> list[str]:
    """Say what became of one fact to the one who told it."""
    one = done.decisions[0]
    if one.action in (ADD, SUPERSEDE):
        superseded = [f"Superseded {old}" for old in one.replaces]
        return [f"Remembered {one.path}", *superseded, *done.notes]
    return [f"Knew that already: {one.path}", *done.notes]


def _without_secrets(body: str) -> tuple[str, list[str]]:
    """The text without its secrets, and a note on them; raises FilememError for none."""
    clean, taken_out = redact(body)
    if not taken_out:
        return body, []
    if not re.search(r"\w", re.sub(r"\[redacted: [^]]*\]", "", clean)):
        raise FilememError(
            f"that is only a secret ({kinds(taken_out)}), so it was not kept; "
            f"{KEEPS_ALL}."
        )
    return clean, [f"Taken out: {kinds(taken_out)}; {KEEPS_ALL}."]


def _check_may_be_superseded(known: KnownMemories, path: str, today: dt.date) -> None:
    old = known.live.get(path)
    if old is None or old.pinned or old.since > today or kind_of(path) != "facts":
        why = "is not a current fact that can be superseded"
        raise NotFound(f"{one_line(path)} {why}; name one as a search shows it.")
