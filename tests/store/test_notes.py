"""A note's front matter is searched as `key: value`, and its title is what all of it speaks of."""

import datetime as dt
from pathlib import Path

import pytest
from programs import lay

from filemem import Toolbox
from filemem.store.users import StoreFolder

NOW = dt.datetime(2026, 11, 20, 9, 30)
NOTES = {
    "notes/Anna.md": "---\nbirthday: 1990-04-17\nphone: 0770123456\nhome:\n  city: Porto\n---\nLikes the sea.\n",
    "notes/People/安娜.md": "---\n生日: 1988-02-03\n电话: 13912345678\n---\n喜欢乌龙茶。\n",
    "notes/2026-05-04-rome.md": "# Our week in Italy\n\n## Hotel\n\nAlbergo del Sole.\n\n## Costs\n\n- train 120 euro\n",
    "notes/todo.md": "---\ntitle: Tax return\ndue: 2026-12-15\n---\n- [ ] collect receipts\n",
    "sessions/2026/2026-05-01-0930-hello.md": "- **Ann**: Whose birthday is it?\n- **Bob**: 我不知道她的生日。\n",
}


def ask(root: Path, query: str) -> list[str]:
    lay(root / "ann", NOTES)
    return (
        Toolbox(StoreFolder(root).folder("ann"), lambda: NOW)
        .call("search_files", {"query": query})
        .split("\n")
    )


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("When is Anna's birthday?", "notes/Anna.md", "   2  birthday: 1990-04-17"),
        ("Anna's phone", "notes/Anna.md", "   3  phone: 0770123456"),
        ("Which city is Anna's home?", "notes/Anna.md", "   4  home:"),
        ("安娜的生日是什么时候？", "notes/People/安娜.md", "   2  生日: 1988-02-03"),
        ("安娜的电话是多少？", "notes/People/安娜.md", "   3  电话: 13912345678"),
        (
            "When is the tax return due?",
            'notes/todo.md  "Tax return"',
            "   3  due: 2026-12-15",
        ),
        (
            "hotel in Italy",
            'notes/2026-05-04-rome.md  Mon  "Our week in Italy"',
            "   5  Albergo del Sole.",
        ),
        (
            "train to Rome",
            'notes/2026-05-04-rome.md  Mon  "Our week in Italy"',
            "   9  - train 120 euro",
        ),
    ],
)
def test_a_note_answers_for_its_title_and_keys(
    tmp_path: Path, query: str, path: str, line: str
) -> None:
    lines = ask(tmp_path, query)
    shown = lines[lines.index(path) :]
    assert shown
    assert line in shown
