"""However clones are edited and synced, in the end they agree, and every line is there that nobody took out on purpose."""

import datetime as dt
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from repositories import START, git, plain_git, store

from filemem import Store
from filemem.git.history import History
from filemem.git.sync import sync
from filemem.store.folder import Folder

CLONES = st.integers(0, 2)
SESSION = "sessions/2026/2026-11-20-0930-tea.md"


class Clones(RuleBasedStateMachine):
    """Three machines of one person and a bare remote."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        git(self.folder, "init", "--quiet", "--bare", "remote")
        first = store(self.folder / "0")
        first.create(SESSION, "- **mara** 09:30: the beginning\n")
        self.lines = {"- **mara** 09:30: the beginning", "Prefers oolong tea."}
        self.count = 0
        first.create("profile.md", "# Mara\n")
        History(first).record("Talk", [SESSION, "profile.md"], {}, START)
        git(self.folder / "0", "remote", "add", "origin", str(self.folder / "remote"))
        sync(History(first), None, START)
        for name in "12":
            git(self.folder, "clone", "--quiet", "remote", name)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.agree()
            shutil.rmtree(self.folder)

    def user(self, clone: int) -> Folder:
        return Store(self.folder / str(clone)).user("mara").folder

    def now(self) -> dt.datetime:
        self.count += 1
        return START + dt.timedelta(minutes=self.count)

    def line(self) -> str:
        self.count += 1
        text = f"line number {self.count}"
        self.lines.add(text)
        return text

    def record(self, user: Folder, *paths: str) -> None:
        assert not History(user).record(
            "Change memories", paths, {"Job": "test"}, self.now()
        )

    def facts(self, clone: int) -> list[str]:
        return [path for path in self.user(clone).paths() if "facts/" in path]

    # -- what happens on the machines ----------------------------------------------------------------------------

    @rule(clone=CLONES)
    def learns(self, clone: int) -> None:
        user = self.user(clone)
        text = "".join(f"{self.line()}\n" for _ in range(4))
        self.record(
            user, user.create(f"facts/2026/2026-11-20-fact-{self.count}.md", text)
        )

    @rule(clone=CLONES)
    def talks(self, clone: int) -> None:
        user = self.user(clone)
        text = self.line()
        self.lines = self.lines - {text} | {f"- **mara** 10:00: {text}"}
        user.append(SESSION, f"- **mara** 10:00: {text}\n")
        self.record(user, SESSION)

    @rule(
        clone=CLONES,
        which=st.integers(0, 99),
        at=st.integers(0, 9),
        by_hand=st.booleans(),
    )
    def changes_a_line(self, clone: int, which: int, at: int, by_hand: bool) -> None:
        user, paths = self.user(clone), self.facts(clone)
        path = paths[which % len(paths)] if paths else ""
        lines = user.read(path).decode().split("\n")[:-1] if path else []
        wordy = [n for n, text in enumerate(lines) if text in self.lines]
        if wordy:
            gone = wordy[at % len(wordy)]
            self.lines.discard(lines[gone])
            lines[gone] = self.line()
            data = ("\n".join(lines) + "\n").encode()
            if by_hand:
                (Path(user.root) / path).write_bytes(data)
                git(user.root, "commit", "--quiet", "-m", "By hand", "--", path)
            else:
                user.edit(path, lambda _: data)
                self.record(user, path)

    @rule(clone=CLONES, which=st.integers(0, 99), superseded=st.booleans())
    def archives(self, clone: int, which: int, superseded: bool) -> None:
        user = self.user(clone)
        live = [path for path in self.facts(clone) if not path.startswith("archive/")]
        if live:
            path = live[which % len(live)]
            try:
                user.move({path: f"archive/{path}"})
            except FileExistsError:
                return
            if superseded:
                mark = f"---\nsuperseded_by: facts/{self.count}.md\nvalid_until: 2026-11-20\n---\n".encode()
                user.edit(
                    f"archive/{path}",
                    lambda data: data if data.startswith(b"---") else mark + data,
                )
            self.record(user, path, f"archive/{path}")

    @rule(clone=CLONES, which=st.integers(0, 99))
    def renames(self, clone: int, which: int) -> None:
        user, paths = self.user(clone), self.facts(clone)
        new = f"facts/名-{which % 3}.md"
        if paths and new not in paths:
            git(user.root, "mv", paths[which % len(paths)], new)
            git(user.root, "commit", "--quiet", "-m", "Rename")

    @rule(clone=CLONES, which=st.integers(0, 99))
    def deletes(self, clone: int, which: int) -> None:
        user, paths = self.user(clone), self.facts(clone)
        if paths:
            path = paths[which % len(paths)]
            self.lines -= set(user.read(path).decode().split("\n"))
            Path(user.absolute(path)).unlink()
            self.record(user, path)

    @rule(clone=CLONES)
    def syncs(self, clone: int) -> None:
        sync(History(self.user(clone)), "origin", self.now())

    # -- the law -------------------------------------------------------------------------------------------------

    def agree(self) -> None:
        """Sync everyone until nothing moves, and look."""
        for _ in range(2):
            for clone in range(3):
                self.syncs(clone)
        heads = {
            git(self.folder / str(clone), "rev-parse", "HEAD") for clone in range(3)
        }
        assert len(heads) == 1
        for clone in range(3):
            user = self.user(clone)
            assert git(user.root, "status", "--short") == ""
            present = [
                text
                for path in user.paths()
                for text in user.read(path).decode().split("\n")
            ]
            assert self.lines <= set(present), self.lines - set(present)
            talk = user.read(SESSION).decode().split("\n")
            assert sorted(set(talk)) == sorted(
                line for line in talk if line or line == talk[-1]
            ), "a turn stands twice"
        assert git(self.folder / "remote", "fsck", "--strict") == ""


TestClones = Clones.TestCase
SLOW = list(HealthCheck)
TestClones.settings = settings(
    max_examples=4, stateful_step_count=12, deadline=None, suppress_health_check=SLOW
)
