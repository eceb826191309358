"""Every command does what its help says, from any place and for any user.

Every mistake is one line and exit code 2, never a traceback; and a command imports no
more than it needs.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import COLD, clean, filemem, lay, sample, shell_command, without_rights

from filemem.cli import COMMANDS, cli
from filemem.errors import FilememError
from filemem.store import config

FACT = "facts/2026/2026-03-14-prefers-oolong-tea.md"
OWN = ("FILEMEM_", "OPENAI_", "XDG_", "GIT_")
UNSET = dict.fromkeys(name for name in os.environ if name.startswith(OWN))
UNSET |= {"FILEMEM_EMBEDDINGS": "off"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home with the sample store in it, and `filemem` on the path."""
    sample(tmp_path / "memory_store")
    shell_command(tmp_path / "bin/filemem")
    return tmp_path


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same home as the folder in which commands run in this process."""
    monkeypatch.chdir(home)
    return home


def environment(home: Path, **more: str) -> dict[str, str]:
    own = {
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "EDITOR": "true",
        "FILEMEM_EMBEDDINGS": "off",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "Mara",
        "GIT_AUTHOR_EMAIL": "mara@localhost",
    }
    return clean(home) | own | more


def shell(home: Path, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line in bash, as a person types it."""
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=home,
        env=environment(home, **env),
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


def run(*args: str, **env: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(cli, args, env={**UNSET, **env}, standalone_mode=False)


def told(result: Result) -> str:
    """Return the sentence with which a command failed."""
    assert isinstance(result.exception, FilememError), (result.exception, result.output)
    return str(result.exception)


# -- help ------------------------------------------------------------------------------


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found
    return found


def test_the_list_of_commands_is_that_of_the_commands() -> None:
    """In groups, the daily six first; forty lines of eighty columns hold it."""
    shown = run("--help").output
    assert re.findall(r"(?m)^  (\w+)  ", shown) == list(COMMANDS)
    assert re.findall(r"(?m)^(\w[\w ]*):\n", shown)[0] == "Every day"
    assert "..." not in shown.partition("\n")[2], "nothing is cut off"
    assert shown.count("\n") < 40 and max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_commands_help_shows_an_example(name: str) -> None:
    out = run(name, "-h").output
    assert f"  Example: filemem {name}" in out
    narrow = CliRunner().invoke(cli, [name, "-h"], terminal_width=40).output
    assert max(map(len, narrow.splitlines())) <= 40
    assert not re.search(r"(?m)^  \w.*\.\.\.$", out), "nothing is cut off"
    assert "--store FOLDER" in out and "--user NAME" in out
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_every_example_runs_on_the_sample_store(home: Path) -> None:
    talk = {"title": "Tea", "create_time": 1.79e9, "mapping": {}, "current_node": None}
    (home / "conversations.json").write_text(json.dumps([talk]))
    ready = (
        "filemem chat -m 'What tea?' && filemem init --git"
        " && git init -q --bare other.git"
        " && git -C memory_store remote add origin ../other.git"
        " && filemem remember 'Owns a kettle.'"
        " && filemem serve keys add mara"
        f" && echo 'By hand.' >> memory_store/mara/{FACT}"
    )
    assert shell(home, ready).returncode == 0
    for name in COMMANDS:
        [line] = re.findall(r"Example: (filemem .*)", command(name).help or "")
        if line.startswith("filemem serve"):
            line += " --port 99999"  # which cannot be: else it served until it is ended
        done = shell(home, line)
        if name == "serve":
            assert "port" in done.stderr or "install it with" in done.stderr
            continue
        assert done.returncode in (0, 1), (line, done.stderr)  # 1: nothing was found
        assert "filemem: " not in done.stderr, (line, done.stderr)
        assert "Traceback" not in done.stderr, (line, done.stderr)
        assert done.stdout or line.startswith("filemem edit"), line


# -- which store, which user -----------------------------------------------------------


def add_user(root: Path, name: str, text: str = "A fact.") -> None:
    lay(root / name, {"facts/2026-01-01-a.md": f"{text}\n"})


@pytest.mark.parametrize(
    "line",
    [
        "--store other --user ben grep tuba",
        "--store other grep --user ben tuba",
        "--store memory_store --user mara grep --store other --user ben tuba",
    ],
)
def test_store_and_user_are_taken_before_and_after_the_command(
    here: Path, line: str
) -> None:
    add_user(here / "other", "ben", "Plays the tuba.")
    add_user(here / "other", "zoe")
    assert "   1  Plays the tuba.\n" in run(*line.split()).output


def test_the_store_is_the_option_else_the_variable_else_here_else_the_platforms(
    here: Path,
) -> None:
    for name in ("option", "variable"):
        add_user(here / name, name)
    platform = here / "home/.local/share/filemem/memory_store"
    add_user(platform, "platform")
    add_user(here / "xdg/filemem/memory_store", "xdg")
    named = run("--store", "option", "users", FILEMEM_STORE="variable")
    assert named.output.startswith("option  ")
    assert run("users", FILEMEM_STORE="variable").output.startswith("variable  ")
    assert run("users").output.startswith("mara  ")
    (here / "memory_store").rename(here / "elsewhere")
    assert run("users", HOME=str(here / "home")).output.startswith("platform  ")
    run("init", "--git", HOME=str(here / "home"))  # the one in use, no second one here
    assert (platform / ".git").exists() and not (here / "memory_store").exists()
    xdg = run("users", HOME="/nowhere", XDG_DATA_HOME=str(here / "xdg"))
    assert xdg.output.startswith("xdg  ")


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
    assert "there is no user ../mara" in told(run("grep", ".", "--user", "../mara"))


def test_a_new_store_is_of_the_login_and_empty_and_well(here: Path) -> None:
    """An error names the folder that `init` makes; a role's name is nobody's."""
    (here / "memory_store").rename(here / "elsewhere")
    missing = told(run("search", "tea", HOME=str(here)))
    assert (
        f"there is no store {here}/memory_store; make it with filemem init memory_store"
        in missing
    )
    assert f"Created {here}/memory_store/" in run("init", HOME=str(here)).output
    status = run("status", LOGNAME="ann")
    assert status.return_value == 0 and "There is nobody in" in status.output
    role = told(run("remember", "A", LOGNAME="Developer"))
    assert "there is nobody in" in role and "name yourself with --user" in role
    new = run(
        "remember", "Plays", "the", "tuba.", "--today", "2026-11-20", LOGNAME="ann"
    )
    assert new.stderr == f"New user ann in {here}/memory_store.\n"
    place = here / "memory_store/ann/facts/2026/2026-11-20-plays-the-tuba.md"
    assert place.read_text().endswith("\n\nPlays the tuba.\n")
    assert run("remember", "B", LOGNAME="ben").stderr == "", "the only user is meant"


@pytest.mark.parametrize(
    "line",
    [
        "remember A",
        "chat -m hi",
        "hi?",
        "import markdown memory_store",
        "serve",
        "serve keys add ann",
        "mcp",
        "mcp install cursor",
    ],
)
def test_a_slip_in_the_stores_name_makes_no_new_store(here: Path, line: str) -> None:
    """It takes init, --new, or a yes on a terminal (test_chat_terminal.py)."""
    words = line.split()
    sentence = told(run(*words, "--store", "memroy_store", "--user", "ann"))
    place = f"{here}/memroy_store"
    assert sentence.startswith(
        f"there is no store {place}; make it with filemem init m"
    )
    assert not (here / "memroy_store").exists()
    if words[0] in ("remember", "chat"):
        made = run(*words, "--store", "new", "--user", "ann", "--new").stderr
        assert made.startswith(f"New user ann in {here}/new.\n")


@pytest.mark.parametrize("name", ["maar", "Mara"])
def test_a_name_a_slip_away_from_a_users_is_refused_with_that_name(
    here: Path, name: str
) -> None:
    lines = (
        "remember A",
        "chat -m hi",
        "chat --prompt hi",
        "import markdown memory_store",
        "import markdown memory_store --dry-run",
        f"serve keys add {name}",
        "mcp",
    )
    refused = set()
    for line in lines:
        words = line.split()
        if "keys" not in words:
            words += ["--user", name]
        refused.add(told(run(*words)))
    [said] = refused
    assert "but mara; use --user mara, or --new to begin one." in said
    assert run("remember", "A", "--user", name, "--new").exception is None


@pytest.mark.parametrize(
    "line",
    [
        "chat -m hi",
        "remember A",
        "import markdown notes",
        "chat --prompt hi",
        "import markdown notes --dry-run",
        "serve keys add olga",
    ],
)
def test_a_new_user_is_told_of_with_the_names_that_are_nearest(
    here: Path, line: str
) -> None:
    lay(here, {"notes/a.md": "A note.\n"})
    words = line.split()
    if "keys" not in words:
        words += ["--user", "olga"]
    said = run(*words).stderr.split("\n")
    assert f"New user olga in {here}/memory_store, beside mara." in said


def test_init_makes_the_store_that_is_meant_with_every_setting_commented_out(
    here: Path,
) -> None:
    for line, place in [
        ("init argument", "argument"),
        ("--store option init", "option"),
        ("init", "variable"),
    ]:
        made = run(*line.split(), FILEMEM_STORE="variable").output
        assert f"Created {here}/{place}/filemem.yaml." in made
    file = here / "variable/filemem.yaml"
    assert config.load(file.parent) == config.Config()
    file.write_text(re.sub(r"(?m)^# (\w+: )", r"\1", file.read_text()))
    limits = config.DEFAULTS.keys() - {*config.PERSONS, *config.MOVED}
    assert yaml.safe_load(file.read_text()).keys() == limits
    assert config.load(file.parent) == config.Config()


# -- commands --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("search tea", "path line text score archived date"),
        ("grep tea", "path line text archived"),
        ("list", "path kind date size archived"),
        ("users", "user memories"),
        ("check", "user path line what remedy"),
        ("timeline", "path line text"),
    ],
)
def test_json_is_one_document_or_one_value_a_line(
    here: Path, line: str, keys: str
) -> None:
    """Nothing in it is obeyed by a terminal, or cuts a line."""
    hostile = "tea \x9b31m \x7f \u202eevil\u2069 \u2028 \u2029"
    files = {
        "broken.md": "---\nimportance: 11\n---\n\nText.\n",
        "hostile.md": f"{hostile}\n",
    }
    lay(here / "memory_store/mara/facts", files)
    document = run(*line.split(), "--json").stdout
    assert document and not set(document) & set("\x9b\x7f\u202e\u2069\u2028\u2029")
    rows = json.loads(document)
    assert all({*keys.split()} <= row.keys() for row in rows)
    lines = run(*line.split(), "--json-lines").stdout.splitlines()
    assert [json.loads(one) for one in lines] == rows
    if line == "grep tea":
        assert hostile in [row["text"] for row in rows]


@pytest.mark.parametrize("line", ["consolidate --model x", "maintain", "search tea"])
def test_a_command_that_fails_says_so_in_its_document_too(
    here: Path, line: str
) -> None:
    failed = run(*line.split(), "--json", "--user", "nobody")
    assert json.loads(failed.stdout) == [{"error": told(failed)}]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("grep tea", 0),
        ("grep xylophone", 1),
        ("search tea", 0),
        ("search xylophone", 1),
        ("list facts/**", 0),
        ("list none/**", 1),
        ("timeline none/**", 1),
        ("call open {}", 1),
        ("check", 0),
        ("check --user ben", 1),
    ],
)
def test_exit_codes_tell_found_from_nothing_found(
    here: Path, line: str, code: int
) -> None:
    broken = {"facts/broken.md": "---\nimportance: 11\n---\n\nText.\n"}
    lay(here / "memory_store/ben", broken)
    args = line.split()
    if "--user" not in args:
        args += ["--user", "mara"]
    done = run(*args)
    assert done.return_value == code, done.output
    if line == "check --user ben":
        remedy = "importance is 11; importance is a whole number from 1 to 10.\n"
        assert f"ben/facts/broken.md:2: {remedy}" in done.output
        assert done.output.endswith("1 file of 1 user: 1 problem.\n")


@pytest.mark.parametrize(
    "path",
    [FACT, f"{FACT}:9", f"memory_store/mara/{FACT}", f"./memory_store/mara/{FACT}:9"],
)
def test_a_path_may_be_named_as_the_shell_completes_it(here: Path, path: str) -> None:
    assert "Mara gave up coffee" in run("open", path).output
    (here / "link").symlink_to("memory_store")
    assert "Mara gave up coffee" in run("open", path, "--store", "link").output


def test_edit_opens_the_file_at_the_line_and_checks_it(home: Path) -> None:
    editor = home / "bin/vi"
    broken = 'printf -- "---\\npinned: maybe\\n---\\n" > "$2"'
    editor.write_text(f'#!/bin/sh\necho "$@" > args\n{broken}\n')
    editor.chmod(0o755)
    renamed = shell(home, f"filemem edit {FACT}", EDITOR="sed -i s/ropes/knots/")
    assert renamed.returncode == 1
    assert "tea-on-the-knots.md:7, which does not exist" in renamed.stdout
    done = shell(home, f"filemem edit {FACT}:3", EDITOR="vi")
    assert (home / "args").read_text() == f"+3 {home}/memory_store/mara/{FACT}\n"
    assert done.stdout == f"{FACT}:2: pinned is 'maybe'; pinned is true or false.\n"
    assert done.returncode == 1
    failed = shell(home, "filemem edit profile.md", EDITOR="no-such-editor")
    assert failed.returncode == 2 and "no-such-editor: Editing failed" in failed.stderr


def test_edit_takes_words_for_the_fact_or_note_that_they_find(home: Path) -> None:
    """As people type them after `forget` took them; none found is told.

    What only a conversation says is opened there."""
    editor = home / "bin/vi"
    editor.write_text('#!/bin/sh\necho "$@" > args\n')
    editor.chmod(0o755)
    done = shell(home, "filemem edit oolong tea", EDITOR="vi")
    assert (home / "args").read_text() == f"{home}/memory_store/mara/{FACT}\n"
    assert done.returncode == 0 and FACT in done.stderr
    note = home / "memory_store/mara/notes/boiler.md"
    note.parent.mkdir()
    note.write_text("Bought a Bosch boiler.\n")
    shell(home, "filemem chat -m 'Which boiler did I buy?'")
    shell(home, "filemem edit boiler", EDITOR="vi")
    assert (home / "args").read_text() == f"{note}\n"
    note.unlink()
    shell(home, "filemem edit boiler", EDITOR="vi")
    line, said = (home / "args").read_text().split()
    assert "boiler" in Path(said).read_text().splitlines()[int(line) - 1]
    (home / "args").unlink()
    for wrong in ("xylophone", "notes/boiler.md"):  # a path is no words
        missed = shell(home, f"filemem edit {wrong}", EDITOR="vi")
        assert missed.returncode == 2 and f"{wrong} does not exist" in missed.stderr
    assert not (home / "args").exists()


# -- mistakes --------------------------------------------------------------------------

MISTAKES = """\
open nothing.md|open /etc/passwd|edit ../x|grep '('|grep tea --path '[z'
search tea --after soon|users --store filemem.txt|init filemem.txt|chat -m ''
chat -m hi --user user|remember ' '|chat --resume -m hi --user new|grep
grep a --contxt 1|nonsense words|grep a -C 50|serve keys|list -n 99999999999999999999
status --today 0001-01-01|--stor x users|list --user ''|undo ''
compact --dry-run soon|sweep --all-users --user mara|check --scheduler x"""


@pytest.mark.parametrize("line", MISTAKES.replace("\n", "|").split("|"))
def test_a_mistake_is_one_line_on_standard_error_with_exit_code_2(
    home: Path, line: str
) -> None:
    (home / "filemem.txt").write_text("no store\n")
    done = shell(home, f"filemem {line}")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"filemem: .+\n", done.stderr), done.stderr


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("serch tea", "the nearest is search"),
        ("nothing like it", "put what you want to say in quotes behind filemem chat"),
        ("ad", "put what you want to say in quotes behind filemem chat"),
    ],
)
def test_a_word_that_is_no_command_is_refused_as_a_chat_would_keep_it(
    here: Path, line: str, remedy: str
) -> None:
    words = line.split()
    sentence = f"^there is no command {words[0]}; {remedy}$"
    with pytest.raises(click.UsageError, match=sentence):
        cli.main(words, standalone_mode=False)


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


PACKAGE = """\
import click
from filemem.importers import ImportedNote
@click.command()
@click.argument('cups', type=int)
def brew(cups):
    click.echo(f'{cups} cups')
def read(path, zone):
    yield ImportedNote('tea.md', open(path, 'rb').read(), 'tea')
"""
ENTRY_POINTS = """\
[filemem.commands]
brew = tea:brew
grep = tea:brew
[filemem.importers]
caddy = tea:read
"""


def test_a_package_adds_a_command_and_an_importer(home: Path) -> None:
    """By entry points; filemem's own commands stay what they are."""
    files = {
        "tea.py": PACKAGE,
        "tea-1.dist-info/entry_points.txt": ENTRY_POINTS,
        "tea-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tea\nVersion: 1\n",
    }
    lay(home / "site", files)
    (home / "leaves").write_text("Longjing, 2026.\n")
    env = environment(home, PYTHONPATH=str(home / "site"))
    for line, said in [
        ("brew 3 --user mara", "3 cups\n"),
        ("grep oolong", FACT),
        ("import caddy leaves", "added mara/"),
        ("search longjing", "Longjing"),
    ]:
        assert said in filemem(*line.split(), cwd=home, env=env).stdout
    refused = filemem("import", "kettle", "leaves", cwd=home, env=env)
    assert "there is no format kettle; take one of chatgpt," in refused.stderr


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (
            "model: [",
            "filemem.yaml:1: broken YAML: did not find expected node content; "
            "fix this line.",
        ),
        (
            "# ok\nmodle: x",
            "filemem.yaml:2: unknown setting modle; did you mean model?",
        ),
        ("", "filemem.yaml is a symbolic link; name the file itself."),
    ],
)
def test_broken_settings_are_told_with_path_line_and_remedy(
    here: Path, text: str, remedy: str
) -> None:
    """What needs no setting goes on."""
    file = here / "memory_store/filemem.yaml"
    if text:
        file.write_text(text)
    else:
        file.symlink_to("nowhere")
    assert told(run("chat", "--prompt")) == f"{here}/memory_store/{remedy}"
    if text:
        assert remedy.rstrip("?.") in run("check").output.splitlines()[0]
    for line in ("grep tea", "search tea", "open profile.md", "list", "timeline"):
        done = run(*line.split())
        assert done.return_value == 0 and done.stdout, line


@pytest.fixture
def read_only(home: Path) -> Iterator[Path]:
    shell(home, "chmod -R a-w memory_store")
    yield home
    shell(home, "chmod -R u+rwX memory_store")


def test_a_read_only_store_is_read(read_only: Path) -> None:
    program = shlex.join([*without_rights(), *COLD])
    for line in ("grep oolong", "search oolong", "list", "check", "report"):
        done = shell(read_only, f"{program} {line}")
        assert (done.returncode, done.stderr) == (0, ""), (line, done.stderr)
    asked = shell(read_only, f"{program} chat -m 'What tea?'")
    assert asked.returncode == 0 and FACT in asked.stdout
    assert "cannot be written, so nothing of this is kept." in asked.stderr
    kept = shell(read_only, f"{program} remember 'Owns a kettle.'")
    assert kept.returncode == 2
    assert re.search(r"(?m)^.*/memory_store/mara.*ermission", kept.stderr)


def test_forgetting_names_what_may_not_be_changed_only_where_it_was_to_change(
    home: Path,
) -> None:
    program = shlex.join([*without_rights(), *COLD])
    other = home / "memory_store/mara/archive/facts/2025"
    other.chmod(0o500)
    bergen = shell(home, f"{program} forget Bergen --yes")
    tea = shell(home, f"{program} forget {FACT} --yes")
    other.chmod(0o700)
    assert bergen.returncode == 0 and "stays as it is" not in bergen.stdout
    name = "archive/facts/2025/2025-11-23-drinks-four-coffees-a-day.md"
    assert tea.returncode == 1 and f"{name} stays as it is" in tea.stdout
    assert "says it any more" not in tea.stdout


WORDS = (
    "-h --help --store --user --today --json --path --limit --after --context -C -n -m"
    " --resume --explain --as-of --dry-run -- - memory_store nowhere mara ben .."
    " /etc/passwd profile.md facts/** [ ( tea 外婆 0 1 -1 999999999999 2026-11-20"
    ' 2026-13-45 grep open {} {"query":"x"} claude markdown \udcff\udcfe \x1b[31m'
    " \u202e"
).split(" ")
TEXT = st.text(st.characters(exclude_characters="\0"), max_size=4)
ARGV = st.tuples(
    st.sampled_from([*COMMANDS, "nonsense", "--store"]),
    st.lists(st.sampled_from(WORDS) | TEXT, max_size=5),
)
ENDS = (FilememError, click.ClickException, click.Abort, OSError, SystemExit)


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ARGV)
def test_no_arguments_at_all_lead_to_a_traceback(
    here: Path, argv: tuple[str, list[str]]
) -> None:
    env = {"EDITOR": "true", "VISUAL": "", "HOME": str(here), "LOGNAME": "mara"}
    error = run(argv[0], *argv[1], **env).exception
    assert error is None or isinstance(error, (*ENDS, click.exceptions.Exit)), argv
    assert error is None or not isinstance(error, FilememError) or str(error).strip()


# -- pipes, locales, completion --------------------------------------------------------


@pytest.mark.parametrize("lang", ["C.UTF-8", "POSIX"])
def test_every_script_is_printed_whatever_the_locale_and_a_reader_may_leave_early(
    home: Path, lang: str
) -> None:
    said = shell(home, "filemem grep 惠明茶", LANG=lang).stdout
    assert "最喜欢的茶是景宁的[[惠明茶]]" in said
    (home / "memory_store/mara/long.md").write_text("a line of tea\n" * 50_000)
    done = shell(home, "filemem grep tea | head -1", LANG=lang)
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


# -- imports ---------------------------------------------------------------------------

HEAVY = {"openai", "httpx", "pydantic", "sqlite3"}
SLOW = {"yaml", "filemem.store.config", "filemem.index", "filemem.git.history"}
SLOW |= {"difflib", "_hashlib", "subprocess"}


@pytest.mark.parametrize(
    ("line", "never"),
    [
        ("", HEAVY | SLOW | {"click"}),
        ("--help", HEAVY),
        ("list", HEAVY),
        ("users", HEAVY),
        ("check", HEAVY - {"sqlite3"}),  # it looks which wishes a prompt has
        ("search oolong", HEAVY - {"sqlite3"}),  # which has the stems
        ("grep kettle", HEAVY | SLOW),  # of no file that says when it held
    ],
)
def test_no_command_imports_what_it_does_not_need(
    home: Path, line: str, never: set[str]
) -> None:
    """openai only for a talk with a model; and a grep loads no OpenSSL, and no YAML
    where the profile has no front matter."""
    (home / "memory_store/mara/profile.md").write_text("# Mara\n")
    code = "from filemem.cli import main; main()" if line else "import filemem"
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"try: {code}\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, *line.split()],
        cwd=home,
        env=environment(home),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "filemem" in done.stderr and not set(done.stderr.split()) & never
