"""What is told, beside what is known: what is to be done about a claim.

The decisions are those of Mem0 (Chhikara et al. 2025); its DELETE is a supersession
here, so that nothing is lost. Which memory a claim is about the model says that made
it; code only looks whether that memory may be changed so.
"""

import datetime as dt
import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from filemem.learn.log import LearnLog
from filemem.learn.records import Action, Claim, Decision
from filemem.learn.sessions import display
from filemem.store import facts
from filemem.store.facts import plain
from filemem.store.folder import Folder, Stat
from filemem.store.memory import Memory
from filemem.store.paths import kind_of, live, when_of
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
        kind: `facts` or `lessons`.
        line: on which its text begins.
        text: what it says, on one line.
        letters: the same but for case, accents and what is between words.
        since: the day of its last word, or of a person's edit.
        is_ours: whether it is just as the program left it.
        pinned: whether it never changes.
        sources: `path:line` of what it rests on.
        until: the last day on which it holds, if that is set.
        said_by: empty for what people said themselves.
    """

    path: str
    kind: str
    line: int
    text: str
    letters: str
    since: dt.date
    is_ours: bool
    pinned: bool
    sources: tuple[str, ...]
    until: dt.date | None
    said_by: str

    def may_end(self, day: dt.date) -> bool:
        """Tell whether what was said on a day may supersede it: unless it is pinned or
        was said later."""
        return not self.pinned and self.since <= day


class KnownMemories:
    """The facts and lessons of one user that nothing has superseded.

    Attributes:
        folder: whose they are.
        live: each by its path.
    """

    def __init__(self, folder: Folder, log: LearnLog) -> None:
        self.folder = folder
        self.live: dict[str, KnownMemory] = {}
        self._paths: dict[tuple[str, str], str] = {}  # by kind and letters
        self._owner = display(folder.person)
        self._log = log
        before: dict[Stat, KnownMemory | None] = folder.cached.get("known", {})
        now: dict[Stat, KnownMemory | None] = {}
        for stat in sorted(folder.files()):
            if kind_of(stat.path) not in KINDS:
                continue
            known = before.get(stat)
            # Whether it is ours the log tells, which may have grown meanwhile.
            if known is None or not known.is_ours:
                self.refresh([stat.path])
                known = self.live.get(stat.path)
            else:
                self._add(known)
            now[stat] = known
        folder.cached["known"] = now

    def refresh(self, paths: Iterable[str]) -> None:
        """Read some memories anew, as they are on disk now."""
        for path in paths:
            self.live.pop(path, None)
            if kind_of(path) in KINDS:
                self._read(path)

    def same(self, kind: str, text: str) -> KnownMemory | None:
        """Find the memory that says the same, letter by letter.

        Args:
            kind: `facts` or `lessons`.
            text: what is said, with links or without.
        """
        letters = _letters(text)
        path = self._paths.get((kind, letters), "")
        if path and path not in self.live:
            self._read(path)
        known = self.live.get(path)
        if known and known.letters == letters:
            return known
        for other in self.live.values() if path else ():  # what it was known by is gone
            if (other.kind, other.letters) == (kind, letters):
                return other
        return None

    def note_written(self, decision: Decision) -> None:
        """Know what was just written, which is read only if it is told again."""
        claim = decision.claim
        self._paths[claim.kind, _letters(claim.text)] = decision.path
        for path in decision.replaces:
            self.live.pop(path, None)

    def _add(self, known: KnownMemory) -> None:
        self.live[known.path] = known
        self._paths.setdefault((known.kind, known.letters), known.path)

    def alike(self, texts: Iterable[str], besides: set[str]) -> list[KnownMemory]:
        """Choose the memories to show beside what was said.

        Args:
            texts: what was said.
            besides: paths of memories that are shown in any case.

        Returns:
            All while there are few; of more `besides`, and those that share the rarest
            words with the texts. In the order of their days.
        """
        chosen = list(self.live.values())
        if len(chosen) > MAX_SHOWN_WHOLE:
            said = content("\n".join(texts))
            words = {one.path: content(one.text) for one in chosen}
            counts = Counter(word for found in words.values() for word in found)
            scores = Counter[str]()
            for path, own in words.items():
                scores[path] = sum(1000 // counts[word] for word in own & said)
            nearest = scores.most_common(MAX_SHOWN_ALIKE)
            near = {path for path, score in nearest if score}
            chosen = [one for one in chosen if one.path in near | besides]
        return sorted(chosen, key=lambda one: (one.since, one.path))

    def decide(self, claim: Claim) -> Decision:
        """Decide about a claim.

        Args:
            claim: what was told; one with a fault is refused.

        Returns:
            What is to be done, and to which memory; where that is new, the path is the
            one wanted. What is refused names the memories that it would supersede.
            Nothing is changed.
        """
        made = self._log.made_of(claim.origins)
        if made:
            reason = f"this turn was made into {made} before"
            return Decision(Action.NOOP, made, claim, reason)
        if claim.origins and self._log.proposed.issuperset(claim.origins):
            return Decision(Action.NOOP, "", claim, "it was proposed before")
        known = [self.live[path] for path in claim.targets if path in self.live]
        targets = [one for one in known if _may_change(claim, one)]
        if claim.action is Action.ADD:
            targets = []
        if claim.fault:
            ended = _ended(claim, targets)
            return Decision(Action.REFUSE, "", claim, claim.fault, ended)
        same = self.same(claim.kind, claim.text)
        if same and not _corrects(claim, same, targets):
            return self._known_already(claim, same, targets)
        return self._changing(claim, targets) if targets else self._new(claim)

    def _known_already(
        self, claim: Claim, same: KnownMemory, targets: list[KnownMemory]
    ) -> Decision:
        """Decide about a claim that a memory says already, and that may end others.

        Args:
            claim: what was told.
            same: the memory that says so.
            targets: the memories that the claim may change.
        """
        ended = _ended(claim, [one for one in targets if one.path != same.path])
        own_place = f"{same.path}:{same.line}"
        is_news = bool(claim.sources) and own_place not in claim.sources
        if same.is_ours and is_news and not same.pinned:
            return Decision(Action.UPDATE, same.path, claim, "told again", ended)
        reason = f"{same.path} says so already"
        return Decision(Action.NOOP, same.path, claim, reason, ended)

    def _changing(self, claim: Claim, targets: list[KnownMemory]) -> Decision:
        """Decide about a claim that updates or supersedes memories.

        Args:
            claim: what was told.
            targets: the memories that it may change, one at least; the first is the one
                that an update changes.

        Returns:
            An update where the memory is as the program left it, else a supersession; a
            new memory beside a pinned one.
        """
        if claim.action is Action.SUPERSEDE:  # those first that it may end
            targets = sorted(targets, key=lambda one: not one.may_end(claim.day))
        target = targets[0]
        if target.pinned:
            reason = f"says otherwise than {target.path}, which is pinned"
            return self._new(claim, reason)
        is_older = claim.day < target.since
        is_update = claim.action is Action.UPDATE
        if is_update and target.kind != claim.kind:
            return self._new(claim)
        if is_update and is_older and target.is_ours:
            return self._new(claim)
        if is_older:
            # The day of a person's edit may be that on which git brought it here, so
            # they decide.
            reason = f"{target.path} was said later, on {target.since}"
            if target.is_ours:
                return Decision(Action.DROP, target.path, claim, reason)
            ended = (live(target.path),)
            return Decision(Action.REFUSE, target.path, claim, reason, ended)
        if is_update and target.is_ours and target.sources and len(targets) == 1:
            return Decision(Action.UPDATE, target.path, claim)
        # A person's own words stay as they are, and are superseded.
        return self._new(claim, replaces=_ended(claim, targets))

    def _new(
        self, claim: Claim, reason: str = "", replaces: tuple[str, ...] = ()
    ) -> Decision:
        """Decide that a claim becomes a memory of its own.

        Args:
            claim: what was told.
            reason: why, where that is not plain.
            replaces: the live paths of the memories that it supersedes.
        """
        text = plain(claim.text)
        path = facts.name(claim.kind, text, claim.day, self._owner)
        action = Action.SUPERSEDE if replaces else Action.ADD
        return Decision(action, path, claim, reason, replaces)

    # -- what is known -----------------------------------------------------------------

    def _read(self, path: str) -> None:
        memory = self.folder.find(path)
        if memory is None or memory.binary or memory.metadata.get("superseded_by"):
            return
        if not memory.passages:
            return
        text = plain(said_in(memory))
        is_ours = self._log.is_untouched(path, memory.data)
        known = KnownMemory(
            path=path,
            kind=memory.kind,
            line=memory.passages[0].line,
            text=text,
            letters=_letters(text),
            since=self._since(memory, is_ours),
            is_ours=is_ours,
            pinned=bool(memory.metadata.get("pinned")),
            sources=tuple(memory.sources),
            until=memory.metadata.get("valid_until"),
            said_by=str(memory.front.get("said_by") or ""),
        )
        self._add(known)

    def _since(self, memory: Memory, is_ours: bool) -> dt.date:
        """Return the day of its last word: a source's, its name's, or an edit's."""
        named = map(when_of, [memory.path, *memory.sources])
        days = [when.date for when in named if when]
        is_edited = live(memory.path) in self._log.written and not is_ours
        if is_edited or not days:
            changed = os.stat(self.folder.absolute(memory.path)).st_mtime
            days.append(dt.date.fromtimestamp(changed))
        return max(days)


def said_in(memory: Memory) -> str:
    """Return what a memory says, on one line."""
    return " ".join(memory.body.split())


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts in a front matter value: one, or a list of them."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(one) for one in values if one)


def _ended(claim: Claim, targets: list[KnownMemory]) -> tuple[str, ...]:
    """Return the live paths of those that a claim supersedes."""
    return tuple(live(one.path) for one in targets if one.may_end(claim.day))


def _corrects(claim: Claim, same: KnownMemory, targets: list[KnownMemory]) -> bool:
    """Tell whether a claim puts accents, case or points right in what says the same."""
    is_update = claim.action is Action.UPDATE and same in targets
    return is_update and same.text != plain(claim.text)


def _may_change(claim: Claim, known: KnownMemory) -> bool:
    """A machine's word changes no person's, and a wish only the person's own."""
    is_wish = known.kind == "lessons" and not known.said_by
    if is_wish and not claim.is_own:
        return False
    return claim.said_by in ("", known.said_by)


def _letters(text: str) -> str:
    """Return what a text says but for case, accents and what is between words."""
    return _BETWEEN_WORDS.sub("", one_form_of_numbers(fold(plain(text))))
