"""Draws the terminal of the README's first screen from a real session, in English and in Chinese.

    python docs/demo.py [--check]

writes docs/demo.svg and docs/demo-zh.svg; with --check it only says whether they are what the commands print now.
"""

import os
import subprocess
import sys
import tempfile
import unicodedata
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS = 84
LINE = 19  # pixels
CELL = 8.2  # pixels
PAUSE = 1.6  # seconds after each command
ENGLISH = [
    "filemem chat -m 'Remember that Ines eats no fish.' --today '2026-11-20 09:30'",
    "cat memory_store/ann/facts/2026/*.md",
    "sed -i '$s/no fish/neither fish nor meat/' memory_store/ann/facts/2026/*.md",
    "filemem chat -m 'What does Ines not eat?' --today '2026-11-21 18:00'",
    "git -C memory_store diff -U0 ann/facts | tail -n 3",
    "filemem forget meat --yes | grep Forgot",
]
CHINESE = [
    "filemem chat -m '记住：外婆不吃鱼。' --today '2026-11-20 09:30'",
    "cat memory_store/ann/facts/2026/*.md",
    "sed -i '$s/不吃鱼/不吃鱼和肉/' memory_store/ann/facts/2026/*.md",
    "filemem chat -m '外婆不吃什么？' --today '2026-11-21 18:00'",
    "git -C memory_store diff -U0 ann/facts | tail -n 3",
    "filemem forget 鱼和肉 --yes | grep Forgot",
]
STYLE = (
    "rect{fill:#fbfbf9}text{font:13.6px ui-monospace,Menlo,Consolas,'Noto Sans Mono CJK SC',monospace;fill:#2b2b2b;"
    "white-space:pre}.c{font-weight:bold}.d{fill:#777}@media(prefers-color-scheme:dark){rect{fill:#16181c}"
    "text{fill:#d6d6d0}.d{fill:#8b8b85}}@media(prefers-reduced-motion:reduce){text{animation:none!important}}"
)


def session(commands: list[str], folder: Path) -> list[tuple[str, list[str]]]:
    """Each command with the lines that it printed."""
    mine = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("FILEMEM", "OPENAI", "GIT_"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = mine | {
        "PATH": path,
        "HOME": str(folder),
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
    }
    env |= {"FILEMEM_STORE": str(folder / "memory_store"), "FILEMEM_USER": "ann"}

    def run(command: str) -> list[str]:
        done = subprocess.run(
            ["sh", "-c", command],
            env=env,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            raise SystemExit(f"$ {command}\n{done.stdout}{done.stderr}")
        return [
            line for text in done.stdout.strip().splitlines() for line in wrapped(text)
        ]

    run("filemem init memory_store --git")
    return [(command, run(command)) for command in commands]


def width(text: str) -> int:
    """Cells that a text takes in a terminal."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text
    )


def wrapped(text: str) -> list[str]:
    """A line as a terminal breaks it."""
    lines = [""]
    for letter in text:
        if width(lines[-1] + letter) > COLUMNS:
            lines.append("")
        lines[-1] += letter
    return lines


def drawn(steps: list[tuple[str, list[str]]]) -> str:
    """The session as a picture whose lines come one command after the other, for ever."""
    rows: list[tuple[str, str, float]] = []
    for number, (command, printed) in enumerate(steps):
        at = number * PAUSE
        rows += [("c", line, at) for line in wrapped(f"$ {command}")]
        rows += [
            ("d" if line.startswith(("---", "source:")) else "", line, at + PAUSE / 2)
            for line in printed
        ]
    whole = (len(steps) + 3) * PAUSE
    frames = "".join(
        f"@keyframes s{round(at * 10)}{{0%,{100 * at / whole:.1f}%{{opacity:0}}{100 * at / whole + 0.1:.1f}%,100%{{opacity:1}}}}"
        for at in sorted({at for _, _, at in rows})
    )
    high, wide = LINE * (len(rows) + 1), round(CELL * (COLUMNS + 3))
    text = "\n".join(
        f'<text class="{kind}" x="12" y="{LINE * (number + 1)}" style="animation:s{round(at * 10)} {whole:.1f}s infinite">'
        f"{escape(line)}</text>"
        for number, (kind, line, at) in enumerate(rows)
    )
    title = escape("; ".join(command for command, _ in steps))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" role="img"><title>{title}</title>'
        f'<style>{STYLE}{frames}</style><rect width="{wide}" height="{high}" rx="6"/>\n{text}\n</svg>\n'
    )


def main(check: bool) -> None:
    """Write both pictures, or say which is out of date."""
    for name, commands in (("demo.svg", ENGLISH), ("demo-zh.svg", CHINESE)):
        with tempfile.TemporaryDirectory() as folder:
            picture = drawn(session(commands, Path(folder)))
        if not check:
            (HERE / name).write_text(picture, encoding="utf-8")
        elif (
            not (HERE / name).is_file()
            or (HERE / name).read_text(encoding="utf-8") != picture
        ):
            raise SystemExit(
                f"docs/{name} is not what the commands print now; make it anew with: python docs/demo.py"
            )


if __name__ == "__main__":
    main("--check" in sys.argv)
