"""Long-term memory for LLM agents that is just a folder of dated Markdown and YAML files."""

from filemem.errors import FilememError
from filemem.grep import Match
from filemem.memory import Memory, Problem
from filemem.search import Hit
from filemem.store import Store, User
from filemem.tools import Toolbox

__all__ = ["FilememError", "Hit", "Match", "Memory", "Problem", "Store", "Toolbox", "User"]
