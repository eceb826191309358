"""Hooks of coding agents, as Claude Code and Codex call them: what a session is told and what is kept of it, each thing once."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import COLD, clean, filemem, lay

from filemem import Store
from filemem.text.plain import count_tokens

ROOT = Path(__file__).parents[2]
SAID = [
    "My sailing boat is called Parafuso.", "I keep bees on the roof, in three hives.",
    "The plumber is Duarte Figueira, 912 345 678.", "I am allergic to walnuts.", "Our deploys go out on Thursdays.",
    "My daughter Inês plays the bassoon.", "I never work on Monday mornings.",
    "The spare key lies with the neighbour Olga.", "I am writing a book on lighthouses.", "My bike is a red Gazelle.",
]  # fmt: skip


class Agent:
    """A coding agent with filemem's hooks: its sessions are files as Claude Code and Codex write them."""

    def __init__(self, home: Path, client: str) -> None:
        self.home, self.client = home, client
        self.store = home / "store"
        self.put: list[str] = []

    def hook(self, event: str, **said: Any) -> subprocess.CompletedProcess[str]:
        words = [
            "mcp",
            "hook",
            self.client,
            "--wait",
            "--new",
            "--store",
            str(self.store),
            "--user",
            "mara",
        ]
        given = json.dumps({"hook_event_name": event, **said})
        return filemem(
            *words, "--today", "2026-11-20T10:00", env=clean(self.home), given=given
        )

    def told(self, event: str, **said: Any) -> str:
        """What a hook puts into the session."""
        done = self.hook(event, **said)
        assert done.returncode == 0 and done.stderr in (
            "",
            f"New user mara in {self.store}.\n",
        )
        text = (
            json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
            if done.stdout
            else ""
        )
        self.put.append(text)
        return str(text)

    def session(self, number: int, prompts: list[str]) -> None:
        """One session in which the agent says little: what hooks put in stands in its file in each place where one puts it."""
        id = f"s-{number}" if self.client == "claude-code" else f"rollout-{number}"
        file = self.home / f"{id}.jsonl"
        start = self.told("SessionStart", session_id=id, source="startup")
        lines = [self.line("developer", start, number, 0)] if start else []
        for place, prompt in enumerate(prompts, 1):
            beside = self.told("UserPromptSubmit", session_id=id, prompt=prompt)
            lines.append(
                self.line(
                    "user",
                    "\n".join(filter(None, [start, beside, prompt])),
                    number,
                    place,
                )
            )
            lines.append(
                self.line("assistant", f"Noted, {number}.{place}.", number, place + 50)
            )
            file.write_text("".join(lines))
            if place == 1:
                self.hook("PreCompact", session_id=id, transcript_path=str(file))
        last = "SessionEnd" if self.client == "claude-code" else "Stop"
        assert self.hook(last, session_id=id, transcript_path=str(file)).returncode == 0

    def line(self, role: str, text: str, number: int, place: int) -> str:
        at = f"2026-11-{number:02}T09:{place:02}:00Z"
        if self.client == "codex":
            content = [{"type": "input_text", "text": text}]
            payload = {"type": "message", "role": role, "content": content}
            return (
                json.dumps(
                    {"timestamp": at, "type": "response_item", "payload": payload}
                )
                + "\n"
            )
        if role == "developer":
            what: dict[str, Any] = {
                "attachment": {"type": "hook_additional_context", "content": [text]}
            }
        else:
            what = {"message": {"role": role, "content": text}}
        kind = "attachment" if role == "developer" else role
        return (
            json.dumps(
                {"type": kind, "uuid": f"{number}-{place}", "timestamp": at, **what}
            )
            + "\n"
        )

    def kept(self) -> str:
        """All that is kept of sessions."""
        return "\n".join(
            path.read_text()
            for path in sorted((self.store / "mara/sessions").rglob("*.md"))
        )

    def check(self) -> str:
        return filemem(
            "check", "--store", str(self.store), "--user", "mara", env=clean(self.home)
        ).stdout


@pytest.fixture(params=["claude-code", "codex"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Agent]:
    yield Agent(tmp_path, request.param)


def test_ten_sessions_are_remembered_and_nothing_is_kept_twice(agent: Agent) -> None:
    """Each sentence stands once in what is kept, though it was put into every later session; and each session finds what an
    earlier one said, at the price of 700 tokens at most."""
    user = Store(agent.store).user("mara")
    for number, sentence in enumerate(SAID, 1):
        asked = (
            "What is my sailing boat called?"
            if number == 2
            else f"Do you know it, {number}: {SAID[number - 2]}"
        )
        agent.session(number, [sentence, asked][: 1 + (number > 1)])
        if number == 1:
            user.remember("Mara flies to Lisbon on 2026-12-02.")
            Path(user.folder.root, "profile.md").write_text(
                "Mara Teixeira is a nurse in Braga.\n"
            )
    kept = agent.kept()
    assert "filemem-context" not in kept and "<memory" not in kept
    for number, sentence in enumerate(SAID, 1):
        assert len(re.findall(rf"\*\* \d\d:\d\d: {re.escape(sentence)}", kept)) == 1
        assert kept.count(f"Noted, {number}.1.") == 1
    assert "Lisbon" not in kept and "nurse" not in kept
    found = [text for text in agent.put if "search_files" in text]
    assert any("Parafuso" in text for text in found)
    assert any("nurse in Braga" in text and "2026-12-02" in text for text in agent.put)
    assert max(count_tokens(text) for text in agent.put if "profile.md" in text) <= 400
    assert max(map(count_tokens, found)) <= 300
    assert (
        agent.told(
            "UserPromptSubmit",
            session_id="new",
            prompt="Rename the function to parse_header.",
        )
        == ""
    )


def test_a_long_profile_and_many_plans_stay_within_their_tokens(agent: Agent) -> None:
    lay(
        agent.store / "mara",
        {"profile.md": "Mara knows many people in Braga. </filemem-context> " * 200},
    )
    for day in range(10, 30):
        plan = f"Mara meets the mayor of town {day} on 2026-12-{day}.\n"
        lay(agent.store / "mara", {f"facts/2026/2026-11-10-plan-{day}.md": plan})
    text = agent.told("SessionStart", session_id="s", source="startup")
    assert (
        200 < count_tokens(text) <= 400
        and "mayor" in text
        and text.count("</filemem-context>") == 1
    )
    assert agent.told("SessionStart", session_id="s", source="resume") == ""


def test_the_running_session_is_left_out_of_what_its_own_prompts_find(
    agent: Agent,
) -> None:
    agent.session(1, [SAID[0]])
    question = "What is my sailing boat called?"
    id = "s-1" if agent.client == "claude-code" else "rollout-1"
    assert agent.told("UserPromptSubmit", session_id=id, prompt=question) == ""
    assert "Parafuso" in agent.told(
        "UserPromptSubmit", session_id="s-2", prompt=question
    )


def test_a_hook_that_fails_says_nothing_to_the_agent(agent: Agent) -> None:
    (agent.store / "mara").mkdir(parents=True)
    event = "PreCompact"
    for said in (
        {},
        {"transcript_path": str(agent.home / "none")},
        {"transcript_path": 5},
    ):
        done = agent.hook(event, session_id="s", **said)
        assert (
            done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
        )
    # No event, or no store: never the exit code that would keep the agent from going on.
    for given in ("", "[1]", "{}", '{"hook_event_name": "SessionStart"}'):
        store, why = (
            ("x" * 300, "xxx")
            if "S" in given
            else (str(agent.store), "no hook's event")
        )
        done = filemem(
            "mcp",
            "hook",
            agent.client,
            "--store",
            store,
            env=clean(agent.home),
            given=given,
        )
        assert (
            done.returncode == 1
            and done.stdout == ""
            and done.stderr.count("\n") == 1
            and why in done.stderr
        )


def test_mcp_check_runs_every_hook(tmp_path: Path) -> None:
    """As a client does, by the program itself; a hook that is slow here, as others work, is told with its seconds."""
    lay(tmp_path / "store/mara", {"profile.md": "Mara is a nurse.\n"})
    call = [*COLD, "mcp", "check", "--store", str(tmp_path / "store"), "--user", "mara"]
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "filemem").write_text("#!/bin/sh\nexec " + shlex.join(COLD) + ' "$@"\n')
    (bin / "filemem").chmod(0o755)
    env = {**clean(tmp_path), "PATH": f"{bin}:{os.environ['PATH']}"}
    done = subprocess.run(call, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert len(lines) == 8 and all(
        re.search(r"tokens, \d\.\d\d s|failed: took", line) for line in lines
    ), done
    assert not (tmp_path / "store/mara/sessions").exists()


def test_the_plugin_calls_what_there_is() -> None:
    """Its hooks are the events that are answered; their commands and the server's are ones of this program."""
    place = ROOT / ".claude-plugin"
    [listed] = json.loads((place / "marketplace.json").read_text())["plugins"]
    plugin = ROOT / listed["source"]
    manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
    printed = filemem(
        "mcp",
        "install",
        "claude-code",
        "--sessions",
        "--store",
        "s",
        "--user",
        "mara",
        "--new",
    )
    assert list(hooks) == list(json.loads(printed.stdout)["hooks"])
    called = {
        one["hooks"][0]["command"].partition("exec ")[2] for [one] in hooks.values()
    }
    assert called == {"filemem mcp hook claude-code --new"}
    assert "exec filemem mcp --write" in manifest["mcpServers"]["filemem"]["args"][1]
    assert manifest["name"] == listed["name"] == "filemem"
    skill = (plugin / "skills/memory/SKILL.md").read_text()
    assert (
        skill.startswith("---\nname: memory\ndescription: ")
        and len(skill.split()) < 400
    )
