"""The program's own lines of profile.md, each with the memories that it rests on: `- Mara lives in Porto. <!-- facts/….md -->`.

A line without such a mark, or with one that a person has changed, is never touched. The successor of a memory takes over its
line. Where the lines have grown beyond the budget, a model says them in fewer words; none is cut.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence

from filemem.errors import FilememError
from filemem.files import archive, config
from filemem.files.archive import live
from filemem.files.folder import Folder
from filemem.files.memory import PROFILE, SOURCE_MARK, Memory
from filemem.files.sections import HEADING, SECTIONS, is_of
from filemem.models import Model, ModelError, prompt
from filemem.remembering.extraction import ask, objects
from filemem.remembering.sessions import ConsolidationLog, digest, display
from filemem.remembering.supersession import UPDATE, Decision, said_in
from filemem.text import terms, tokens
from filemem.text.plain import one_line
from filemem.text.redaction import redact

_ROOMY = 200  # characters of a line

Revision = tuple[list[str], list[str]]  # the paths that were changed, and sentences for the person


def line(text: str, paths: Iterable[str]) -> str:
    """The profile's line about some memories: the words, and the mark."""
    return f"- {one_line(text, _ROOMY)} <!-- {' '.join(paths)} -->"


def marked(text: str) -> list[tuple[int, tuple[str, ...], str]]:
    """The lines with a mark: number from 1, the paths, the line."""
    lines = enumerate((line.strip("\r") for line in text.split("\n")), 1)
    found = ((number, SOURCE_MARK.search(line), line) for number, line in lines if line[:2] in ("- ", "* ", "+ "))
    return [(number, tuple(mark[1].split(" ")), line) for number, mark, line in found if mark]


class _Page:
    """The profile's lines, changed one by one."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tail = "\r" if text.count("\r\n") * 2 > text.count("\n") else ""
        self.notes: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def _heads(self) -> list[tuple[int, str]]:
        """The headings, by their places."""
        found = ((n, HEADING.match(one.rstrip("\r"))) for n, one in enumerate(self.lines))
        return [(n, match[1]) for n, match in found if match]

    def insert(self, said: str, section: str) -> None:
        """Put a line behind the last item of its section, which is made where there is none."""
        names, tail, heads = SECTIONS[section], self.tail, self._heads()
        start = next((n for n, title in heads if is_of(title, names)), None)
        if start is not None:
            end = next((n for n, _ in heads if n > start), len(self.lines))
            last = max((n for n in range(start + 1, end) if self.lines[n].strip()), default=start)
            self.lines[last + 1 : last + 1] = [said + tail] if last > start else [tail, said + tail]
            return
        made = [f"## {names[terms.is_chinese(said.partition('<!--')[0])]}{tail}", tail, said + tail]
        later = list(SECTIONS.values())[list(SECTIONS).index(section) + 1 :]
        place = next((n for n, title in heads if any(is_of(title, other) for other in later)), None)
        if place is None:
            if not self.lines[-1]:
                self.lines.pop()
            self.lines += [*([tail] if self.lines and self.lines[-1].strip() else []), *made, ""]
        else:
            self.lines[place:place] = [*made, tail]

    def replace(self, number: int, fresh: Sequence[str]) -> None:
        """Put other lines in the place of one; a section of the program's that holds nothing any more goes with its last."""
        self.lines[number - 1 : number] = [one + self.tail for one in fresh]
        heads = self._heads()
        start, title = next((head for head in reversed(heads) if head[0] < number - 1), (0, ""))
        end = next((n for n, _ in heads if n > start), len(self.lines))
        ours = any(title in names for names in SECTIONS.values())
        if not fresh and ours and not any(one.strip() for one in self.lines[start + 1 : end]):
            del self.lines[start:end]


def revise(
    folder: Folder, log: ConsolidationLog, today: dt.date, decisions: Sequence[Decision] = (), gone: Iterable[str] = ()
) -> Revision:
    """Have the program's lines follow the memories behind them: changed, superseded, deleted or expired, or `gone`, to be
    forgotten; and bring in those of what was decided just now."""
    retold = {live(one.path) for one in decisions if one.action == UPDATE and not one.reason}
    gone = {*map(live, gone)}
    now = retold | gone | {live(old) for one in decisions for old in one.replaces}

    def change(page: _Page) -> None:
        standing = set[str]()
        for number, paths, said in reversed(marked(page.text)):
            found = [_heir(folder, path, today) for path in paths if path not in gone]
            heirs = {live(one.path): one for one in found if one}
            same = [*heirs] == [*paths] and all(log.untouched(path, one.data) for path, one in heirs.items())
            if same and not retold & {*paths}:
                standing.update(paths)
            elif digest(said) in log.lines:
                page.replace(number, [line(said_in(heirs[path]), [path]) for path in heirs if path not in standing])
                standing.update(heirs)
                if not now & {*paths}:
                    what = "says otherwise now" if heirs else "holds no more"
                    page.notes.insert(0, f"Updated profile.md: {', '.join(paths)} {what}")
            else:
                standing.update(paths, heirs)
                if now & {*paths}:
                    words = said.partition("<!--")[0]
                    page.notes.append(f"profile.md:{number} is yours; see whether it still holds: {words}")
        for one in decisions:
            if one.claim.heading and live(one.path) not in standing:
                page.insert(line(one.claim.text, [live(one.path)]), one.claim.heading)

    return _changed(folder, log, change, make=any(one.claim.heading for one in decisions))


def condense(folder: Folder, log: ConsolidationLog, model: Model) -> Revision:
    """Have a model say the program's lines in fewer words, where the profile has grown beyond its budget.

    A line that the model does not take up stays as it is; so does all where it names what it was not shown.
    """
    budget, memory = config.of(folder).profile_tokens, archive.read(folder, PROFILE)
    text = memory.text if memory else ""
    lines = {f"P{number}": (paths, said) for number, paths, said in marked(text) if digest(said) in log.lines}
    if tokens.count(re.sub(r"<!--.*?-->", "", text)) <= budget or not lines:
        return [], []
    shown = "\n".join(f"{label}: {said.partition('<!--')[0].strip('- ')}" for label, (_, said) in lines.items())
    told = f"All lines together may have {budget * 3 // 4} tokens.\n{prompt.data(PROFILE, redact(shown)[0])}"
    try:
        answered = objects(ask(model, "condense", told), "lines") or []
    except ModelError as error:
        return [], [f"profile.md is longer than {budget} tokens, and was not condensed: {error}"]

    def change(page: _Page) -> None:
        for entry in answered:
            labels, said = entry.get("from"), " ".join(str(entry.get("text") or "").split())
            chosen = [lines[label] for label in map(str, labels if isinstance(labels, list) else []) if label in lines]
            places = [n for n, paths, found in marked(page.text) if (paths, found) in chosen]
            if said and places and len(places) == len(chosen) and len(said) <= _ROOMY:
                for number in reversed(places[1:]):
                    page.replace(number, [])
                paths = dict.fromkeys(path for paths, _ in chosen for path in paths)
                page.replace(places[0], [line(redact(said)[0], paths)])

    return _changed(folder, log, change, make=False)


def _changed(folder: Folder, log: ConsolidationLog, change: Callable[[_Page], None], *, make: bool) -> Revision:
    """Change the program's lines of the profile, which is made where there is none and `make` says so."""
    notes = list[str]()

    def edit(data: bytes) -> bytes:
        page = _Page(data.decode())
        before = {one[1:] for one in marked(page.text)}
        change(page)
        notes[:] = page.notes
        # Noted first, so that a run that is killed here leaves no line of the program's that it does not know.
        fresh = {one[1:] for one in marked(page.text)} - before
        if fresh:
            log.add({"line": " ".join(paths), "digest": digest(said)} for paths, said in fresh)
        return page.text.encode()

    try:
        with folder.locked():
            if not list(folder.standing(PROFILE)):
                if not make:
                    return [], []
                folder.create(PROFILE, f"# {display(folder.name)}\n")
            elif folder.memory(PROFILE).front.get("read_only") is True:
                return [], [f"{PROFILE} says that it is read only, and is as it was"]
            changed = folder.edit(PROFILE, edit)
    except (FilememError, UnicodeDecodeError) as error:
        return [], [f"{PROFILE} is as it was: {error}"]
    return [PROFILE] if changed else [], notes


def _heir(folder: Folder, path: str, today: dt.date) -> Memory | None:
    """The memory at a path, or what has superseded it since; None where that is gone, has ended, or is a machine's word."""
    met = set[str]()
    while (memory := archive.read(folder, path)) and (by := memory.particular("superseded_by")) and path not in met:
        met.add(path)
        path = live(str(by))
    until = memory.particular("valid_until") if memory else None
    if memory is None or path in met or memory.front.get("said_by") or (until and until < today):
        return None
    return memory if said_in(memory) else None
