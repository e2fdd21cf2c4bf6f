"""What it is worth to know that episodes end because the task is over.

A 7 by 7 grid with a key, a door, a goal and traps. The environment shows the cell alone; it
terminates at the goal, once key and door were visited, and in a trap. The world is explored, the
demonstrations are those of a simulated expert or of a tabular learner, and the task is inferred
with and without the endings:

    python benchmarks/endings.py --seeds 10
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import gymnasium
import numpy as np

import whence
from whence.envs import GymWorld, Recorder, Recording

ROWS = ("k......", ".......", "..t.t..", "...d...", "..t.t..", ".......", "g......")
LABELS = {7 * y + x: c for y, row in enumerate(ROWS) for x, c in enumerate(row) if c != "."}
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
TASK = whence.RewardMachine.from_arrows(
    [
        "none -k-> key", "key -d-> open", "open -g/1-> over",
        "none -t-> over", "key -t-> over", "open -t-> over",
    ],
    alphabet=("k", "t", "d", "g"),
)  # fmt: skip
LENGTH, SLIP = 60, 0.1


class KeyDoorGoal(gymnasium.Env[Any, Any]):
    """The grid; a move slips to either side with half of SLIP."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Discrete(49)
        self.action_space = gymnasium.spaces.Discrete(4)
        self.memory = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin in a blank cell."""
        super().reset(seed=seed)
        blank = [s for s in range(49) if s not in LABELS]
        self.s, self.memory, self.steps = int(self.np_random.choice(blank)), 0, 0
        return self.s, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Move; the task is over at the goal or in a trap."""
        turn = self.np_random.random()
        way = (int(action) + (turn < SLIP) - 2 * (turn < SLIP / 2)) % 4
        x, y = self.s % 7 + MOVES[way][0], self.s // 7 + MOVES[way][1]
        if 0 <= x < 7 and 0 <= y < 7:
            self.s = 7 * y + x
        self.memory, reward = TASK.step(self.memory, LABELS.get(self.s))
        self.steps += 1
        over = not TASK.can_pay[self.memory]
        return self.s, reward, over, not over and self.steps >= LENGTH, {}


def learned(episodes: int, seed: int, training: int) -> list[Recording]:
    """Return what a tabular learner does who remembers what it visited, once it has learned.

    It explores one action in ten, then and before; its steps fall with the visits of a pair.
    """
    rng = np.random.default_rng(seed)
    recorder = Recorder(KeyDoorGoal())
    inner: Any = recorder.unwrapped
    q = np.full((TASK.n_states, 49, 4), 0.3)
    visits = np.zeros(q.shape)
    for episode in range(training + episodes):
        env: Any = inner if episode < training else recorder
        s, _ = env.reset(seed=seed if episode == 0 else None)
        y, over = 0, False
        while not over:
            best = int(rng.choice(np.flatnonzero(q[y, s] == q[y, s].max())))
            action = int(rng.integers(4)) if rng.random() < 0.1 else best
            t, reward, ended, cut, _ = env.step(action)
            z = inner.memory
            worth = reward + (0.0 if ended else 0.95 * q[z, t].max())
            visits[y, s, action] += 1
            q[y, s, action] += (worth - q[y, s, action]) / (1 + visits[y, s, action]) ** 0.7
            s, y, over = t, z, ended or cut
    return recorder.recordings


def simulated(world: GymWorld, episodes: int, seed: int) -> list[Recording]:
    """Return what an expert of alpha 30 does in the environment."""
    expert = whence.Expert(30.0, 0.95, 0.05)
    policy = whence.planning.policies.expert_policy(world.mdp, TASK, expert)
    return world.play(KeyDoorGoal(), policy, episodes=episodes, length=LENGTH, seed=seed)


def paid_after(run: whence.Run) -> float:
    """Return the largest probability that anything is paid after the end."""
    assert run.posterior is not None
    ends = (("k", "d", "g"), ("t",), ("k", "t"), ("k", "d", "t"))
    found = [0.0]
    for end in ends:
        before = max(run.posterior.pays(*end), key=run.posterior.pays(*end).__getitem__)
        for symbol in TASK.alphabet:
            pays = run.posterior.pays(*end, symbol)
            found.append(sum(p for reward, p in pays.items() if reward != before))
    return max(found)


def gain(run: whence.Run, mdp: Any, demos: Any, endings: str) -> float:
    """Return how much better the best machine explains the demonstrations than the task does.

    Both with the alpha, lapse and discount that suit them best.
    """
    alpha, lapse = np.meshgrid(np.geomspace(3, 3_000, 16), [0.0, 0.05, 0.1, 0.15, 0.2])
    best: list[float] = []
    for machine in (run.best, TASK):
        found = []
        for discount in (0.9, 0.92, 0.95, 0.98, 0.99):
            expert = whence.Expert(10.0, discount)
            posterior = whence.Posterior(mdp, demos, expert=expert, endings=endings)
            table = machine.over(posterior.alphabet)
            many = (alpha.size, *table.transitions.shape)
            found.append(
                posterior.log_likelihood(
                    np.broadcast_to(table.transitions, many),
                    np.broadcast_to(table.rewards, many),
                    alpha=alpha.ravel(),
                    lapse=lapse.ravel(),
                ).max()
            )
        best.append(float(max(found)))
    return best[0] - best[1]


def main() -> None:
    """Print a line for each seed, agent and meaning of endings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument("--training", type=int, default=40_000)
    parser.add_argument("--endings", nargs="+", default=["task", "ignore"])
    parser.add_argument("--agents", nargs="+", default=["simulated", "learned"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for seed in range(given.first, given.first + given.seeds):
        world = GymWorld.from_env(
            KeyDoorGoal(), label=LABELS, steps=60_000, seed=seed, endings="task",
            alphabet=TASK.alphabet,
        )  # fmt: skip
        for agent in given.agents:
            played = agent == "simulated"
            demos = world.demonstrations(
                simulated(world, given.episodes, seed)
                if played
                else learned(given.episodes, seed, given.training)
            )
            for endings in given.endings:
                began = time.perf_counter()
                run = whence.infer(
                    world.mdp, demos, states=4, endings=endings, seed=seed, steps=given.steps
                )
                print(
                    f"seed {seed} {agent:9} {endings:6}",
                    "right" if run.best.same_in(TASK, world.mdp) else "WRONG",
                    f"paid after the end {paid_after(run):.2f},",
                    f"{gain(run, world.mdp, demos, endings):+.0f} nats over the task,",
                    f"{len(demos)} episodes, {time.perf_counter() - began:.0f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
