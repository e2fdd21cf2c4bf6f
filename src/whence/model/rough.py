"""How roughly a log shows the dynamics: a Dirichlet for the successors of every pair.

With n(s, a, s') the transitions that the log shows and N(s) the successors seen from s under any
action together with s itself, the successors of a pair are Dirichlet distributed,

    P(. | s, a) ~ Dirichlet(n(s, a, s') + w / |N(s)|, s' in N(s)),

unseen pairs among them: those lead to some neighbour, nobody knows to which. The weight w of the
prior is not assumed: it is the one under which the log itself is likeliest, so that the many pairs
that were seen often say how spread the outcomes of those are that were not.

A Dirichlet draw is a draw of independent gamma variables, divided by their sum, and these can be
changed a little without leaving their distribution: g' = b g + e with b ~ Beta(r a, (1 - r) a) and
e ~ Gamma((1 - r) a) is distributed as g ~ Gamma(a) is, and the pair (g, g') is exchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Bools, Floats, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.model.demos import Demonstrations
from whence.model.estimation import Seen, neighbours, transitions_seen
from whence.model.mdp import LabeledMDP

WEIGHTS = (0.02, 20.0)  # of the prior, the least and the largest
WEIGHTS_TRIED = 61
LARGEST_SMOOTHING = 1.0  # of a world that counts as estimated from a log
LEAST = 1e-200  # a gamma variable: none is exactly 0


@dataclass(frozen=True, eq=False, repr=False)
class RoughDynamics:
    """The worlds that a log allows for, N transitions each.

    Attributes:
        mdp: a world with every transition that there may be; at its expected probabilities.
        shape: float64[N], the Dirichlet parameters; 1 where nothing is drawn.
        free: bool[N], the transitions of pairs whose successors are drawn.
        pair: int64[N], the pair s * A + a of each.
        weight: of the prior, as the log has it.
    """

    mdp: LabeledMDP
    shape: Floats
    free: Bools
    pair: Ints
    weight: float

    def sample(self, rng: np.random.Generator) -> Floats:
        """Return float64[N]: gamma variables of dynamics drawn from what the log allows for."""
        return _gamma(rng, self.shape)

    def changed(self, rng: np.random.Generator, gammas: Floats, kept: float) -> Floats:
        """Return gamma variables a little changed; reversible with respect to `sample`.

        Args:
            rng: of every choice.
            gammas: float64[N].
            kept: r, the share that stays, above 0 and below 1.
        """
        stay, go = kept * self.shape, (1 - kept) * self.shape
        share = _gamma(rng, stay)
        share = share / (share + _gamma(rng, go))
        return np.asarray(share * gammas + _gamma(rng, go))

    def afresh(self, rng: np.random.Generator, gammas: Floats, states: Ints) -> Floats:
        """Return gamma variables with those of some states' pairs drawn again."""
        n_actions = self.mdp.n_actions
        first, last = (
            self.mdp.offsets[states * n_actions],
            self.mdp.offsets[(states + 1) * n_actions],
        )
        entries = concatenated_ranges(first, last)
        result = gammas.copy()
        result[entries] = _gamma(rng, self.shape[entries])
        return result

    def probabilities(self, gammas: Floats) -> Floats:
        """Return float64[N], the probabilities that gamma variables stand for."""
        total = np.bincount(self.pair, weights=gammas, minlength=len(self.mdp.offsets) - 1)
        return np.where(self.free, gammas / total[self.pair], self.mdp.probabilities)

    def __repr__(self) -> str:
        return f"<RoughDynamics: {len(self.shape)} transitions, prior weight {self.weight:.2g}>"


def _gamma(rng: np.random.Generator, shape: Floats) -> Floats:
    return np.maximum(rng.standard_gamma(shape), LEAST)


def rough_dynamics(mdp: LabeledMDP, demos: Demonstrations) -> RoughDynamics | None:
    """Return what a log allows for; None where the world was not estimated from that log.

    Args:
        mdp: estimated by `LabeledMDP.from_demonstrations`.
        demos: that it was estimated from.
    """
    if mdp.unseen is None:
        return None
    seen = transitions_seen(demos)
    if not _estimated(mdp, seen):
        return None
    weight = likeliest_weight(seen, mdp.n_states, mdp.n_actions)
    return _spread(mdp, seen, weight)


def _estimated(mdp: LabeledMDP, seen: Seen) -> bool:
    """Whether a world is the estimate from these transitions, with a little smoothing or none."""
    assert mdp.unseen is not None
    pair = seen.state * mdp.n_actions + seen.action
    total = np.bincount(pair, weights=seen.times, minlength=len(mdp.offsets) - 1)
    if np.isin(pair, mdp.unseen).any() or not len(pair):
        return False
    own = np.repeat(np.arange(len(total)), np.diff(mdp.offsets))
    said = np.zeros(mdp.n_transitions)
    keys = own * mdp.n_states + mdp.successors
    wanted = pair * mdp.n_states + seen.successor
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    if (keys[at] != wanted).any():
        return False
    said[at] = seen.times
    shown = total[own] > 0
    apart = np.abs(mdp.probabilities - said / np.maximum(total[own], 1.0))
    most = LARGEST_SMOOTHING / (total[own] + LARGEST_SMOOTHING)
    return bool((apart[shown] <= most[shown] + 1e-9).all())


def _spread(mdp: LabeledMDP, seen: Seen, weight: float) -> RoughDynamics:
    """Return the Dirichlets of the pairs that were seen, or might have been."""
    assert mdp.unseen is not None
    pairs = len(mdp.offsets) - 1
    drawn = np.zeros(pairs, dtype=np.bool_)
    drawn[seen.state * mdp.n_actions + seen.action] = True
    drawn[mdp.unseen] = True
    drawn &= np.diff(mdp.offsets) > 0
    state, successor = neighbours(seen, mdp.n_states)
    first = offsets_of(np.bincount(state, minlength=mdp.n_states))
    at = np.arange(pairs) // mdp.n_actions
    begin = np.where(drawn, first[at], mdp.offsets[:-1])
    end = np.where(drawn, first[at + 1], mdp.offsets[1:])
    offsets = offsets_of(end - begin)
    own = np.repeat(np.arange(pairs), np.diff(offsets))
    entry = concatenated_ranges(begin, end)
    free = drawn[own]
    successors = np.empty(len(own), dtype=np.int32)
    successors[free], successors[~free] = successor[entry[free]], mdp.successors[entry[~free]]
    shape = np.ones(len(own))
    shape[free] = (weight / np.diff(first)[at[own]])[free]
    keys = own * mdp.n_states + successors
    shape[np.searchsorted(keys, _keys(mdp, seen))] += seen.times
    mean = shape / np.bincount(own, weights=shape, minlength=pairs)[own]
    mean[~free] = mdp.probabilities[entry[~free]]
    wide = replace(
        mdp,
        offsets=frozen_own(offsets),
        successors=frozen_own(successors),
        probabilities=frozen_own(mean),
    )
    return RoughDynamics(wide, frozen_own(shape), frozen_own(free), frozen_own(own), weight)


def _keys(mdp: LabeledMDP, seen: Seen) -> Ints:
    return (seen.state * mdp.n_actions + seen.action) * mdp.n_states + seen.successor


def likeliest_weight(seen: Seen, n_states: int, n_actions: int) -> float:
    """Return the weight of the prior under which the transitions seen are likeliest.

    The log probability of the successors of all pairs, Dirichlet variables integrated out, is a
    sum of log gamma functions of counts; the best of a grid is taken.
    """
    state, _ = neighbours(seen, n_states)
    many = np.bincount(state, minlength=n_states)[seen.state]
    pair = seen.state * n_actions + seen.action
    total = np.bincount(pair, weights=seen.times).astype(np.int64)
    cells, cell_times = np.unique(np.stack([seen.times, many]), axis=1, return_counts=True)
    sums, sum_times = np.unique(total[total > 0], return_counts=True)

    def log_evidence(weight: float) -> float:
        rising = _each(lambda n, k: math.lgamma(n + weight / k) - math.lgamma(weight / k), *cells)
        whole = _each(lambda n: math.lgamma(n + weight) - math.lgamma(weight), sums)
        return float(cell_times @ rising - sum_times @ whole)

    weights = np.geomspace(*WEIGHTS, WEIGHTS_TRIED)
    return float(weights[np.argmax([log_evidence(float(weight)) for weight in weights])])


def _each(function: Callable[..., float], *columns: Ints) -> Floats:
    return np.array([function(*row) for row in zip(*(c.tolist() for c in columns), strict=True)])
