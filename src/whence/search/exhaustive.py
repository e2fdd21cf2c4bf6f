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

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.model.canonical import minimise_batch
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.prior import Prior
from whence.search.batches import (
    NOTHING,
    Batch,
    Batches,
    Kept,
    Scorer,
    State,
    batch_at,
    by_size,
    folded,
    heaviest,
    heaviest_first,
    init,
    refined,
    scored_once,
    step,
)
from whence.search.draws import Draws, Exact
from whence.search.enumeration import Enumeration
from whence.search.evidence import Evidence
from whence.search.method import Carried, Finding, Found, Method, Part, Row, within
from whence.search.settings import Exhaustive
from whence.search.sifting import batch_of, on_card
from whence.search.tape import Tape
from whence.search.target import Chains

EVIDENCE_ERROR = 1e-6  # of exact log evidence: what each machine's log likelihood may be off
NEARLY_ALL = 0.999  # of the weight: the machines that are given several experts each ...
MOST_WITH_EXPERTS = 200  # ... and how many they are at most; so many more stand for all others
GOLDEN = (math.sqrt(5) - 1) / 2  # of a sequence that is spread evenly however long it is
AHEAD = 4  # runs of batches for each worker that may wait for an earlier one
SHORTEST = 10  # the shortest run of batches is one such part of a whole one


class ExactEnumeration(Method[Exhaustive, State, Kept]):
    """Every machine once: nothing is drawn, and a step scores a batch."""

    settings_type = Exhaustive
    meeting = False

    def init(self, rng: np.random.Generator) -> State:
        """Return the state before the first batch, where the machines are not too many."""
        return init(self._target, self.problem.sizes, self.settings)

    @cached_property
    def _target(self) -> Scorer:
        return self.problem.marginal("exhaustive")

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, Kept]:
        """Score the next batch."""
        return step(state, self._target, self.settings)

    def parts(
        self, state: State, seats: int, scans: int, ahead: Sequence[Part] = ()
    ) -> list[Part]:
        """Return runs of batches behind those that are under way, some for each worker.

        Towards the end they are shorter, so that all workers end together.
        """
        space = state.space
        if not state.thinned or on_card(self._target, space):
            return []
        batch = batch_of(self._target, space, self.settings.batch)
        start = ahead[-1].places[1] if ahead else state.position
        found: list[Part] = []
        while start < space.total and len(ahead) + len(found) < AHEAD * seats:
            left = -(-(space.total - start) // batch)
            wanted = max(min(scans, -(-left // (2 * seats))), -(-scans // SHORTEST))
            stop, count = start, 0
            while stop < space.total and count < wanted:
                stop, count = space.stop(stop, batch), count + 1
            bare = replace(state, position=start, kept=NOTHING)
            name = f"machines {start + 1:,}-{stop:,}"
            found.append(Part(name, (start, stop), bare, None, count))
            start = stop
        return found

    def carried_like(self, part: Part) -> Batches:
        """Return no batches, with room for some."""
        none = np.zeros(0, dtype=np.int64)
        return Batches(none, none, NOTHING, np.zeros((0, len(part.state.log_dropped))))

    def carried(self, rng: np.random.Generator, part: Part) -> Carried:
        """Score some batches."""
        done: list[Batch] = []
        start = part.state.position
        for _ in range(part.scans):
            done.append(batch_at(part.state, start, self._target, self.settings))
            start = done[-1].stop
        return Carried(Batches.of(done), None, None)

    def met(self, state: State, done: list[Carried]) -> tuple[State, list[Row], list[Chains]]:
        """Return the state with some batches more, in their order."""
        rows = []
        for batch in (batch for each in done for batch in each.state.each()):
            state = folded(state, batch, self._target, self.settings)
            rows.append(self.row(state, batch.fresh))
        return state, rows, []

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

        That of a kind is summed over the machines kept. A machine weighs the mean of what it
        weighs for each kind, so that those dropped weigh for one at most as many times as much as
        there are kinds: that is its error, large for a kind that explains little.
        """
        problem, space = self.problem, state.space
        kinds = problem.unknowns.kinds
        found: Evidence = {}
        if len(kinds) == 1:
            errors = self._errors(state)
            values = known.log_evidence.tolist()
            for n, value, error in zip(known.sizes, values, errors, strict=True):
                found[n] = value, error
            return found
        for kind in kinds:
            own = problem.of_kind(kind).marginal("exhaustive")
            kept = refined(own, space, state.kept, self.settings.batch, worth=math.inf)
            total = by_size(kept, space)
            for n, value, dropped in zip(space.sizes, total, state.log_dropped, strict=True):
                if np.isfinite(value):
                    missed = float(np.logaddexp(0.0, dropped + math.log(len(kinds)) - value))
                    log_size = own.prior.log_size(n, space.sizes)
                    found[n, kind] = float(value) - log_size, EVIDENCE_ERROR + missed
        return found

    def _errors(self, state: State) -> list[float]:
        """Return by how much the log evidence of each size may be off.

        Machines that were scored once are as exact as they were scored, all others finely.
        """
        target, space = self._target, state.space
        rough = np.logaddexp(by_size(scored_once(state.kept), space), state.log_dropped)
        total = np.logaddexp(by_size(state.kept, space), state.log_dropped)
        share = np.exp(rough - np.where(np.isfinite(total), total, 0.0))
        error = EVIDENCE_ERROR + share * target.tolerance
        return [float(each) for each in error / target.temperature]

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

    Only those that hold nearly all of the weight have several each. The others have one each: of
    machines that weigh about as much, one stands for all, and its experts are dealt out to them
    as often as each is likely.

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
    owner += range(several, size)
    experts += _dealt(target, transitions[several:], rewards[several:], weight[several:], running)
    return np.array(owner), experts, np.array(shares + [1.0] * (size - several))


def _dealt(
    target: Integrated, transitions: Ints, rewards: Floats, weight: Floats, running: Floats
) -> list[Expert]:
    """Return one expert for each of the lighter machines, the heaviest first.

    They are cut into parts of equal weight, as many as they weigh among all machines; the one in
    the middle of a part stands for it. Which of its experts a machine has goes by a sequence that
    is spread evenly, and is the same in every run.

    Args:
        target: what integrates over experts.
        transitions: int64[N, n, m].
        rewards: float64[N, n, m].
        weight: float64[N].
        running: float64[M], the summed shares of the weight of all machines, these at the end.
    """
    size = len(weight)
    if not size:
        return []
    held = 1.0 - (running[-size - 1] if len(running) > size else 0.0)
    parts = min(max(math.ceil(MOST_WITH_EXPERTS * held), 1), size)
    place = (np.cumsum(weight) - weight / 2) / weight.sum()
    part = np.minimum((place * parts).astype(np.int64), parts - 1)
    lot = np.modf(np.arange(1, size + 1) * GOLDEN)[0]
    dealt: list[Expert] = []
    for each in np.unique(part).tolist():
        rows = np.flatnonzero(part == each)
        middle = rows[np.argmin(np.abs(place[rows] - (each + 0.5) / parts))]
        found, share = target.experts(transitions[middle], rewards[middle])
        chosen = np.searchsorted(np.cumsum(share), lot[rows], side="right")
        dealt += [found[number] for number in np.minimum(chosen, len(found) - 1).tolist()]
    return dealt


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
