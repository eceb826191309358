"""How long commands take to start, beside a Python that only imports click, as ratios of paired runs.

    python benchmarks/start.py [--runs 41]

Each run of a command is followed by one of `python -c "import click"`; the ratio is taken pair by pair and the median told,
of wall time and of processor time. The sample store's index is made, and every module compiled, before the first run, as pip
compiles what it installs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "from filemem.cli import main; main()"  # what the console script runs
COMMANDS = (
    ["--help"],
    ["grep", "oolong"],
    ["list"],
    ["search", "what tea does Mara like?"],
    ["chat", "-m", "What tea?"],
)


def spent(arguments: list[str], folder: str) -> tuple[float, float]:
    """Wall and processor seconds of one run."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(folder, "compiled")}
    quiet = subprocess.DEVNULL
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=os.environ | compiled, stdout=quiet, stderr=quiet
    )
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=41, help="paired runs of each command")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", "-r", ROOT / "memory_store", folder], check=True)
        print("| command | wall ms | of click's | processor time, of click's |")
        print("| --- | --- | --- | --- |")
        for command in COMMANDS:
            spent(["-c", PROGRAM, *command], folder)
            spent(["-c", "import click"], folder)
            pairs = [
                (spent(["-c", PROGRAM, *command], folder), spent(["-c", "import click"], folder)) for _ in range(runs)
            ]
            wall = statistics.median(ours[0] / click[0] for ours, click in pairs)
            processor = statistics.median(ours[1] / click[1] for ours, click in pairs)
            took = statistics.median(ours[0] for ours, _ in pairs)
            print(f"| `filemem {' '.join(command)}` | {1000 * took:.0f} | {wall:.2f} | {processor:.2f} |", flush=True)


if __name__ == "__main__":
    main()
