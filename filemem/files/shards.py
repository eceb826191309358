"""A store on several disks: `stores:` in its settings lists folders, each a store by itself and mostly a mount of its own.

A user lies in one of them: where the registry `moved.txt` says, else where the user's folder is, the best first; a new one in
the best. The best has the highest SHA-256 of its entry, NUL and the user's name (rendezvous hashing, Thaler and Ravishankar
1998), so that one more store takes only its own share of the new users. A store is there if it has its `filemem.yaml`: an empty
mount point has none.
"""

import contextlib
import os
import re
from typing import NamedTuple

from filemem.errors import FilememError, NotFound, Problem, Refused
from filemem.files import disk
from filemem.files.trust import REMEDY, Trust
from filemem.text.plain import digest, one_line

SETTINGS, REGISTRY = "filemem.yaml", "moved.txt"  # beside the users' folders
_LOCK = ".moved.lock"
_MENTION = re.compile(rb"^[^#\n]*\bstores\b", re.MULTILINE)
_MOST = 100_000  # bytes of settings, as `config` has it


class Shard(NamedTuple):
    """One of the folders in which users lie: as the settings name it, empty for the store's own, and its place on disk."""

    entry: str
    place: str

    def there(self) -> bool:
        """Is it mounted, and begun?"""
        return not self.entry or os.path.lexists(os.path.join(self.place, SETTINGS))

    def absent(self) -> FilememError:
        """What is said where it is not."""
        what = f"{one_line(self.place)} has no {SETTINGS}: it is not mounted, or was never begun"
        return FilememError(f"{what}; mount it, or begin it once with: filemem init {one_line(self.place)}.")


def score(entry: str, name: str) -> str:
    """How much a store is a user's; of all that are listed the highest is where the user begins."""
    return digest(f"{entry}\0{name}")


class Shards:
    """The shards of the store at `root`, as its settings list them now; none where they list none. See `trust` in `config`."""

    def __init__(self, root: str, trust: Trust) -> None:
        self.root = root
        self._trust = trust
        self._read: tuple[tuple[int, ...], list[Shard]] = (), []
        self._moved: tuple[tuple[int, ...], dict[str, str]] = (), {}

    def __bool__(self) -> bool:
        return bool(self.listed())

    @property
    def mentioned(self) -> bool:
        """May the settings list any? Without a look at YAML, which takes its time to load."""
        path = os.path.join(self.root, SETTINGS)
        return os.path.lexists(path) and _MENTION.search(disk.read(path, _MOST)) is not None

    def listed(self) -> list[Shard]:
        """Those that the settings list. Raises ConfigError, and Refused where nobody has agreed to them."""
        stamp = _stamp(os.path.join(self.root, SETTINGS))
        if stamp != self._read[0]:
            self._read = stamp, self._stores() if self.mentioned else []
        return self._read[1]

    def _stores(self) -> list[Shard]:
        from filemem.files import config  # noqa: PLC0415  loads YAML, which a store in one piece need not

        if "stores" in config.withheld(self.root, trust=self._trust):
            where = one_line(config.place(self.root))
            raise Refused(f"{where} lists stores in which users lie, and you have not agreed to it; {REMEDY}.")
        given = config.load(self.root, trust=self._trust).stores
        return [Shard(entry, os.path.abspath(os.path.join(self.root, os.path.expanduser(entry)))) for entry in given]

    def all(self) -> list[Shard]:
        """Those listed, and the store's own folder, in which users may lie from before."""
        listed = self.listed()
        return listed if any(one.place == self.root for one in listed) else [*listed, Shard("", self.root)]

    def absent(self) -> list[Shard]:
        """Those that are not mounted."""
        return [one for one in self.listed() if not one.there()]

    def holds(self, name: str) -> bool:
        """Is a name in the store's own folder that of a shard, or on the way to one?"""
        place = os.path.join(self.root, name)
        return any(f"{one.place}/".startswith(f"{place}/") for one in self.listed())

    def named(self, given: str) -> Shard:
        """The shard that a person means by its entry or place; raises FilememError where there is none, or it is absent."""
        place = os.path.abspath(os.path.expanduser(given))
        for one in self.listed():
            if given == one.entry or os.path.realpath(place) == os.path.realpath(one.place):
                if not one.there():
                    raise one.absent()
                return one
        known = ", ".join(one.entry for one in self.listed())
        listed = f"listed are {known}" if known else f"list some under stores: in {SETTINGS}"
        raise NotFound(f"{one_line(given)} is none of the stores of {self.root}; {listed}.")

    def home(self, name: str) -> Shard:
        """Where a user lies, or begins. Raises FilememError where that cannot be told, as a shard is not mounted.

        A look at the first costs one stat, at all of n shards n: only of who is new, or lies elsewhere and is not registered.
        """
        ranked = sorted(self.all(), key=lambda one: (bool(one.entry), score(one.entry, name)), reverse=True)
        entry = self.moved().get(name)
        if entry is not None:
            first = next((one for one in ranked if one.entry == entry), None)
            if first is None:
                raise FilememError(
                    f"{name} was moved to {one_line(entry)}, which is not listed any more; list it again."
                )
            if not first.there():
                raise first.absent()
            ranked = [first, *(one for one in ranked if one is not first)]
        for one in ranked:
            if os.path.lexists(os.path.join(one.place, name)) and not (not one.entry and self.holds(name)):
                return one
        for one in ranked:
            if not one.there():
                raise one.absent()
        return ranked[0]

    # -- who was moved -------------------------------------------------------------------------------------------

    def moved(self) -> dict[str, str]:
        """The entries of the shards to which users were moved, by name; raises FilememError for a line that says nothing."""
        path = os.path.join(self.root, REGISTRY)
        stamp = _stamp(path)
        if stamp != self._moved[0]:
            found = {}
            for number, line in enumerate(disk.read(path).decode(errors="replace").splitlines() if stamp else [], 1):
                name, colon, entry = line.partition(": ")
                if not colon:
                    raise FilememError(f"{path}:{number}: {one_line(line, 80)!r} is no `user: store`; put it right.")
                found[name] = entry
            self._moved = stamp, found
        return self._moved[1]

    def register(self, name: str, entry: str = "") -> None:
        """Have a user lie in a shard from the moment on at which there is a folder of that name in it; without one, take the
        line out, where there is any."""
        if self.moved().get(name, "") == entry:
            return
        with disk.lock(os.path.join(self.root, _LOCK)):
            found = {user: where for user, where in {**self.moved(), name: entry}.items() if where}
            lines = [f"{user}: {where}\n" for user, where in sorted(found.items())]
            disk.write(os.path.join(self.root, REGISTRY), "".join(lines).encode("utf-8", "surrogateescape"))

    def problems(self, users: dict[str, list[Shard]]) -> list[Problem]:
        """Shards that are not mounted, and users who lie in several; `users` has the shards of each."""
        found = []
        for one in self.absent():
            what, remedy = str(one.absent()).rstrip(".").split("; ", 1)
            found.append(Problem(SETTINGS, 1, what, remedy))
        for one in self.all():
            found += _remains(one.place)
        for name, places in users.items():
            if len(places) > 1:
                home = self.home(name)
                others = [os.path.join(one.place, name) for one in places if one.place != home.place]
                what = f"lies in several stores; read is {os.path.join(home.place, name)}"
                remedy = (
                    f"filemem users move {name} {home.entry or home.place} ends a move that was cut off; else look at"
                )
                found.append(Problem(name, 1, what, f"{remedy} {', '.join(map(one_line, others))}"))
        return found


def _remains(place: str) -> list[Problem]:
    """What moves and writes that were cut off have left beside the users' folders."""
    found = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for name in sorted(entry.name for entry in entries if entry.name.startswith(disk.TEMPORARY)):
            user = name.removeprefix(disk.TEMPORARY).partition("-")[2]
            what = f"left in {one_line(place)} by a {'move' if user else 'write'} that was cut off"
            remedy = "the same filemem users move again finishes it" if user else "look at it, then delete it"
            found.append(Problem(one_line(name), 1, what, remedy))
    return found


def _stamp(path: str) -> tuple[int, ...]:
    """What tells a file from the one before; () where there is none. It is opened, so that a file server is asked anew."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    try:
        found = os.fstat(file)
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    finally:
        os.close(file)
