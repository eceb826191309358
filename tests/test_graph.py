"""The graph shows every name that memories link to, what ties two of them, and what has ended; nothing in a name breaks it."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from filemem import Store
from filemem.cli import cli
from filemem.errors import FilememError
from filemem.files.folder import Folder

UNSET = dict.fromkeys(name for name in os.environ if name.startswith(("FILEMEM_", "OPENAI_")))
FILES = {
    "facts/2026/2026-05-09-cat.md": "Nora adopted a cat named [[Pixel]] from [[Ada]].\n",
    "facts/2026/2026-06-01-clocks.md": "[[ADA|her sister]] restores clocks in [[Antwerp]].\n",
    "facts/2026/2026-06-02-豆豆.md": "Nora的狗叫[[豆豆]]，住在[[Gánd]]。\n",
    "facts/2026/2026-06-03-plain.md": "Nora has no time for Antwerp.\n",
    "archive/facts/2026/2026-01-05-nurse.md": (
        "---\nvalid_until: 2026-06-11\nsuperseded_by: facts/2026/2026-06-11-midwife.md\n---\n\n"
        "Nora is a nurse in [[Knokke]].\n"
    ),
    "profile.md": "# Nora\n\n- Her sister is [[Ada]].\n",
}


@pytest.fixture
def user(tmp_path: Path) -> Folder:
    nora = Store(tmp_path).user("nora").folder
    nora.make()
    for path, text in FILES.items():
        place = Path(nora.root, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return nora


def graph(user: Folder, *more: str) -> str:
    """What `filemem graph` prints, and its exit code."""
    args = ["graph", "--store", user.store, "--user", user.name, *more]
    done = CliRunner().invoke(cli, args, env=UNSET, standalone_mode=False)
    if done.exception:
        raise done.exception
    return f"{done.output}[{done.return_value}]"


def test_every_name_with_what_is_beside_it_most_first(user: Folder) -> None:
    """Spellings that differ in case are one; people of the conversations count where something is linked."""
    assert graph(user) == (
        "Ada  3  Antwerp, Nora, Pixel\n"
        "Nora  3  Ada, Gánd, Knokke, Pixel, 豆豆\n"
        "Antwerp  1  Ada\n"
        "Gánd  1  Nora, 豆豆\n"
        "Knokke  1  Nora\n"
        "Pixel  1  Ada, Nora\n"
        "豆豆  1  Gánd, Nora\n"
        "[0]"
    )


def test_what_is_tied_to_one_name_with_the_memories_that_say_so(user: Folder) -> None:
    assert graph(user, "ada") == (
        "Ada  3 passages, beside Antwerp 1, Nora 1, Pixel 1\n"
        "2026-06-01  [[ADA|her sister]] restores clocks in [[Antwerp]].  facts/2026/2026-06-01-clocks.md:1\n"
        "2026-05-09  Nora adopted a cat named [[Pixel]] from [[Ada]].  facts/2026/2026-05-09-cat.md:1\n"
        "            Her sister is [[Ada]].  profile.md:3\n"
        "[0]"
    )
    assert graph(user, "gand").startswith("Gánd  1 passage, beside Nora 1, 豆豆 1\n")
    assert "is a nurse in [[Knokke]]. (until 2026-06-11)  archive/facts" in graph(user, "Knokke")


def test_a_name_that_is_not_there_is_answered_with_those_near_it(user: Folder) -> None:
    with pytest.raises(FilememError, match="no memory links to Antwrp; near it are Antwerp"):
        graph(user, "Antwrp")


def test_for_graphviz_what_has_ended_is_dashed(user: Folder) -> None:
    assert graph(user, "Knokke", "--dot") == (
        'graph "nora" {\n'
        '  "Nora" [tooltip="3 passages"];\n'
        '  "Knokke" [tooltip="1 passage"];\n'
        '  "Knokke" -- "Nora" [tooltip="Nora is a nurse in Knokke.", style=dashed];\n'
        "}\n[0]"
    )


def test_for_mermaid_what_has_ended_is_dotted(user: Folder) -> None:
    assert graph(user, "Nora", "--mermaid") == (
        'graph LR\n  n1["Ada"]\n  n2["Nora"]\n  n3["Gánd"]\n  n4["Knokke"]\n  n5["Pixel"]\n  n6["豆豆"]\n'
        "  n1 --- n2\n  n3 --- n2\n  n4 -.- n2\n  n2 --- n5\n  n2 --- n6\n[0]"
    )


def test_for_a_script(user: Folder) -> None:
    shown = json.loads(graph(user, "Knokke", "--json").removesuffix("[0]"))
    assert shown["ties"] == [
        {
            "names": ["Knokke", "Nora"],
            "ended": True,
            "memories": [
                {
                    "path": "archive/facts/2026/2026-01-05-nurse.md",
                    "line": 6,
                    "date": "2026-01-05",
                    "text": "Nora is a nurse in [[Knokke]].",
                    "archived": True,
                    "until": "2026-06-11",
                }
            ],
        }
    ]
    assert [name["name"] for name in shown["names"]] == ["Nora", "Knokke"]


def test_a_name_cannot_break_out_of_its_quotes_or_command_the_terminal(user: Folder) -> None:
    user.create("facts/2026/2026-07-01-x.md", 'Nora met [[a"; b \\ \x1b2J <script>]] in [[Ghent]].\n')
    for form in ("--dot", "--mermaid", "--json"):
        assert "\x1b" not in graph(user, form)
    assert '  "a\\"; b \\\\ \\\\x1b2J <script>" [tooltip="1 passage"];\n' in graph(user, "--dot")
    assert '["a#34;#59; b #92; #92;x1b2J #60;script#62;"]\n' in graph(user, "--mermaid")


def test_where_nothing_is_linked_the_exit_code_is_one(tmp_path: Path) -> None:
    nora = Store(tmp_path).user("nora").folder
    nora.create("facts/2026/2026-06-03-plain.md", "Nora has no time.\n")
    assert graph(nora) == "No memory links to anything yet; write names as [[Porto]].\n[1]"


def test_names_are_completed(user: Folder) -> None:
    words = {"COMP_WORDS": f"filemem graph --store {user.store} --user nora a", "COMP_CWORD": "6"}
    done = CliRunner().invoke(
        cli, [], env={**UNSET, **words, "_FILEMEM_COMPLETE": "bash_complete"}, prog_name="filemem"
    )
    assert done.output == "plain,Ada\nplain,Antwerp\n"
