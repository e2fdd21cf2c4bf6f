"""How well a machine predicts episodes that it was not inferred from, beside simpler methods.

A fifth of the episodes of each world is set aside by lot. Everything is fitted to the others: the
machine by a new run of inference with the settings of the old one, which does not start from what
the old run found, because that has seen the episodes set aside; the baselines by counting, by
sampling and by steepest ascent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis import memoryless
from whence.analysis.apart import told_apart
from whence.errors import ArgumentError
from whence.likelihood.posterior import Posterior
from whence.likelihood.steps import steps
from whence.likelihood.values import expert_q
from whence.model.available import log_chances
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.runs.events import OnEvent
from whence.runs.inference import infer
from whence.runs.result import Run
from whence.search.settings import Tempering
from whence.search.unknowns import INFER

STREAM = 2  # apart from the streams of `simulate` and `infer`
SHARE = 0.2
LEAST_EPISODES = 5
MOST_STEPS = 5_000  # of tempering on the training episodes
MINUTES = 5.0
MARKOV_STEPS = 1_500
MARKOV_FEW = 128  # machines of one state up to which all of them are scored instead
MOST_CHANGES = 600  # states times levels up to which a reward per state is sought

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


@dataclass(frozen=True)
class Prediction:
    """How likely a method finds the actions of the episodes set aside.

    Attributes:
        method: `machine`, `markovian`, `per_state`, `cloning` or `uniform`.
        per_step: the mean log probability of an action, in nats.
        error: its standard error over episodes; nan for a single one.
        behind: what the method loses against the machine, in nats a step.
        behind_error: the standard error of that, episode by episode.
    """

    method: str
    per_step: float
    error: float
    behind: float
    behind_error: float


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A comparison on episodes that nothing was fitted to.

    Attributes:
        run: the inference on the training episodes.
        same: whether its machine is the same in the worlds as that of the whole run.
        chosen: for each world, the numbers of the episodes set aside.
        training_episodes: how many episodes everything was fitted to.
        steps: how many steps the episodes set aside have.
        predictions: the machine's first.
    """

    run: Run
    same: bool
    chosen: tuple[Ints, ...]
    training_episodes: int
    steps: int
    predictions: tuple[Prediction, ...]

    @property
    def episodes(self) -> int:
        """How many episodes were set aside."""
        return sum(len(each) for each in self.chosen)


def held_out(
    run: Run,
    worlds: Pairs,
    *,
    fix: Sequence[str] = (),
    discounts: Sequence[float] = (),
    minutes: float = MINUTES,
    threads: int | None = None,
    executor: Any = None,
    on_event: OnEvent | None = None,
) -> HeldOut:
    """Compare a run's way of inference with methods without memory on episodes set aside.

    Args:
        run: whose settings are used; what it found is not.
        worlds: each world with its demonstrations.
        fix: arrows that were known to the run.
        discounts: those that the run chose among, where it did; by default the usual ones.
        minutes: how long inference on the training episodes may take. Tempering also makes
            at most 5,000 steps; as long as the minutes are not reached, the result is the same
            every time.
        threads: how many to use; all cores by default.
        executor: who does the work; see `infer`.
        on_event: called with each `Event` of the inference on the training episodes.

    Raises:
        ArgumentError: if there are fewer than 5 episodes with at least one step.
    """
    chosen = split([demos for _, demos in worlds], run.seed)
    training, test = _parted(worlds, chosen)
    discount = tuple(discounts) or (INFER if "discount" in run.inferred else run.expert.discount)
    how: dict[str, Any] = {
        "discount": discount, "minutes": minutes, "threads": threads, "executor": executor,
        "progress": False,
    }  # fmt: skip
    trained = _inferred(run, training, fix=fix, on_event=on_event, **how)
    markov = _markovian(run, training, **how)
    lengths = np.concatenate([demos.lengths for _, demos in test])
    sums = {"machine": _of_machine(trained.best, trained.expert, run, test)}
    sums["markovian"] = _of_machine(markov.best, markov.expert, run, test)
    if sum(mdp.n_states for mdp, _ in worlds) * (len(run.rewards) - 1) <= MOST_CHANGES:
        tables = [_per_state(markov, run, *pair) for pair in training]
        sums["per_state"] = _of_tables(tables, test)
    with np.errstate(divide="ignore"):
        sums["cloning"] = _of_tables([np.log(memoryless.cloned(*pair)) for pair in training], test)
    sums["uniform"] = _of_tables([log_chances(mdp) for mdp, _ in test], test)
    return HeldOut(
        run=trained,
        same=all(_same(trained.best, run.best, mdp) for mdp, _ in worlds),
        chosen=tuple(chosen),
        training_episodes=sum(len(demos) for _, demos in training),
        steps=int(lengths.sum()),
        predictions=tuple(
            _prediction(name, each, sums["machine"], lengths) for name, each in sums.items()
        ),
    )


def split(demos: Sequence[Demonstrations], seed: int) -> list[Ints]:
    """Return, for each world, the numbers of a fifth of its episodes, drawn by lot.

    Episodes without steps say nothing and are not drawn. Of all worlds together at least one
    episode is set aside, and at least one stays in every world that has two or more.
    """
    usable = [np.flatnonzero(each.lengths > 0) for each in demos]
    total = sum(len(each) for each in usable)
    if total < LEAST_EPISODES:
        raise ArgumentError(
            f"there are {total} episodes with steps; at least {LEAST_EPISODES} are needed to set "
            "some aside: add demonstrations, or leave this comparison out"
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM,)))
    counts = [round(SHARE * len(each)) for each in usable]
    if not any(counts):
        counts[int(np.argmax([len(each) for each in usable]))] = 1
    return [
        np.sort(rng.permutation(each)[:count]) for each, count in zip(usable, counts, strict=True)
    ]


def _parted(worlds: Pairs, chosen: Sequence[Ints]) -> tuple[Pairs, Pairs]:
    """Return the worlds with their training episodes, and with those set aside."""
    training, test = [], []
    for (mdp, demos), aside in zip(worlds, chosen, strict=True):
        others = np.setdiff1d(np.arange(len(demos)), aside)
        known = replace(mdp, unseen=None)  # rough dynamics are as rough for all that is compared
        training.append((known, demos.subset(others)))
        test.append((mdp, demos.subset(aside)))
    return training, test


def _inferred(run: Run, training: Pairs, **how: Any) -> Run:
    """Infer anew from the training episodes, as the run did."""
    settings = run.settings
    if isinstance(settings, Tempering):
        settings = replace(settings, steps=min(settings.steps, MOST_STEPS))
    return infer(
        training,
        states=(run.states[0], run.states[-1]),
        alpha=INFER if "alpha" in run.inferred else run.expert.alpha,
        lapse=INFER if "lapse" in run.inferred else run.expert.lapse,
        expert_kind=INFER if "kind" in run.inferred else run.expert.kind,
        alpha_prior=run.job.unknowns.alpha_prior,
        lapse_prior=run.job.unknowns.lapse_prior,
        rewards=run.rewards,
        prior=run.prior,
        method=run.method,
        settings=settings,
        seed=run.seed,
        endings=run.job.endings,
        **how,
    )


def _markovian(run: Run, training: Pairs, **how: Any) -> Run:
    """Return the best reward per label, a machine of one state at temperature 1.

    Alpha and lapse are fitted along even where the run assumed them: those of a machine with
    memory would make a reward without memory look worse than it is.
    """
    few = len(run.rewards) ** len(run.best.alphabet) <= MARKOV_FEW
    search: dict[str, Any] = {"method": "exhaustive"} if few else {"steps": MARKOV_STEPS}
    return infer(
        training,
        states=1,
        alpha=INFER,
        lapse=INFER,
        expert_kind=run.expert.kind,
        alpha_prior=run.job.unknowns.alpha_prior,
        lapse_prior=run.job.unknowns.lapse_prior,
        rewards=run.rewards,
        prior=replace(run.prior, sizes=Prior().sizes),  # weights of more sizes are none of one
        seed=run.seed,
        endings=run.job.endings,
        **search,
        **how,
    )


def _per_state(markov: Run, run: Run, mdp: LabeledMDP, demos: Demonstrations) -> Floats:
    """Return float[S, A]: log probabilities under the best reward per world state found."""
    own, apart = memoryless.every_state_its_own(mdp, demos)
    posterior = Posterior(own, apart, expert=markov.expert, prior=run.prior, rewards=run.rewards)
    paid = np.array([markov.best.rewards[0, markov.best.index(s)] for s in mdp.alphabet] + [0.0])
    starts = np.zeros(mdp.n_states), paid[mdp.labels]
    ends = [memoryless.ascended(posterior, start) for start in starts]
    reward = max(ends, key=lambda end: end[1])[0]
    table = np.zeros((1, mdp.n_states), dtype=np.int64)
    machine = RewardMachine(own.alphabet, table, reward[None])
    q = expert_q(own, machine, markov.expert)
    return np.asarray(markov.expert.log_action_probabilities(q)[0])


def _of_machine(machine: RewardMachine, expert: Expert, run: Run, test: Pairs) -> Floats:
    """Return float64[E]: the log likelihood of each episode set aside."""
    posterior = Posterior(test, expert=expert, prior=run.prior, rewards=run.rewards)
    found = steps(posterior.worlds, machine.over(posterior.alphabet), posterior.expert)
    return found.by_episode(found.log_likelihood)


def _of_tables(tables: Sequence[Floats], test: Pairs) -> Floats:
    """Return the same for log probabilities float[S, A], one table a world."""
    parts = []
    for table, (_, demos) in zip(tables, test, strict=True):
        taken = table[memoryless.pairs(demos)]
        episode = np.repeat(np.arange(len(demos)), demos.lengths)
        parts.append(np.bincount(episode, weights=taken, minlength=len(demos)))
    return np.concatenate(parts).astype(np.float64)


def _prediction(method: str, sums: Floats, machine: Floats, lengths: Ints) -> Prediction:
    per_step, error = _mean(sums, lengths)
    with np.errstate(invalid="ignore"):
        gap = np.where(machine == sums, 0.0, machine - sums)
    behind, behind_error = _mean(gap, lengths)
    return Prediction(method, per_step, error, behind, behind_error)


def _mean(sums: Floats, lengths: Ints) -> tuple[float, float]:
    """Return the mean over steps of sums over episodes, and its standard error."""
    total = float(lengths.sum())
    mean = float(sums.sum()) / total
    if len(sums) < 2 or not np.isfinite(sums).all():
        return mean, math.nan
    apart = sums - mean * lengths
    return mean, math.sqrt(len(sums) / (len(sums) - 1) * float(apart @ apart)) / total


def _same(one: RewardMachine, other: RewardMachine, mdp: LabeledMDP) -> bool:
    return told_apart(one, other, mdp) is None
