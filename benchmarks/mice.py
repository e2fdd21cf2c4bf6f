"""How well are mice predicted? Every fifth window is held out; nats a step on those.

Ten thirsty mice in a labyrinth (`examples/mice`), 238 windows of 500 steps. For n = 1 to 4 machine
states the best machine with its expert is inferred from four fifths of the windows; beside it the
same machine with an alpha and a lapse for each window, cloning by state, and chance. The
data do not name the mice, so a window stands for a subject: what a held-out window's own alpha
is is not known, and is averaged over what the others tell of how windows differ.

    python benchmarks/mice.py [--states 1 2 3 4] [--steps 150]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import whence
from whence import Expert, LapsePrior
from whence.analysis import memoryless
from whence.analysis.subjects import BY_SUBJECT, weighed
from whence.likelihood.steps import steps
from whence.model.available import log_chances
from whence.model.expert_prior import AlphaPrior

FOLDER = Path(__file__).parents[1] / "examples" / "mice"
DISCOUNT = 0.95


def told(name: str, by_window: np.ndarray, lengths: np.ndarray) -> None:
    """Print nats a step, with the standard error over windows."""
    each = by_window / lengths
    error = each.std(ddof=1) / np.sqrt(len(each))
    print(f"{name}: {by_window.sum() / lengths.sum():.4f} ± {error:.4f}", flush=True)


def of_table(table: np.ndarray, demos: whence.Demonstrations) -> np.ndarray:
    """Return the log likelihood of each window under log probabilities by state and action."""
    taken = table[memoryless.pairs(demos)]
    episode = np.repeat(np.arange(len(demos)), demos.lengths)
    return np.bincount(episode, weights=taken, minlength=len(demos))


def by_window(
    mdp: whence.LabeledMDP,
    machine: whence.RewardMachine,
    training: whence.Demonstrations,
    test: whence.Demonstrations,
) -> np.ndarray:
    """Return the log likelihood of each held-out window, its own expert averaged over."""
    how = ([machine], np.zeros(1), [DISCOUNT], AlphaPrior(), LapsePrior())
    seen, new = (
        weighed([(mdp, part)], *how, [np.arange(len(part))], BY_SUBJECT)
        for part in (training, test)
    )
    log_context = seen.scores[:, :, 0].sum(axis=1) + seen.log_context
    log_context -= np.logaddexp.reduce(log_context)
    return np.logaddexp.reduce(new.scores[:, :, 0] + log_context[:, None], axis=0)


def main() -> None:
    """Infer from four fifths, predict the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="*", default=[1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=150)
    given = parser.parse_args()
    mdp = whence.LabeledMDP.load(FOLDER / "labyrinth.json")
    windows = whence.Demonstrations.load(FOLDER / "windows.npz")
    aside = np.arange(len(windows)) % 5 == 4
    training, test = windows.subset(np.flatnonzero(~aside)), windows.subset(np.flatnonzero(aside))
    lengths = test.lengths
    print(f"{len(training)} windows to infer from, {len(test)} held out")
    told("chance", of_table(log_chances(mdp), test), lengths)
    with np.errstate(divide="ignore"):  # of actions that a state does not have
        cloned = np.log(memoryless.cloned(mdp, training))
    told("cloning by state", of_table(cloned, test), lengths)
    for n in given.states:
        began = time.process_time()
        small = n <= 2
        run = whence.infer(
            mdp, training, states=n, discount=DISCOUNT, threads=1, progress=False,
            method="exhaustive" if small else "tempering", steps=None if small else given.steps,
        )  # fmt: skip
        expert = Expert(run.expert.alpha, DISCOUNT, run.expert.lapse)
        found = steps([(mdp, test)], run.best, expert)
        took = time.process_time() - began
        print(f"n = {n}: {run.expert}, {took:.0f} CPU s; {run.answer}")
        print(" ".join(str(run.best).splitlines()))
        told(f"n = {n}, shared", found.by_episode(found.log_likelihood), lengths)
        told(f"n = {n}, by window", by_window(mdp, run.best, training, test), lengths)


if __name__ == "__main__":
    main()
