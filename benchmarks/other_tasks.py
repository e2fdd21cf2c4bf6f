"""Does the default `infer` find tasks that nobody had in mind? Varied tasks in varied worlds.

Every task is drawn by its seed: a kind in turn, a world (a graph with random dynamics, a windy
grid, a grid that slips), an expert of any rationality and discount, few demonstrations or many.
Only the rewards are said, and the most states, one more than the task has. A task counts as found
where the run's best machine weighs no less, its expert integrated out, than the true machine
after the best single changes; or where the run's posterior holds that one.

    python benchmarks/other_tasks.py --tasks 40 --seed 100 [--kinds counter,taxi] [-o found.json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, Posterior, RewardMachine
from whence.model.grid import Grid
from whence.runs.events import Event
from whence.search import census
from whence.search.census import Census
from whence.search.machines import Machines
from whence.search.neighbours import single_changes
from whence.search.problem import Problem
from whence.search.target import Target
from whence.search.unknowns import DISCOUNTS, unknowns

SAME = 0.5  # nats
HELD = 0.02  # the least probability that counts as holding a machine
ACTIONS = ("up", "right", "down", "left")
Arrow = tuple[int, str, int, float]  # from, label, to, pay


def machine_of(arrows: Sequence[Arrow], alphabet: Sequence[str]) -> RewardMachine:
    """Return the smallest machine with these arrows; all else stays put."""
    n = 1 + max(max(here, there) for here, _, there, _ in arrows)
    transitions = np.tile(np.arange(n)[:, None], (1, len(alphabet)))
    rewards = np.zeros(transitions.shape)
    for here, label, there, pay in arrows:
        transitions[here, alphabet.index(label)] = there
        rewards[here, alphabet.index(label)] = pay
    return RewardMachine(tuple(alphabet), transitions, rewards).minimised()


def random_task(rng: np.random.Generator, levels: tuple[float, ...]) -> RewardMachine:
    """Return a minimal machine of three to eight states with one to three pays."""
    while True:
        n, m = int(rng.integers(3, 9)), int(rng.integers(3, 6))
        own = np.arange(n)[:, None]
        transitions = np.where(rng.random((n, m)) < 0.5, own, rng.integers(0, n, (n, m)))
        rewards = np.zeros((n, m))
        for _ in range(int(rng.integers(1, 4))):
            rewards[rng.integers(n), rng.integers(m)] = rng.choice([x for x in levels if x])
        made = RewardMachine(tuple("abcdef"[:m]), transitions, rewards).minimised()
        if made.n_states >= 3 and made.rewards.max() > 0:
            return made


def random_plain(rng: np.random.Generator) -> RewardMachine:
    """Return a random machine that pays 1."""
    return random_task(rng, (0.0, 1.0))


def random_levels(rng: np.random.Generator) -> RewardMachine:
    """Return a random machine with two levels of pay."""
    return random_task(rng, [(0.0, 1.0, 2.0), (-1.0, 0.0, 1.0)][int(rng.integers(2))])


def counter(rng: np.random.Generator) -> RewardMachine:
    """Return: a two to four times, then b, once or again and again."""
    count = int(rng.integers(2, 5))
    arrows: list[Arrow] = [(k, "a", k + 1, 0.0) for k in range(count)]
    return machine_of([*arrows, (count, "b", int(rng.choice([0, count + 1])), 1.0)], "abcd")


def restart(rng: np.random.Generator) -> RewardMachine:
    """Return: a, then b, perhaps then d; c in between and it starts again."""
    length = int(rng.integers(2, 4))
    way = "abd"[:length]
    arrows: list[Arrow] = [(k, way[k], k + 1, 0.0) for k in range(length - 1)]
    arrows.append((length - 1, way[-1], int(rng.choice([0, length])), 1.0))
    return machine_of([*arrows, *((k, "c", 0, 0.0) for k in range(1, length))], "abcde")


def alternate(rng: np.random.Generator) -> RewardMachine:
    """Return: a, b, a, b, each b or each one pays; c stops it, or so many rounds do."""
    rounds = int(rng.integers(0, 4))
    each = float(rng.integers(2))
    if rounds < 2:
        arrows: list[Arrow] = [(0, "a", 1, each), (1, "b", 0, 1.0), (0, "c", 2, 0.0)]
        return machine_of([*arrows, (1, "c", 2, 0.0)], "abcd")
    arrows = [(k, "ab"[k % 2], k + 1, max(each, float(k % 2))) for k in range(2 * rounds)]
    return machine_of(arrows, "abcd")


def never(rng: np.random.Generator) -> RewardMachine:
    """Return: one or two things in turn, for ever or once, and c costs 1, and may end it."""
    arrows: list[Arrow] = [(0, "a", 1, 0.0), (1, "b", int(rng.choice([0, 2])), 1.0)]
    if rng.random() < 0.5:
        return machine_of([*arrows, (0, "c", 0, -1.0), (1, "c", 1, -1.0)], "abcd")
    return machine_of([*arrows, (0, "c", 3, -1.0), (1, "c", 3, -1.0), (2, "c", 3, 0.0)], "abcd")


def taxi(rng: np.random.Generator) -> RewardMachine:
    """Return: pick up p and bring it to d, q to e; one at a time, again and again or each once."""
    if rng.random() < 0.5:
        arrows: list[Arrow] = [(0, "p", 1, 0.0), (0, "q", 2, 0.0)]
        return machine_of([*arrows, (1, "d", 0, 1.0), (2, "e", 0, 1.0)], "pqdex")
    pay = float(rng.integers(1, 3))
    arrows = [(0, "p", 1, 0.0), (0, "q", 2, 0.0), (1, "d", 3, 1.0), (2, "e", 4, pay)]
    return machine_of([*arrows, (3, "q", 5, 0.0), (4, "p", 6, 0.0), (5, "e", 7, pay),
                       (6, "d", 7, 1.0)], "pqdex")  # fmt: skip


def sequence(rng: np.random.Generator) -> RewardMachine:
    """Return: three to six labels, some twice, in turn; some ways pay on the way."""
    length = int(rng.integers(3, 7))
    way = [str(x) for x in rng.choice(list("abcdef"), length)]
    pays = [float(rng.random() < 0.25) for _ in way[:-1]] + [float(rng.integers(1, 3))]
    again = bool(rng.random() < 0.3)
    return machine_of(
        [(k, way[k], 0 if again and k + 1 == length else k + 1, pays[k]) for k in range(length)],
        "abcdef",
    )


def collect(rng: np.random.Generator) -> RewardMachine:
    """Return: two or three labels, each paid once, in any order; one may be worth more."""
    count = int(rng.integers(2, 4))
    pays = [1.0, 1.0, float(rng.integers(1, 3))][-count:]
    arrows: list[Arrow] = []
    for seen in range(2**count):
        for k in range(count):
            if not seen >> k & 1:
                arrows.append((seen, "abc"[k], seen | 1 << k, pays[k]))
    return machine_of(arrows, "abcd")


def errands(rng: np.random.Generator) -> RewardMachine:
    """Return: a then b pays, and so does c then d, interleaved as one likes."""
    pay = float(rng.integers(1, 3))
    arrows: list[Arrow] = []
    for i in range(3):
        for j in range(3):
            if i < 2:
                arrows.append((3 * i + j, "ab"[i], 3 * i + 3 + j, float(i)))
            if j < 2:
                arrows.append((3 * i + j, "cd"[j], 3 * i + j + 1, j * pay))
    return machine_of(arrows, "abcde")


KINDS: dict[str, Callable[[np.random.Generator], RewardMachine]] = {
    "random": random_plain,
    "levels": random_levels,
    "counter": counter,
    "restart": restart,
    "alternate": alternate,
    "never": never,
    "taxi": taxi,
    "sequence": sequence,
    "collect": collect,
    "errands": errands,
}


def labels_in(rng: np.random.Generator, size: int, alphabet: Sequence[str]) -> list[str | None]:
    """Return the label of each state: each label stands in one to three of them."""
    place = rng.permutation(size)
    labels: list[str | None] = [None] * size
    used = 0
    for symbol in alphabet:
        most = max(1, min(3, (size - used) // (2 * len(alphabet))))
        for state in place[used : (used := used + int(rng.integers(1, most + 1)))].tolist():
            labels[state] = symbol
    return labels


def graph(rng: np.random.Generator, alphabet: Sequence[str]) -> LabeledMDP:
    """Return a world without a grid: random dynamics, 10 to 80 states, two to five actions."""
    size, actions = int(rng.integers(max(10, 2 * len(alphabet)), 81)), int(rng.integers(2, 6))
    rows = []
    sure = bool(rng.random() < 0.3)
    for state in range(size):
        for action in range(actions):
            first, second = rng.choice(size, 2, replace=False).tolist()
            if action == 0:  # a way round, so that every state can be reached
                first = (state + 1) % size
                second = (state + 2) % size
            share = 1.0 if sure else float(rng.uniform(0.6, 1.0))
            rows.append((state, action, first, share))
            if share < 1.0:
                rows.append((state, action, second, 1 - share))
    starts = rng.choice(size, min(5, size), replace=False).tolist()
    return LabeledMDP.from_triples(
        rows, states=size, actions=actions, labels=labels_in(rng, size, alphabet),
        alphabet=alphabet, initial=[(s, 1 / len(starts)) for s in starts],
    )  # fmt: skip


def windy(rng: np.random.Generator, alphabet: Sequence[str]) -> LabeledMDP:
    """Return a grid with wind: in some columns a move is carried up, sometimes."""
    width, height = int(rng.integers(5, 10)), int(rng.integers(4, 8))
    cells = np.array([(x, y) for y in range(height) for x in range(width)])
    grid = Grid(width, height, cells)
    slip = float(rng.choice([0.0, 0.1]))
    wind = np.where(rng.random(width) < 0.4, 0.3, 0.0) * rng.integers(0, 2)
    up = grid.moves((0, 1))
    rows = []
    for here, action, there, share in grid.transitions(ACTIONS, slip).tolist():
        blown = wind[cells[int(here)][0]]
        rows.append((int(here), int(action), int(there), share * (1 - blown)))
        if blown:
            rows.append((int(here), int(action), int(up[int(there)]), share * blown))
    size = width * height
    starts = rng.choice(size, 8, replace=False).tolist()
    return LabeledMDP.from_triples(
        rows, states=size, actions=ACTIONS, labels=labels_in(rng, size, alphabet),
        alphabet=alphabet, initial=[(s, 1 / len(starts)) for s in starts], grid=grid,
    )  # fmt: skip


def weight_of(target: Target, machines: Machines) -> np.ndarray:
    """Return float64[B]: the log weight of machines, their experts integrated out, about."""
    machines = census.canonical(machines, target.space)
    places = range(len(target.unknowns.places))
    each = [
        census.weigh(
            target, Census(machines, np.full(machines.size, place)), np.ones(machines.size)
        ).log_weight
        for place in places
    ]
    return np.asarray(np.logaddexp.reduce(each, axis=0))


def in_space(target: Target, machine: RewardMachine) -> Machines:
    """Return a machine as one of the target's space."""
    space, own = target.space, machine.canonical()
    n = own.n_states
    shape = (1, space.largest, space.m)
    tables = Machines(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.array([n]))
    tables.transitions[0, :n] = own.transitions
    tables.paid[0, :n] = np.searchsorted(space.levels, own.rewards)
    return space.tidy(tables)


def polished(target: Target, machine: RewardMachine) -> tuple[Machines, float]:
    """Return the machine after the best single changes, and its log weight."""
    here = in_space(target, machine)
    best = float(weight_of(target, here)[0])
    while True:
        near = single_changes(here, target.space.levels)
        near = near.rows(target.space.valid(near))
        found = weight_of(target, near)
        if not found.max(initial=-np.inf) > best + 0.01:
            return here, best
        here, best = near.rows(np.array([found.argmax()])), float(found.max())


class EnoughError(Exception):
    """A machine that weighs as much as the polished truth was reached, or the time is over."""


def attempt(kind: str, seed: int, seconds: float) -> dict[str, object]:
    """Search for one task, and say whether it was found, and when."""
    rng = np.random.default_rng((seed, *kind.encode()))
    task = KINDS[kind](rng)
    world = graph if rng.random() < 0.5 else windy
    mdp = world(rng, task.alphabet)
    alpha, discount = float(np.exp(rng.uniform(np.log(5), np.log(500)))), rng.uniform(0.85, 0.985)
    episodes = int(rng.choice([10, 60]))
    levels = tuple(sorted({0.0, 1.0, *np.unique(task.rewards).tolist()}))
    demos = whence.simulate(
        mdp, task, Expert(alpha, discount), episodes=episodes, length=60, seed=seed
    )
    target = asked_of(mdp, demos, levels, task.n_states + 1)
    goal_machine, goal = polished(target, task)
    began = time.process_time()
    short = [np.inf]

    def on_event(event: Event) -> None:
        if event.machine is not None:
            short[0] = goal - float(weight_of(target, in_space(target, event.machine))[0])
            if short[0] <= SAME or time.process_time() - began > seconds:
                raise EnoughError

    held = 0.0
    try:
        run = whence.infer(
            mdp, demos, states=(1, task.n_states + 1), rewards=levels, seed=seed, threads=1,
            on_event=on_event,
        )  # fmt: skip
        held = share_of(run, goal_machine, mdp, levels)
    except EnoughError:
        pass
    return {
        "kind": kind, "world": world.__name__, "size": mdp.n_states, "states": task.n_states,
        "episodes": episodes, "alpha": round(alpha), "discount": round(discount, 3), "seed": seed,
        "found": bool(short[0] <= SAME or held >= HELD), "short": round(short[0], 2),
        "held": round(held, 3), "seconds": round(time.process_time() - began, 1),
    }  # fmt: skip


def asked_of(
    mdp: LabeledMDP, demos: Demonstrations, levels: tuple[float, ...], most: int
) -> Target:
    """Return what a run that knows only the rewards samples."""
    known = unknowns(None, None, None, None)
    known = replace(known, largest=max(abs(level) for level in levels))
    first = Posterior(mdp, demos, expert=Expert(1.0, DISCOUNTS[0]), rewards=levels)
    every = tuple(first.of_expert(Expert(1.0, discount)) for discount in DISCOUNTS)
    return Problem(every, known, range(1, most + 1), {}).target()


def share_of(
    run: whence.Run, machine: Machines, mdp: LabeledMDP, levels: tuple[float, ...]
) -> float:
    """Return the probability that a run gives to what pays as a machine does in the world."""
    n = int(machine.n_states[0])
    pays = np.array(levels)[machine.paid[0, :n]]
    one = RewardMachine(mdp.alphabet, machine.transitions[0, :n], pays)
    every = () if run.posterior is None else run.posterior
    return float(sum(share for each, share in every if each.same_in(one, mdp)))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of one core, a task")
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    kinds = asked.kinds.split(",")
    rows = []
    for number in range(asked.tasks):
        rows.append(attempt(kinds[number % len(kinds)], asked.seed + number, asked.seconds))
        print(json.dumps(rows[-1]), flush=True)
        if asked.output:
            asked.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for kind in kinds:
        mine = [bool(row["found"]) for row in rows if row["kind"] == kind]
        print(f"{kind}: found {sum(mine)} of {len(mine)}")


if __name__ == "__main__":
    main()
