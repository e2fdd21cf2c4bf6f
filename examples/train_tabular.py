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
from whence.drawing.chart import Line, Panel, panels_svg
from whence.envs import LabeledMDPEnv, RewardMachineEnv
from whence.planning.evaluation import expected_return

WORLD = whence.worlds.coffee()
DISCOUNT = 0.99
STEPS = 100
EPISODES = 8_000
EVERY = 100
EPSILON = 0.1
FIRST = 0.003  # what every action is worth at first: a little, so that untried ones are tried
ENOUGH = 0.95

Floats = npt.NDArray[np.float64]


def inferred() -> whence.RewardMachine:
    """Return the machine inferred from 100 demonstrations."""
    demos = WORLD.demonstrations(seed=0)
    expert = whence.Expert(alpha=50, discount=WORLD.expert.discount)
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
        self.q, self.visits = np.full(shape, FIRST), np.zeros(shape)

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
        rate = np.maximum(0.05, self.visits[where, state, action] ** -0.7)
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


def curve(
    machine: whence.RewardMachine, seed: int, *, counterfactual: bool, until: float = np.inf
) -> Floats:
    """Return what the greedy policy earns after every `EVERY` episodes, paid by the true task.

    It ends where the policy earns `until`.
    """
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
            if earned[-1] >= until:
                break
    return np.array(earned)


def needed(shares: Floats) -> float:
    """Return after how many episodes a curve first reaches 95% of the optimum."""
    hit = np.flatnonzero(shares >= ENOUGH)
    return float((hit[0] + 1) * EVERY) if len(hit) else np.inf


def picture(curves: dict[str, Floats], optimum: float) -> str:
    """Return the curves of all seeds, each float64[seeds, .], as SVG: median and worst."""
    episodes = EVERY * np.arange(1, EPISODES // EVERY + 1)
    guide = Line("95%", ((0, ENOUGH), (EPISODES, ENOUGH)), guide=True)
    shown = {
        "Median": {name: np.median(each, axis=0) for name, each in curves.items()},
        "Best so far, worst": {
            name: np.maximum.accumulate(each, axis=1).min(axis=0) for name, each in curves.items()
        },
    }
    panels = []
    for title, lines in shown.items():
        drawn_lines = [
            Line(name, tuple(zip(episodes, line / optimum, strict=True)), dots=False)
            for name, line in lines.items()
        ]
        what = f"{title} of {len(curves['CRM'])} seeds"
        axes = "episodes", "share of the optimal return"
        panels.append(Panel(what, *axes, (*drawn_lines, guide), linear=True))
    return panels_svg(panels, "Learning the inferred coffee task")


def report(curves: dict[str, list[Floats]], optimum: float) -> None:
    """Print when each learner reached 95% of the optimum, and check that CRM takes half."""
    medians = {}
    for name, each in curves.items():
        reached = [needed(earned / optimum) for earned in each]
        medians[name] = float(np.median(reached))
        listed = ", ".join(f"{episodes:.0f}" for episodes in reached)
        print(f"{name}: 95% of {optimum:.3f} after {listed} episodes, median {medians[name]:.0f}")
        assert np.isfinite(reached).all(), f"{name} did not always get there"
    assert medians["CRM"] <= medians["Q-learning"] / 2, medians


def main(seeds: int, folder: Path | None) -> None:
    """Train, print what came out, and draw it where a folder is given."""
    machine = inferred()
    print(machine)
    best = whence.plan(WORLD.mdp, machine, discount=DISCOUNT)
    optimum = whence.evaluate(WORLD.mdp, best, truth=WORLD.task, length=STEPS).reference
    until = np.inf if folder is not None else ENOUGH * optimum
    curves = {
        name: [
            curve(machine, seed, counterfactual=name == "CRM", until=until)
            for seed in range(seeds)
        ]
        for name in ("CRM", "Q-learning")
    }
    report(curves, optimum)
    if folder is not None:
        whole = {name: np.array(each) for name, each in curves.items()}
        (folder / "learning-curves.svg").write_text(picture(whole, optimum), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="how many times to train each")
    parser.add_argument("--write", type=Path, default=None, help="a folder for the picture")
    arguments = parser.parse_args()
    main(arguments.seeds, arguments.write)
