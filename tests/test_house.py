"""The modules import one way, from the bottom to the top, and each is short enough to read."""

import ast
import functools
import re
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "filemem"


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@functools.cache
def imports_of(name: str, *, typing_too: bool = False) -> set[str]:
    """The modules that a module's import statements name."""
    tree = ast.parse(MODULES[name].read_text())
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
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


def test_nothing_is_imported_that_the_project_does_not_name() -> None:
    allowed = {"openai", "yaml", "click", "filemem"} | set(sys.stdlib_module_names)
    for name in MODULES:
        strangers = {found.partition(".")[0] for found in imports_of(name, typing_too=True)} - allowed
        assert not strangers, (name, strangers)


def test_only_the_model_imports_openai_and_only_the_command_line_imports_click() -> None:
    for name in MODULES:
        tops = {found.partition(".")[0] for found in imports_of(name, typing_too=True)}
        assert "openai" not in tops or name == "filemem.model", name
        inside = name.startswith("filemem.cli")
        assert "click" not in tops or inside, name
        assert inside or not any(found.startswith("filemem.cli") for found in reached(name)), name


def test_no_module_imports_itself_by_way_of_others() -> None:
    for name in MODULES:
        assert name not in reached(name), name


def test_the_house_is_built_from_the_bottom_to_the_top() -> None:
    """Each module or package of docs/code.md, which names them all, imports only what stands above it there."""
    house = re.findall(r"^- `(\w+)`: ", (PROJECT / "docs/code.md").read_text(), re.MULTILINE)
    assert sorted(house) == sorted({name.split(".")[1] for name in MODULES if "." in name})
    for name in MODULES:
        for found in own(name):
            if "." in name and "." in found:
                assert house.index(found.split(".")[1]) <= house.index(name.split(".")[1]), f"{name} imports {found}"


def test_no_module_or_function_is_too_long_to_read() -> None:
    for name, path in MODULES.items():
        text = path.read_text()
        assert text.count("\n") <= 500, name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 40, (name, node.name)
