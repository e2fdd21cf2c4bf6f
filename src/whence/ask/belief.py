"""A sample as questions see it: machines with their weights, and the facts that they make true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints, frozen_own
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.likelihood.answers import AnswerTerm
from whence.runs.result import Run
from whence.runs.reweighing import drawn_of, sample_of
from whence.search.draws import Draws

ROUTE, FACTS, REGRET = "route", "facts", "regret"
ABOUT = (ROUTE, FACTS, REGRET)


@dataclass(frozen=True, eq=False)
class Belief:
    """K machines, each at a discount; together they are the whole sample.

    Those that answers rule out are left out, and machines that the worlds cannot tell apart are
    one. What an agent wants may depend on its discount, so that a machine may stand here more
    than once.

    Attributes:
        sample: where they come from.
        transitions: int64[K, n, m].
        rewards: float64[K, n, m].
        weight: float64[K], sums to 1, descending.
        fact: int64[K], a number for each different set of facts; those of machines whose plans
            were not worked out have one of their own.
        route: int64[K], the number of the route in `sample.routes`, or -1.
        kind: int64[K], the class in the sample.
        plan: int64[K], the plan in `sample.plans`, or -1.
        draws: what the sample was made from, N draws.
        drawn: int64[N], the machine of each; -1 for those that weigh nothing.
        error: float64[K], how often answers are wrong, given each machine and the answers so far.
    """

    sample: PosteriorSample
    transitions: Ints
    rewards: Floats
    weight: Floats
    fact: Ints
    route: Ints
    kind: Ints
    plan: Ints
    draws: Draws
    drawn: Ints
    error: Floats

    @property
    def size(self) -> int:
        """The number of machines, K."""
        return len(self.weight)


def belief(run: Run, about: str = FACTS) -> Belief:
    """Return what a run believes.

    Args:
        run: with a sample.
        about: what counts as a fact: the `route` alone, or all `facts` that are told.
    """
    if about not in ABOUT:
        raise ArgumentError(f"about is {about!r}; ask about {', '.join(ABOUT)}")
    sample, draws = sample_of(run), drawn_of(run)
    plans = sample.plans
    code = plans.draw * len(sample) + sample.drawn.kind
    _, first, owner = np.unique(code, return_index=True, return_inverse=True)
    weight = np.bincount(owner.reshape(-1), weights=sample.drawn.weight)
    order = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight > 0)]
    rows = first[order]
    place = np.full(len(weight), -1)
    place[order] = np.arange(len(order))
    kind, plan = sample.drawn.kind[rows], plans.draw[rows]
    transitions, rewards = _tables(sample, kind)
    route = sample.plan_routes[plan]
    told = AnswerTerm(run.job.answers, sample.alphabet)
    return Belief(
        sample=sample,
        transitions=transitions,
        rewards=rewards,
        weight=frozen_own(weight[order] / weight.sum()),
        fact=route if about == ROUTE else _facts(run, route, plan),
        route=frozen_own(route),
        kind=frozen_own(kind),
        plan=frozen_own(plan),
        draws=draws,
        drawn=frozen_own(np.where(draws.weight > 0, place[owner.reshape(-1)], -1)),
        error=frozen_own(told.errors(transitions, rewards)[:, 0]),
    )


def _tables(sample: PosteriorSample, kind: Ints) -> tuple[Ints, Floats]:
    """Return the heaviest machine of each of some classes."""
    members = sample.members
    _, first = np.unique(members.owner, return_index=True)
    return frozen_own(members.transitions[first[kind]]), frozen_own(members.rewards[first[kind]])


def _facts(run: Run, route: Ints, plan: Ints) -> Ints:
    """Return int64[K]: which route, and which of the facts told hold, as one number."""
    told: Sequence[Ints] = []
    if run.found is not None:
        told = [np.append(each.holds, False)[plan].astype(np.int64) for each in run.found.told]
    rows = np.stack([route, *told], axis=1)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1))
