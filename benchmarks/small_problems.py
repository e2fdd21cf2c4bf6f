"""Are the probabilities right? Small problems against an enumeration written independently.

Machines of two states over two symbols on 4 by 4 grids, four episodes of eight steps. The
enumeration below shares no code with the package's engines and methods: it solves each machine by
plain value iteration, weighs it by the formulas of the model, and integrates an unknown alpha and
lapse over a grid of its own; that of the first problem is compared with one twice as fine.

    python benchmarks/small_problems.py [--problems 50] [--first 0] [--unknown] [--steps 20000]

For each problem: how far P(a sequence pays 1) is off for ten label sequences, by `auto` and by
tempering; and log evidence beside the exact one.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.special import logsumexp

import whence
from whence import Expert, LabeledMDP, Tempering

SIDE = 4
MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))
DISCOUNT = 0.9
LEVELS = (0.0, 1.0)
WORDS = [word for length in (1, 2) for word in itertools.product("ab", repeat=length)] + [
    ("a", "b", "a"), ("b", "a", "b"), ("a", "a", "b"), ("b", "b", "a"),
]  # fmt: skip


def problem(seed: int) -> tuple[LabeledMDP, whence.Demonstrations, np.ndarray, list[int]]:
    """Return a world with its demonstrations, its successors, int[S, A], and its labels."""
    rng = np.random.default_rng(seed)
    cells = [(x, y) for y in range(SIDE) for x in range(SIDE)]
    place = {cell: number for number, cell in enumerate(cells)}
    successors = np.array(
        [[place.get((x + dx, y + dy), place[x, y]) for dx, dy in MOVES] for x, y in cells]
    )
    labels = rng.choice([-1, -1, -1, 0, 1], size=len(cells)).tolist()
    labels[int(rng.integers(0, 8))], labels[int(rng.integers(8, 16))] = 0, 1
    mdp = LabeledMDP.from_triples(
        [(s, a, int(successors[s, a]), 1.0) for s in range(16) for a in range(4)],
        states=16, actions=["up", "right", "down", "left"], alphabet=["a", "b"],
        labels=[None if k < 0 else "ab"[k] for k in labels],
        initial=[(s, 1 / 16) for s in range(16)],
    )  # fmt: skip
    every = machines()
    transitions, rewards = every[int(rng.integers(len(every)))]
    task = whence.RewardMachine(("a", "b"), transitions, rewards)
    expert = Expert(alpha=5.0, discount=DISCOUNT, lapse=0.05)
    return (
        mdp,
        whence.simulate(mdp, task, expert, episodes=4, length=8, seed=seed),
        successors,
        labels,
    )


def machines() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return every valid machine of two states: both are reached, and something is paid."""
    found = []
    for targets in itertools.product(range(2), repeat=4):
        transitions = np.array(targets).reshape(2, 2)
        if 1 not in transitions[0]:
            continue
        for pays in itertools.product(LEVELS, repeat=4):
            if any(pays):
                found.append((transitions, np.array(pays).reshape(2, 2)))
    return found


def q_values(
    successors: np.ndarray, labels: np.ndarray, transitions: np.ndarray, rewards: np.ndarray
) -> np.ndarray:
    """Return the optimal Q, float[y, s, a], by value iteration."""
    label = labels[successors]
    y = np.arange(2)[:, None, None]
    after = np.where(label < 0, y, transitions[:, label])
    pay = np.where(label < 0, 0.0, rewards[:, label])
    value = np.zeros((2, 16))
    while True:
        q = pay + DISCOUNT * value[after, successors]
        new = q.max(axis=2)
        if np.abs(new - value).max() < 1e-14:
            return q
        value = new


def log_likelihoods(
    q: np.ndarray, demos: whence.Demonstrations, labels: np.ndarray, transitions: np.ndarray,
    alphas: np.ndarray, lapses: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Return float[alphas, lapses]."""
    total = np.zeros((len(alphas), len(lapses)))
    for episode in demos:
        y = 0
        states, actions = list(episode.states), list(episode.actions)
        for step, action in enumerate(actions):
            scaled = alphas[:, None] * q[y, states[step]]
            chance = np.exp(scaled[:, action] - logsumexp(scaled, axis=1))
            total += np.log((1 - lapses) * chance[:, None] + lapses / 4)
            if step + 1 < len(states) and labels[states[step + 1]] >= 0:
                y = transitions[y, labels[states[step + 1]]]
    return total


def panels(edges: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and weights of Gauss-Legendre quadrature between neighbouring edges."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    low, wide = edges[:-1, None], np.diff(edges)[:, None]
    return (low + wide * (x + 1) / 2).reshape(-1), (wide * w / 2).reshape(-1)


def grid(finer: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return alphas, lapses and log weights, float[alphas, lapses].

    log alpha is logistic around log 30 with a spread of 2, from 0.001 to 10^6; the lapse has the
    density 19 (1 - lapse)^18.
    """
    ends = np.log(1e-3), np.log(1e6)
    u, wide = panels(np.linspace(*ends, 24 * finer + 1), 8)
    lapse, width = panels(np.concatenate([[0], np.geomspace(1e-4, 1, 8 * finer + 1)]), 8)
    away = np.abs(u - np.log(30)) / 2
    of_alpha = -away - 2 * np.log1p(np.exp(-away)) + np.log(wide)
    of_lapse = 18 * np.log1p(-lapse) + np.log(width)
    of_alpha, of_lapse = of_alpha - logsumexp(of_alpha), of_lapse - logsumexp(of_lapse)
    return np.exp(u), lapse, of_alpha[:, None] + of_lapse


def exact(seed: int, unknown: bool, finer: int = 1) -> tuple[dict[tuple[str, ...], float], float]:
    """Return how likely each sequence's last label pays 1, and the log evidence."""
    _, demos, successors, found = problem(seed)
    labels = np.array(found)
    alphas, lapses, weights = (
        grid(finer) if unknown else (np.array([5.0]), np.array([0.05]), np.zeros((1, 1)))
    )
    every = machines()
    scores, priors = [], []
    for transitions, rewards in every:
        q = q_values(successors, labels, transitions, rewards)
        likelihood = log_likelihoods(q, demos, labels, transitions, alphas, lapses)
        loops = sum(int(transitions[y, s] == y) for y in range(2) for s in range(2))
        zeros = int((rewards == 0).sum())
        prior = loops * np.log(0.6) + (4 - loops) * np.log(0.4)
        priors.append(prior + zeros * np.log(0.75) + (4 - zeros) * np.log(0.25))
        scores.append(logsumexp(likelihood + weights) + priors[-1])
    share = np.exp(np.array(scores) - logsumexp(scores))
    paid = dict.fromkeys(WORDS, 0.0)
    for (transitions, rewards), weight in zip(every, share.tolist(), strict=True):
        for word in WORDS:
            y, pay = 0, 0.0
            for label in ("ab".index(letter) for letter in word):
                y, pay = transitions[y, label], rewards[y, label]
            paid[word] += weight * (pay == 1.0)
    return paid, float(logsumexp(scores) - logsumexp(priors))


def said(run: whence.Run) -> dict[tuple[str, ...], float]:
    """Return how likely each sequence's last label pays 1, by the draws of a run."""
    draws = run.draws
    assert draws is not None
    found = {}
    row = np.arange(draws.size)
    for word in WORDS:
        y, pay = np.zeros(draws.size, dtype=np.int64), np.zeros(draws.size)
        for column in (run.best.alphabet.index(letter) for letter in word):
            pay, y = draws.rewards[row, y, column], draws.transitions[row, y, column]
        found[word] = float(draws.weight @ (pay == 1.0))
    return found


def main() -> None:
    """Print a line for each problem, and a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--unknown", action="store_true", help="infer alpha and lapse")
    given = parser.parse_args()
    gaps: list[float] = []
    autos: list[float] = []
    evidence: list[tuple[float, float]] = []
    if given.unknown:
        coarse, fine = exact(given.first, True)[0], exact(given.first, True, 2)[0]
        gap = max(abs(coarse[word] - fine[word]) for word in WORDS)
        print(f"a grid twice as fine changes a probability by at most {gap:.1e}", flush=True)
    for seed in range(given.first, given.first + given.problems):
        mdp, demos, _, _ = problem(seed)
        wanted, log_z = exact(seed, given.unknown)
        asked: dict[str, object] = {"states": 2, "discount": DISCOUNT}
        if not given.unknown:
            asked |= {"alpha": 5.0, "lapse": 0.05}
        auto = whence.infer(mdp, demos, **asked)
        assert auto.method == "exhaustive"
        began = time.perf_counter()
        run = whence.infer(mdp, demos, **asked, settings=Tempering(steps=given.steps), seed=seed)
        seconds = time.perf_counter() - began
        own = [abs(said(run)[word] - wanted[word]) for word in WORDS]
        autos.append(max(abs(said(auto)[word] - wanted[word]) for word in WORDS))
        value, error = run.log_evidence[2]
        evidence.append((value - log_z, error))
        gaps += own
        print(
            f"{seed}: auto {autos[-1]:.1e}, tempering {max(own):.4f} after {run.steps} steps, "
            f"{seconds:.1f} s, {run.stopped}; log evidence {value - log_z:+.4f} ± {error:.4f}",
            flush=True,
        )
    off = np.array(gaps)
    print(
        f"{len(off)} probabilities: above 0.03 {int((off > 0.03).sum())}, above 0.05 "
        f"{int((off > 0.05).sum())}, worst {off.max():.4f}; auto worst {max(autos):.1e}; evidence "
        f"beyond three errors {sum(abs(gap) > 3 * error + 1e-3 for gap, error in evidence)}"
    )


if __name__ == "__main__":
    main()
