"""The machines that subjects' tasks are weighed among, in the folder of a run.

To find them takes searches of what each subject shows, so the folder keeps them, under a name that
says what they were found from: whoever reads the run again need not search again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from whence import _files as files
from whence._arrays import Floats, Ints
from whence.errors import FileError, FormatError, MachineError
from whence.io import arrays
from whence.model.machine import RewardMachine
from whence.runs.job import Job
from whence.search.draws import Draws

TAG = "whence/subjects/1"
NAME = "subjects.npz"
TABLES = ("transitions", "rewards", "n_states")


def source_of(job: Job, draws: Draws | None) -> str:
    """Return a name for what machines are found from."""
    found = hashlib.sha256(repr((job.experts, job.tasks, job.seed, job.settings)).encode())
    if draws is not None:
        for table in (draws.transitions, draws.rewards, draws.weight):
            found.update(np.ascontiguousarray(table).tobytes())
    return found.hexdigest()


def listed_arrays(machines: Sequence[RewardMachine], source: str) -> arrays.Arrays:
    """Return machines as arrays for a file."""
    size = max(each.n_states for each in machines)
    tables = [padded(each, size) for each in machines]
    return {
        "format": np.array(TAG),
        "source": np.array(source),
        "transitions": np.stack([each for each, _ in tables]),
        "rewards": np.stack([each for _, each in tables]),
        "n_states": np.array([each.n_states for each in machines]),
    }


def kept(folder: Path | None, source: str, alphabet: Sequence[str]) -> list[RewardMachine] | None:
    """Return the machines that a folder keeps, if they are those asked for and whole."""
    if folder is None:
        return None
    try:
        found = arrays.load(files.read_bytes(files.own(folder, NAME)), NAME)
        if str(found.get("source")) != source or set(TABLES) - set(found):
            return None
        rows = zip(*(found[name] for name in TABLES), strict=True)
        return [RewardMachine(alphabet, to[:n], paid[:n]) for to, paid, n in rows]
    except (FileError, FormatError, MachineError, IndexError, TypeError, ValueError):
        return None


def padded(machine: RewardMachine, size: int) -> tuple[Ints, Floats]:
    """Return a machine's tables with unreachable states behind its own, which stay and pay 0."""
    transitions = np.repeat(np.arange(size)[:, None], len(machine.alphabet), axis=1)
    rewards = np.zeros((size, len(machine.alphabet)))
    transitions[: machine.n_states] = machine.transitions
    rewards[: machine.n_states] = machine.rewards
    return transitions, rewards
