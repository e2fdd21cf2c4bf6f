"""Infer the coffee machine, then train two tabular learners on what it pays.

Plain Q-learning over (machine state, world state), and CRM, counterfactual experiences for reward
machines: after each step it learns what every state of the machine would have seen. Both
learn through `RewardMachineEnv` with the same settings; the true task judges their greedy policies
by exact expected return. `--seeds 10 --write docs/images` makes the published picture.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import whence
from whence.bench.picture import Line, Panel, drawn
from whence.envs import LabeledMDPEnv, RewardMachineEnv
from whence.evaluation import expected_return

WORLD = whence.worlds.coffee()
DISCOUNT = 0.92
STEPS = 100
EPISODES = 4_000
EVERY = 100
EPSILON = 0.2
ENOUGH = 0.95

Floats = npt.NDArray[np.float64]


def inferred() -> whence.RewardMachine:
    """Return the machine inferred from 100 demonstrations."""
    demos = WORLD.demonstrations(seed=0)
    expert = whence.Expert(alpha=50, discount=DISCOUNT)
    return whence.infer(WORLD.mdp, demos, states=3, expert=expert, seed=0).best


def greedy(q: Floats, machine: whence.RewardMachine) -> whence.Policy:
    """Return the policy that takes the first best action; q is float64[n, S, A]."""
    chosen = np.eye(q.shape[2])[q.argmax(axis=2)]
    return whence.Policy(machine, chosen, DISCOUNT)


def act(values: Floats, rng: np.random.Generator) -> int:
    """Return an action, epsilon-greedy; equally good ones are equally likely."""
    if rng.random() < EPSILON:
        return int(rng.integers(len(values)))
    best = np.flatnonzero(values == values.max())
    return int(best[int(rng.random() * len(best))])


class Learner:
    """Q-learning with step sizes that fall with the number of visits."""

    def __init__(self, env: RewardMachineEnv, *, counterfactual: bool) -> None:
        shape = env.machine.n_states, WORLD.mdp.n_states, WORLD.mdp.n_actions
        self.env, self.counterfactual = env, counterfactual
        self.q, self.visits = np.zeros(shape), np.zeros(shape)

    def learn(self, memory: int, state: int, action: int, step: Any) -> None:
        """Learn from a step, as it was or as every machine state would have seen it."""
        (following, after), reward, terminated, _, _ = step
        if self.counterfactual:
            seen = self.env.counterfactuals
            where: Any = slice(None)
            rest = self.q[seen.states, following].max(axis=1)
            target = seen.rewards + DISCOUNT * np.where(seen.terminated, 0.0, rest)
        else:
            where = memory
            target = reward + DISCOUNT * (0.0 if terminated else self.q[after, following].max())
        self.visits[where, state, action] += 1
        rate = np.maximum(0.1, self.visits[where, state, action] ** -0.6)
        self.q[where, state, action] += rate * (target - self.q[where, state, action])

    def episode(self, rng: np.random.Generator, seed: int | None) -> None:
        """Act for one episode, and learn from each step."""
        (state, memory), _ = self.env.reset(seed=seed)
        over = False
        while not over:
            action = act(self.q[memory, state], rng)
            step = self.env.step(action)
            self.learn(memory, state, action, step)
            (state, memory), _, terminated, truncated, _ = step
            over = terminated or truncated


def curve(machine: whence.RewardMachine, seed: int, *, counterfactual: bool) -> Floats:
    """Return what the greedy policy earns after every `EVERY` episodes, paid by the true task."""
    world = LabeledMDPEnv(WORLD.mdp, length=STEPS)
    env = RewardMachineEnv(world, machine, observation="tuple", end_when_settled=True)
    learner = Learner(env, counterfactual=counterfactual)
    rng = np.random.default_rng(seed)
    earned = []
    for episode in range(EPISODES):
        learner.episode(rng, seed if episode == 0 else None)
        if (episode + 1) % EVERY == 0:
            policy = greedy(learner.q, machine)
            earned.append(expected_return(WORLD.mdp, policy, WORLD.task, STEPS))
    return np.array(earned)


def needed(shares: Floats) -> float:
    """Return after how many episodes a curve first reaches 95% of the optimum."""
    hit = np.flatnonzero(shares >= ENOUGH)
    return float((hit[0] + 1) * EVERY) if len(hit) else np.inf


def picture(curves: dict[str, Floats], optimum: float) -> str:
    """Return the median and the worst curve of all seeds, as SVG."""
    episodes = EVERY * np.arange(1, EPISODES // EVERY + 1)
    guide = Line("95%", ((0, ENOUGH), (EPISODES, ENOUGH)), guide=True)
    panels = []
    for title, of in (("Median", np.median), ("Worst", np.min)):
        lines = [
            Line(name, tuple(zip(episodes, of(each, axis=0) / optimum, strict=True)), dots=False)
            for name, each in curves.items()
        ]
        seeds = len(next(iter(curves.values())))
        what = f"{title} of {seeds} seeds"
        panels.append(
            Panel(what, "episodes", "share of the optimal return", (*lines, guide), linear=True)
        )
    return drawn(tuple(panels), "Learning the inferred coffee task")


def main(seeds: int, folder: Path | None) -> None:
    """Train, print what came out, and draw it."""
    machine = inferred()
    print(machine)
    best = whence.plan(WORLD.mdp, machine, discount=DISCOUNT)
    optimum = whence.evaluate(WORLD.mdp, best, truth=WORLD.task, length=STEPS).reference
    curves = {}
    for name, counterfactual in (("CRM", True), ("Q-learning", False)):
        each = [curve(machine, seed, counterfactual=counterfactual) for seed in range(seeds)]
        curves[name] = np.array(each)
        reached = [needed(row / optimum) for row in each]
        print(f"{name}: 95% of {optimum:.3f} after {', '.join(f'{n:.0f}' for n in reached)} "
              f"episodes, median {np.median(reached):.0f}; the best of each seed "
              f"{curves[name].max(axis=1).min() / optimum:.3f} or more")  # fmt: skip
    crm, plain = (np.median([needed(row / optimum) for row in each]) for each in curves.values())
    assert np.isfinite(plain), "Q-learning did not get there"
    assert crm <= plain / 2, (crm, plain)
    if folder is not None:
        (folder / "learning-curves.svg").write_text(picture(curves, optimum), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--write", type=Path, default=None)
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.write)
