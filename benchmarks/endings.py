"""What it is worth to know that episodes end because the task is over.

A 7 by 7 grid with a key, a door, a goal and traps. The environment shows the cell alone; it
terminates at the goal, once key and door were visited, and in a trap. The world is taken from its
table, or explored (`--explore 60000`); the demonstrations are those of a simulated expert or of a
tabular learner, and the task is inferred with and without the endings.

The learner acts best but for its exploration, so that only its plan can be told: a machine that
pays the key, too, and is planned for alike explains as much. Asked is, therefore, whether the best
machine is the task in the world, what its optimal policy loses where the task pays, and how many
statements above 90% are false of the task:

    python benchmarks/endings.py --seeds 10
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import gymnasium
import numba
import numpy as np

import whence
from whence.analysis.plans import Plans
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
LENGTH, SLIP, EXPLORES = 60, 0.1, 0.1
DISCOUNT, SURE = 0.95, 0.9


def outcomes(s: int, action: int) -> list[tuple[float, int, float, bool]]:
    """Return where a move leads, and how likely; whether that ends an episode is the task's."""
    ways = ((action, 1 - SLIP), ((action - 1) % 4, SLIP / 2), ((action + 1) % 4, SLIP / 2))
    places = [(s % 7 + MOVES[way][0], s // 7 + MOVES[way][1], p) for way, p in ways]
    return [(p, 7 * y + x if 0 <= x < 7 and 0 <= y < 7 else s, 0.0, False) for x, y, p in places]


class KeyDoorGoal(gymnasium.Env[Any, Any]):
    """The grid; a move slips to either side with half of SLIP."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Discrete(49)
        self.action_space = gymnasium.spaces.Discrete(4)
        self.memory = 0
        self.P = {s: {a: outcomes(s, a) for a in range(4)} for s in range(49)}
        blank = np.array([s not in LABELS for s in range(49)], dtype=float)
        self.initial_state_distrib = blank / blank.sum()

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

    It explores less and less while it learns, and one action in ten at the end and then.
    """
    labels = np.array([TASK.alphabet.index(LABELS[s]) if s in LABELS else -1 for s in range(49)])
    alive = np.array([bool(pay) for pay in TASK.can_pay])
    q = trained(TASK.transitions, TASK.rewards, alive, labels, training, seed)
    rng = np.random.default_rng(seed)
    recorder = Recorder(KeyDoorGoal())
    inner: Any = recorder.unwrapped
    for episode in range(episodes):
        s, _ = recorder.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            action = int(q[inner.memory, s].argmax())
            if rng.random() < EXPLORES:
                action = int(rng.integers(4))
            s, _, ended, cut, _ = recorder.step(action)
            over = ended or cut
    return recorder.recordings


@numba.njit(cache=False)  # type: ignore[untyped-decorator]
def trained(targets: Any, rewards: Any, alive: Any, labels: Any, episodes: int, seed: int) -> Any:
    """Return float64[Y, S, A], what Q-learning makes of the environment after some episodes.

    The share of actions that explore falls from 1 to EXPLORES, steps with the visits of a pair;
    the values of the last half of all episodes are averaged.
    """
    np.random.seed(seed)  # noqa: NPY002 (the only generator that compiled code has)
    q = np.full((len(alive), len(labels), 4), 0.3)
    visits, mean = np.zeros(q.shape), np.zeros(q.shape)
    for episode in range(episodes):
        explores = 1 - (1 - EXPLORES) * episode / episodes
        s = np.random.randint(49)  # noqa: NPY002
        while labels[s] >= 0:
            s = np.random.randint(49)  # noqa: NPY002
        y = 0
        for _step in range(LENGTH):
            action = int(q[y, s].argmax())
            if np.random.random() < explores:  # noqa: NPY002
                action = np.random.randint(4)  # noqa: NPY002
            turn = np.random.random()  # noqa: NPY002
            way = (action + (turn < SLIP) - 2 * (turn < SLIP / 2)) % 4
            x, row = s % 7 + MOVES[way][0], s // 7 + MOVES[way][1]
            t = 7 * row + x if 0 <= x < 7 and 0 <= row < 7 else s
            z, reward = y, 0.0
            if labels[t] >= 0:
                z, reward = targets[y, labels[t]], rewards[y, labels[t]]
            worth = reward + (0.95 * q[z, t].max() if alive[z] else 0.0)
            visits[y, s, action] += 1
            q[y, s, action] += (worth - q[y, s, action]) / (1 + visits[y, s, action]) ** 0.7
            s, y = t, z
            if not alive[y]:
                break
        if 2 * episode >= episodes:
            mean += q
    return mean


def simulated(world: GymWorld, episodes: int, seed: int) -> list[Recording]:
    """Return what an expert of alpha 30 does in the environment."""
    expert = whence.Expert(30.0, DISCOUNT, 0.05)
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


def lost(run: whence.Run, mdp: Any) -> float:
    """Return what the best machine's optimal policy loses, of what the task pays at most."""
    policy = whence.plan(mdp, run.best, discount=run.expert.discount)
    found = whence.evaluate(mdp, policy, truth=TASK, length=LENGTH)
    best = whence.evaluate(
        mdp, whence.plan(mdp, TASK, discount=DISCOUNT), truth=TASK, length=LENGTH
    )
    return 1 - found.expected_return / best.expected_return


def false(run: whence.Run, mdp: Any) -> str:
    """Return how many statements above 90% are false of the task, of how many."""
    assert run.found is not None
    task = TASK.over(run.posterior.alphabet) if run.posterior is not None else TASK
    plans = Plans.of([mdp], task.alphabet, [task], [DISCOUNT])
    said = zip(run.found.told, run.found.truth(plans), strict=True)
    truths = [bool(true[0]) for each, true in said if each.probability > SURE]
    return f"{truths.count(False)} of {len(truths)}"


def gain(run: whence.Run, mdp: Any, demos: Any, endings: str) -> float:
    """Return how much better the best machine explains the demonstrations than the task does.

    Both with the alpha, lapse and discount that suit them best.
    """
    alpha, lapse = np.meshgrid(np.geomspace(3, 1e6, 24), np.linspace(0.0, 0.2, 17))
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
    parser.add_argument("--training", type=int, default=400_000)
    parser.add_argument("--explore", type=int, help="Steps; without, the table is taken.")
    parser.add_argument("--endings", nargs="+", default=["task", "ignore"])
    parser.add_argument("--agents", nargs="+", default=["simulated", "learned"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for seed in range(given.first, given.first + given.seeds):
        world = GymWorld.from_env(
            KeyDoorGoal(), label=LABELS, steps=given.explore, seed=seed, endings="task",
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
                began = time.process_time()
                run = whence.infer(
                    world.mdp, demos, states=4, endings=endings, seed=seed, steps=given.steps
                )
                print(
                    f"seed {seed} {agent:9} {endings:6}",
                    "right" if run.best.same_in(TASK, world.mdp) else "WRONG",
                    f"paid after the end {paid_after(run):.2f},",
                    f"its plan loses {lost(run, world.mdp):.2%},",
                    f"statements false {false(run, world.mdp)},",
                    f"{gain(run, world.mdp, demos, endings):+.0f} nats over the task,",
                    f"{len(demos)} episodes, {time.process_time() - began:.0f} s: {run.answer}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
