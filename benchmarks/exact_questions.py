"""How many questions until the true route is known, where the posterior is exact?

Tasks of two states come from the prior on the worlds of coffee and multi coffee. Every machine of
two states is weighed, so that nothing is sampled, and one table for all tasks holds what machines
pay for label sequences and which routes their agents take. One short demonstration is made; where
the true route is then below 50%, a simulated person is asked until it has 95%, at most 30 times,

    best      the label sequence that is expected to tell most about the route,
    random    any that machines pay differently, each as likely as another,
    more      for one more demonstration from the world's own starts.

    python benchmarks/exact_questions.py [--worlds coffee multi] [--tasks 40] [--first 0]
        [--ways best random more] [--length 10] [--wrong 0.1] [--all]

One line a task and way: how many questions, whether another route had 95% before (`misled`), the
error rate that is inferred with its deviation, and the share of answers that were wrong. Then
medians, how many are sure of the truth, and the error rate. `--all` asks all 30 questions.
`benchmarks/questions.py` asks in the same way by the library's own runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

import whence
from questions import BELOW, MOST, SURE, Task, from_prior, told, true_route
from whence._arrays import Floats
from whence.analysis import plans
from whence.ask.belief import Belief, belief
from whence.ask.information import Aim
from whence.ask.sequences import sequences
from whence.likelihood.answers import beta_nodes, levels_likely

STATES = 2
NODES, LOG_WEIGHTS = beta_nodes(MOST // 2 + 2)  # exact for as many answers
HEAVY = 1e-7  # of the heaviest: what is lighter plays no part in choosing
WAYS = ("best", "random", "more")


@dataclass(frozen=True, eq=False)
class Table:
    """Every machine of a world: K that it tells apart, and Q sequences.

    Attributes:
        known: the machines with their routes.
        prior: float64[K].
        pays: float32[Q, K], for the last label of each sequence.
        words: what each sequence is.
    """

    known: Belief
    prior: Floats
    pays: np.ndarray
    words: list[tuple[int, ...]]


def table(task: Task) -> Table:
    """Weigh every machine of two states in a task's world."""
    plans.MOST_PLANS, plans.ENOUGH, plans.MOST_WORK = 1_000_000, 1.0, np.inf
    demos = whence.simulate(task.mdp, task.truth, task.expert, episodes=1, length=1, seed=0)
    settings = whence.Exhaustive(nats=1e4, keep=1_000_000)
    run = whence.infer(
        task.mdp, demos, states=STATES, expert=task.expert, rewards=task.rewards,
        method="exhaustive", settings=settings, threads=1, progress=False,
    )  # fmt: skip
    known = belief(run, "route")
    assert (known.route >= 0).all()
    draws = known.draws
    prior = np.bincount(known.drawn, draws.weight * np.exp(-draws.log_likelihood))
    different = {}
    for each in sequences(known, frozenset()):
        if each.split(known):
            different.setdefault(each.last.tobytes(), each)
    found = list(different.values())
    pays = np.array([each.last for each in found], dtype=np.float32)
    return Table(known, prior / prior.sum(), pays, [each.word for each in found])


class Person:
    """What is believed while a person is asked."""

    def __init__(self, world: Table, task: Task, log_weight: Floats, wrong: float) -> None:
        self.world, self.task, self.wrong = world, task, wrong
        self.route = route_of(world, task)
        self.joint = log_weight[:, None] + LOG_WEIGHTS
        self.asked: set[int] = set()
        self.errors_made = 0

    @property
    def weight(self) -> Floats:
        """float64[K], which sums to 1."""
        log_weight = np.logaddexp.reduce(self.joint, axis=1)
        weight = np.exp(log_weight - log_weight.max())
        return np.asarray(weight / weight.sum())

    @property
    def errors(self) -> Floats:
        """float64[K], how often answers are wrong given each machine."""
        share = np.exp(self.joint - self.joint.max(axis=1, keepdims=True))
        return np.asarray(share @ NODES / share.sum(axis=1))

    @property
    def rate(self) -> tuple[float, float]:
        """The error rate, and its deviation."""
        share = np.exp(np.logaddexp.reduce(self.joint, axis=0) - self.joint.max())
        mean, square = (float(share @ NODES**power / share.sum()) for power in (1, 2))
        return mean, float(np.sqrt(square - mean**2))

    @property
    def routes(self) -> Floats:
        """The probabilities of all routes."""
        return np.bincount(self.world.known.route, self.weight)

    @property
    def probability(self) -> float:
        """Of the true route."""
        return float(self.routes[self.route])

    def best(self, rng: np.random.Generator) -> int:
        """Return the sequence that is expected to tell most about the route."""
        weight = self.weight
        kept = np.flatnonzero(weight > HEAVY * weight.max())
        free = np.array([q for q in range(len(self.world.words)) if q not in self.asked])
        aim = Aim(weight[kept] / weight[kept].sum(), self.world.known.route[kept])
        error = self.errors[kept]
        gains = []
        for rows in np.array_split(free, max(1, len(free) * len(kept) // 500_000)):
            pays = self.world.pays[np.ix_(rows, kept)].astype(np.float64)
            likely = levels_likely(pays.reshape(-1), np.array(self.task.rewards))
            chance = likely.at(np.tile(error, len(rows)))
            gains.append(aim.of_questions(chance.reshape(len(rows), len(kept), -1)))
        return int(free[np.concatenate(gains).argmax()])

    def random(self, rng: np.random.Generator) -> int:
        """Return any sequence."""
        free = [q for q in range(len(self.world.words)) if q not in self.asked]
        return free[int(rng.integers(len(free)))]

    def answer(self, number: int, rng: np.random.Generator) -> None:
        """Ask about a sequence, and weigh the machines by the answer."""
        self.asked.add(number)
        levels = np.array(self.task.rewards)
        alphabet = self.task.mdp.alphabet
        labels = [alphabet[symbol] for symbol in self.world.words[number]]
        right = int(np.searchsorted(levels, self.task.truth.run(labels).rewards[-1]))
        if rng.random() < self.wrong:
            right = int(rng.choice([at for at in range(len(levels)) if at != right]))
            self.errors_made += 1
        likely = levels_likely(self.world.pays[number].astype(np.float64), levels)
        agrees, differs = likely.right[:, right, None], likely.wrong[:, right, None]
        self.joint = self.joint + np.log((1 - NODES) * agrees + NODES * differs)

    def shown(self, seed: int) -> None:
        """Weigh the machines by one more demonstration."""
        self.joint = self.joint + likelihood(self.world, self.task, seed)[:, None]


def route_of(world: Table, task: Task) -> int:
    """Return the number of the true route."""
    moves = true_route(task)
    return next(at for at, route in enumerate(world.known.sample.routes) if route.moves == moves)


def likelihood(world: Table, task: Task, seed: int) -> Floats:
    """Return float64[K], of a demonstration."""
    demos = whence.simulate(
        task.mdp, task.truth, task.expert, episodes=1, length=task.length, seed=seed
    )
    posterior = whence.Posterior(
        [(task.mdp, demos)], expert=task.expert, rewards=task.rewards, threads=1
    )
    return posterior.log_likelihood(world.known.transitions, world.known.rewards)


def asked(person: Person, way: str, number: int, every: bool) -> dict[str, object]:
    """Ask until the true route is sure, or all questions; return what came of it."""
    rng = np.random.default_rng([number, WAYS.index(way)])
    sure, misled = MOST, False
    for many in range(MOST):
        routes = person.routes
        if routes[person.route] >= SURE:
            sure = min(sure, many)
            if not every:
                break
        elif sure == MOST:
            misled = misled or float(routes.max()) >= SURE
        if way == "more":
            person.shown(1_000_000 + 100 * number + many)
        else:
            person.answer(getattr(person, way)(rng), rng)
    mean, deviation = person.rate
    return {
        "questions": sure, "probability": person.probability, "misled": misled,
        "error_rate": mean, "deviation": deviation,
        "wrong": person.errors_made / max(len(person.asked), 1),
    }  # fmt: skip


def tasks(name: str, first: int, length: int) -> Iterator[tuple[int, Task, Table]]:
    """Yield tasks that want something, each with the table of its world."""
    world = {"coffee": whence.worlds.coffee, "multi": whence.worlds.multi_coffee}[name]()
    shared: Table | None = None
    for number in count(first):
        rng = np.random.default_rng([number, sum(name.encode())])
        task = from_prior(world, rng, STATES, length)
        if true_route(task)[0]:  # type: ignore[index]
            shared = shared or table(task)
            yield number, task, shared


def main() -> None:
    """Ask simulated persons, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", nargs="+", default=["coffee", "multi"])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--length", type=int, default=10)
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.worlds:
        found = 0
        for number, task, world in tasks(name, options.first, options.length):
            start = np.log(world.prior) + likelihood(world, task, number)
            before = Person(world, task, start, 0.0).probability
            if before >= BELOW:
                continue
            for way in options.ways:
                person = Person(world, task, start, options.wrong)
                found_out = asked(person, way, number, options.all)
                rows.append({"world": name, "task": number, "way": way, "before": before})
                rows[-1] |= found_out
                print(json.dumps(rows[-1]), flush=True)
            found += 1
            if found == options.tasks:
                break
    told(rows)


if __name__ == "__main__":
    sys.exit(main())
