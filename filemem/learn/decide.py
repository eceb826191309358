"""What is told, beside what is known: what is to be done about a claim.

The decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession
here, so that nothing is lost. Which memory a claim is about the model says that made it;
code only looks whether that memory may be changed so.
"""

import datetime as dt
import math
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from filemem.learn.log import LearnLog
from filemem.learn.records import ADD, SUPERSEDE, UPDATE, Action, Claim, Decision
from filemem.learn.sessions import display
from filemem.store import facts, pending
from filemem.store.facts import plain
from filemem.store.folder import Folder, numbered
from filemem.store.memory import Memory
from filemem.store.paths import ARCHIVE, kind_of, live, when_of
from filemem.text.quotes import one_form_of_numbers
from filemem.text.terms import content, fold

KINDS = ("facts", "lessons")
MAX_SHOWN_WHOLE = 100  # memories that are all shown beside what was said
MAX_SHOWN_ALIKE = 40  # of more than that, those most like it
_BETWEEN_WORDS = re.compile(r"[\s\"'“”‘’.,;:!?。、]+(?!\d)")  # before a digit: a point


@dataclass(frozen=True)
class KnownMemory:
    """A live fact or lesson.

    Attributes:
        path: where it lies.
        text: what it says, on one line.
        since: the day of its last word, or of a person's edit.
        is_ours: whether it is just as the program left it.
        pinned: whether it never changes.
        sources: `path:line` of what it rests on.
        until: the last day on which it holds, if that is set.
        said_by: empty for what people said themselves.
        supersedes: the paths of what its front matter says that it replaced.
        section: of the profile, if its front matter names one, as a proposal's does.
    """

    path: str
    text: str
    since: dt.date
    is_ours: bool
    pinned: bool = False
    sources: tuple[str, ...] = ()
    until: dt.date | None = None
    said_by: str = ""
    supersedes: tuple[str, ...] = ()
    section: str = ""


class KnownMemories:
    """The facts and lessons of one user that nothing has superseded, by path.

    Deciding about a claim takes it in, so that the next is decided beside it.
    """

    def __init__(self, folder: Folder, log: LearnLog) -> None:
        self.folder = folder
        self.log = log
        self.live: dict[str, KnownMemory] = {}
        self._taken: set[str] = set()
        self._by_text: dict[tuple[str, str], str] = {}
        hidden = pending.pending_deletions(folder)
        for path in folder.paths():
            self._taken.add(path)
            if kind_of(path) in KINDS and not hidden.hides(path, 0):
                self._read(path)

    def same(self, claim: Claim) -> KnownMemory | None:
        """Find the memory of the claim's kind that says the same, letter by letter."""
        key = _key(claim.kind, plain(claim.text))
        found = self.live.get(self._by_text.get(key, ""))
        return found if found and key == _key(claim.kind, found.text) else None

    def alike(self, texts: Iterable[str], besides: set[str]) -> list[KnownMemory]:
        """Choose the memories to show beside what was said, by their days.

        All while there are few; of more `besides`, and those that share the rarest
        words with a text.
        """
        chosen = list(self.live.values())
        if len(chosen) > MAX_SHOWN_WHOLE:
            near = self._most_alike(texts) | besides
            chosen = [one for one in chosen if one.path in near]
        return sorted(chosen, key=lambda one: (one.since, one.path))

    def decide(self, claim: Claim, *, accepted: bool = False) -> Decision:
        """Decide about a claim; `accepted` says that the person wants it kept."""
        first = claim.origins[0] if claim.origins else None
        before = self.log.made.get(first, "") if first else ""
        if before:
            reason = f"this turn was made into {before} before"
            return Decision(Action.NOOP, before, claim, reason)
        if not accepted and not self.log.proposed.isdisjoint(claim.origins):
            return Decision(Action.NOOP, "", claim, "it was proposed before")
        same = self.same(claim)
        if same is not None:
            return self._told_again(claim, same)
        target = self.live.get(claim.target)
        if claim.action == ADD or target is None or not _may_change(claim, target):
            return self._new(claim)
        if target.pinned:
            reason = f"says otherwise than {target.path}, which is pinned"
            return self._new(claim, reason)
        if claim.action == SUPERSEDE:
            return self._superseding(claim, target, accepted)
        return self._updating(claim, target)

    # -- one decision each -------------------------------------------------------------

    def _told_again(self, claim: Claim, same: KnownMemory) -> Decision:
        """Add a further source, and the confidence of the surer telling."""
        if not same.is_ours or same.pinned or not claim.sources:
            reason = f"{same.path} says so already"
            return Decision(Action.NOOP, same.path, claim, reason)
        return self._changed(claim, same, "told again")

    def _superseding(
        self, claim: Claim, target: KnownMemory, accepted: bool
    ) -> Decision:
        if claim.day < target.since:
            why = f"{target.path} was said later, on {target.since}"
            if target.is_ours:
                return Decision(Action.DROP, target.path, claim, why)
            if not accepted:
                # The day of a person's edit may be that on which git brought it here,
                # so they decide.
                return Decision(Action.REFUSE, target.path, claim, why)
        return self._replacing(claim, target)

    def _updating(self, claim: Claim, target: KnownMemory) -> Decision:
        if claim.day < target.since or kind_of(target.path) != claim.kind:
            return self._new(claim)
        if target.is_ours and target.sources and not claim.also_ends:
            return self._changed(claim, target, "")
        return self._replacing(claim, target)  # a person's own words stay as they are

    def _replacing(self, claim: Claim, target: KnownMemory) -> Decision:
        replaced = [target]
        for path in claim.also_ends:
            other = self.live.get(path)
            if other is None or other.pinned or other.since > claim.day:
                continue
            if _may_change(claim, other):
                replaced.append(other)
        return self._new(claim, replacing=replaced)

    def _changed(self, claim: Claim, old: KnownMemory, reason: str) -> Decision:
        sources = tuple(dict.fromkeys([*old.sources, *claim.sources]))
        text = old.text if reason else plain(claim.text)
        since = max(old.since, claim.day)
        self._put(replace(old, text=text, since=since, sources=sources))
        return Decision(UPDATE, old.path, claim, reason)

    def _new(
        self, claim: Claim, reason: str = "", replacing: Iterable[KnownMemory] = ()
    ) -> Decision:
        owner = display(self.folder.name)
        wanted = facts.name(claim.kind, plain(claim.text), claim.day, owner)
        path = next(name for name in numbered(wanted) if self._is_free(name))
        replaced = [one.path for one in replacing]
        for old in replaced:
            self.live.pop(old, None)
        memory = KnownMemory(
            path=path,
            text=plain(claim.text),
            since=claim.day,
            is_ours=True,
            pinned=claim.pinned,
            sources=claim.sources,
            until=claim.valid_until,
            said_by=claim.said_by,
        )
        self._put(memory)
        action = SUPERSEDE if replaced else ADD
        return Decision(action, path, claim, reason, tuple(map(live, replaced)))

    # -- what is known -----------------------------------------------------------------

    def _read(self, path: str) -> None:
        memory = self.folder.find(path)
        if memory is None or memory.binary or memory.metadata.get("superseded_by"):
            return
        is_ours = self.log.is_untouched(path, memory.data)
        known = KnownMemory(
            path=path,
            text=plain(said_in(memory)),
            since=self._since(path, memory, is_ours),
            is_ours=is_ours,
            pinned=bool(memory.metadata.get("pinned")),
            sources=tuple(memory.sources),
            until=memory.metadata.get("valid_until"),
            said_by=str(memory.front.get("said_by") or ""),
            supersedes=texts_of(memory.front.get("supersedes")),
            section=str(memory.front.get("section") or ""),
        )
        self._put(known)

    def _since(self, path: str, memory: Memory, is_ours: bool) -> dt.date:
        """The day of a memory's last word: of a source, its name, or a person's edit."""
        when = when_of(path)
        days = [when.date] if when else []
        for source in memory.sources:
            said = when_of(source.rpartition(":")[0])
            if said:
                days.append(said.date)
        is_edited = live(path) in self.log.written and not is_ours
        if when is None or is_edited:
            changed = os.stat(self.folder.absolute(path)).st_mtime
            days.append(dt.date.fromtimestamp(changed))
        return max(days)

    def _put(self, memory: KnownMemory) -> None:
        """Take in a memory, in the place of the one at its path."""
        self.live[memory.path] = memory
        self._by_text[_key(kind_of(memory.path), memory.text)] = memory.path
        self._taken.add(memory.path)

    def _is_free(self, name: str) -> bool:
        return self._taken.isdisjoint((name, f"{ARCHIVE}/{name}"))

    def _most_alike(self, texts: Iterable[str]) -> set[str]:
        """The paths of the memories that share the rarest words with a text."""
        words = {path: content(one.text) for path, one in self.live.items()}
        counts = Counter(word for found in words.values() for word in found)
        scores: dict[str, float] = dict.fromkeys(words, 0.0)
        for text in texts:
            said = content(text)
            for path, own in words.items():
                rarities = [
                    math.log(1 + len(words) / counts[one]) for one in own & said
                ]
                scores[path] = max(scores[path], sum(rarities))
        best = sorted(scores, key=lambda path: (-scores[path], path))
        return {path for path in best[:MAX_SHOWN_ALIKE] if scores[path]}


def said_in(memory: Memory) -> str:
    """What a memory says, on one line; of one person's turn the words alone."""
    speakers = {passage.speaker for passage in memory.passages}
    if memory.is_yaml or (len(speakers) == 1 and speakers != {""}):
        words = [passage.text for passage in memory.passages]
    else:
        words = memory.lines[memory.front_end :]
    return " ".join(" ".join(words).split())


def _may_change(claim: Claim, target: KnownMemory) -> bool:
    """A machine's word changes no person's."""
    return claim.said_by in ("", target.said_by)


def _key(kind: str, text: str) -> tuple[str, str]:
    """A kind, and what a text says but for case, accents and what is between words."""
    return kind, _BETWEEN_WORDS.sub("", one_form_of_numbers(fold(text)))


def texts_of(value: object) -> tuple[str, ...]:
    """The texts in a front matter value: one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(one) for one in values if one)
