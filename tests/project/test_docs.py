"""What the documents show is what happens: every console block is run, and prints what it says.

A block starts in a folder of its own with a copy of the sample store; `console continued` goes on where the block before
ended. A line `...` stands for any lines, `...` inside a line for any text. Names of commits may differ; where a command
uses one that was shown, the real one takes its place.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from programs import clean, filemem, sample, shell_command

from filemem.cli import COMMANDS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMIT = re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{7,40}\b")
GIT = "[user]\n\tname = Mara Lind\n\temail = mara@example.org\n[init]\n\tdefaultBranch = main\n"


class Step(NamedTuple):
    """A command of a block, and what it should print."""

    line: int
    command: str
    expected: list[str]


class Story(NamedTuple):
    """Blocks that run one after the other in one folder."""

    name: str
    steps: list[Step]


def stories(first: str = "console") -> Iterator[Story]:
    """Every block of a kind in the documents, continued ones joined."""
    for path in DOCUMENTS:
        found: list[Story] = []
        inside = False
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith("```"):
                kind = line[3:].strip()
                inside = not inside and kind in (first, f"{first} continued")
                if inside and (kind == first or not found):
                    found.append(Story(f"{path.relative_to(ROOT)}:{number}", []))
            elif inside and line.startswith("$ "):
                found[-1].steps.append(Step(number, line[2:], []))
            elif inside:
                assert found[-1].steps, f"{path}:{number}: output before any command"
                found[-1].steps[-1].expected.append(line)
        yield from found


def pattern(expected: list[str]) -> re.Pattern[str]:
    """What the lines of a block mean, each name of a commit as a group."""
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:[^\n]*\n)*?")
            continue
        texts = [
            re.escape(text).replace(r"\.\.\.", r"[^\n]*") for text in COMMIT.split(line)
        ]
        parts.append(r"([0-9a-f]{7,40})".join(texts) + r"\n")
    return re.compile("".join(parts))


def environment(folder: Path) -> dict[str, str]:
    """A machine with filemem, git and one person, and nothing else."""
    tools = folder / "bin"
    shell_command(tools / "filemem")
    (folder / "gitconfig").write_text(GIT)
    when = "2026-11-21T08:00:00+00:00"
    given = {
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
    }
    kept = {
        key: value
        for key, value in clean().items()
        if not key.startswith(("GIT_", "XDG_"))
    }
    own = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    shown = {
        "TZ": "UTC",
        "NO_COLOR": "1",
        "FILEMEM_EMBEDDINGS": "off",
    }  # the documents show what words alone find
    return kept | given | own | shown


@pytest.mark.parametrize("story", list(stories()), ids=lambda story: story.name)
def test_the_documents_show_what_happens(story: Story, tmp_path: Path) -> None:
    """Line by line."""
    happens(story, tmp_path, {})


def happens(story: Story, tmp_path: Path, more: dict[str, str]) -> None:
    """Run a story with more in its environment, and compare what it prints."""
    work = tmp_path / "work"
    work.mkdir()
    sample(work / "memory_store")
    env = environment(tmp_path) | more
    real: dict[str, str] = {}
    for step in story.steps:
        command = step.command
        for shown, name in real.items():
            command = command.replace(shown, name)
        streams = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
        }
        said = subprocess.run(
            ["sh", "-c", command], cwd=work, env=env, **streams
        ).stdout.decode()
        said += "\n" if said and not said.endswith("\n") else ""
        match = pattern(step.expected).fullmatch(said)
        wanted = "\n".join(step.expected)
        assert match, (
            f"{story.name}, line {step.line}: $ {command}\n--- expected\n{wanted}\n--- printed\n{said}"
        )
        real |= dict(zip(COMMIT.findall(wanted), match.groups(), strict=True))


def options(words: list[str]) -> set[str]:
    """The options that a command's own --help tells, and those of its own commands; those of the whole program with them."""
    done = filemem(*words, "--help")
    named = re.findall(
        r"^  (\w[\w-]*)", done.stdout.partition("\nCommands:\n")[2], re.MULTILINE
    )
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", done.stdout)).union(
        *(options([*words, name]) for name in named)
    )


def mentioned() -> dict[str, set[str]]:
    """Every command that stands in code anywhere in the documents, with the options that are shown with it."""
    found: dict[str, set[str]] = {}
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(
            r"^```(?!text).*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL
        )
        spans = re.findall(
            r"`([^`\n]+)`",
            re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL),
        )
        for code in (*blocks, *spans):
            for name, rest in re.findall(
                r"(?:^|\$ |bin/|[|;&(] ?)filemem ([a-z]+)([^\n|;&]*)",
                code,
                re.MULTILINE,
            ):
                given = re.sub(r"'[^']*'|\"[^\"]*\"", "", rest)
                found.setdefault(name, set()).update(
                    re.findall(r"(?<!\S)--[a-z][\w-]*", given)
                )
    return found


@pytest.mark.parametrize("name", sorted(mentioned()))
def test_every_command_and_option_named_is_one(name: str) -> None:
    """In tables, sentences and examples for other programs too."""
    assert name in COMMANDS
    assert mentioned()[name] <= options([name])


def test_every_command_is_in_the_readme() -> None:
    """And the reader finds each document from there."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [
        name for name in COMMANDS if not re.search(rf"`(?:filemem )?{name}\b", readme)
    ] == []
    assert [
        path.name for path in DOCUMENTS[1:] if f"(docs/{path.name})" not in readme
    ] == []


def test_every_constant_that_explains_the_ranking_is_one() -> None:
    """So that a reader finds it, and a renamed one is noticed."""
    text = (ROOT / "docs/search.md").read_text()
    named = set(re.findall(r"`((?!OPENAI_)[A-Z]{2,}\w*|K1|B)(?: in `[\w.]+)?`", text))
    code = "\n".join(path.read_text() for path in (ROOT / "filemem").rglob("*.py"))
    assert [
        name
        for name in sorted(named)
        if not re.search(rf"^(?:\w+, )*{name}(?:, \w+)* = ", code, re.M)
    ] == []


def test_relative_links_lead_to_files() -> None:
    """From one document to another, and to pictures."""
    found = []
    for path in DOCUMENTS:
        prose = re.sub(
            r"^```.*?^```",
            "",
            path.read_text(encoding="utf-8"),
            flags=re.MULTILINE | re.DOTALL,
        )
        targets = re.findall(r"\]\(([^()\s#]+)", prose)
        found += [path.parent / target for target in targets if "://" not in target]
    assert len(found) > 10
    assert [path for path in found if not path.is_file()] == []


def test_there_are_documents_to_try() -> None:
    """So that the test above cannot pass by finding nothing."""
    assert sum(len(story.steps) for story in stories()) >= 3
