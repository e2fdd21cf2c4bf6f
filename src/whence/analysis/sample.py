"""A sample of the posterior: the machines that remain possible, with their weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from whence._arrays import BLANK, Floats, Ints, frozen_own
from whence.analysis.facts import Answer, Route, routes
from whence.analysis.grouping import representatives, unique_machines
from whence.analysis.language import Language, language
from whence.analysis.plans import Drawn, Known, Weighed, weighed
from whence.errors import ArgumentError
from whence.model.canonical import minimise_batch
from whence.model.demos import Demonstrations
from whence.model.expert import BOLTZMANN, Expert
from whence.model.machine import RewardMachine, listed
from whence.model.mdp import LabeledMDP
from whence.search.diagnostics import (
    Agreement,
    Frequencies,
    Summary,
    frequencies,
    summarised,
)
from whence.search.draws import Draws

Worlds = LabeledMDP | Sequence[LabeledMDP] | Sequence[tuple[LabeledMDP, Demonstrations]]


@dataclass(frozen=True, eq=False)
class Members:
    """M different minimised machines, of K classes.

    Attributes:
        transitions: int64[M, n, m], each canonical; rows behind its states stay and pay 0.
        rewards: float64[M, n, m].
        n_states: int64[M].
        weight: float64[M], of each machine by itself.
        owner: int64[M], the class that each belongs to.
    """

    transitions: Ints
    rewards: Floats
    n_states: Ints
    weight: Floats
    owner: Ints

    def of(self, classes: int) -> Members:
        """Return the machines of the first classes."""
        kept = self.owner < classes
        columns = (self.transitions, self.rewards, self.n_states, self.weight, self.owner)
        return Members(*(frozen_own(column[kept]) for column in columns))


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorSample:
    """Classes of machines that are the same in the worlds, the heaviest first.

    Attributes:
        alphabet: the m symbols.
        worlds: where machines are the same or not.
        machines: one machine a class, its heaviest: canonical and minimal.
        weights: float64[K], the posterior probability of each class, descending. They sum to 1,
            or to less in what `top` and `heaviest` return.
        errors: float64[K], the standard errors of the weights; 0 where they are exact.
        alpha: of the expert, over the whole sample.
        lapse: of the expert, over the whole sample.
        discount: of the expert, over the whole sample.
        ess: the effective sample size: how many independent draws would be as exact; infinite
            for exact weights.
        agreement: between independent ladders; None for one, and for exact weights.
        size: the number of draws.
        members: every different machine; `pays` and `n_states` read them.
        drawn: the draws, with the class of each.
        kinds: of the expert, over the whole sample: how likely each is.
        known: plans that were worked out, of this sample or of others over the same worlds.
    """

    alphabet: tuple[str, ...]
    worlds: tuple[LabeledMDP, ...]
    machines: tuple[RewardMachine, ...]
    weights: Floats
    errors: Floats
    alpha: Summary
    lapse: Summary
    discount: Summary
    ess: float
    agreement: Agreement | None
    size: int
    members: Members
    drawn: Drawn
    kinds: Mapping[str, float] = field(default_factory=lambda: {BOLTZMANN: 1.0})
    known: Known = field(default_factory=dict)

    @classmethod
    def from_draws(
        cls,
        worlds: Worlds,
        draws: Draws,
        alphabet: Sequence[str],
        *,
        known: Known | None = None,
    ) -> PosteriorSample:
        """Group draws by the canonical form of the minimised machine, then by the worlds.

        Args:
            worlds: a world, several, or pairs of a world and its demonstrations.
            draws: from a sampler, or every machine with its exact weight.
            alphabet: the columns of the draws' tables.
            known: plans that were worked out before, in the same worlds; new ones join them.
        """
        symbols, places = tuple(alphabet), _worlds(worlds)
        _check(draws, symbols, places)
        members, kind = _members(draws, language(places, symbols))
        weights = np.bincount(members.owner, weights=members.weight)
        exactness = _exactness(draws, members.owner[kind], len(weights))
        return cls(
            alphabet=symbols,
            worlds=places,
            machines=_machines(symbols, members),
            weights=frozen_own(weights.astype(np.float64)),
            errors=frozen_own(exactness.errors),
            alpha=summarised(draws.alpha, draws.weight),
            lapse=summarised(draws.lapse, draws.weight),
            discount=summarised(draws.discount, draws.weight),
            ess=exactness.ess,
            agreement=exactness.agreement,
            size=draws.size,
            members=members,
            drawn=Drawn(members.owner[kind], draws.discount, draws.weight, draws.ladder,
                        draws.exact),
            kinds=draws.kinds,
            known={} if known is None else known,
        )  # fmt: skip

    @property
    def effective_size(self) -> float:
        """The old name of `ess`."""
        warnings.warn("effective_size is called ess now", DeprecationWarning, stacklevel=2)
        return self.ess

    @property
    def best(self) -> RewardMachine:
        """The machine of the heaviest class."""
        return self.machines[0]

    @property
    def expert(self) -> Expert:
        """The expert with the mean alpha, lapse and discount of the whole sample.

        Of several kinds it is the likeliest.
        """
        kind = max(self.kinds, key=lambda kind: self.kinds[kind])
        return Expert(self.alpha.mean, self.discount.mean, self.lapse.mean, kind)

    @property
    def n_states(self) -> dict[int, float]:
        """The probability of each number of states of the minimised machine."""
        mass = np.bincount(self.members.n_states, weights=self.members.weight)
        return {int(n): float(mass[n]) for n in np.unique(self.members.n_states)}

    @cached_property
    def plans(self) -> Weighed:
        """What the optimal agents of the heaviest machines do, each at its own discount."""
        return weighed(self.worlds, self.alphabet, self.machines, self.drawn, self.known)

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """Machines grouped by what their optimal agents head for, the most probable first."""
        return routes(self.plans)

    @cached_property
    def plan_routes(self) -> Ints:
        """int64[P + 1]: the number of the route of each plan, and -1 for those not worked out."""
        number = {route.moves: at for at, route in enumerate(self.routes)}
        return np.array([*(number[course.moves] for course in self.plans.plans.courses), -1])

    @cached_property
    def answer(self) -> Answer:
        """What the sample says of the expert's wishes."""
        levels = np.unique(self.members.rewards).tolist()
        return Answer.of(self.plans, self.routes[0].machine, levels)

    @cached_property
    def language(self) -> Language:
        """The label sequences that the worlds can produce."""
        return language(self.worlds, self.alphabet)

    def top(self, k: int) -> PosteriorSample:
        """Return the k heaviest classes; their weights stay what they are."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ArgumentError(f"k is {k!r}; give a whole number of at least 1")
        return replace(
            self,
            machines=self.machines[:k],
            weights=self.weights[:k],
            errors=self.errors[:k],
            members=self.members.of(int(k)),
        )

    def heaviest(self, share: float) -> PosteriorSample:
        """Return the fewest classes that hold a share of the mass; weights stay what they are."""
        if not 0 < share <= 1:
            raise ArgumentError(f"share is {share}; give a number above 0 and up to 1")
        running = np.cumsum(self.weights)
        enough = np.flatnonzero(running >= share * running[-1] * (1 - 1e-12))
        return self.top(int(enough[0]) + 1)

    def pays(self, *labels: str | None) -> dict[float, float]:
        """Return the probability of each total reward that a label sequence is paid.

        The likeliest comes first. None is blank: it changes nothing and pays 0. Sequences that
        the worlds cannot produce may be asked for, too: every machine answers for itself.
        """
        columns = [self._column(place, label) for place, label in enumerate(labels)]
        levels, codes = np.unique(self.members.rewards, return_inverse=True)
        codes = codes.reshape(self.members.rewards.shape)
        machine = np.arange(len(codes))
        state = np.zeros(len(codes), dtype=np.int64)
        times = np.zeros((len(codes), len(levels)))
        for column in columns:
            if column != BLANK:
                times[machine, codes[machine, state, column]] += 1
                state = self.members.transitions[machine, state, column]
        return _distribution(times @ levels if len(levels) else times.sum(axis=1),
                             self.members.weight)  # fmt: skip

    def _column(self, place: int, label: object) -> int:
        if label is None:
            return BLANK
        if label not in self.alphabet:
            raise ArgumentError(
                f"label {place + 1} is {label!r}, which is not in the alphabet "
                f"{listed(self.alphabet)}; give its symbols one by one, or None for blank"
            )
        return self.alphabet.index(str(label))

    def __len__(self) -> int:
        return len(self.machines)

    def __iter__(self) -> Iterator[tuple[RewardMachine, float]]:
        return zip(self.machines, self.weights.tolist(), strict=True)

    def __repr__(self) -> str:
        best = f"the best {self.weights[0]:.1%}"
        if math.isinf(self.ess):
            return f"<PosteriorSample: {len(self)} machines, {best}, exact>"
        return (
            f"<PosteriorSample: {len(self)} machines, {best} ± {self.errors[0]:.1%}, "
            f"{self.size} draws worth {self.ess:.0f}>"
        )


def draw_classes(sample: PosteriorSample, draws: Draws) -> Ints:
    """Return int64[N]: the class of each of the draws that a sample was made from."""
    members, kind = _members(draws, sample.language)
    return np.asarray(members.owner[kind])


def _members(draws: Draws, possible: Language) -> tuple[Members, Ints]:
    """Return the different minimised machines, and that of each draw, int64[N].

    Classes are numbered by weight, the heaviest first; so are the members within one.
    """
    rewards = draws.rewards + 0.0
    first, raw = unique_machines(draws.transitions, rewards)
    small = minimise_batch(draws.transitions[first], rewards[first])
    kept, kind = unique_machines(small[0], small[1])
    tables = small[0][kept], small[1][kept]
    weight = np.bincount(kind[raw], weights=draws.weight).astype(np.float64)
    head = representatives(possible, tables, weight)
    total = np.bincount(head, weights=weight, minlength=len(head))
    heads = np.unique(head)
    number = np.zeros(len(head), dtype=np.int64)
    number[heads[np.argsort(-total[heads], kind="stable")]] = np.arange(len(heads))
    owner = number[head]
    order = np.lexsort((-weight, owner))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    columns = (*tables, small[2][kept], weight, owner)
    return Members(*(frozen_own(column[order]) for column in columns)), place[kind[raw]]


def _machines(alphabet: tuple[str, ...], members: Members) -> tuple[RewardMachine, ...]:
    """Return the first, which is the heaviest, machine of each class."""
    _, first = np.unique(members.owner, return_index=True)
    sizes = members.n_states[first].tolist()
    return tuple(
        RewardMachine(alphabet, members.transitions[i, :n], members.rewards[i, :n])
        for i, n in zip(first.tolist(), sizes, strict=True)
    )


def _exactness(draws: Draws, classes: Ints, n_classes: int) -> Frequencies:
    if draws.exact:
        return Frequencies(np.zeros(n_classes), math.inf, None)
    return frequencies(classes, draws.ladder, n_classes, draws.weight)


def _distribution(totals: Floats, weight: Floats) -> dict[float, float]:
    """Return the weight of each total, the heaviest first; rounding makes no new totals."""
    rounded = np.array([float(f"{total:.12g}") for total in totals]) + 0.0
    values, inverse = np.unique(rounded, return_inverse=True)
    mass = np.bincount(inverse.reshape(-1), weights=weight)
    mass = np.minimum(mass, 1.0)  # what is certain has a probability of 1, not of 1 + 2e-14
    return {float(values[i]): float(mass[i]) for i in np.argsort(-mass, kind="stable")}


def _worlds(worlds: Worlds) -> tuple[LabeledMDP, ...]:
    if isinstance(worlds, LabeledMDP):
        return (worlds,)
    found = tuple(w if isinstance(w, LabeledMDP) else w[0] for w in worlds)
    if not found:
        raise ArgumentError("no world; give at least one, in which machines are compared")
    return found


def _check(draws: Draws, alphabet: tuple[str, ...], worlds: tuple[LabeledMDP, ...]) -> None:
    if draws.size == 0:
        raise ArgumentError("no draws; a sample needs at least one machine")
    if draws.transitions.shape[2] != len(alphabet):
        raise ArgumentError(
            f"draws with {draws.transitions.shape[2]} symbols for the alphabet "
            f"{listed(alphabet)}; name each column once"
        )
    unknown = [s for world in worlds for s in world.alphabet if s not in alphabet]
    if unknown:
        raise ArgumentError(
            f"a world shows {unknown[0]!r}, which is not in the alphabet {listed(alphabet)} of "
            "the draws; give the worlds that they were made in"
        )
