"""The benchmarks' files as their publishers had them at a commit."""

import hashlib
import urllib.request
from pathlib import Path
from typing import NamedTuple


class Published(NamedTuple):
    """A file at a commit, and the SHA-256 of its bytes."""

    url: str
    sha256: str


PUBLISHED = {
    "locomo": Published(
        "https://raw.githubusercontent.com/snap-research/locomo/"
        "3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
        "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    ),
    "longmemeval": Published(
        "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/"
        "98d7416c24c778c2fee6e6f3006e7a073259d48f/longmemeval_s_cleaned.json",
        "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    ),
}


def file_name(name: str) -> Path:
    """Return what a benchmark's file is called in the folder where one stands."""
    return Path(PUBLISHED[name].url.rpartition("/")[2])


def check(name: str, data: bytes) -> str:
    """Return the SHA-256 of a benchmark's file; exits where it is another file."""
    digest = hashlib.sha256(data).hexdigest()
    if digest != PUBLISHED[name].sha256:
        raise SystemExit(
            f"{name} is not what it was: SHA-256 {digest} instead of "
            f"{PUBLISHED[name].sha256}. Nothing is kept."
        )
    return digest


def download(name: str, out: Path, url: str = "") -> str:
    """Download a benchmark's file, from a mirror if one is named; returns its SHA-256.

    Nothing is written, and the program exits, if the file is not the known one.
    """
    with urllib.request.urlopen(url or PUBLISHED[name].url) as answer:
        data = answer.read()
    digest = check(name, data)
    out.write_bytes(data)
    return digest


def at_hand(name: str) -> Path:
    """Return a benchmark's file, downloaded where one stands if it is not there yet."""
    path = file_name(name)
    if path.exists():
        check(name, path.read_bytes())
    else:
        download(name, path)
    return path.resolve()
