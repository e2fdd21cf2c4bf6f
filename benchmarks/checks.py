"""Does `run.check()` tell models that fit from models that do not?

`uniform` draws tasks, experts and demonstrations from the prior: the p-value of all statistics
together, and that of each, must be uniform. `soft` shows demonstrations of an expert who plans
softly (maximum causal entropy) and reads them as Boltzmann-rational; `state` shows a task that
needs three machine states and allows two; `label` leaves out a label that the task depends on.
These must be rejected at 5% in at least 80 of 100. The soft expert is simulated here, by code
that shares nothing with the check.

    python benchmarks/checks.py [--part uniform] [--sets 200] [--first 0]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import whence
from whence import Demonstrations, Exhaustive, Expert, LabeledMDP, Prior, RewardMachine
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.runs.checking import check
from whence.runs.job import Job
from whence.search.unknowns import unknowns

MAP = "slip: 0.1\nlabels: a b c\nstarts: S\nmap:\na..b\n....\n.S.c\n"
DISCOUNT, LENGTH, EPISODES = 0.9, 25, 100
ALPHA, LAPSE = AlphaPrior(8, 0.5, 1, 100), LapsePrior(1, 19)
THEN = ("x -a-> y", "y -b/1-> x")
THREE = ("x -a-> y", "y -b-> z", "z -c/1-> x")
SOFT_ALPHA = 6.0
PARTS = ("uniform", "soft", "state", "label")


def p_values(mdp: LabeledMDP, demos: Demonstrations, seed: int) -> tuple[float, list[float]]:
    """Return the p-value of all statistics together, and that of each."""
    job = Job(
        pairs=[(mdp, demos)],
        unknowns=unknowns(None, None, None, DISCOUNT, ALPHA, LAPSE),
        sizes=range(2, 3),
        rewards=(0.0, 1.0),
        prior=Prior(),
        method="exhaustive",
        settings=Exhaustive(),
        seed=seed,
    )
    found = check(job, most=199, threads=1)  # run.check() without a run on all episodes
    return found.p_value, [each.p_value for each in found.discrepancies]


def drawn(mdp: LabeledMDP, seed: int) -> Demonstrations:
    """Return demonstrations of a task and an expert from the prior."""
    rng = np.random.default_rng((3141, seed))
    tables = Prior().sample(rng, 2, len(mdp.alphabet), (0.0, 1.0), 1)
    task = RewardMachine(mdp.alphabet, tables[0][0], tables[1][0])
    alpha = float(np.exp(ALPHA.sample(rng, 1))[0])
    expert = Expert(alpha, DISCOUNT, float(LAPSE.sample(rng, 1)[0]))
    return whence.simulate(mdp, task, expert, episodes=EPISODES, length=LENGTH, seed=seed)


def soft_policy(mdp: LabeledMDP, task: RewardMachine, alpha: float) -> np.ndarray:
    """Return float64[n, S, A], by iterating the soft Bellman equation on dense tables."""
    n, (states, actions) = task.n_states, (mdp.n_states, mdp.n_actions)
    move = np.zeros((states, actions, states))
    pairs = np.repeat(np.arange(states * actions), np.diff(mdp.offsets))
    np.add.at(move.reshape(-1, states), (pairs, mdp.successors), mdp.probabilities)
    following = np.array([[y if s < 0 else task.transitions[y, s] for s in mdp.labels]
                          for y in range(n)])  # fmt: skip
    paid = np.array([[0.0 if s < 0 else task.rewards[y, s] for s in mdp.labels] for y in range(n)])
    value = np.zeros((n, states))
    for _ in range(600):
        ahead = alpha * paid + DISCOUNT * value[following, np.arange(states)]
        q = np.einsum("sat,yt->ysa", move, ahead)
        value = np.logaddexp.reduce(q, axis=2)
    return np.exp(q - value[:, :, None])


def walked(mdp: LabeledMDP, task: RewardMachine, policy: np.ndarray, seed: int) -> Demonstrations:
    """Return episodes of a policy, step by step."""
    rng = np.random.default_rng((2718, seed))
    episodes = []
    for _ in range(EPISODES):
        state, memory = int(rng.choice(mdp.initial_states, p=mdp.initial_probabilities)), 0
        states, actions = [state], []
        for _ in range(LENGTH):
            action = int(rng.choice(mdp.n_actions, p=policy[memory, state]))
            row = slice(*mdp.offsets[state * mdp.n_actions + action :][:2])
            state = int(rng.choice(mdp.successors[row], p=mdp.probabilities[row]))
            label = int(mdp.labels[state])
            memory = memory if label < 0 else int(task.transitions[memory, label])
            states.append(state)
            actions.append(action)
        episodes.append((states, actions))
    return Demonstrations.from_episodes(episodes)


def without(mdp: LabeledMDP, symbol: str) -> LabeledMDP:
    """Return the world with a label that nobody named."""
    place = mdp.alphabet.index(symbol)
    labels = np.where(mdp.labels == place, -1, mdp.labels)
    labels = np.where(labels > place, labels - 1, labels)
    alphabet = tuple(s for s in mdp.alphabet if s != symbol)
    return replace(mdp, labels=labels, alphabet=alphabet)


def one(part: str, mdp: LabeledMDP, seed: int) -> tuple[float, list[float]]:
    """Return the p-values of one set."""
    if part == "uniform":
        return p_values(mdp, drawn(mdp, seed), seed)
    if part == "soft":
        task = RewardMachine.from_arrows(THEN, alphabet=mdp.alphabet)
        return p_values(mdp, walked(mdp, task, soft_policy(mdp, task, SOFT_ALPHA), seed), seed)
    task = RewardMachine.from_arrows(THREE if part == "state" else THEN, alphabet=mdp.alphabet)
    expert = Expert(15.0, DISCOUNT, 0.02)
    demos = whence.simulate(mdp, task, expert, episodes=EPISODES, length=LENGTH, seed=seed)
    return p_values(without(mdp, "a") if part == "label" else mdp, demos, seed)


def uniform(values: np.ndarray) -> float:
    """Return the p-value of Kolmogorov's and Smirnov's test."""
    from scipy.stats import kstest

    return float(kstest(values, "uniform").pvalue)


def main() -> None:
    """Make sets, check, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    mdp = LabeledMDP.from_map(MAP, source="map")
    for part in given.part or PARTS:
        found = [one(part, mdp, given.first + at) for at in range(given.sets)]
        together = np.array([p for p, _ in found])
        print(f"{part}: {given.sets} sets, rejected at 5%: {(together <= 0.05).sum()}", end="")
        if part == "uniform":
            each = np.concatenate([singles for _, singles in found])
            print(f"; uniform: p = {uniform(together):.3f}; of single statistics "
                  f"{(each <= 0.05).mean():.1%} of {len(each)} at 5%", end="")  # fmt: skip
        print(flush=True)


if __name__ == "__main__":
    main()
