"""Does a journal that was cut anywhere stop a run? Every length of its last bytes is tried.

python benchmarks/journal_cuts.py [--bytes 2000]
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import whence
from whence import Expert, Tempering, WhenceError
from whence.runs import checkpoint, searching

EXPERT = Expert(50, 0.92)
SETTINGS = Tempering(rungs=3, warm_up=10, pace=10, steps=40, every=20, until_agreed=False)


class KillError(Exception):
    """Stands for a kill."""


def main() -> None:
    """Print how many cuts were resumed to the same bytes, and how many refused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int, default=2_000)
    chosen = parser.parse_args()
    searching.EVENT_SECONDS = 0.0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        infer(place / "whole")
        with contextlib.suppress(KillError):
            infer(place / "killed", kill_at=25)
        length = (place / "killed" / "journal.jsonl").stat().st_size
        before = steps_kept(place / "killed")
        counts = Counter(
            outcome(place, cut) for cut in range(max(0, length - chosen.bytes), length + 1)
        )
    print(f"a journal of {length} bytes, a checkpoint after {before} steps; cuts: {dict(counts)}")


def infer(folder: Path, kill_at: int | None = None) -> None:
    """Make a short run, or one that is killed."""
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=5, length=20, seed=0)

    def on_event(event: whence.Event) -> None:
        if kill_at is not None and event.step >= kill_at:
            raise KillError

    whence.infer(
        world.mdp, demos, states=2, expert=EXPERT, settings=SETTINGS, folder=folder,
        checkpoint=0.0, on_event=on_event,
    )  # fmt: skip


def outcome(place: Path, cut: int) -> str:
    """Cut a copy of the killed run's journal, resume it, and say what came of it."""
    folder = place / "cut"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place / "killed", folder)
    with (folder / "journal.jsonl").open("r+b") as file:
        file.truncate(cut)
    try:
        whence.resume(folder)
    except WhenceError:
        return "refused"
    names = ("best.json", "trace.npz", "draws.npz")
    same = all(
        (folder / name).read_bytes() == (place / "whole" / name).read_bytes() for name in names
    )
    return "the same bytes" if same else "OTHER BYTES"


def steps_kept(folder: Path) -> int:
    """Return the steps of the last checkpoint."""
    found = checkpoint.read(folder)
    return 0 if found is None else sum(part.rows for part in found.header.parts)


if __name__ == "__main__":
    main()
