"""A person talks with filemem in a terminal: what they type arrives as typed, what they
see is plain, and no key loses a word.

Where the output is no terminal it is plain text or JSON, with an exit code that a script can trust.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import COLD, clean, filemem, lay
from scripted_server import ScriptedServer, calls, cut, fail, hang, say
from terminal import Terminal

FACT = "facts/2026/2026-05-01-oolong.md"
HOSTILE = "tea \x1b]0;owned\x07\x1b[31mred \u202ekcab"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Ann, and what she has told."""
    files = {
        "profile.md": "# Ann\n\nAn engineer.\n",
        FACT: "Likes oolong tea.\n",
        "facts/2026-06-01-奶奶.md": "奶奶最喜欢惠明茶，景宁山里的，用玻璃杯泡，看叶子一片一片站起来。\n",
        "facts/hostile.md": f"Hostile: {HOSTILE}\n",
    }
    lay(tmp_path / "memory_store/ann", files)
    return tmp_path


def environment(
    store: Path, server: ScriptedServer | None = None, **more: str
) -> dict[str, str]:
    """What the program is told by its environment."""
    return clean(store, **more) | (server.environment if server else {})


def chat(
    store: Path,
    server: ScriptedServer | None = None,
    *options: str,
    columns: int = 100,
    **env: str,
) -> Terminal:
    """`filemem chat` in a terminal."""
    return Terminal(
        ["filemem", "chat", *options],
        environment(store, server, **env),
        str(store),
        columns,
    )


def run(
    store: Path,
    server: ScriptedServer | None,
    *options: str,
    given: str = "",
    **env: str,
) -> subprocess.CompletedProcess[str]:
    """`filemem chat` without a terminal."""
    return filemem(
        "chat", *options, env=environment(store, server, **env), cwd=store, given=given
    )


def session(store: Path) -> str:
    """The turns of the only session, without their times."""
    [path] = (store / "memory_store/ann/sessions").rglob("*.md")
    return re.sub(
        r"(?m)^(- \*\*.+?\*\*) \d\d:\d\d:",
        r"\1:",
        path.read_text().split("---\n", 2)[2].lstrip("\n"),
    )


def said(server: ScriptedServer) -> Any:
    """The last message as it reached the endpoint, without what the program put beside it."""
    return (
        server.requests[-1]
        .body["messages"][-1]["content"]
        .rpartition("</program>\n\n")[2]
    )


def exchange(
    term: Terminal,
    *steps: tuple[str, str],
) -> None:
    """Type each line, and wait for what is told of it and for the prompt."""
    for typed, told in steps:
        term.type(f"{typed}\r")
        term.expect(told)
        if not told.endswith("[y/N]: "):
            term.expect("> ")


# -- a talk ----------------------------------------------------------------------------


MARKED = "* In *late March* , _by hand_ , from [the shop](http://x/a_b_c) : `_x` `y_`."
PLAIN = "* In late March , by hand , from the shop (http://x/a_b_c) : _x y_."


def test_a_talk_from_greeting_to_ctrl_d(store: Path, server: ScriptedServer) -> None:
    """The answer is shown without Markdown's marks."""
    look = calls(("grep", {"pattern": "oolong"}), text="\n\nLet me look.\n\n")
    code = "```\n`a ** b`\n```\n"
    server.script(
        look,
        say("# Tea", f"\n\n**Oolong**, `hot`, 2**4 g.\n{code}", *MARKED),
    )
    with chat(store, server) as term:
        greeting = term.expect("\n> ")
        assert greeting.startswith("ann, gpt-x. Memories are in memory_store/ann.\n")
        assert "A model changes no memory, whatever it says;" in greeting
        assert "/help (帮助) lists the commands, Ctrl-D ends.\n" in greeting
        term.type("Which tea?\r")
        answer = term.expect("\n> ")
        told = f"Let me look.\nTea\n\nOolong, hot, 2**4 g.\n{code}{PLAIN}\n"
        assert answer == f"Which tea?\n{told}> "
        term.type("\x04")
        assert term.end() == 0
        ends = re.sub(r"\s+", " ", term.screen.rpartition("The conversation is in ")[2])
        place = r"sessions/\d{4}/[-\d]+-which-tea\.md"
        assert re.fullmatch(rf"{place}\. ", ends)
    assert session(store).startswith(
        "- **ann**: Which tea?\n- **assistant**: Let me look.\n"
    )


@pytest.mark.parametrize("word", ["/quit", "quit", "退出", "/退出"])
def test_a_word_that_ends_a_talk_is_not_kept(store: Path, word: str) -> None:
    """In Chinese with and without the slash that the other commands have."""
    with chat(store, None) as term:
        term.expect("\n> ")
        term.type(f"{word}\r")
        assert term.end() == 0
    assert not list((store / "memory_store/ann").rglob("sessions/**/*.md"))


def test_ctrl_c_stops_the_answer_and_not_the_program(
    store: Path, server: ScriptedServer
) -> None:
    """A sign of work stands there until the answer begins."""
    server.script(hang("Half of an "))
    server.default = say("Whole.")
    with chat(store, server) as term:
        term.expect("\n> ")
        term.type("Tell me\r")
        term.expect("Half of an")
        assert "looking …" in term.raw and "looking …" not in term.screen
        term.interrupt("Stopped.\n> ")
        term.type("half a line")
        term.expect("half a line")
        term.interrupt("Ctrl-D or /quit ends.\n> ")
        exchange(
            term,
            ("Again", "Whole."),
            ("/off", "before is."),
            ("I left", "Whole."),
        )
        term.type("exit\r")
        assert term.end() == 0
        assert "Traceback" not in term.screen
    kept = "- **ann**: Tell me\n- **assistant**: Half of an [interrupted]\n"
    assert session(store) == f"{kept}- **ann**: Again\n- **assistant**: Whole.\n"


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}], ids=["colour", "none"])
def test_a_failure_is_one_red_line_and_the_next_works(
    store: Path, server: ScriptedServer, env: dict[str, str]
) -> None:
    """Red where colours are wanted."""
    look = calls(("grep", {"pattern": "oolong"}))
    server.script(
        fail(401, "no"),
        cut("Half"),
        look,
        say("Here."),
    )
    with chat(store, server, columns=200, **env) as term:
        term.expect("\n> ")
        exchange(
            term,
            ("One", "gpt-x at 127.0.0.1:"),
            ("Two", "Half\ngpt-x at"),
        )
        assert ("\x1b[31mgpt-x at" in term.raw) is not bool(env)
        exchange(
            term,
            ("Three", "Here."),
        )
        assert not (env and COLOUR.search(term.raw))


@pytest.mark.parametrize(
    ("question", "text", "shown"),
    [
        (
            "Which oolong tea?",
            f"Oolong [[{FACT}:1]], 奶奶爱惠明茶facts/2026-06-01-奶奶.md:1。Not (`facts/none.md:3`).",
            f"""Oolong [1], 奶奶爱惠明茶[2?]。Not [3?].\n[1] Fri 1 May 2026  {FACT}:1
[2] Mon 1 June 2026  facts/2026-06-01-奶奶.md:1  (the model was not shown this)
[3] facts/none.md:3  (there is no such file)""",
        ),
        (
            "我喜欢什么oolong茶？",
            f"乌龙茶（{FACT}:1，{FACT}:9，profile.md:2）。",
            f"""乌龙茶（[1]，[2?]，[3]）。\n[1] 2026年5月1日 周五  {FACT}:1
[2] 2026年5月1日 周五  {FACT}:9  （模型没有看到这一行）\n[3] profile.md:2""",
        ),
    ],
)
def test_citations_are_numbers_with_dated_sources_below(
    store: Path, server: ScriptedServer, question: str, text: str, shown: str
) -> None:
    """In the person's language, wherever the stream is cut.

    A pipe and the session have them as they are; one that the model was not shown is
    marked.
    """
    server.default = say(*text)
    with chat(store, server, columns=200) as term:
        term.expect("\n> ")
        term.type(f"{question}\r")
        assert term.expect("\n> ").split("\n")[1:-1] == shown.split("\n")
    unseen = text.split("，")[1] if "，" in text else "facts/2026-06-01-奶奶.md:1"
    marked = f"{unseen.partition('，')[0]} [?]"
    assert (
        marked in session(store) and marked in run(store, server, "-m", question).stdout
    )


def test_model_and_person_are_told_what_was_kept(
    store: Path, server: ScriptedServer
) -> None:
    """In the person's language; at first also that a model keeps nothing."""
    server.script(say("Fine."))
    done = run(store, server, "-m", "记住：我爱喝茶。")
    line = "已记为一条事实：“我爱喝茶。”，facts/"
    notice, kept = done.stderr.splitlines()
    assert notice.startswith("A model changes no memory")
    assert done.stdout == "Fine.\n" and kept.startswith(line)
    asked = server.requests[0].body["messages"][-1]["content"]
    assert line in asked.partition("<program>")[2]


def test_the_prompt_can_be_seen(store: Path, server: ScriptedServer) -> None:
    """Nobody is asked, and nothing kept."""
    shown = run(store, server, "--prompt", "Which oolong tea?").stdout
    for part in ("== rules (", "Likes oolong tea", "tokens)\nWhich oolong tea?"):
        assert part in shown
    assert server.requests == [] and not (store / "memory_store/ann/sessions").exists()


@pytest.mark.parametrize(
    "keys",
    ["first\nsecond\n\nfourth\r", "\x1b[200~first\nsecond\n\nfourth\x1b[201~\r"],
    ids=["raw", "bracketed"],
)
def test_lines_pasted_together_are_one_message(
    store: Path, server: ScriptedServer, keys: str
) -> None:
    """However the terminal hands them over."""
    server.script(say("Read."))
    with chat(store, server) as term:
        term.expect("\n> ")
        term.type(keys)
        term.expect("Read.\n> ")
    assert said(server) == "first\nsecond\n\nfourth"
    assert len(server.requests) == 1


def test_the_slash_commands_are_filemems_own(
    store: Path, server: ScriptedServer
) -> None:
    """Each is the command of its name, for this user; none is a turn.

    What stands behind one is no option. What it deletes is asked about, and may be
    this talk.
    """
    editor = store / "editor"
    editor.write_text("#!/bin/sh\necho '- Plays the tuba.' >> \"$1\"\n")
    editor.chmod(0o700)
    server.default = say("Yes.")
    user = store / "memory_store/ann"
    at = ("--today", "2026-11-20T09:45")
    with chat(store, server, *at, columns=200, EDITOR=str(editor)) as term:
        term.expect("ends.\n> ")
        exchange(
            term,
            ("/help", "Ctrl-C stops an answer.\n"),
            ("／Search\u3000oolong", f"{FACT}  Fri\n   1  Likes oolong tea.\n"),
            ("\x1b[200~/remember Owns a cat.\nAnd a dog.\x1b[201~", "-owns-a-cat"),
            ("/search", "say what, behind /search; /help has what each takes.\n"),
            ("/status", "In every prompt: "),
            (f"/open {FACT}:1", "   1  Likes oolong tea.\n"),
            ("/open profle.md", "profle.md does not exist; nearest: profile.md"),
            ("/edit profile.md", ""),
            ("/forget --whole-user ann --yes", "Nothing was found.\n"),
            ("/forget facts/hostile.md", "Delete all this for good? [y/N]: "),
            ("y", "Forgot facts/hostile.md.\n"),
            ("/nonsense", "there is no command /nonsense; /help lists them.\n"),
            ("\x1b[200~/help\nMy canoe leaks.\x1b[201~", "Yes.\n"),
            ("/search canoe", "\n   7  ann: My canoe leaks.\n"),
            ("帮助", "停止正在输出的回答。\n"),
            ("/remember 养了一只鹦鹉。", "已记为一条事实：“养了一只鹦鹉。”，facts/"),
            ("/forget kayak", "没有找到。\n"),
            ("/forget 鹦鹉", "永久删除以上全部内容？ [y/N]: "),
            ("n", "什么都没有删除。\n"),
            ("/forget canoe", "[y/N]: "),
        )
        term.interrupt("Stopped.\n")
        term.expect("> ")
        exchange(
            term,
            ("/off", "从现在起什么都不保存；之前说的还在。\n"),
            ("I sold the punt.", "Yes.\n"),
            ("/off", "From here on everything is kept again.\n"),
            ("/off I sold the raft.", "Yes.\n"),
            ("/forget", "[y/N]: "),
            ("y", "its name says it; rename, move or delete it"),
            ("/forget", "/forget WORDS deletes what holds them.\n"),
        )
        term.type("/quit\r")
        assert term.end() == 0
        assert "Error: " not in term.screen and "Traceback" not in term.screen
    assert len(server.requests) == 3
    assert (user / "profile.md").read_text().endswith("- Plays the tuba.\n")
    assert not (user / "facts/hostile.md").exists()
    [path] = (user / "sessions").rglob("*.md")
    assert not re.search("canoe|punt|raft", path.read_text())


# -- what is shown ---------------------------------------------------------------------


def test_escape_codes_in_memories_and_answers_are_spelt_out(
    store: Path, server: ScriptedServer
) -> None:
    """Of a tool's name, an endpoint's error and a file, too."""
    look = calls(("grep", {"pattern": "Hostile"}), ("\x1b[2Jrm", {"\x1b]0;x\x07": 1}))
    server.script(
        look,
        say(HOSTILE),
        fail(400, HOSTILE),
    )
    spelt = "tea \\x1b]0;owned\\x07\\x1b[31mred \\u202ekcab\n"
    with chat(store, server, columns=200) as term:
        term.expect("\n> ")
        opened = ("/open facts/hostile.md", f"Hostile: {spelt}")
        exchange(
            term,
            ("Tea?", spelt),
            opened,
            ("And?", "the request was refused"),
        )
        for sign in ("\x1b]0;", "\x07", "\x1b[31mred", "\x1b[2J", "\u202e"):
            assert sign not in term.raw
    server.script(
        calls(("open", {"path": "facts/hostile.md"})),
        say(HOSTILE),
    )
    done = run(store, server, "-v", "-m", "Tea?")
    assert done.stdout == spelt
    told = 'open {"path": "facts/hostile.md"} -> facts/hostile.md 1 line\n'
    assert done.stderr.startswith(f"{told}Beside the message: facts/")
    assert re.search(r"^\d requests?, \d+ tokens$", done.stderr, re.MULTILINE)


def test_one_message_prints_the_answer_alone(
    store: Path, server: ScriptedServer
) -> None:
    """Tool calls, notices and what was remembered are said on standard error."""
    look = calls(("grep", {"pattern": "oolong"}))
    server.script(
        look,
        say("Oolong, still.", finish="length"),
    )
    done = run(store, server, "-v", "-m", "I live in Oslo. Which tea do I like?")
    assert done.stdout == "Oolong, still.\n" and len(server.requests) == 2
    assert "was cut at the endpoint's limit" in done.stderr
    assert 'grep {"pattern": "oolong"} -> 1 line' in done.stderr
    offline = run(store, None, "-m", "I have a dog called Rex.")
    assert offline.stdout == "I found nothing that holds this; your message is kept.\n"
    assert "No model is configured" not in offline.stderr
    first = run(store, None, "-m", "hello", "--user", "bea", "--new")
    assert "\nNo model is configured" in first.stderr


# -- scripts ---------------------------------------------------------------------------


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """What was printed, a JSON object a line."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_json_events_for_scripts(store: Path, server: ScriptedServer) -> None:
    """One a line, and an exit code."""
    server.script(
        calls(("grep", {"pattern": "oolong"})),
        say("Ool", "ong."),
        fail(401),
    )
    found = events(run(store, server, "--json-lines", "-m", "Tea?"))
    assert [event["event"] for event in found] == ["call", "text", "text", "answer"]
    assert (found[0]["name"], found[-1]["text"]) == ("grep", "Oolong.")
    assert {*found[0]} == {"event", "name", "arguments", "brief"}
    assert (store / "memory_store/ann" / found[-1]["session"]).exists()
    failed = run(store, server, "--json-lines", "-m", "Tea?")
    assert [event["event"] for event in events(failed)] == ["error"]
    assert (failed.returncode, failed.stderr) == (2, "")
    told = events(run(store, server, "--json-lines", "-m", "/remember Owns a kettle."))
    assert {event["event"] for event in told} == {"notice"}


def test_what_had_come_is_kept_where_whoever_listens_is_gone(
    store: Path, server: ScriptedServer
) -> None:
    """And all of it where the shell has closed what is written to, and read from."""
    server.script(
        say("Ool", "ong."),
        say("Yes."),
    )
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as gone:
        command = [*COLD, "chat", "--json-lines", "-m", "Tea?"]
        subprocess.run(
            command,
            stdout=gone,
            stderr=subprocess.DEVNULL,
            env=environment(store, server),
            cwd=store,
        )
    assert session(store) == "- **ann**: Tea?\n- **assistant**: Ool [interrupted]\n"
    closed = ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command, "--resume"]
    assert (
        subprocess.run(closed, env=environment(store, server), cwd=store).returncode
        == 0
    )
    assert session(store).endswith("\n- **ann**: Tea?\n- **assistant**: Yes.\n")


@pytest.mark.parametrize(
    ("options", "given", "lang"),
    [
        (["-m", "Grüß dich, 世界"], "", "POSIX"),
        ([], "Grüß dich, 世界\n", "C.UTF-8"),
    ],
)
def test_one_message_comes_from_an_option_or_from_standard_input(
    store: Path, server: ScriptedServer, options: list[str], given: str, lang: str
) -> None:
    """In UTF-8, whatever the locale."""
    server.script(say("你好。"))
    done = run(store, server, *options, given=given, LANG=lang)
    assert (done.returncode, done.stdout) == (0, "你好。\n")
    assert said(server) == "Grüß dich, 世界"


# -- sessions and models ---------------------------------------------------------------


@pytest.mark.parametrize(("answer", "made"), [("y", True), ("n", False), ("", False)])
def test_a_store_that_is_not_there_is_asked_about(
    tmp_path: Path, answer: str, made: bool
) -> None:
    """Enter alone begins none where the name was given, as it may be a slip.

    What is told ends its lines with whole words. What was agreed to is not asked again,
    whatever is typed first, also where that writes nothing.
    """
    with Terminal(
        ["filemem", "chat", "--store", "memroies"], clean(tmp_path), str(tmp_path), 40
    ) as term:
        term.expect("Begin a new store in")
        term.type(f"{answer}\r")
        term.expect("> " if made else "filemem: there is no store")
        if made:
            term.type("/帮助\r")
            assert "/remember" in term.expect("\n> ")
            term.type("/remember The mooring is at pier 7\r")
            assert "Begin a new" not in term.expect("\n> ")
            term.type("Hello\r")
            term.expect("\n> ")
            term.type("\x04")
        assert term.end() == (0 if made else 2)
        assert term.screen.count("New user") == made
    assert (tmp_path / "memroies").exists() == made


@pytest.mark.parametrize("columns", [40, 80])
def test_no_question_is_broken_within_its_answers(tmp_path: Path, columns: int) -> None:
    room = -len(f"{tmp_path}/?") % columns - 4
    name = "m" * (room % columns or columns)
    words = ["filemem", "chat", "--store", name]
    with Terminal(
        words,
        clean(tmp_path),
        str(tmp_path),
        columns,
    ) as term:
        term.expect(f"/{name}?\n[y/N]: ")
        term.type("n\r")
        assert term.end() == 2


def test_resume_goes_on_with_the_last_session_or_one_named_by_path_or_part(
    store: Path, server: ScriptedServer
) -> None:
    """What was said last is shown, and one that is not there is said."""
    server.default = say("Yes,\nindeed.")
    assert run(store, server, "--resume", "-m", "Hi").returncode == 2
    ann = store / "memory_store/ann"
    told = {"2026-11-20": "My bicycle is blue.", "2026-11-22": "茶"}
    for day, text in told.items():
        run(store, server, "-m", text, "--today", day)
    bicycle = "sessions/2026/2026-11-20-0000-my-bicycle-is-blue.md"
    more = ["-m", "And? " + "x" * 400, "--today", "2026-11-23", "--resume"]
    names = [bicycle, "BICYCLE", "2026-11-20", f"memory_store/ann/{bicycle}"]
    for name in names:
        assert run(store, server, *more, name).returncode == 0
    sent = [request.body["messages"][1:3] for request in server.requests]
    turns = [[message["content"] for message in messages] for messages in sent]
    assert turns.count(["My bicycle is blue.", "Yes,\nindeed."]) == len(names)
    assert (ann / bicycle).read_text().count("- **") == 2 + 2 * len(names)
    run(store, server, "--resume", "--message=And?", "--today", "2026-11-24")
    assert "And?" in next((ann / "sessions").rglob("*茶.md")).read_text()
    latest = "the latest are sessions/2026/2026-11-22-0000-茶.md, "
    for name, said in (("tuba", latest), ("../ben/x", "no session"), (FACT, "no sess")):
        done = run(store, server, "-m", "And?", "--resume", name)
        assert done.returncode == 2 and said in done.stderr
    with chat(store, server, "--resume", "bicycle", columns=400) as term:
        shown = term.expect("\n> ")
    assert "10 turns.\nann: And? xxx" in shown and "assistant: Yes, indeed.\n" in shown
    assert "bicycle is blue." not in shown and "x" * 300 not in shown


def test_undo_in_a_chat_asks_about_what_was_before_it(store: Path) -> None:
    """What the talk itself forgot or wrote is committed when it ends."""
    key = "The key is under the pot"
    filemem(
        "init",
        "--git",
        env=environment(store),
        cwd=store,
    )
    filemem(
        "remember",
        key,
        env=environment(store),
        cwd=store,
    )
    with chat(store) as term:
        term.expect("\n> ")

        term.type("I bought a green kayak\r")
        term.expect("\n> ")

        term.type("/forget green kayak\r")
        term.expect("[y/N]")
        term.type("y\r")
        told = term.expect("\n> ")
        assert "A chat commits its own when it ends" in told

        term.type("/undo\r")
        asked = term.expect("[y/N]")
        assert f"Remember: {key}" in asked
        term.type("n\r")
        term.expect("\n> ")

        term.type("/quit\r")
        assert term.end() == 0
    facts = store / "memory_store/ann/facts"
    [kept] = facts.rglob("*key*.md")
    assert key in kept.read_text()
