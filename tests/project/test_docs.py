"""What the documents show is what happens: every console block prints what it says.

A block starts in a folder of its own with a copy of the sample store; `console
continued` goes on where the block before ended. A line `...` stands for any lines,
`...` inside a line for any text. Names of commits may differ; where a command uses one
that was shown, the real one takes its place.
"""

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest
from programs import clean, sample, shell_command

from filemem.cli import COMMANDS, cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
BLOCK = re.compile(r"(?ms)^```(.*?)\n(.*?)^```$")
COMMIT = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b")
MAX_COLUMNS = 100
MAX_CHANGELOG_LINES = 60
GIT = """\
[user]
name = Mara Lind
email = mara@example.org
[init]
defaultBranch = main
"""


@dataclass
class Step:
    """A command of a block, and what it should print."""

    line: int
    command: str
    expected: list[str] = field(default_factory=list)


@dataclass
class Story:
    """Blocks that run one after the other in one folder."""

    name: str
    steps: list[Step] = field(default_factory=list)


def stories(kind: str = "console") -> Iterator[Story]:
    """Yield every block of a kind in the documents, continued ones joined."""
    for path, text in TEXTS.items():
        found: list[Story] = []
        for block in BLOCK.finditer(text):
            number = text.count("\n", 0, block.start()) + 1
            if block[1] == kind:
                found.append(Story(f"{path.relative_to(ROOT)}:{number}"))
            elif block[1] != f"{kind} continued":
                continue
            steps = found[-1].steps
            for at, line in enumerate(block[2].splitlines(), number + 1):
                if line.startswith("$ "):
                    steps.append(Step(at, line[2:]))
                else:
                    steps[-1].expected.append(line)
        yield from found


def pattern(expected: list[str]) -> re.Pattern[str]:
    """Return what the lines of a block mean, each name of a commit as a group."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
            continue
        texts = [re.escape(text) for text in COMMIT.split(line)]
        whole = r"([0-9a-f]{7,40})".join(texts)
        parts.append(whole.replace(r"\.\.\.", r"[^\n]*") + r"\n")
    return re.compile("".join(parts))


def environment(folder: Path) -> dict[str, str]:
    """Return that of a machine with filemem, git and one person, and nothing else."""
    shell_command(folder / "bin/filemem")
    (folder / "gitconfig").write_text(GIT)
    when = "2026-11-21T08:00:00+00:00"
    return clean(folder) | {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "TZ": "UTC",
        "NO_COLOR": "1",
        "FILEMEM_EMBEDDINGS": "off",  # the documents show what words alone find
    }


@pytest.mark.parametrize("story", list(stories()), ids=lambda story: story.name)
def test_the_documents_show_what_happens(story: Story, tmp_path: Path) -> None:
    """Line by line."""
    happens(story, tmp_path, {})


def happens(story: Story, tmp_path: Path, more: dict[str, str]) -> None:
    """Run a story with more in its environment, and compare what it prints."""
    work = tmp_path / "work"
    sample(work / "memory_store")
    env = environment(tmp_path) | more
    real: dict[str, str] = {}
    for step in story.steps:
        command = step.command
        for shown, name in real.items():
            command = command.replace(shown, name)
        said = subprocess.run(
            ["sh", "-c", command],
            cwd=work,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ).stdout.decode()
        said += "\n" if said and not said.endswith("\n") else ""
        match = pattern(step.expected).fullmatch(said)
        wanted = "\n".join(step.expected)
        place = f"{story.name}, line {step.line}: $ {command}"
        assert match, f"{place}\n--- expected\n{wanted}\n--- printed\n{said}"
        real |= dict(zip(COMMIT.findall(wanted), match.groups(), strict=True))


def options(command: click.Command) -> set[str]:
    """Return the options of a command, and those of its own commands."""
    found = {"--help", "-h"}
    for parameter in command.params:
        found.update(parameter.opts)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            found |= options(inner)
    return found


def mentioned() -> dict[str, set[str]]:
    """Return every command in code in the documents, with the options shown with it."""
    called = re.compile(r"(?m)(?:^|\$ |bin/|[|;&(] ?)filemem ([a-z]+)([^\n|;&]*)")
    found: dict[str, set[str]] = defaultdict(set)
    for text in TEXTS.values():
        codes = [code for kind, code in BLOCK.findall(text) if kind != "text"]
        codes += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
        for name, rest in called.findall("\n".join(codes)):
            given = re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)
            found[name].update(re.findall(r"(?<!\S)--[a-z][\w-]*", given))
    return found


@pytest.mark.parametrize("name", sorted(mentioned()))
def test_every_command_and_option_named_is_one(name: str) -> None:
    """In tables, sentences and examples for other programs too."""
    command = cli.get_command(click.Context(cli), name)
    assert command
    assert mentioned()[name] <= options(command)


def test_the_readme_names_every_command_and_document() -> None:
    readme = TEXTS[ROOT / "README.md"]
    for name in COMMANDS:
        assert re.search(rf"`(?:filemem )?{name}\b", readme), name
    for path in DOCUMENTS[1:]:
        assert f"(docs/{path.name})" in readme


def test_relative_links_lead_to_files() -> None:
    """From one document to another, and to pictures."""
    for path, text in TEXTS.items():
        for target in re.findall(r"\]\(([^()\s#]+)", BLOCK.sub("", text)):
            assert "://" in target or (path.parent / target).is_file(), target


def test_a_line_of_prose_fits_a_screen_and_the_changelog_is_one() -> None:
    """Tables and code aside."""
    others = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/answers/README.md")
    changes, *more = [(ROOT / name).read_text(encoding="utf-8") for name in others]
    assert changes.count("\n") <= MAX_CHANGELOG_LINES
    for text in (*TEXTS.values(), changes, *more):
        for line in BLOCK.sub("", text).splitlines():
            is_prose = not re.match(r"\s*\||    |\s*<", line)
            assert not is_prose or len(line) <= MAX_COLUMNS, line
