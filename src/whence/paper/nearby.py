"""How a machine that was found stands to the truth, and what lies around it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.model.canonical import valid
from whence.model.machine import RewardMachine, number
from whence.paper.published import FIGURES
from whence.paper.triples import PAPER, Job, inferred
from whence.paper.worlds import BUILT_IN, World

CLOSE = 1e-6

Tables = tuple[Ints, Floats]


@dataclass(frozen=True)
class Nearby:
    """The surroundings of the machine that a triple found.

    Attributes:
        world: its name.
        seed: of the triple.
        to_truth: how many entries must change to make it the true machine.
        changes: how many entries a late proposal changes on average, 2 n m p.
        ones: valid machines one changed entry away.
        better_ones: those of them that score higher.
        twos: valid machines two changed entries away.
        better_twos: those of them that score higher.
    """

    world: str
    seed: int
    to_truth: int
    changes: float
    ones: int
    better_ones: int
    twos: int
    better_twos: int


def nearby(job: Job) -> Nearby:
    """Run a triple of the paper's method again, and look around where it ended."""
    world = BUILT_IN[job.world](None)
    demos = world.demonstrations(job.seed)
    run = inferred(Job(job.world, job.seed, PAPER, job.steps), world, demos)
    posterior = Posterior(
        world.mdp, demos, expert=run.expert, rewards=run.rewards, temperature=run.temperature,
        threads=1,
    )  # fmt: skip
    here = run.best.transitions, run.best.rewards
    level = posterior.score(here[0][None], here[1][None])[0]
    scores = [posterior.score(*changed(here, run.rewards, count)) for count in (1, 2)]
    targets, rewards = aligned(run.best, world.task)
    apart = (targets != world.task.transitions).sum() + (rewards != world.task.rewards).sum()
    return Nearby(
        world=job.world,
        seed=job.seed,
        to_truth=int(apart),
        changes=2 * here[0].size * run.settings.p_min,
        ones=len(scores[0]),
        better_ones=int((scores[0] > level + CLOSE).sum()),
        twos=len(scores[1]),
        better_twos=int((scores[1] > level + CLOSE).sum()),
    )


def changed(tables: tuple[Ints, Floats], levels: tuple[float, ...], count: int) -> Tables:
    """Return every valid machine in which exactly `count` entries differ: [B, n, m] each."""
    n, size = len(tables[0]), tables[0].size
    flat = np.concatenate([tables[0].ravel().astype(np.float64), tables[1].ravel()])
    single = [
        (entry, value)
        for entry in range(2 * size)
        for value in (range(n) if entry < size else levels)
        if value != flat[entry]
    ]
    every = [c for c in combinations(single, count) if len({entry for entry, _ in c}) == count]
    made = np.repeat(flat[None], len(every), axis=0)
    for place in range(count):
        rows = np.arange(len(every))
        made[rows, [c[place][0] for c in every]] = [c[place][1] for c in every]
    shape = (-1, *tables[0].shape)
    transitions, rewards = made[:, :size].astype(np.int64), made[:, size:]
    result = transitions.reshape(shape), rewards.reshape(shape)
    kept = valid(*result)
    return result[0][kept], result[1][kept]


def difference(machine: RewardMachine, world: World) -> list[str]:
    """Return sentences that say how a machine differs from a world's task."""
    truth = world.task
    everywhere = machine.difference(truth)
    if everywhere is None:
        return ["It is the true machine."]
    published = machine.same_as(FIGURES[world.name])
    inside = machine.difference(truth, world.mdp)
    told = "The shortest label sequence that tells it from the truth is "
    sentences = [told + _paid(machine, truth, everywhere)]
    if inside is None:
        sentences.append("No label sequence that this world can produce tells the two apart.")
    elif inside != everywhere:
        sentences.append(f"In this world, it is {_paid(machine, truth, inside)}")
    else:
        sentences.append("This world can produce that sequence.")
    drawn = ["It is the machine that the paper draws."] if published else []
    return drawn + sentences + _entries(machine, truth)


def _paid(machine: RewardMachine, truth: RewardMachine, labels: tuple[str, ...]) -> str:
    """Return a sequence and what both machines pay on it."""
    paid = [
        " ".join(number(r) for r in m.over(truth.alphabet).run(labels).rewards)
        for m in (machine, truth)
    ]
    return f"`{' '.join(labels)}`: it pays {paid[0]}, the truth {paid[1]}."


def _entries(machine: RewardMachine, truth: RewardMachine) -> list[str]:
    """Name the entries that differ, states matched so that as few as possible do."""
    if machine.n_states != truth.n_states:
        return [f"It has {machine.n_states} states where the truth has {truth.n_states}."]
    targets, rewards = aligned(machine.over(truth.alphabet), truth)
    names = truth.state_names
    phrases = []
    for state, name in enumerate(names):
        for column, symbol in enumerate(truth.alphabet):
            parts = []
            if targets[state, column] != truth.transitions[state, column]:
                wrong, right = targets[state, column], truth.transitions[state, column]
                parts.append(f"leads to *{names[wrong]}* instead of *{names[right]}*")
            if rewards[state, column] != truth.rewards[state, column]:
                paid, due = rewards[state, column], truth.rewards[state, column]
                parts.append(f"pays {number(paid)} instead of {number(due)}")
            if parts:
                phrases.append(f"in *{name}*, `{symbol}` {' and '.join(parts)}")
    return [f"Entry by entry, with the truth's names for its states: {'; '.join(phrases)}."]


def aligned(machine: RewardMachine, truth: RewardMachine) -> tuple[Ints, Ints]:
    """Return the machine's tables with its states renumbered to look most like the truth's."""
    best, least = None, np.inf
    for rest in permutations(range(1, truth.n_states)):
        new = np.array([0, *rest])  # new number of each state
        targets = np.empty_like(machine.transitions)
        rewards = np.empty_like(machine.rewards)
        targets[new], rewards[new] = new[machine.transitions], machine.rewards
        apart = (targets != truth.transitions).sum() + (rewards != truth.rewards).sum()
        if apart < least:
            best, least = (targets, rewards), apart
    assert best is not None
    return best
