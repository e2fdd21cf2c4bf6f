"""The labels that an optimal agent heads for, one simulated step after another.

This follows the definition and nothing else: values from policy iteration with a linear solve, one
episode after the other, a loop over labels. The library solves for all episodes at once.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from whence import LabeledMDP, RewardMachine
from whence._arrays import Floats
from whence.analysis.heading import Goal
from whence.analysis.routes import ANYTHING, Course
from whence.model.expert import best_actions, evenly
from whence.model.product import product_of_tables
from whence.planning.policies import optimal_q

SURELY, HARDLY = 0.09, 0.02  # shares that are clearly above and below one in twenty


def words(
    mdp: LabeledMDP,
    machine: RewardMachine,
    discount: float,
    *,
    episodes: int,
    length: int,
    most: int,
    rng: np.random.Generator,
) -> list[tuple[str, ...]]:
    """Return the wanted labels of each episode, `most` at most.

    An episode that went on without reading as many, though something was wanted, is left out;
    so is what follows an accident.
    """
    q = optimal_q(mdp, machine, discount)
    policy, values = evenly(best_actions(q)), q.max(axis=2)
    return [
        word
        for _ in range(episodes)
        if (word := _episode(mdp, machine, discount, policy, values, length, most, rng))
        is not None
    ]


def _episode(
    mdp: LabeledMDP,
    machine: RewardMachine,
    discount: float,
    policy: Floats,
    values: Floats,
    length: int,
    most: int,
    rng: np.random.Generator,
) -> tuple[str, ...] | None:
    largest = float(np.abs(machine.rewards).max())
    state = int(rng.choice(mdp.initial_states, p=mdp.initial_probabilities))
    memory = 0
    word: list[str] = []
    for _ in range(length):
        if values[memory, state] <= 1e-9 * largest or len(word) == most:
            return (*word, "") if len(word) < most else tuple(word)
        action = int(rng.choice(mdp.n_actions, p=policy[memory, state]))
        pair = state * mdp.n_actions + action
        entries = slice(int(mdp.offsets[pair]), int(mdp.offsets[pair + 1]))
        chances = mdp.probabilities[entries]
        at = int(rng.choice(len(chances), p=chances / chances.sum()))
        state = int(mdp.successors[entries][at])
        if mdp.labels[state] < 0:
            continue
        label = mdp.alphabet[mdp.labels[state]]
        after, reward = machine.step(memory, label)
        reading = reward + discount * values[after, state]
        waiting = discount * values[memory, state]
        delay = (1 - discount) / 2 * (1 + 1e-9)  # what is just that much is not more
        if (after, reward) != (memory, 0.0):
            if reading - waiting > max(1e-9 * largest, delay * abs(reading)):
                word.append(label)
            lost = waiting - reading > max(1e-9 * largest, delay * abs(waiting))
            if lost and after != memory and chances[at] < 0.5:
                return tuple(word)  # an accident: what follows is no plan
        memory = after
    return tuple(word)


def best_steps(
    mdp: LabeledMDP, goal: Goal, values: Floats
) -> tuple[list[tuple[int, int, float, int]], int]:
    """Return all steps of best actions, sorted: place, place, chance and wanted label or -1.

    Also returns how many were left out as accidents. A place is the machine's state times the
    number of the world's, and the world's.
    """
    largest, delay = float(np.abs(goal.rewards).max()), (1 - goal.discount) / 2 * (1 + 1e-9)
    q = product_of_tables(mdp, goal.transitions, goal.rewards).backup(values, goal.discount)
    policy = evenly(best_actions(q))
    queue = [(0, int(s)) for s in mdp.initial_states]
    steps, accidents = [], 0
    for y, s in queue:
        for a in range(mdp.n_actions) if values[y, s] > 1e-9 * largest else ():
            pair = s * mdp.n_actions + a
            for e in range(mdp.offsets[pair], mdp.offsets[pair + 1]) if policy[y, s, a] else ():
                z, label, after, reward = int(mdp.successors[e]), -1, y, 0.0
                if mdp.labels[z] >= 0:
                    after = int(goal.transitions[y, mdp.labels[z]])
                    reward = float(goal.rewards[y, mdp.labels[z]])
                reading = reward + goal.discount * values[after, z]
                gain = reading - goal.discount * values[y, z]
                if (after, reward) != (y, 0.0):
                    if gain > max(1e-9 * largest, delay * abs(reading)):
                        label = int(mdp.labels[z])
                    lost = gain < -max(1e-9 * largest, delay * abs(reading - gain))
                    if lost and after != y and mdp.probabilities[e] < 0.5:
                        accidents += 1
                        continue
                chance = float(mdp.probabilities[e] / (policy[y, s] > 0).sum())
                size = mdp.n_states
                steps.append((y * size + s, after * size + z, chance, label))
                if (after, z) not in queue:
                    queue.append((after, z))
    return sorted(steps), accidents


def disagreement(
    course: Course, alphabet: tuple[str, ...], found: list[tuple[str, ...]], most: int, few: int
) -> str | None:
    """Return how a route and simulated words differ, or None.

    A beginning is looked at where at least `few` words have it. A label that is clearly next more
    than once in twenty times must be in the route, one that clearly is not must not. "" at the
    end of a word says that nothing more was wanted.
    """
    queue: list[tuple[tuple[str, ...], int]] = [((), 0)]
    while queue:
        word, node = queue.pop()
        moves = {alphabet[symbol]: target for symbol, target in course.moves[node] if symbol >= 0}
        if len(word) == most or any(symbol == ANYTHING for symbol, _ in course.moves[node]):
            continue
        heads = [each for each in found if each[: len(word)] == word and len(each) > len(word)]
        if len(heads) < few:
            continue
        next_labels = Counter(each[len(word)] for each in heads)
        ended = next_labels.pop("", 0)
        total = sum(next_labels.values())
        if total < HARDLY * (total + ended):
            if moves:
                return f"after {word} nothing is wanted, but the route says {sorted(moves)}"
            continue
        if total > SURELY * (total + ended) and not moves:
            return f"after {word} {dict(next_labels)} of {len(heads)}, but the route ends"
        if not moves or total < few:
            continue
        for label in sorted({*next_labels, *moves}):
            share = next_labels[label] / total
            if share > SURELY and label not in moves:
                return f"after {word} {label} is next in {share:.1%}, but not in the route"
            if share < HARDLY and label in moves:
                return f"after {word} {label} is next in {share:.1%}, but in the route"
        queue += [((*word, label), target) for label, target in moves.items()]
    return None
