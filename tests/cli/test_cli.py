"""Every command does what its help says, from any place and for any user; every mistake is one line and exit code 2, never a
traceback; and it imports no more than it needs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import COLD, filemem, lay, sample, shell_command

from filemem.cli import COMMANDS, cli
from filemem.errors import FilememError
from filemem.store import config

FACT = "facts/2026/2026-03-14-prefers-oolong-tea.md"
OWN = ("FILEMEM_", "OPENAI_", "XDG_", "GIT_")
UNSET = dict.fromkeys(name for name in os.environ if name.startswith(OWN)) | {
    "FILEMEM_EMBEDDINGS": "off"
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home with a copy of the sample store in it, and `filemem` on the path."""
    sample(tmp_path / "memory_store")
    shell_command(tmp_path / "bin/filemem")
    return tmp_path


def environment(home: Path, **more: str) -> dict[str, str]:
    path = f"{home / 'bin'}:{os.environ['PATH']}"
    own = {
        "HOME": str(home),
        "PATH": path,
        "LANG": "C.UTF-8",
        "EDITOR": "true",
        "FILEMEM_EMBEDDINGS": "off",
    }
    git = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Mara",
        "GIT_AUTHOR_EMAIL": "mara@localhost",
    }
    return own | git | more


def shell(home: Path, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line in bash, as a person types it."""
    call, env = ["bash", "-o", "pipefail", "-c", line], environment(home, **env)
    return subprocess.run(
        call,
        cwd=home,
        env=env,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


def served(home: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line that serves until it is ended, which is done once it says so."""
    command = ["bash", "-c", f"exec {line}"]
    with subprocess.Popen(
        command, cwd=home, env=environment(home), stdout=-1, stderr=-1, text=True
    ) as process:
        assert process.stdout
        first = process.stdout.readline()
        process.terminate()
        return subprocess.CompletedProcess(
            command, 0 if first else 2, first, process.communicate()[1]
        )


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same home as the folder in which commands run in this process."""
    monkeypatch.chdir(home)
    return home


def run(*args: str, **env: str) -> Result:
    """A command in this process."""
    return CliRunner().invoke(cli, args, env={**UNSET, **env}, standalone_mode=False)


def told(result: Result) -> str:
    """The sentence with which a command failed."""
    assert isinstance(result.exception, FilememError), (result.exception, result.output)
    return str(result.exception)


# -- help --------------------------------------------------------------------------------------------------------


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found
    return found


def test_the_list_of_commands_is_that_of_the_commands() -> None:
    """In groups, the daily six first; a screen of forty lines and eighty columns holds it. As a module Python has it, too."""
    shown = run("--help").output
    assert re.findall(r"(?m)^  (\w+)  ", shown) == list(COMMANDS)
    assert re.findall(r"(?m)^(\w[\w ]*):\n", shown) == [
        "Every day",
        "Talk",
        "Find",
        "Care",
        "History",
        "Set up",
    ]
    as_module = subprocess.run(
        [sys.executable, "-m", "filemem"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert (
        as_module.stdout.partition("\n")[2] == shown.partition("\n")[2]
        and len(COMMANDS) <= 28
    )
    assert shown.count("\n") < 40 and max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_commands_help_shows_an_example(name: str) -> None:
    for option in ("--help", "-h"):
        out = run(name, option).output
        assert f"  Example: filemem {name}" in out and not re.search(
            r"(?m)^  \w.*\.\.\.$", out
        ), "nothing is cut off"
        for shared in ("--store FOLDER", "--user NAME"):
            assert shared in out
    for parameter in command(name).params:
        assert (
            isinstance(parameter, click.Argument) or parameter.hidden or parameter.help
        ), parameter.name


def examples() -> list[str]:
    return [
        line
        for name in COMMANDS
        for line in re.findall(r"Example: (filemem .*)", command(name).help or "")
    ]


def test_every_example_runs_on_the_sample_store(home: Path) -> None:
    conversation = {
        "title": "Tea",
        "create_time": 1.79e9,
        "mapping": {},
        "current_node": None,
    }
    (home / "conversations.json").write_text(json.dumps([conversation]))
    ready = (
        "filemem chat -m 'What tea?' && filemem init --git && git init -q --bare other.git"
        " && git -C memory_store remote add origin ../other.git && filemem remember 'Owns a kettle.'"
        f" && echo 'By hand.' >> memory_store/mara/{FACT}"
    )
    assert shell(home, ready).returncode == 0
    assert len(examples()) == len(COMMANDS)
    for line in examples():
        done = (
            served(home, f"{line} --port 0")
            if line.startswith("filemem serve")
            else shell(home, line)
        )
        if "install it with: pip install" in done.stderr:
            continue  # an extra's command
        assert done.returncode in (0, 1), (
            line,
            done.stderr,
        )  # 1: nothing found, nothing differs
        assert "filemem: " not in done.stderr, (line, done.stderr)
        assert "Traceback" not in done.stderr, (line, done.stderr)
        assert done.stdout or line.startswith("filemem edit"), line


# -- which store, which user -------------------------------------------------------------------------------------


def add_user(root: Path, name: str, text: str = "A fact.") -> None:
    lay(root / name, {"facts/2026-01-01-a.md": f"{text}\n"})


@pytest.mark.parametrize(
    "args",
    [
        ["--store", "other", "--user", "ben", "grep", "tuba"],
        ["grep", "tuba", "--store", "other", "--user", "ben"],
        ["--store", "other", "grep", "--user", "ben", "tuba"],
        [
            "--store",
            "memory_store",
            "--user",
            "mara",
            "grep",
            "--store",
            "other",
            "--user",
            "ben",
            "tuba",
        ],
    ],
)
def test_store_and_user_are_taken_before_and_after_the_command(
    here: Path, args: list[str]
) -> None:
    add_user(here / "other", "ben", "Plays the tuba.")
    add_user(here / "other", "zoe")
    assert "   1  Plays the tuba.\n" in run(*args).output


def test_the_store_is_the_option_else_the_variable_else_the_folder_here_else_the_platforms(
    here: Path,
) -> None:
    for name in ("option", "variable", "home"):
        add_user(here / name, name)
    add_user(here / "home/.local/share/filemem/memory_store", "platform")
    add_user(here / "xdg/filemem/memory_store", "xdg")
    assert run(
        "--store", "option", "users", FILEMEM_STORE="variable"
    ).output.startswith("option  ")
    assert run("users", FILEMEM_STORE="variable").output.startswith("variable  ")
    assert run("users").output.startswith("mara  ")
    (here / "memory_store").rename(here / "elsewhere")
    assert run("users", HOME=str(here / "home")).output.startswith("platform  ")
    run(
        "init", "--git", HOME=str(here / "home")
    )  # the store in use, and no second one here
    assert (here / "home/.local/share/filemem/memory_store/.git").exists() and not (
        here / "memory_store"
    ).exists()
    assert run(
        "users", HOME="/nowhere", XDG_DATA_HOME=str(here / "xdg")
    ).output.startswith("xdg  ")


def test_the_user_is_the_option_else_the_variable_else_the_only_one_else_the_login(
    here: Path,
) -> None:
    assert "sardine" in run("grep", "sardine").output
    add_user(here / "memory_store", "ben", "Plays the tuba.")
    add_user(here / "memory_store", "外婆", "Drinks 惠明茶.")
    assert "tuba" in run("grep", ".", "--user", "ben", FILEMEM_USER="外婆").output
    assert "惠明茶" in run("grep", ".", FILEMEM_USER="外婆").output
    assert "tuba" in run("grep", ".", LOGNAME="ben").output
    sentence = told(run("grep", ".", LOGNAME="nobody-here"))
    assert "has 3 users; name one with --user: ben, mara, 外婆" in sentence
    assert "there is no user carl" in told(run("grep", ".", "--user", "carl"))
    assert "cannot be a user's name" in told(run("grep", ".", "--user", "../mara"))


def test_a_new_user_is_announced_in_one_line(here: Path) -> None:
    told = run(
        "remember", "Plays", "the", "tuba.", "--user", "ben", "--today", "2026-11-20"
    ).stderr
    assert told == f"New user ben in {here}/memory_store.\n"
    place = here / "memory_store/ben/facts/2026/2026-11-20-plays-the-tuba.md"
    assert place.read_text() == "---\nimportance: 8\n---\n\nPlays the tuba.\n"
    assert run("remember", "B", "--user", "ben").stderr == ""
    (here / "notes").mkdir()
    (here / "notes/a.md").write_text("A note.\n")
    assert "New user eva" in run("import", "markdown", "notes", "--user", "eva").stderr


@pytest.mark.parametrize(
    "words",
    [
        ["remember", "A"],
        ["chat", "-m", "hi"],
        ["hi?"],
        ["import", "markdown", "memory_store"],
        ["serve"],
        ["serve", "keys", "add", "ann"],
        ["mcp"],
        ["mcp", "install", "cursor"],
    ],
    ids=" ".join,
)
def test_a_slip_in_the_stores_name_makes_no_new_store(
    here: Path, words: list[str]
) -> None:
    """A new one is made by init, with --new, or after asking on a terminal (test_chat_terminal.py)."""
    sentence = told(run(*words, "--store", "memroy_store", "--user", "ann"))
    assert (
        sentence
        == f"there is no store {here}/memroy_store; make it with filemem init, or add --new."
    )
    assert not (here / "memroy_store").exists()
    if words[0] not in ("import", "serve", "mcp"):
        made = run(*words, "--store", "new", "--user", "ann", "--new").stderr
        assert made.startswith(f"New user ann in {here}/new.\n")
    run("init", "other")
    assert (
        "New user ann in"
        in run("remember", "A", "--store", "other", "--user", "ann").stderr
    )


@pytest.mark.parametrize("name", ["maar", "Mara", "márä"])
@pytest.mark.parametrize(
    "words", [["remember", "A"], ["chat", "-m", "hi"], ["import", "markdown", "notes"]]
)
def test_a_name_a_slip_away_from_a_users_is_refused_with_that_name(
    here: Path, name: str, words: list[str]
) -> None:
    (here / "notes").mkdir()
    said = told(run(*words, "--user", name))
    assert "but mara; use --user mara, or --new to begin one." in said
    serving = (
        ["serve", "keys", "add", name],
        ["serve", "--user", name],
        ["mcp", "--user", name],
    )
    assert {told(run(*one)) for one in serving} == {said}, (
        "who would have what is said kept there"
    )
    assert (
        not (here / "memory_store" / name).exists() or name == "Mara"
    )  # where the file system knows no case
    assert run(*words, "--user", name, "--new").exception is None


def test_init_makes_the_store_that_is_meant_with_every_setting_commented_out(
    here: Path,
) -> None:
    for name, words, env in [
        ("argument", ["init", "argument"], {"FILEMEM_STORE": "variable"}),
        ("option", ["--store", "option", "init"], {"FILEMEM_STORE": "variable"}),
        ("variable", ["init"], {"FILEMEM_STORE": "variable"}),
    ]:
        assert f"Created {here}/{name}/filemem.yaml." in run(*words, **env).output
    settings = here / "variable/filemem.yaml"
    text = settings.read_text()
    assert config.load(settings.parent) == config.Config()
    for name in config.LIMITS:
        assert re.search(rf"(?m)^# [A-Z\"][^\n]*\.\n# {name}: \S", text), name
    settings.write_text(re.sub(r"(?m)^# (\w+: )", r"\1", text))
    assert yaml.safe_load(settings.read_text()).keys() == {*config.LIMITS}
    assert config.load(settings.parent) == config.Config()


# -- commands ----------------------------------------------------------------------------------------------------


def test_json_is_one_value_a_line_that_a_script_can_read(here: Path) -> None:
    """Nothing in it is obeyed by a terminal: a C1 control, DEL and marks that turn text around are escaped."""
    (here / "memory_store/mara/facts/broken.md").write_text(
        "---\nimportance: 11\n---\n\nText.\n"
    )
    hostile = "tea \x9b31m \x7f \u202eevil\u2069 \u2028 \u2029"
    (here / "memory_store/mara/facts/hostile.md").write_text(hostile + "\n")
    assert json.loads(run("grep", "evil", "--json-lines").stdout)["text"] == hostile
    run("chat", "-m", "What tea?", "--today", "2026-11-20")
    expected: dict[tuple[str, ...], set[str]] = {
        ("search", "tea"): {"path", "line", "text", "score", "archived", "date"},
        ("grep", "tea"): {"path", "line", "text", "archived"},
        ("list",): {"path", "kind", "date", "size", "archived", "title"},
        ("users",): {"user", "memories"},
        ("check",): {"user", "path", "line", "what", "remedy"},
        ("chat", "--prompt"): {"tokens", "messages", "tools"},
        ("chat", "-m", "What tea?"): {"event"},
        ("forget", "tea", "--dry-run"): {"event", "path", "line"},
    }
    for args, keys in expected.items():
        out = run(*args, "--json-lines").stdout
        assert out and not set(out) & set("\x9b\x7f\u202e\u2069\u2028\u2029"), args
        for line in out.splitlines():
            assert keys <= set(json.loads(line)), args


def test_exit_codes_tell_found_from_nothing_found(here: Path) -> None:
    def code(*args: str) -> Any:
        return run(*args).return_value

    assert (code("grep", "tea"), code("grep", "xylophone")) == (0, 1)
    assert (code("search", "tea"), code("search", "xylophone")) == (0, 1)
    assert (code("list", "facts/**"), code("list", "none/**")) == (0, 1)
    assert "no file matches none/**" in run("timeline", "none/**").output
    (here / "empty").mkdir()
    assert (
        "There was nothing of it; filemem import --help"
        in run("import", "markdown", "empty").output
    )
    assert (code("call", "grep", '{"pattern": "tea"}'), code("call", "grep", "{}")) == (
        0,
        1,
    )
    assert code("check") == 0
    (here / "memory_store/mara/facts/broken.md").write_text(
        "---\nimportance: 11\n---\n\nText.\n"
    )
    assert code("check") == 1
    out = run("check").output
    assert (
        "mara/facts/broken.md:2: importance is 11; importance is a whole number from 1 to 10.\n"
        in out
    )
    assert out.endswith("25 files of 1 user: 1 problem.\n")


@pytest.mark.parametrize(
    "path",
    [FACT, f"{FACT}:9", f"memory_store/mara/{FACT}", f"./memory_store/mara/{FACT}:9"],
)
def test_a_path_may_be_named_as_the_shell_completes_it(here: Path, path: str) -> None:
    assert "Mara gave up coffee" in run("open", path).output
    (here / "link").symlink_to("memory_store")
    assert "Mara gave up coffee" in run("open", path, "--store", "link").output
    (here / "memory_store/mara/long.md").write_text(
        "word " * 1000 + "end\n" + "line\n" * 5000
    )
    out = run("open", "long.md").output  # a person sees every line whole
    assert "word end\n" in out and out.endswith("5001  line\n")


def test_edit_opens_the_file_at_the_line_and_checks_it(home: Path) -> None:
    editor = home / "bin/vi"
    editor.write_text(
        '#!/bin/sh\necho "$@" > args\nprintf -- "---\\npinned: maybe\\n---\\n" > "$2"\n'
    )
    editor.chmod(0o755)
    done = shell(home, f"filemem edit {FACT}:3", EDITOR="vi")
    assert (home / "args").read_text() == f"+3 {home}/memory_store/mara/{FACT}\n"
    assert done.stdout == f"{FACT}:2: pinned is 'maybe'; pinned is true or false.\n"
    assert done.returncode == 1
    assert (
        "no-such-editor: Editing failed"
        in shell(home, "filemem edit profile.md", EDITOR="no-such-editor").stderr
    )


# -- mistakes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    """\
open nothing.md|open /etc/passwd|edit ../x|grep '('|grep tea --path '[z'|search tea --after soon
users --store filemem.txt|init filemem.txt|chat -m ''|chat -m hi --user ..|remember ' '
chat --resume -m hi --user new|grep|grep a --contxt 1|nonsense words|grep a -C 50|serve keys
list -n 99999999999999999999|status --today 0001-01-01|--stor x users|list --user ''|undo ''
compact --older-than soon|sweep --all-users --user mara|check --scheduler x""".replace(
        "\n", "|"
    ).split("|"),
)
def test_a_mistake_is_one_line_on_standard_error_with_exit_code_2(
    home: Path, line: str
) -> None:
    (home / "filemem.txt").write_text("no store\n")
    done = shell(home, f"filemem {line}")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"filemem: .+\n", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("serch tea", "the nearest is search"),
        ("nothing like it", "put what you want to say in quotes behind filemem chat"),
        ("ad", "put what you want to say in quotes behind filemem chat"),
    ],
)
def test_a_word_that_is_no_command_is_refused_as_a_chat_would_keep_it(
    here: Path, words: str, remedy: str
) -> None:
    with pytest.raises(
        click.UsageError, match=f"^there is no command {words.split()[0]}; {remedy}$"
    ):
        cli.main(words.split(), standalone_mode=False)


@pytest.mark.parametrize(
    "words",
    [
        ["What tea does Mara like?"],
        ["chat", "What tea does Mara like?"],
        ["oolong?", "--json-lines"],
    ],
)
def test_what_is_no_command_is_said_in_a_chat(here: Path, words: list[str]) -> None:
    assert FACT in run(*words).stdout


def test_a_package_adds_a_command_and_an_importer(home: Path) -> None:
    """By entry points, which are looked for only when a name is not ours; filemem's own commands stay what they are."""
    package = """import click\nfrom filemem.importers import ImportedNote
@click.command()\n@click.argument('cups', type=int)\ndef brew(cups):\n    click.echo(f'{cups} cups')
def read(path, zone):\n    yield ImportedNote('tea.md', open(path, 'rb').read())\n"""
    entries = "[filemem.commands]\nbrew = tea:brew\ngrep = tea:brew\n[filemem.importers]\ncaddy = tea:read\n"
    lay(home / "site", {"tea.py": package, "tea-1.dist-info/entry_points.txt": entries})
    lay(
        home / "site",
        {"tea-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tea\nVersion: 1\n"},
    )
    (home / "leaves").write_text("Longjing, 2026.\n")

    def said(line: str) -> str:
        done = filemem(
            *line.split(),
            cwd=home,
            env=environment(home, PYTHONPATH=str(home / "site")),
        )
        return done.stdout + done.stderr

    assert said("brew 3 --user mara") == "3 cups\n"
    assert FACT in said("grep oolong")
    assert "added mara/" in said("import caddy leaves")
    assert "Longjing" in said("search longjing")
    assert "there is no format kettle; take one of chatgpt," in said(
        "import kettle leaves"
    )


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("model: [", "filemem.yaml:1: broken YAML; write one `key: value` a line."),
        (
            "# ok\nmodle: x",
            "filemem.yaml:2: unknown setting modle; did you mean model?",
        ),
        (
            "",
            "filemem.yaml is a symbolic link; name the file itself.",
        ),
        (
            "steps: many",
            "filemem.yaml:1: steps is 'many'; it takes a whole number.",
        ),
        (
            "- a",
            "filemem.yaml:1: the YAML is no mapping of keys to values; write one `key: value` a line.",
        ),
    ],
)
def test_broken_settings_are_told_with_path_line_and_remedy(
    here: Path, text: str, remedy: str
) -> None:
    settings = here / "memory_store/filemem.yaml"
    settings.write_text(text) if text else settings.symlink_to("nowhere")
    assert told(run("chat", "--prompt")) == f"{here}/memory_store/{remedy}"
    first = run("check").output.splitlines()[0].rstrip("?.")
    assert first.endswith(remedy.replace(", but ", "; ").rstrip("?."))


@pytest.mark.parametrize(
    "args",
    [
        ["grep", "tea"],
        ["search", "tea"],
        ["open", "profile.md"],
        ["list"],
        ["timeline"],
    ],
)
def test_what_needs_no_setting_goes_on_where_they_are_broken(
    here: Path, args: list[str]
) -> None:
    (here / "memory_store/filemem.yaml").write_text("model: [")
    done = run(*args)
    assert done.return_value == 0 and done.stdout


def without_rights() -> str:
    """A filemem for which the rights of files count, where the tests run as root too."""
    if os.geteuid():
        return "filemem"
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if (
        shutil.which("setpriv")
        and subprocess.run([*drop, "true"], capture_output=True, check=False).returncode
        == 0
    ):
        return shlex.join([*drop, *COLD])
    pytest.skip(
        "root reads and writes everything, and setpriv is not there to prevent it"
    )


@pytest.fixture
def read_only(home: Path) -> Iterator[Path]:
    store = home / "memory_store"
    for place in [store, *store.rglob("*")]:
        place.chmod(0o500 if place.is_dir() else 0o400)
    yield home
    for place in [store, *store.rglob("*")]:
        place.chmod(0o700 if place.is_dir() else 0o600)


def test_a_read_only_store_is_read(read_only: Path) -> None:
    program = without_rights()
    for line in (
        "grep oolong",
        "search oolong",
        f"open {FACT}",
        "list",
        "check",
        "chat --prompt",
        "users",
    ):
        done = shell(read_only, f"{program} {line}")
        assert (done.returncode, done.stderr) == (0, ""), (line, done.stderr)
    asked = shell(read_only, f"{program} chat -m 'What tea?'")
    assert asked.returncode == 0 and FACT in asked.stdout
    assert "cannot be written, so nothing of this is kept." in asked.stderr
    kept = shell(read_only, f"{program} remember 'Owns a kettle.'")
    assert kept.returncode == 2
    assert re.search(r"(?m)^.*/memory_store/mara.*ermission", kept.stderr)
    (read_only / "memory_store/mara").chmod(0)
    for line in ("list", "grep tea", "search tea", "chat -m hi"):
        done = shell(read_only, f"{program} {line}")
        assert "Traceback" not in done.stderr and done.returncode in (1, 2), (
            line,
            done,
        )


def test_a_read_only_store_is_checked(home: Path) -> None:
    shell(
        home,
        f"cd memory_store; git init -q; git add -A; git commit -qm x; git mv mara/{FACT} mara/oolong.md",
    )
    shell(home, "chmod -R a-w memory_store")
    done = shell(home, f"{without_rights()} check")
    shell(home, "chmod -R u+w memory_store")
    assert (done.returncode, done.stderr) == (
        1,
        "",
    ) and f"superseded_by names {FACT}, which does not" in done.stdout


def test_forgetting_names_what_may_not_be_changed_only_where_it_was_to_change(
    home: Path,
) -> None:
    program = without_rights()
    other = home / "memory_store/mara/archive/facts/2025"
    other.chmod(0o500)
    bergen = shell(home, f"{program} forget Bergen --yes")
    tea = shell(home, f"{program} forget {FACT} --yes")
    other.chmod(0o700)
    assert (bergen.returncode, "stays as it is" in bergen.stdout) == (0, False)
    name = "archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md"
    assert tea.returncode == 1 and f"{name} stays as it is" in tea.stdout
    assert "says it any more" not in tea.stdout


def test_more_matches_than_memory_should_hold_are_told_of(tmp_path: Path) -> None:
    """On standard error, where a script reads JSON."""
    text = "xylophone\n" + f"xylophone {'la ' * 300_000}\n" * 30
    lay(tmp_path / "mara", {"notes/long.md": text})
    found = run("grep", "xylophone", "--store", str(tmp_path), "--json-lines")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert sum(len(line["text"]) for line in lines) < 22_000_000
    assert found.stderr.startswith(f"{31 - len(lines)} more lines match; ")


WORDS = st.sampled_from(
    "-h --help --store --user --today --json --path --limit --after --context -C -n -m --resume --explain --as-of --dry-run -- -"
    " memory_store nowhere mara ben .. /etc/passwd profile.md facts/** [ ( tea 外婆 0 1 -1 999999999999 2026-11-20 2026-13-45"
    " grep open {} {\"query\":\"x\"} claude markdown \udcff\udcfe \x1b[31m \u202e".split(" ")
)  # fmt: skip
TEXT = st.text(
    st.characters(exclude_characters="\0"), max_size=4
)  # no process can be given a NUL
ARGV = st.tuples(
    st.sampled_from([*COMMANDS, "nonsense", "--store"]),
    st.lists(WORDS | TEXT, max_size=5),
)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ARGV)
def test_no_arguments_at_all_lead_to_a_traceback(
    here: Path, argv: tuple[str, list[str]]
) -> None:
    result = run(
        argv[0], *argv[1], EDITOR="true", VISUAL="", HOME=str(here), LOGNAME="mara"
    )
    expected = (
        FilememError,
        click.ClickException,
        click.Abort,
        click.exceptions.Exit,
        OSError,
        SystemExit,
    )
    assert result.exception is None or isinstance(result.exception, expected), (
        argv,
        result.exc_info,
    )
    if isinstance(result.exception, FilememError):
        assert str(result.exception).strip()


# -- pipes, locales, completion ----------------------------------------------------------------------------------


def completed(home: Path, line: str) -> list[str]:
    """What Tab offers at the end of a line in bash."""
    words = line.split(" ")
    env = {
        "_FILEMEM_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    return [
        entry.partition(",")[2]
        for entry in shell(home, "filemem", **env).stdout.splitlines()
        if entry
    ]


def test_completion_knows_commands_and_leaves_files_to_the_shell(home: Path) -> None:
    script = shell(home, "_FILEMEM_COMPLETE=bash_source filemem").stdout
    assert (
        subprocess.run(
            ["bash", "-n"], input=script, encoding="utf-8", check=False
        ).returncode
        == 0
    )
    assert completed(home, "filemem op") == ["open"]
    env = {
        "_FILEMEM_COMPLETE": "bash_complete",
        "COMP_WORDS": "filemem add ",
        "COMP_CWORD": "2",
    }
    assert (
        shell(home, "filemem", **env).stderr == ""
    )  # nothing is said into a line that is being typed
    assert completed(home, "filemem open memory_store/mara/p") == [
        "memory_store/mara/p"
    ]  # the shell's to complete


@pytest.mark.parametrize("lang", ["C.UTF-8", "POSIX"])
def test_every_script_is_printed_whatever_the_locale_and_a_reader_may_leave_early(
    home: Path, lang: str
) -> None:
    assert (
        "最喜欢的茶是景宁的[[惠明茶]]"
        in shell(home, "filemem grep 惠明茶", LANG=lang).stdout
    )
    (home / "memory_store/mara/long.md").write_text("a line of tea\n" * 50_000)
    for line in ("filemem grep tea", "filemem open long.md"):
        done = shell(home, f"{line} | head -1", LANG=lang)
        assert (done.stdout.count("\n"), done.stderr) == (1, "")


# -- imports -----------------------------------------------------------------------------------------------------

HEAVY = {"openai", "httpx", "pydantic", "sqlite3"}
YAML = {
    "yaml",
    "filemem.store.config",
    "filemem.index",
    "filemem.git.history",
    "difflib",
    "_hashlib",
    "subprocess",
}


@pytest.mark.parametrize(
    ("code", "args", "never"),
    [
        ("import filemem", [], HEAVY | YAML | {"click"}),
        *(
            ("main()", args, HEAVY)
            for args in (["--help"], ["list"], ["users"], ["check"])
        ),
        ("main()", ["search", "oolong"], HEAVY - {"sqlite3"}),  # which has the stems
        ("main()", ["grep", "oolong"], HEAVY | YAML),
    ],
)
def test_no_command_imports_what_it_does_not_need(
    home: Path, code: str, args: list[str], never: set[str]
) -> None:
    """openai only for a talk with a model; and a grep loads no YAML, OpenSSL and the like, each a tenth of its time or more."""
    code = code.replace("main()", "from filemem.cli import main; main()")
    program = f"import sys; sys.path[:] = {sys.path!r}\ntry: {code}\nfinally: sys.stderr.write(' '.join(sys.modules))"
    command = [sys.executable, "-S", "-c", program, *args]
    done = subprocess.run(
        command,
        cwd=home,
        env=environment(home),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "filemem" in done.stderr and not set(done.stderr.split()) & never
