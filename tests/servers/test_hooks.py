"""Hooks of coding agents, as Claude Code and Codex call them.

What a session is told, and what is kept of it, each thing once.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import clean, filemem, lay

from filemem import Store
from filemem.mcp.hooks import settings
from filemem.text.plain import count_tokens

ROOT = Path(__file__).parents[2]
SAID = [
    "My sailing boat is called Parafuso.",
    "I keep bees on the roof, in three hives.",
    "The plumber is Duarte Figueira, 912 345 678.",
    "I am allergic to walnuts.",
    "Our deploys go out on Thursdays.",
    "My daughter Inês plays the bassoon.",
    "I never work on Monday mornings.",
    "The spare key lies with the neighbour Olga.",
    "I am writing a book on lighthouses.",
    "My bike is a red Gazelle.",
]


class Agent:
    """A coding agent with filemem's hooks, whose sessions are files as the clients
    write them."""

    def __init__(self, home: Path, client: str) -> None:
        self.home = home
        self.client = client
        self.store = home / "store"
        self.where = ["--store", str(self.store), "--user", "mara"]
        self.stem = "s-" if client == "claude-code" else "rollout-"
        self.last = "SessionEnd" if client == "claude-code" else "Stop"
        self.put: list[str] = []

    def hook(self, event: str, **said: Any) -> subprocess.CompletedProcess[str]:
        words = ["mcp", "hook", self.client, "--wait", "--new", *self.where]
        given = json.dumps({"hook_event_name": event, **said})
        today = ["--today", "2026-11-20T10:00"]
        return filemem(*words, *today, env=clean(self.home), given=given)

    def told(self, event: str, **said: Any) -> str:
        """Return what a hook puts into the session."""
        done = self.hook(event, **said)
        assert done.returncode == 0
        assert done.stderr in ("", f"New user mara in {self.store}.\n")
        text = ""
        if done.stdout:
            put = json.loads(done.stdout)["hookSpecificOutput"]
            text = str(put["additionalContext"])
        self.put.append(text)
        return text

    def session(self, number: int, prompts: list[str]) -> None:
        """Have a session in which the agent says little.

        What hooks put in stands in its file in each place where a client puts it.
        """
        id = f"{self.stem}{number}"
        file = self.home / f"{id}.jsonl"
        start = self.told("SessionStart", session_id=id, source="startup")
        lines = [self.line("developer", start, number, 0)] if start else []
        for place, prompt in enumerate(prompts, 1):
            beside = self.told("UserPromptSubmit", session_id=id, prompt=prompt)
            asked = "\n".join(part for part in (start, beside, prompt) if part)
            lines.append(self.line("user", asked, number, place))
            answer = f"Noted, {number}.{place}."
            lines.append(self.line("assistant", answer, number, place + 50))
            file.write_text("".join(lines))
            for event in ("PreCompact", self.last):
                done = self.hook(event, session_id=id, transcript_path=str(file))
                assert done.returncode == 0

    def line(self, role: str, text: str, number: int, place: int) -> str:
        at = f"2026-11-{number:02}T09:{place:02}:00Z"
        value: dict[str, Any] = {"timestamp": at, "uuid": f"{number}-{place}"}
        if self.client == "codex":
            content = [{"type": "input_text", "text": text}]
            payload = {"type": "message", "role": role, "content": content}
            value |= {"type": "response_item", "payload": payload}
        elif role == "developer":
            put = {"type": "hook_additional_context", "content": [text]}
            value |= {"type": "attachment", "attachment": put}
        else:
            value |= {"type": role, "message": {"role": role, "content": text}}
        return json.dumps(value) + "\n"

    def kept(self) -> str:
        """Return all that is kept of sessions."""
        sessions = Store(self.store).user("mara").memories("sessions")
        return "\n".join(session.text for session in sessions)


@pytest.fixture(params=["claude-code", "codex"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    return Agent(tmp_path, request.param)


def test_ten_sessions_are_remembered_and_nothing_is_kept_twice(agent: Agent) -> None:
    """Each sentence stands once in what is kept, though it was put into every later
    session; and each session finds what an earlier one said, at the price of 700
    tokens at most."""
    user = Store(agent.store).user("mara")
    for number, sentence in enumerate(SAID, 1):
        prompts = [sentence]
        if number == 2:
            prompts.append("What is my sailing boat called?")
        elif number > 2:
            prompts.append(f"Do you know it, {number}: {SAID[number - 2]}")
        agent.session(number, prompts)
        if number == 1:
            user.remember("Mara flies to Lisbon on 2026-12-02.")
            profile = "Mara Teixeira is a nurse in Braga.\n"
            lay(agent.store / "mara", {"profile.md": profile})
    kept = agent.kept()
    for put in ("filemem-context", "<memory", "Lisbon", "nurse"):
        assert put not in kept
    for number, sentence in enumerate(SAID, 1):
        assert len(re.findall(rf"\*\* \d\d:\d\d: {re.escape(sentence)}", kept)) == 1
        assert kept.count(f"Noted, {number}.1.") == 1
    found = [text for text in agent.put if "search_files" in text]
    begun = [text for text in agent.put if "profile.md" in text]
    assert any("Parafuso" in text for text in found)
    assert any("nurse in Braga" in text and "2026-12-02" in text for text in begun)
    assert max(map(count_tokens, begun)) <= 400
    assert max(map(count_tokens, found)) <= 300
    work = "Rename the function to parse_header."
    assert agent.told("UserPromptSubmit", session_id="new", prompt=work) == ""
    question = {"prompt": "What is my sailing boat called?"}
    own = agent.told("UserPromptSubmit", session_id=f"{agent.stem}1", **question)
    assert SAID[0] not in own, "the running session is left out"


def test_a_long_profile_and_many_plans_stay_within_their_tokens(agent: Agent) -> None:
    people = "Mara knows many people in Braga. </filemem-context> " * 200
    memories = {"profile.md": people}
    for day in range(10, 30):
        plan = f"Mara meets the mayor of town {day} on 2026-12-{day}.\n"
        memories[f"facts/2026/2026-11-10-plan-{day}.md"] = plan
    lay(agent.store / "mara", memories)
    text = agent.told("SessionStart", session_id="s", source="startup")
    assert 200 < count_tokens(text) <= 400 and "mayor" in text
    assert text.count("</filemem-context>") == 1
    assert agent.told("SessionStart", session_id="s", source="resume") == ""


def test_a_hook_that_fails_says_nothing_to_the_agent(agent: Agent) -> None:
    """In one line of its errors alone, and never with the exit code that would keep the
    agent from going on."""
    (agent.store / "mara").mkdir(parents=True)
    given = [
        json.dumps({"hook_event_name": "PreCompact", "transcript_path": path})
        for path in (None, str(agent.home / "none"), 5)
    ]
    for event in (*given, "", "[1]", "{}"):
        words = ["mcp", "hook", agent.client, "--wait", *agent.where]
        done = filemem(*words, env=clean(agent.home), given=event)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("filemem: no hook's event was answered: ")
        assert done.stderr.count("\n") == 1


def test_the_plugin_calls_what_there_is() -> None:
    """Its hooks are the events that are answered; their commands and the server's are
    ones of this program."""
    place = ROOT / ".claude-plugin"
    [listed] = json.loads((place / "marketplace.json").read_text())["plugins"]
    plugin = ROOT / listed["source"]
    manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
    printed = json.loads(settings("claude-code", "filemem"))["hooks"]
    assert list(hooks) == list(printed)
    for [hook] in hooks.values():
        command = hook["hooks"][0]["command"]
        assert command.endswith("exec filemem mcp hook claude-code --new")
    assert "exec filemem mcp --write" in manifest["mcpServers"]["filemem"]["args"][1]
    assert manifest["name"] == listed["name"] == "filemem"
    skill = (plugin / "skills/memory/SKILL.md").read_text()
    assert skill.startswith("---\nname: memory\ndescription: ")
