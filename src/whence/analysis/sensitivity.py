"""What conclusions rest on: pairs that a log never shows.

A world estimated from a log lets an unseen pair stay put. Here the pair leads to any of the states
seen after its state, evenly, instead: what changes then rests on what nobody saw. Where many pairs
were seen a few times only, every conclusion is doubted: rare outcomes of theirs are missing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence._arrays import Floats, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.analysis.sample import PosteriorSample
from whence.likelihood.posterior import Posterior
from whence.model.coverage import THIN, coverage
from whence.model.demos import Demonstrations
from whence.model.equivalence import difference_in
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted

COMPARED = 10  # machines that are scored again
ROUGH = 0.25  # a larger share of pairs that are unseen or thin makes the dynamics rough


def elsewhere(mdp: LabeledMDP) -> LabeledMDP:
    """Return a world whose unseen pairs lead to the neighbours of their state, evenly."""
    if mdp.unseen is None or not len(mdp.unseen):
        return mdp
    state, successor = _neighbours(mdp)
    first = offsets_of(np.bincount(state, minlength=mdp.n_states))
    lengths = np.diff(mdp.offsets)
    at = mdp.unseen // mdp.n_actions
    lengths[mdp.unseen] = first[at + 1] - first[at]
    offsets = offsets_of(lengths)
    fresh = np.zeros(int(offsets[-1]), dtype=np.bool_)
    fresh[concatenated_ranges(offsets[mdp.unseen], offsets[mdp.unseen + 1])] = True
    kept = np.ones(mdp.n_transitions, dtype=np.bool_)
    kept[mdp.offsets[mdp.unseen]] = False
    successors = np.empty(len(fresh), dtype=np.int32)
    probabilities = np.empty(len(fresh))
    successors[~fresh], probabilities[~fresh] = mdp.successors[kept], mdp.probabilities[kept]
    successors[fresh] = successor[concatenated_ranges(first[at], first[at + 1])]
    probabilities[fresh] = np.repeat(1 / lengths[mdp.unseen], lengths[mdp.unseen])
    return replace(
        mdp,
        offsets=frozen_own(offsets),
        successors=frozen_own(successors),
        probabilities=frozen_own(probabilities),
    )


def _neighbours(mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return pairs (state, successor), ascending: where any action leads, and itself."""
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    own = np.arange(mdp.n_states, dtype=np.int64)
    keys = np.concatenate(
        [pair // mdp.n_actions * mdp.n_states + mdp.successors, own * mdp.n_states + own]
    )
    keys = np.unique(keys)
    return keys // mdp.n_states, keys % mdp.n_states


def doubts_of_dynamics(posterior: Posterior, sample: PosteriorSample | None) -> list[str]:
    """Return, in words, what speaks against conclusions from worlds estimated from logs."""
    rough = [_rough(mdp, demos) for mdp, demos in posterior.worlds if mdp.unseen is not None]
    return [*filter(None, rough), *_moved(posterior, sample)]


def _rough(mdp: LabeledMDP, demos: Demonstrations) -> str | None:
    """Return whether too many pairs were hardly ever seen."""
    known = coverage(demos, mdp)
    if known.unseen + known.thin <= ROUGH * known.pairs:
        return None
    return (
        f"the dynamics are known roughly: of {known.pairs} state-action pairs the log never shows "
        f"{known.unseen}, and {known.thin} fewer than {THIN} times, so rare outcomes may be "
        "missing: log more episodes, or give the dynamics"
    )


def _moved(posterior: Posterior, sample: PosteriorSample | None) -> list[str]:
    """Return whether another machine is likelier if unseen pairs do otherwise."""
    unseen = sum(0 if mdp.unseen is None else len(mdp.unseen) for mdp, _ in posterior.worlds)
    if sample is None or not unseen or len(sample) < 2:
        return []
    machines = sample.top(min(COMPARED, len(sample))).machines
    now = _log_likelihoods(posterior, machines)
    moved = posterior.in_worlds([elsewhere(mdp) for mdp, _ in posterior.worlds])
    then = _log_likelihoods(moved, machines)
    with np.errstate(invalid="ignore"):
        change = (then - now) / posterior.temperature
    score = np.log(sample.weights[: len(machines)]) + np.nan_to_num(change, nan=0.0)
    other = int(np.argmax(score))
    if other == 0:
        return []
    labels = _told(sample, machines[0], machines[other])
    pairs = sum(int(mdp.available.sum()) for mdp, _ in posterior.worlds)
    return [
        f"the log shows nothing of {unseen} of {pairs} state-action pairs; if these led to a "
        f"neighbouring state at random instead of staying put, another machine would be likelier, "
        f"which pays differently on `{' '.join(labels)}`: demonstrate there, or give the dynamics"
    ]


def _log_likelihoods(posterior: Posterior, machines: tuple[RewardMachine, ...]) -> Floats:
    return np.array([posterior.finest(machine) for machine in machines])


def _told(sample: PosteriorSample, one: RewardMachine, other: RewardMachine) -> tuple[str, ...]:
    """Return the shortest label sequence of any world that two machines are told apart by."""
    found = []
    for mdp in sample.worlds:
        labels = difference_in(restricted(one, mdp), restricted(other, mdp), mdp)
        if labels is not None:
            found.append(labels)
    return min(found, key=len)
