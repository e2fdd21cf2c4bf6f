"""The exact posterior: every valid machine is scored, a batch a step.

A canonical machine R of n states weighs

    P(D | R)^(1/T)  P(n)  P(R) / Z_n  (n - 1)!

with all its labelled copies together, divided by the sum over all machines of all sizes asked
for. Machines whose weight cannot matter are not kept, but their weight is summed up: what is
dropped is known. `State` is all that the next step needs; nothing is drawn.

The kept ones are scored once more at the end, to 1e-6 nats: the error of the first score would be
seen in the weights. An unknown expert is integrated out, so that P(D | R) is of machines alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.likelihood.posterior import Posterior
from whence.model.canonical import minimise_batch
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.prior import Prior
from whence.search.affordable import check_affordable
from whence.search.draws import Draws, Exact
from whence.search.enumeration import Enumeration
from whence.search.evidence import Evidence
from whence.search.machines import Machines
from whence.search.method import Finding, Found, Method, Row, within
from whence.search.settings import Exhaustive
from whence.search.sifting import batch_of, on_card, sifted
from whence.search.tape import Tape
from whence.search.target import Chains

EVIDENCE_ERROR = 1e-6  # of exact log evidence: what each machine's log likelihood may be off
FINE = 1e-6  # nats, the error allowed in the log likelihood of a machine that is kept
TIE = 2 * FINE  # scores this close are equal
WORTH_REFINING = 25.0  # nats below the heaviest
NEARLY_ALL = 0.999  # of the weight: the machines that are given several experts each ...
MOST_WITH_EXPERTS = 200  # ... and how many they are at most

Scorer = Posterior | Integrated


@dataclass(frozen=True, eq=False)
class Kept:
    """Machines by number, and what is known of each.

    Attributes:
        position: int64[N], numbers in the space.
        log_likelihood: float64[N].
        log_prior: float64[N], not normalised.
        log_weight: float64[N], the logarithm of what a machine weighs, not normalised.
    """

    position: Ints
    log_likelihood: Floats
    log_prior: Floats
    log_weight: Floats

    def taken(self, which: Ints) -> Kept:
        """Return some of the machines, by index or by bool[N]."""
        return Kept(
            self.position[which],
            self.log_likelihood[which],
            self.log_prior[which],
            self.log_weight[which],
        )


@dataclass(frozen=True, eq=False)
class State:
    """How far the enumeration is.

    Attributes:
        step: batches done.
        position: the number of the next machine.
        space: what is enumerated.
        kept: the machines that may matter.
        log_dropped: float64[sizes], the log weight of all others so far, by size.
    """

    step: int
    position: int
    space: Enumeration
    kept: Kept
    log_dropped: Floats

    @property
    def complete(self) -> bool:
        """Whether every machine was scored."""
        return self.position == self.space.total


class ExactEnumeration(Method[Exhaustive, State, Kept]):
    """Every machine once: nothing is drawn, and a step scores a batch."""

    settings_type = Exhaustive

    def init(self, rng: np.random.Generator) -> State:
        """Return the state before the first batch, where the machines are not too many."""
        return init(self._target, self.problem.sizes, self.settings)

    @cached_property
    def _target(self) -> Scorer:
        return self.problem.marginal("exhaustive")

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, Kept]:
        """Score the next batch."""
        return step(state, self._target, self.settings)

    def finish(self, state: State, records: Tape[Chains]) -> Finding:
        """Return the heaviest machine, and the posterior once every machine was scored."""
        if not len(state.kept.position):
            raise ArgumentError(_nothing(state))
        found = draws(state, self._target) if state.complete else None
        known = None if found is None else exact(state, found, self._target.prior)
        evidence = {} if known is None else self._evidence(state, known)
        return Finding(
            self._heaviest(state), self.evaluations(state), found, known, log_evidence=evidence
        )

    def _evidence(self, state: State, known: Exact) -> Evidence:
        """Return the log evidence and its error, by size; by kind of expert, too, if compared.

        That of a kind is summed over the machines kept: a lower bound for one that explains
        little.
        """
        problem, space = self.problem, state.space
        found: Evidence = {}
        if len(problem.unknowns.kinds) == 1:
            for n, value in zip(known.sizes, known.log_evidence.tolist(), strict=True):
                found[n] = value, EVIDENCE_ERROR
            return found
        for kind in problem.unknowns.kinds:
            own = problem.of_kind(kind).marginal("exhaustive")
            total = by_size(_refined(own, space, state.kept, self.settings.batch), space)
            for n, value in zip(space.sizes, total.tolist(), strict=True):
                log_size = own.prior.log_size(n, space.sizes)
                found[n, kind] = value - log_size, EVIDENCE_ERROR
        return found

    def ended(self, state: State, records: Tape[Chains]) -> str | None:
        """Stop when every machine was scored."""
        return "steps" if state.complete else None

    def steps(self, state: State) -> int:
        """Return how many batches there are."""
        return state.space.batches(batch_of(self._target, state.space, self.settings.batch))

    def row(self, state: State, info: Kept) -> Row:
        """Return nothing: there are no runs to trace."""
        nothing = np.zeros(0)
        return Row(nothing, nothing, nothing, np.zeros(0, dtype=np.bool_))

    def best(self, state: State) -> Found | None:
        """Return the heaviest machine so far."""
        return self._heaviest(state) if len(state.kept.position) else None

    def _heaviest(self, state: State) -> Found:
        target = self._target
        kept, machines = heaviest(state)
        transitions, rewards = machines.tables(target.levels)
        machine = RewardMachine(target.alphabet, transitions[0], rewards[0])
        score = kept.log_likelihood / target.temperature + kept.log_prior
        expert = _expert(target, transitions[0], rewards[0])
        return Found(machine.canonical(), expert, float(score[0]))

    def evaluations(self, state: State) -> int:
        """Return how many machines were scored."""
        return state.position

    def sound(self, state: State, block: Chains | None) -> bool:
        """Return whether the machines that it names are in the space, each array as long."""
        kept, most = state.kept, state.space.total
        sizes = {len(kept.position), len(kept.log_likelihood), len(kept.log_prior)}
        inside = within(kept.position, most)
        return 0 <= state.position <= most and inside and sizes == {len(kept.log_weight)}


def init(target: Scorer, sizes: range, settings: Exhaustive) -> State:
    """Return the state before the first batch, where the machines are not too many."""
    space = Enumeration(sizes, len(target.alphabet), target.levels)
    check_affordable(space, target, settings.limit)
    nothing = Kept(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0))
    return State(0, 0, space, nothing, np.full(len(sizes), -np.inf))


def step(state: State, target: Scorer, settings: Exhaustive) -> tuple[State, Kept]:
    """Score the next batch; returns it beside the state. The last step refines what is kept."""
    space = state.space
    stop = space.stop(state.position, batch_of(target, space, settings.batch))
    fresh, rest = _taken(target, space, (state.position, stop), state.kept, settings.nats)
    kept, dropped = pruned(joined([state.kept, fresh]), space, settings)
    dropped = np.logaddexp(dropped, rest)
    if stop == space.total:
        kept = _refined(target, space, kept, settings.batch)
    following = State(
        step=state.step + 1,
        position=stop,
        space=space,
        kept=kept,
        log_dropped=np.logaddexp(state.log_dropped, dropped),
    )
    return following, fresh


def _taken(
    target: Scorer, space: Enumeration, numbers: tuple[int, int], kept: Kept, nats: float
) -> tuple[Kept, Floats]:
    """Score some machines; return those that may matter, and the log weight of the others."""
    if on_card(target, space):
        best = kept.log_weight.max(initial=-np.inf)
        found = sifted(target, space, *numbers, float(best), nats)
        return Kept(*found[:4]), found.log_rest
    fresh = _scored(target, space, np.arange(*numbers), target.tolerance)
    return fresh, np.full(len(space.sizes), -np.inf)


def joined(parts: list[Kept]) -> Kept:
    """Return the machines of all parts, in their order."""
    return Kept(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.log_likelihood for part in parts]),
        np.concatenate([part.log_prior for part in parts]),
        np.concatenate([part.log_weight for part in parts]),
    )


def pruned(pool: Kept, space: Enumeration, settings: Exhaustive) -> tuple[Kept, Floats]:
    """Return the machines to keep, and the log weight of the others, float64[sizes]."""
    best = pool.log_weight.max(initial=-np.inf)
    possible = np.isfinite(pool.log_weight)
    chosen = np.flatnonzero(possible & (pool.log_weight >= best - settings.nats))
    if len(chosen) > settings.keep:
        heaviest = heaviest_first(pool.taken(chosen))[: settings.keep]
        chosen = np.sort(chosen[heaviest])
    others = np.ones(len(pool.position), dtype=np.bool_)
    others[chosen] = False
    rest = pool.taken(others)
    return pool.taken(chosen), by_size(rest, space)


def by_size(machines: Kept, space: Enumeration) -> Floats:
    """Return float64[sizes]: the log of the summed weights of each size."""
    result = np.full(len(space.sizes), -np.inf)
    if len(machines.position):
        np.logaddexp.at(result, space.size_index(machines.position), machines.log_weight)
    return result


def heaviest_first(machines: Kept) -> Ints:
    """Return int64[N], an order: by weight; equal weights by number."""
    return np.lexsort((machines.position, -machines.log_weight))


def heaviest(state: State) -> tuple[Kept, Machines]:
    """Return the one machine of most weight; of equal ones, that of the lowest number."""
    kept = state.kept
    close = np.flatnonzero(kept.log_weight >= kept.log_weight.max() - TIE)
    first = kept.taken(close[np.argmin(kept.position[close])][None])
    return first, state.space.machines(first.position)


def _nothing(state: State) -> str:
    if state.position == 0:
        return "no machine was scored in the time given; allow more minutes"
    return (
        f"none of {state.position:,} machines can have produced the demonstrations; give the "
        "expert a finite alpha, or a lapse above 0"
    )


def draws(state: State, target: Scorer) -> Draws:
    """Return the machines that matter with their weights, the heaviest first.

    Where the expert is unknown, a machine stands there once for each of some experts.
    """
    kept = state.kept.taken(heaviest_first(state.kept))
    transitions, rewards, n_states = _padded(state.space, kept.position)
    relative = np.exp(kept.log_weight - kept.log_weight[0])
    owner, experts, share = _experts(target, transitions, rewards, relative)
    soft = np.array([each.is_soft for each in experts])
    numbers = np.array([(each.alpha, each.lapse, each.discount) for each in experts])
    return Draws(
        transitions=transitions[owner],
        rewards=rewards[owner],
        n_states=n_states[owner],
        alpha=numbers[:, 0],
        lapse=numbers[:, 1],
        discount=numbers[:, 2],
        log_likelihood=kept.log_likelihood[owner],
        log_prior=kept.log_prior[owner],
        weight=share * relative[owner] / relative.sum(),
        ladder=np.zeros(len(owner), dtype=np.int64),
        exact=True,
        soft=soft if soft.any() else None,
    )


def _experts(
    target: Scorer, transitions: Ints, rewards: Floats, weight: Floats
) -> tuple[Ints, list[Expert], Floats]:
    """Return experts for machines, the heaviest first.

    Only those that hold nearly all of the weight have several each.

    Returns:
        int64[N], the machine of each; the experts; and float64[N], the share of each of its
        machine's weight.
    """
    size = len(weight)
    if not isinstance(target, Integrated):
        return np.arange(size), [target.expert] * size, np.ones(size)
    running = np.cumsum(weight) / weight.sum()
    several = min(int(np.searchsorted(running, NEARLY_ALL)) + 1, MOST_WITH_EXPERTS, size)
    owner: list[int] = []
    experts: list[Expert] = []
    shares: list[float] = []
    for number in range(several):
        found, share = target.experts(transitions[number], rewards[number])
        owner += [number] * len(found)
        experts += found
        shares += share.tolist()
    heaviest_own = int(np.argmax(shares[: owner.count(0)]))
    owner += range(several, size)
    experts += [experts[heaviest_own]] * (size - several)
    return np.array(owner), experts, np.array(shares + [1.0] * (size - several))


def _expert(target: Scorer, transitions: Ints, rewards: Floats) -> Expert:
    """Return the expert, or one in the middle of those that a machine makes likely."""
    if not isinstance(target, Integrated):
        return target.expert
    return target.middle(transitions, rewards)


def exact(state: State, found: Draws, prior: Prior) -> Exact:
    """Return what is known of all machines together, once every one was scored."""
    sizes = state.space.sizes
    kept = by_size(state.kept, state.space)
    by_n = np.logaddexp(kept, state.log_dropped)
    total = float(np.logaddexp.reduce(by_n))
    smallest = minimise_batch(found.transitions, found.rewards)[2]
    minimal = np.bincount(smallest, found.weight, minlength=sizes[-1] + 1)[1:]
    return Exact(
        sizes=sizes,
        machines=state.space.counts,
        log_evidence=by_n - np.array([prior.log_size(n, sizes) for n in sizes]),
        probability=np.exp(by_n - total),
        minimal=minimal.astype(np.float64),
        dropped=float(np.exp(np.logaddexp.reduce(state.log_dropped) - total)),
    )


def _padded(space: Enumeration, positions: Ints) -> tuple[Ints, Floats, Ints]:
    """Return int64[N, n, m], float64[N, n, m] and int64[N], n the largest size.

    Rows behind a machine's last state lead to themselves and pay nothing.
    """
    most = space.sizes[-1]
    shape = len(positions), most, space.m
    transitions = np.broadcast_to(np.arange(most)[:, None], shape).copy()
    rewards = np.zeros(shape)
    which = space.size_index(positions)
    for place in np.unique(which).tolist():
        rows, n = which == place, space.sizes[place]
        tables = space.machines(positions[rows]).tables(space.levels)
        transitions[rows, :n], rewards[rows, :n] = tables
    return transitions, rewards, np.array(space.sizes)[which]


def _refined(target: Scorer, space: Enumeration, kept: Kept, batch: int) -> Kept:
    """Score machines once more, finely, in batches of one size; not those that weigh nothing."""
    light = kept.log_weight < kept.log_weight.max(initial=-np.inf) - WORTH_REFINING
    parts = [kept.taken(light)]
    kept = kept.taken(~light)
    which = space.size_index(kept.position)
    for place in np.unique(which).tolist():
        positions = kept.position[which == place]
        for start in range(0, len(positions), batch):
            some = positions[start : start + batch]
            parts.append(_scored(target, space, some, min(FINE, target.tolerance)))
    return joined(parts)


def _scored(target: Scorer, space: Enumeration, positions: Ints, tolerance: float) -> Kept:
    """Score the machines of some numbers, all of one size."""
    tables = space.machines(positions).tables(space.levels)
    likelihood = target.log_likelihood(*tables, tolerance=tolerance, remember=False)
    mass = target.prior.log_mass(*tables, target.levels, space.sizes)
    weight = likelihood / target.temperature + mass
    return Kept(positions, likelihood, target.log_prior(*tables), np.asarray(weight))
