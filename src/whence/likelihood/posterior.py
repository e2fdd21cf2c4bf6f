"""How likely the demonstrations are under a machine, and the machine given them.

`Posterior` scores batches of machines through the compiled engine and remembers what it scored:
a log likelihood is a function of the machine's canonical form alone, so the same machine costs
one solve, whatever the batch, the order and the number of threads.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints
from whence.errors import WhenceWarning
from whence.likelihood.answers import of_answers
from whence.likelihood.cache import Stats, bands, keys_of, shared
from whence.likelihood.compiled import canonical_tables
from whence.likelihood.ended import ending_term
from whence.likelihood.endings import TASK, EndingRates, checked_endings
from whence.likelihood.engines import (
    CPU,
    Engine,
    card_engine_for,
    checked_device,
    engine_for,
    soft_engine_for,
)
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.given import Worlds as Worlds
from whence.likelihood.given import checked_experts, checked_tables, positive, world_pairs
from whence.likelihood.reference import endings_by_episode
from whence.likelihood.steps import steps
from whence.model.asking import Answer
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior, checked_levels
from whence.model.product import checked_sharpness

TOLERANCE = 1e-2
FINEST = 1e-8
FINEST_SHARE = 1e-12
REMEMBERED = 250_000
INFINITE_ALPHA_TOLERANCE = 1e-12
NO_CARD = "soft experts are scored by the cores: the kernels of the card know best plans alone"


class Posterior:
    """Scores machines against the demonstrations of one world, or of several.

    Attributes:
        alphabet: the order of the columns of all tables: the first world's symbols, then
            those that only later worlds show.
        worlds: each with its demonstrations.
        stats: what was done so far.
        engines: what scores machines, one a world.
    """

    def __init__(
        self,
        mdp: LabeledMDP | Worlds,
        demos: Demonstrations | None = None,
        *,
        expert: Expert,
        prior: Prior | None = None,
        rewards: tuple[float, ...] = (0.0, 1.0),
        temperature: float = 1.0,
        tolerance: float = TOLERANCE,
        threads: int | None = None,
        endings: str = "ignore",
        device: str = CPU,
        answers: Sequence[Answer] = (),
    ) -> None:
        """Compile the demonstrations.

        Args:
            mdp: a world, or pairs of a world and its demonstrations.
            demos: the demonstrations of the one world.
            expert: who demonstrates.
            prior: over machines; the paper's by default.
            rewards: the levels that machines may pay.
            temperature: divides the log likelihood in scores.
            tolerance: the error allowed in a log likelihood, in nats.
            threads: how many to use; all cores by default.
            endings: `ignore`, or `task`: episodes end because the task is over, which adds to
                the log likelihood; see `whence.likelihood.endings`.
            device: `cpu`, or `cuda`: a graphics card scores.
            answers: to questions, but for demonstrations; see `whence.likelihood.answers`.
        """
        pairs = world_pairs(mdp, demos)
        self.worlds = tuple(pairs)
        self.expert = expert
        self.prior = prior or Prior()
        self.levels = checked_levels(rewards)
        self.temperature = positive(temperature, "temperature")
        self.tolerance = positive(tolerance, "tolerance")
        self.alphabet = tuple(dict.fromkeys(s for world, _ in pairs for s in world.alphabet))
        self.evidence = tuple(compile_evidence(world, seen) for world, seen in pairs)
        self.stats = Stats()
        index = {symbol: column for column, symbol in enumerate(self.alphabet)}
        self._columns = [
            np.array([index[symbol] for symbol in world.alphabet], dtype=np.int64)
            for world, _ in pairs
        ]
        self.device = checked_device(device)
        self.engines = self._engines(expert, threads)
        self._remembered: dict[bytes, float] = {}
        self.endings = checked_endings(endings)
        self.ending_term = None
        if endings == TASK:
            self.ending_term = ending_term(self.worlds, self.evidence, self._columns)
        self.answers = tuple(answers)
        self.answer_term = of_answers(self.answers, self.alphabet)

    def _engines(self, expert: Expert, threads: int | None) -> list[Engine]:
        """Return what scores machines for an expert, one a world."""
        build = engine_for if self.device == CPU else card_engine_for
        if expert.is_soft:
            build = soft_engine_for
            if self.device != CPU:
                warnings.warn(NO_CARD, WhenceWarning, stacklevel=4)
        return [
            build(world, evidence, expert.discount, threads)
            for (world, _), evidence in zip(self.worlds, self.evidence, strict=True)
        ]

    @property
    def n_steps(self) -> int:
        """Demonstrated steps in all."""
        return sum(evidence.n_steps for evidence in self.evidence)

    def columns(self, number: int) -> Ints:
        """Return int64[m'], the place in `alphabet` of each symbol of a world."""
        return self._columns[number]

    def log_likelihood(
        self,
        transitions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        *,
        alpha: npt.ArrayLike | None = None,
        lapse: npt.ArrayLike | None = None,
        tolerance: float | None = None,
        remember: bool = True,
    ) -> Floats:
        """Return float64[B], within `tolerance` of exact.

        Args:
            transitions: int[B, n, m], columns in the order of `alphabet`.
            rewards: float[B, n, m]; machines need not be valid.
            alpha: in place of the expert's, one for all or float[B].
            lapse: in place of the expert's, one for all or float[B].
            tolerance: in place of the posterior's, in nats. The rounding of large values
                comes on top: about 2e-16 alpha r / (1 - discount) a step, where r is the
                largest reward. Where that is more than 1e-4, the machines are refused.
            remember: whether to look machines up, and to keep them. Without, each is solved,
                to the same number: for machines that never come back.
        """
        began = time.perf_counter()
        tables = self._checked(transitions, rewards)
        size = len(tables[0])
        experts = checked_experts(self.expert, alpha, lapse, size)
        checked_sharpness(tables[1], experts[0], self.expert.discount)
        allowed = self.tolerance if tolerance is None else positive(tolerance, "tolerance")
        result = np.zeros(size)
        of_world = self._of_world if remember else self._of_world_afresh
        for number in range(len(self.engines)):
            result += of_world(number, tables, experts, allowed)
        result += self.beside_steps(*tables)
        self._count(seconds=time.perf_counter() - began)
        return result

    def beside_steps(self, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B]: what endings and answers add, of machines [B, n, m] alone."""
        terms = [term for term in (self.ending_term, self.answer_term) if term is not None]
        return sum((term(transitions, rewards) for term in terms), np.zeros(len(transitions)))

    def of_expert(self, expert: Expert) -> Posterior:
        """Return the same posterior for another expert.

        Where its discount or its kind is another, it starts afresh.
        """
        result = copy(self)
        result.expert = expert
        if (expert.discount, expert.kind) == (self.expert.discount, self.expert.kind):
            return result
        result.stats, result._remembered = Stats(), {}
        if expert.kind == self.expert.kind:
            result.engines = [engine.at(expert.discount) for engine in self.engines]
        else:
            result.engines = self._engines(expert, self.engines[0].threads)
        return result

    def to_tolerance(self, tolerance: float) -> Posterior:
        """Return the same posterior, with another error allowed in a log likelihood."""
        result = copy(self)
        result.tolerance = positive(tolerance, "tolerance")
        return result

    def on_cores(self) -> Posterior:
        """Return the same posterior, scored by the cores; it remembers nothing yet."""
        result = copy(self)
        result.device, result.stats, result._remembered = CPU, Stats(), {}
        result.engines = result._engines(self.expert, self.engines[0].threads)
        return result

    def in_worlds(self, worlds: Sequence[LabeledMDP]) -> Posterior:
        """Return the same posterior with other worlds behind the same demonstrations."""
        pairs = [(mdp, demos) for mdp, (_, demos) in zip(worlds, self.worlds, strict=True)]
        return Posterior(
            pairs,
            expert=self.expert,
            prior=self.prior,
            rewards=self.levels,
            temperature=self.temperature,
            tolerance=self.tolerance,
            threads=self.engines[0].threads,
            endings=self.endings,
            device=self.device,
            answers=self.answers,
        )

    def forget(self) -> None:
        """Forget every log likelihood; the next ones are computed anew."""
        self._remembered.clear()

    def finest(self, machine: RewardMachine) -> float:
        """Return a machine's log likelihood within max(1e-8, 1e-12 times its size) of exact.

        As in `log_likelihood`, the rounding of large values comes on top.
        """
        ordered = machine.over(self.alphabet)
        tables = ordered.transitions[None], ordered.rewards[None]
        rough = float(self.log_likelihood(*tables)[0])
        if not np.isfinite(rough):
            return rough
        best = max(FINEST, FINEST_SHARE * abs(rough))
        return float(self.log_likelihood(*tables, tolerance=best)[0])

    def canonical(
        self, transitions: npt.ArrayLike, rewards: npt.ArrayLike
    ) -> tuple[Ints, Floats, Ints]:
        """Return the canonical reachable part of machines, and how many states each has.

        Symbols that no world shows count as staying put and paying 0.

        Returns:
            int64[B, n, m], float64[B, n, m] and int64[B].
        """
        targets, paid = self._checked(transitions, rewards)
        if len(self.engines) > 1:
            return canonical_tables(targets, paid, np.ones(len(self.alphabet), dtype=np.bool_))
        if self.ending_term is not None:
            return canonical_tables(targets, paid, self.ending_term.readable)
        return self.engines[0].canonical(targets, paid)

    def log_likelihood_by_episode(self, machine: RewardMachine) -> Floats:
        """Return float64[E], whose sum is `finest`; worlds one after the other.

        Where endings count, each episode's is weighed given those before it.
        """
        found = steps(self.worlds, machine.over(self.alphabet), self.expert)
        result = found.by_episode(found.log_likelihood)
        if self.ending_term is None:
            return result
        return result + endings_by_episode(self.worlds, machine.over(self.alphabet))

    def log_likelihood_by_step(self, machine: RewardMachine) -> tuple[Floats, Ints]:
        """Return float64[T], of the actions, and int64[E + 1]: where each episode's begin."""
        found = steps(self.worlds, machine.over(self.alphabet), self.expert)
        return found.log_likelihood, found.offsets

    def ending_rates(self, machine: RewardMachine) -> EndingRates | None:
        """Return how often endings contradict a machine; None where they do not count."""
        ordered = machine.over(self.alphabet)
        term = self.ending_term
        return None if term is None else term.rates(ordered.transitions, ordered.rewards)

    def log_prior(self, transitions: npt.ArrayLike, rewards: npt.ArrayLike) -> Floats:
        """Return float64[B], the unnormalised log prior."""
        return self.prior.log_prior(*self._checked(transitions, rewards), self.levels)

    def score(self, transitions: npt.ArrayLike, rewards: npt.ArrayLike) -> Floats:
        """Return float64[B]: log likelihood / temperature + log prior."""
        likelihood = self.log_likelihood(transitions, rewards)
        return np.asarray(likelihood / self.temperature + self.log_prior(transitions, rewards))

    def _of_world(
        self,
        number: int,
        tables: tuple[Ints, Floats],
        experts: tuple[Floats, Floats],
        allowed: float,
    ) -> Floats:
        """Return float64[B] for one world; solve only what is not remembered.

        Other threads may remember and forget meanwhile: each key is looked up once.
        """
        engine, canonical = self.in_world(number, tables)
        band = bands(experts[0])
        keys = keys_of(number, canonical, band, experts, allowed)
        remembered = self._remembered
        found = {key: remembered.get(key) for key in keys}
        fresh: dict[bytes, int] = {}
        for machine, key in enumerate(keys):
            if found[key] is None:
                fresh.setdefault(key, machine)
        rows = np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh))
        if len(rows):
            values, sweeps = self._solved(engine, canonical, band, experts, allowed, keys, rows)
            found.update(zip(fresh, values.tolist(), strict=True))
            remembered.update(zip(fresh, values.tolist(), strict=True))
            self._count(solves=len(sweeps), sweeps=int(sweeps.sum()))
        self._count(hits=len(keys) - len(rows))
        self._forget_oldest()
        return np.array([found[key] for key in keys])

    def _of_world_afresh(
        self,
        number: int,
        tables: tuple[Ints, Floats],
        experts: tuple[Floats, Floats],
        allowed: float,
    ) -> Floats:
        """Return float64[B] for one world; solve every machine, and remember none."""
        engine, canonical = self.in_world(number, tables)
        each = np.arange(len(canonical[0]) + 1)
        exactness = self.value_tolerance(bands(experts[0]), allowed)
        found, sweeps = engine.log_likelihood(canonical, each, *experts, exactness)
        self._count(solves=len(sweeps), sweeps=int(sweeps.sum()))
        return found

    def in_world(
        self, number: int, tables: tuple[Ints, Floats]
    ) -> tuple[Engine, tuple[Ints, Floats, Ints]]:
        """Return a world's engine, and machines in the canonical form that it scores."""
        engine, columns = self.engines[number], self._columns[number]
        return engine, engine.canonical(tables[0][:, :, columns], tables[1][:, :, columns])

    def _solved(
        self,
        engine: Engine,
        canonical: tuple[Ints, Floats, Ints],
        band: Floats,
        experts: tuple[Floats, Floats],
        allowed: float,
        keys: list[bytes],
        rows: Ints,
    ) -> tuple[Floats, Ints]:
        """Return float64[R] for some rows of a batch, and the sweeps of each solve.

        Rows that differ in alpha, within a band, and in lapse alone share a solve.
        """
        firsts, order, first_expert = shared(keys, rows, experts)
        some = tuple(np.ascontiguousarray(table[firsts]) for table in canonical)
        alpha, lapse = experts[0][rows[order]], experts[1][rows[order]]
        found, sweeps = engine.log_likelihood(
            (some[0], some[1], some[2]),
            first_expert,
            alpha,
            lapse,
            self.value_tolerance(band[firsts], allowed),
        )
        values = np.empty(len(rows))
        values[order] = found
        return values, sweeps

    def value_tolerance(
        self, alpha: Floats, allowed: float, discount: Floats | None = None
    ) -> Floats:
        """Return float64[B]: how exact values must be for log likelihoods to be.

        Values within e of exact move Q by at most discount * e, and a step's log probability by
        at most 2 alpha discount e. The discount is the expert's, or float64[B].
        """
        own = self.expert.discount if discount is None else discount
        slope = 2 * np.where(np.isinf(alpha), 0.0, alpha) * own * self.n_steps
        finite = np.divide(allowed, slope, out=np.ones_like(slope), where=slope > 0)
        return np.where(np.isinf(alpha), INFINITE_ALPHA_TOLERANCE, np.minimum(finite, 1.0))

    def _forget_oldest(self) -> None:
        """Drop the oldest half where there are too many."""
        if len(self._remembered) > REMEMBERED:
            every = list(self._remembered.items())
            self._remembered = dict(every[len(every) // 2 :])

    def _count(self, solves: int = 0, hits: int = 0, sweeps: int = 0, seconds: float = 0) -> None:
        old = self.stats
        self.stats = Stats(
            old.solves + solves, old.hits + hits, old.sweeps + sweeps, old.seconds + seconds
        )

    def _checked(self, transitions: npt.ArrayLike, rewards: npt.ArrayLike) -> tuple[Ints, Floats]:
        return checked_tables(transitions, rewards, self.alphabet, self.expert.discount)
