"""How many questions until the true route is known? Simulated persons, four ways to ask.

Tasks come from the prior on the worlds of coffee and multi coffee, and from the suite of growing
tasks at five states. Few demonstrations are made and the machine is inferred; where the true route
is below 50%, a simulated person is asked until it has 95%, at most 30 times,

    best      what is expected to tell most about the route, sequences and preferences alike: a
              question counts as one, however long it is,
    random    any label sequence that the sample is split on, each as likely as another,
    open      the first of the run's open questions, in their order,
    more      for one more demonstration from the world's own starts.

    python benchmarks/questions.py [--worlds coffee multi growing] [--tasks 40] [--first 0]
        [--ways best random open more] [--states N] [--length 30] [--wrong 0.1] [--precision 0.03]
        [--out FILE]

One line a task and way; then medians, and with `--wrong` how many are right and the error rate.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import whence
from whence.analysis.facts import Route
from whence.analysis.plans import Plans
from whence.ask import Answer, Person, Question, questions
from whence.ask.belief import belief
from whence.ask.sequences import sequences
from whence.paper.growing import KINDS, Growing, growing
from whence.paper.worlds import World
from whence.runs import inference
from whence.runs.reweighing import again, sample_of, weighed, worn

MOST, SURE, BELOW = 30, 0.95, 0.5
EPISODES, TRIES = 1, 400
ALIKE = {"sequence": 1.0, "preference": 1.0, "label": 0.0}  # seconds: a question is a question


@dataclass(frozen=True, eq=False)
class Task:
    """A world, what is wanted there, and how it is inferred."""

    mdp: whence.LabeledMDP
    truth: whence.RewardMachine
    expert: whence.Expert
    rewards: tuple[float, ...]
    states: int
    length: int


def from_prior(world: World, rng: np.random.Generator, states: int | None, length: int) -> Task:
    """Return a task of the prior in a paper's world."""
    n, levels = states or world.task.n_states, world.rewards
    tables = whence.Prior().sample(rng, n, len(world.mdp.alphabet), levels, 1)
    truth = whence.RewardMachine(world.mdp.alphabet, tables[0][0], tables[1][0])
    return Task(world.mdp, truth, world.expert, levels, n, length)


def task_of(name: str, number: int, states: int | None = None, length: int = 30) -> Task:
    """Return a task by its number; of so many states, where that is said."""
    rng = np.random.default_rng([number, sum(name.encode())])
    if name == "growing":
        made = growing(Growing(KINDS[number % len(KINDS)], 5, 6, 16, seed=number))
        return Task(made.mdp, made.task, made.expert, made.rewards, 5, made.length)
    world = {"coffee": whence.worlds.coffee, "multi": whence.worlds.multi_coffee}[name]()
    return from_prior(world, rng, states, length)


def true_route(task: Task) -> object:
    """Return the route of the truth, as an automaton."""
    plans = Plans.of([task.mdp], task.mdp.alphabet, [task.truth], [task.expert.discount])
    return plans.courses[0].moves


def probability(run: whence.Run, moves: object) -> float:
    """Return how probable the true route is."""
    assert run.posterior is not None
    found: tuple[Route, ...] = run.posterior.routes
    return sum(route.probability for route in found if route.moves == moves)


def begun(task: Task, number: int, precision: float = 0.03) -> whence.Run:
    """Infer from few demonstrations."""
    demos = whence.simulate(
        task.mdp, task.truth, task.expert, episodes=EPISODES, length=task.length, seed=number
    )
    return whence.infer(
        task.mdp, demos, states=task.states, expert=task.expert, rewards=task.rewards,
        seed=number, threads=1, progress=False, precision=precision,
    )  # fmt: skip


def best(run: whence.Run, rng: np.random.Generator) -> Question | None:
    """Return what is expected to tell most about the route."""
    kinds = ("sequence", "preference")
    found = questions(run, about="route", most=1, kinds=kinds, seconds=ALIKE)
    return found[0] if found else None


def at_random(run: whence.Run, rng: np.random.Generator) -> Question | None:
    """Return any label sequence that the sample is split on; of those that ask the same, one."""
    known = belief(run, "route")
    index = known.sample.alphabet.index
    before = frozenset(tuple(map(index, each.question.labels[0])) for each in run.answers)
    different = {each.last.tobytes(): each for each in reversed(sequences(known, before))}
    found = [each for each in different.values() if each.split(known)]
    if not found:
        return None
    word = found[int(rng.integers(len(found)))].word
    return asking_about(run, tuple(known.sample.alphabet[symbol] for symbol in word))


def asking_about(run: whence.Run, labels: tuple[str, ...]) -> Question:
    """Return the question what a label sequence pays."""
    return Question("sequence", "", 0, 1, answers=tuple(run.rewards), labels=(labels,))


def in_order(run: whence.Run, rng: np.random.Generator) -> Question | None:
    """Return the first open question that was not asked."""
    assert run.posterior is not None
    known = {each.question.labels[0] for each in run.answers}
    for each in whence.open_questions(run.posterior, expert=run.expert, most=len(known) + 1):
        if each.labels not in known:
            return asking_about(run, each.labels)
    return None


def one_more(run: whence.Run, rng: np.random.Generator) -> Question | None:
    """Return a demonstration from where the world starts."""
    mdp = run.job.pairs[0][0]
    start = int(rng.choice(mdp.initial_states, p=mdp.initial_probabilities))
    length = int(run.job.pairs[0][1].lengths.max())
    return Question("demonstration", "", 0, 1, labels=((),), state=start, length=length)


WAYS: dict[str, Callable[[whence.Run, np.random.Generator], Question | None]] = {
    "best": best, "random": at_random, "open": in_order, "more": one_more,
}  # fmt: skip


def asked(
    run: whence.Run, task: Task, way: str, wrong: float, number: int
) -> tuple[int, float, whence.Run]:
    """Ask until the true route is sure; return how often, how probable it is, and the run."""
    person = Person(task.truth, task.expert, wrong, number)
    rng = np.random.default_rng([number, list(WAYS).index(way)])
    moves, basis = true_route(task), run
    for count in range(MOST + 1):
        chance = probability(run, moves)
        if chance >= SURE or count == MOST:
            return count, chance, run
        question = WAYS[way](run, rng)
        if question is None:
            return MOST, chance, run
        answer = Answer(str(count + 1), question, question.checked(person(run, question)))
        run = weighed(basis, (*run.answers, answer))
        if worn(run):
            fresh = inference.carried_out(again(run), 1, None)
            sample = replace(sample_of(fresh), known=sample_of(run).known)
            run = basis = replace(fresh, answers=run.answers, posterior=sample)
    raise AssertionError


def tasks(
    name: str,
    first: int,
    count: int,
    states: int | None = None,
    length: int = 30,
    precision: float = 0.03,
) -> Iterator[tuple[int, Task, whence.Run]]:
    """Yield tasks whose true route few demonstrations leave below a half, with their runs."""
    found = 0
    for number in range(first, first + TRIES):
        task = task_of(name, number, states, length)
        if not true_route(task)[0]:  # type: ignore[index]
            continue  # nothing is wanted, so that nothing can be shown
        run = begun(task, number, precision)
        if run.posterior is not None and probability(run, true_route(task)) < BELOW:
            found += 1
            yield number, task, run
            if found == count:
                return


def told(rows: list[dict[str, object]]) -> None:
    """Print medians by world and way."""
    for name in dict.fromkeys(str(row["world"]) for row in rows):
        for way in dict.fromkeys(str(row["way"]) for row in rows):
            some = [row for row in rows if (row["world"], row["way"]) == (name, way)]
            counts = [float(row["questions"]) for row in some]  # type: ignore[arg-type]
            right = sum(float(row["probability"]) >= SURE for row in some)  # type: ignore[arg-type]
            rates = [float(row["error_rate"]) for row in some]  # type: ignore[arg-type]
            print(
                f"{name:8} {way:7} {len(some):3} tasks, median {np.median(counts):g} questions, "
                f"{right} sure of the truth; error rate {np.mean(rates):.3f}"
            )


def main() -> None:
    """Ask simulated persons, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", nargs="+", default=["coffee", "multi", "growing"])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--states", type=int, help="of tasks from the prior; the paper's task's")
    parser.add_argument("--length", type=int, default=30, help="of the demonstration, there")
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--precision", type=float, default=0.03, help="of the runs")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    for name in options.worlds:
        for number, task, run in tasks(
            name, options.first, options.tasks, options.states, options.length, options.precision
        ):
            for way in options.ways:
                began = time.process_time()
                count, chance, after = asked(run, task, way, options.wrong, number)
                rows.append(
                    {"world": name, "task": number, "way": way, "questions": count,
                     "before": probability(run, true_route(task)), "probability": chance,
                     "error_rate": after.error_rate.mean, "wrong": options.wrong,
                     "seconds": time.process_time() - began}
                )  # fmt: skip
                print(json.dumps(rows[-1]), flush=True)
                if options.out is not None:
                    with options.out.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    told(rows)


if __name__ == "__main__":
    sys.exit(main())
