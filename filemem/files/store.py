"""The folder of a store: its users, and each one's folder."""

import os

from filemem.files import names
from filemem.files.folder import Folder
from filemem.files.trust import Trust


class StoreFolder:
    """A folder with one folder per user; `trust` has a person's answers on what its settings and repository may decide."""

    def __init__(self, root: str | os.PathLike[str], trust: Trust | None = None) -> None:
        self.root = os.path.abspath(os.path.expanduser(root))
        self.trust = trust or Trust()

    def users(self) -> list[str]:
        """The names of everyone who has a folder here."""
        return names.users(self.root)

    def folder(self, name: str) -> Folder:
        """One user's folder; raises Refused for a name that could lead elsewhere. Nothing is created."""
        return Folder(*names.user_folder(self.root, name), self.trust)
