"""What is said of a greedy expert's task? Experts who act best but for 5% of lapses.

Ten sets of demonstrations each in the coffee world and in a 7 x 7 world of a key, a door, a goal
and a trap, nothing said of the expert. Asked is what every label sequence of up to three labels
pays in all: a total that has a probability above 90% is a statement. Statements may be false no
more often than their probabilities allow; how many sequences have one is counted, too, and
whether the run says that the expert is greedy and what cannot be told then.

    python benchmarks/greedy_experts.py [--seeds 10] [--first 0]
"""

from __future__ import annotations

import argparse
import itertools
import json

import numpy as np

import whence
from whence import Expert, LabeledMDP, RewardMachine

STATED = 0.9
LAPSE = 0.05
LONGEST = 3
STEPS = 3_000
FAR = 2.6  # errors
MAP = """slip: 0.1
labels: k d g t
starts: S
map:
k.....S
...t...
.S.....
....t.d
.t.....
......S
g..S...
"""


def key_door_goal() -> tuple[LabeledMDP, RewardMachine, int]:
    """Return the world, its task and its number of states: k, then d, then g pays; t ends it."""
    mdp = LabeledMDP.from_map(MAP, source="map")
    transitions = np.tile(np.arange(4)[:, None], (1, 4))
    rewards = np.zeros((4, 4))
    places = [mdp.alphabet.index(label) for label in "kdg"]
    transitions[:3, mdp.alphabet.index("t")] = 3
    for state, place in enumerate(places):
        transitions[state, place] = state + 1
    rewards[2, places[2]] = 1.0
    return mdp, RewardMachine(mdp.alphabet, transitions, rewards), 4


def coffee() -> tuple[LabeledMDP, RewardMachine, int]:
    """Return the world, its task and its number of states."""
    world = whence.worlds.coffee()
    return world.mdp, world.task, world.task.n_states


def repetition(mdp: LabeledMDP, task: RewardMachine, states: int, seed: int) -> dict[str, object]:
    """Infer from one set, and ask what sequences pay."""
    expert = Expert(np.inf, 0.92, LAPSE)
    demos = whence.simulate(mdp, task, expert, episodes=100, length=60, seed=seed)
    run = whence.infer(mdp, demos, states=states, seed=seed, threads=1, steps=STEPS)
    assert run.posterior is not None
    asked, stated = 0, []
    for length in range(1, LONGEST + 1):
        for labels in itertools.product(mdp.alphabet, repeat=length):
            asked += 1
            pays = run.posterior.pays(*labels)
            total, chance = max(pays.items(), key=lambda pair: pair[1])
            if chance > STATED:
                true = bool(np.isclose(sum(task.run(labels).rewards), total))
                stated.append((min(chance, 1.0), true))
    untold = [fact.text for fact in run.facts if fact.kind in ("indifferent", "untellable")]
    return {
        "seed": seed, "asked": asked, "stated": stated, "found": run.best.same_in(task, mdp),
        "answer": run.answer, "untold": untold, "notes": list(run.notes),
        "doubts": list(run.doubts), "seconds": round(run.seconds, 1),
    }  # fmt: skip


def judged(name: str, rows: list[dict[str, object]]) -> None:
    """Print how many statements there are, how many are false, and how many may be.

    Statements of one run hang together, so their errors are added as if they were one.
    """
    gap = spread = 0.0
    count = false = asked = 0
    for row in rows:
        chance = np.array([p for p, _ in row["stated"]])
        true = np.array([float(ok) for _, ok in row["stated"]])
        gap += float((chance - true).sum())
        spread += float(np.sqrt(chance * (1 - chance)).sum()) ** 2
        count, false, asked = (
            count + len(true),
            false + int((1 - true).sum()),
            asked + row["asked"],
        )
    z = gap / max(np.sqrt(spread), 1e-9)
    print(
        f"{name}: {len(rows)} runs, {count} of {asked} pays stated ({count / asked:.0%}), {false} "
        f"false, {gap:+.1f} more than allowed for (z = {z:+.1f}): "
        f"{'TOO OFTEN' if z > FAR else 'no more than allowed'}"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    for name, made in (("coffee", coffee()), ("key, door, goal", key_door_goal())):
        rows = []
        for seed in range(asked.first, asked.first + asked.seeds):
            rows.append(repetition(*made, seed))
            print(json.dumps(rows[-1]), flush=True)
        judged(name, rows)


if __name__ == "__main__":
    main()
