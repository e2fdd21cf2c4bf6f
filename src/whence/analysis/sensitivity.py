"""What conclusions rest on: pairs that a log never shows, and a discount that was assumed.

A world estimated from a log lets an unseen pair stay put. Here the pair leads to any of the states
seen after its state, evenly, instead: what changes then rests on what nobody saw. Where many pairs
were seen a few times only, every conclusion is doubted: rare outcomes of theirs are missing.

A wrong discount bends every conclusion: a nearby machine may imitate what a machine would make
an expert do who looks less far ahead. So, where alpha was inferred but the discount was not, the
best machine is scored again at other discounts, each with the alpha that suits it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from whence.search.unknowns import DISCOUNTS

COMPARED = 10  # machines that are scored again
CLEARLY = 10.0  # nats
ALPHAS = (0.1, 10_000.0)
ALPHAS_TRIED = 61
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


def doubts_of_discount(
    posterior: Posterior, machine: RewardMachine, inferred: Sequence[str]
) -> list[str]:
    """Return, in words, whether another discount does better by far; `posterior` has the expert's.

    Args:
        posterior: of the expert that was found.
        machine: the best one.
        inferred: what of the expert was.
    """
    if "alpha" not in inferred or "discount" in inferred or not posterior.n_steps:
        return []
    assumed = posterior.expert.discount
    found = {
        discount: best_log_likelihood(posterior, machine, discount)
        for discount in (assumed, *DISCOUNTS)
    }
    other = max(found, key=lambda discount: found[discount])
    gain = (found[other] - found[assumed]) / posterior.temperature
    if not gain > CLEARLY:
        return []
    return [
        f"the discount was taken to be {assumed:g}, but with {other:g} this machine explains the "
        f"demonstrations {gain:,.0f} nats better, and others may do better still: give the right "
        "discount, or have it inferred: --discount infer"
    ]


def best_log_likelihood(posterior: Posterior, machine: RewardMachine, discount: float) -> float:
    """Return the log likelihood at a discount, with the best of many alphas."""
    there = posterior.of_expert(replace(posterior.expert, discount=discount))
    table = machine.over(posterior.alphabet)
    low, high = ALPHAS
    best = -np.inf
    for _ in range(2):  # once over all, then more finely around the best
        alphas = np.geomspace(low, high, ALPHAS_TRIED)
        many = (len(alphas), *table.transitions.shape)
        found = there.log_likelihood(
            np.broadcast_to(table.transitions, many),
            np.broadcast_to(table.rewards, many),
            alpha=alphas,
        )
        at = int(found.argmax())
        best = max(best, float(found[at]))
        low, high = alphas[max(at - 1, 0)], alphas[min(at + 1, len(alphas) - 1)]
    return best
