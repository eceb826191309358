"""Whatever is edited, renamed, said, done by jobs, undone, restored and synced in any order, every line that anybody wrote is
in the work tree of who wrote it, unless they took it back on purpose; in the end the machines agree.

Two clones of one bare repository. STATEFUL=200 in the environment tries 200 seeds.
"""

import datetime as dt
import os
import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from repositories import START, git, plain_git, store

from filemem import FilememError, Store, User, jobs
from filemem.git.history import History
from filemem.git.sync import sync
from filemem.git.undo import undo
from filemem.learn.remember import Asked
from filemem.store.folder import Folder
from filemem.store.paths import is_archived, live
from filemem.store.users import StoreFolder

CLONES = st.integers(0, 1)
ANY = st.integers(0, 99)
TOKEN = re.compile(r"token\d+x")
WORDS = "We paddled along the coast near Sintra in a red kayak that leaks, and ate figs"


class Memories(RuleBasedStateMachine):
    """Two machines of one person, who writes by hand, talks, runs jobs and syncs."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.count = 0
        self.now = START
        self.written: list[set[str]] = [set(), set()]  # on each machine
        # On each machine, what an undo may take back, or was taken out.
        self.may_go: list[set[str]] = [set(), set()]
        git(self.folder, "init", "--quiet", "--bare", "remote")
        store(self.folder / "0")
        git(self.folder / "0", "remote", "add", "origin", str(self.folder / "remote"))
        self.syncs(0)
        git(self.folder, "clone", "--quiet", "remote", "1")

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.agree()
            shutil.rmtree(self.folder)

    def agree(self) -> None:
        """Commit and sync until nothing moves: both have the same, and no turn twice."""
        for clone in (0, 1, 0, 1):
            self.commits(clone)
            self.syncs(clone)
        self.syncs(0)
        roots = [self.user(clone).root for clone in (0, 1)]
        assert len({git(root, "rev-parse", "HEAD") for root in roots}) == 1
        for clone, root in enumerate(roots):
            user = self.user(clone)
            assert git(root, "status", "--short") == ""
            for path in user.paths():
                if live(path).startswith("sessions/"):
                    said = TOKEN.findall(user.read(path).decode())
                    assert len(said) == len({*said}), path
        assert git(self.folder / "remote", "fsck", "--strict") == ""

    def user(self, clone: int) -> Folder:
        return StoreFolder(self.folder / str(clone)).folder("mara")

    def later(self, days: int = 0) -> dt.datetime:
        self.now += dt.timedelta(days=days, minutes=1)
        return self.now

    def line(self, clone: int) -> str:
        self.count += 1
        token = f"token{self.count}x"
        self.written[clone].add(token)
        return f"{WORDS} {token}."

    def tokens(self, clone: int, start: str = "") -> set[str]:
        """What stands in the files; a summary's quote of a talk does not count."""
        user = self.user(clone)
        found = set()
        for path in user.paths():
            if live(path).startswith(start) and not live(path).startswith("summaries/"):
                found |= {*TOKEN.findall(user.read(path).decode())}
        return found

    def look(self, clone: int) -> None:
        missing = self.written[clone] - self.tokens(clone)
        assert not missing, missing

    # -- what a person does -----------------------------------------------------------

    @rule(clone=CLONES, which=ANY)
    def edits(self, clone: int, which: int) -> None:
        user = self.user(clone)
        paths = [path for path in user.paths() if "summaries/" not in path]
        if not paths:
            return
        path = paths[which % len(paths)]
        with open(f"{user.root}/{path}", "a", encoding="utf-8") as file:
            file.write(self.line(clone) + "\n")
        # No undo may take what was edited since.
        self.may_go[clone] -= self.tokens(clone, live(path))
        self.look(clone)

    @rule(clone=CLONES, event=st.booleans())
    def drops_in(self, clone: int, event: bool) -> None:
        user = self.user(clone)
        text = self.line(clone)
        front = "---\nkind: event\n---\n\n" if event else ""
        place = Path(user.root, f"facts/2026/2026-11-20-own-{self.count}.md")
        place.write_text(f"{front}{text}\n")

    @rule(clone=CLONES, which=ANY)
    def renames(self, clone: int, which: int) -> None:
        user = self.user(clone)
        paths = [path for path in user.paths() if live(path).startswith("facts/")]
        new = f"facts/名-{which % 3}.md"
        if paths and not any(user.existing(new)):
            os.rename(f"{user.root}/{paths[which % len(paths)]}", f"{user.root}/{new}")
        self.look(clone)

    @rule(clone=CLONES, which=ANY, whole=st.booleans())
    def takes_out(self, clone: int, which: int, whole: bool) -> None:
        """Delete a fact, or change its last line."""
        user = self.user(clone)
        paths = [path for path in user.paths() if live(path).startswith("facts/")]
        if not paths:
            return
        place = Path(user.root, paths[which % len(paths)])
        *lines, last = place.read_text().splitlines(keepends=True)
        gone = {*TOKEN.findall(place.read_text() if whole else last)}
        if whole:
            place.unlink()
        else:
            place.write_text("".join([*lines, f"{self.line(clone)}\n"]))
        self.written[clone] -= gone
        for may_go in self.may_go:
            may_go |= gone
        self.look(clone)

    @rule(clone=CLONES)
    def commits(self, clone: int) -> None:
        root = self.user(clone).root
        git(root, "add", "-A")
        git(root, "commit", "--quiet", "--allow-empty", "-m", "By hand")

    @rule(clone=CLONES, which=ANY)
    def talks(self, clone: int, which: int) -> None:
        messages = [{"role": "user", "content": self.line(clone)} for _ in range(8)]
        User(self.user(clone)).add_conversation(
            messages, at=self.later(), id=f"{clone}-{which % 3}"
        )
        self.look(clone)

    # -- what jobs do -----------------------------------------------------------------

    @rule(clone=CLONES)
    def remembers(self, clone: int) -> None:
        text = self.line(clone)
        jobs.remembered(self.user(clone), [Asked(text)], self.later())
        for may_go in self.may_go:
            may_go |= {*TOKEN.findall(text)}
        self.look(clone)

    @rule(clone=CLONES, job=st.sampled_from([jobs.compact, jobs.sweep, jobs.maintain]))
    def tidies(self, clone: int, job) -> None:  # type: ignore[no-untyped-def]
        model = [None] if job is jobs.maintain else []
        job(self.user(clone), self.later(days=200), *model)
        self.look(clone)

    @rule(clone=CLONES, which=ANY)
    def restores(self, clone: int, which: int) -> None:
        user = self.user(clone)
        paths = [path for path in user.paths() if is_archived(path)]
        if paths:
            jobs.restore(user, self.later(), [paths[which % len(paths)]])
        self.look(clone)

    @rule(clone=CLONES, which=st.none() | ANY)
    def undoes(self, clone: int, which: int | None) -> None:
        user = self.user(clone)
        name = None
        if which is not None:
            commits = git(user.root, "rev-list", "HEAD").split("\n")
            name = commits[which % len(commits)]
        before = self.tokens(clone)
        try:
            undo(History(user), name, self.later())
        except FilememError:
            assert self.tokens(clone) == before
        taken_back = before - self.tokens(clone)
        assert taken_back <= self.may_go[clone], taken_back - self.may_go[clone]
        for written in self.written:
            written -= taken_back
        self.look(clone)

    @rule(clone=CLONES)
    def syncs(self, clone: int) -> None:
        before = self.tokens(clone)
        try:
            sync(History(self.user(clone)), "origin", self.later())
        except FilememError as error:
            assert "uncommitted changes" in str(error)
        # What the other machine took back on purpose goes here too.
        gone = before - self.tokens(clone)
        assert not gone & self.written[1 - clone], gone
        assert gone <= self.may_go[0] | self.may_go[1], gone
        self.written[clone] -= gone
        self.look(clone)


SEEDS = int(os.environ.get("STATEFUL", "0"))
TestMemories = seed(7)(Memories).TestCase if SEEDS else Memories.TestCase
TestMemories.settings = settings(
    max_examples=SEEDS or 4,
    stateful_step_count=20,
    deadline=None,
    derandomize=not SEEDS,
    suppress_health_check=list(HealthCheck),
)
