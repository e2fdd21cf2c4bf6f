"""What stands on the screen in the first minute: `whence demo` with an empty kernel cache.

Once with its output in a pipe, once on a terminal; then again with the cache filled. Printed are
what was last said after 1, 5, 15 and 30 seconds, the longest silence, and how the times that were
said to be left compare to those that it then took.

    python benchmarks/first_minute.py [--moments 1 5 15 30]
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")
LEFT = re.compile(r"(?:looks in|at most) (?:(\d+):)?(\d+):(\d\d) (?:whether|left)")
TELLING = re.compile(r"inferring|compiling|\.\.\.|ready|known")
OVER = re.compile(r"working out what is known|inferred; going on")
Said = list[tuple[float, str]]


def spoken(folder: Path, cache: Path, terminal: bool) -> tuple[Said, float]:
    """Run the demo; return what was said, each with its second, and how long it took."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(cache), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40",
    }  # fmt: skip
    command = [sys.executable, "-m", "whence", "demo", "-o", str(folder)]
    ours, theirs = pty.openpty() if terminal else os.pipe()
    began = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said: Said = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # a terminal whose other end is closed
            break
        if not part:
            break
        said.append((time.monotonic() - began, part.decode("utf-8", "replace")))
    process.wait()
    os.close(ours)
    return said, time.monotonic() - began


def standing(said: Said, moment: float) -> str:
    """Return the last line that was said by then."""
    text = "".join(part for second, part in said if second <= moment)
    lines = [line.strip() for line in ESCAPE.sub("\n", text).splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line)]
    return (telling or lines or ["(nothing)"])[-1][:150]


def silence(said: Said, took: float) -> float:
    """Return the longest time in which nothing was said."""
    seconds = [0.0, *(second for second, _ in said), took]
    return max(after - before for before, after in pairwise(seconds))


def worst_claim(said: Said, took: float) -> float:
    """Return the largest ratio of a time said to be left, after ten seconds, to what it took.

    What is left is that of the inference that goes on: there are three, one after the other.
    """
    plain = [(second, ESCAPE.sub("", part)) for second, part in said]
    ends = [second for second, part in plain if OVER.search(part)] + [took]
    worst = 0.0
    for second, part in plain:
        for hours, minutes, rest in LEFT.findall(part):
            claimed = 3600 * int(hours or 0) + 60 * int(minutes) + int(rest)
            if second > 10:
                end = next(end for end in ends if end >= second)
                worst = max(worst, claimed / max(end - second, 1.0))
    return worst


def main() -> None:
    """Record, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", nargs="+", type=float, default=[1, 5, 15, 30])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for number, (kind, cache) in enumerate(
            [("pipe", "a"), ("terminal", "b"), ("pipe", "a"), ("terminal", "b")]
        ):
            folder = Path(name)
            said, took = spoken(folder / f"run{number}", folder / cache, kind == "terminal")
            print(f"{kind}, {'cold' if number < 2 else 'again'}: {took:.1f} s in all")
            print(f"  first words after {said[0][0]:.2f} s, longest silence "
                  f"{silence(said, took):.1f} s, largest time left beside the true one: "
                  f"{worst_claim(said, took):.2f}")  # fmt: skip
            for moment in given.moments:
                print(f"  after {moment:g} s: {standing(said, moment)}", flush=True)


if __name__ == "__main__":
    main()
