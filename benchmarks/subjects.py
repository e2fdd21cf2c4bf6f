"""Are subjects told apart? Groups with different tasks, one group, and experts that differ.

Twenty subjects act in a small world. `two`: ten of them want one thing and ten another; `one`: all
want the same; each has an alpha of its own, up to ten times that of another. A set is right where
the likeliest number of groups is the true one and every subject stands with those that share its
task. True alphas must be covered by their 95% intervals as often as that, within what chance
allows: coverage is printed with its error.

    python benchmarks/subjects.py [--part two] [--sets 20] [--first 0]
"""

from __future__ import annotations

import argparse

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, RewardMachine

MAP = "slip: 0.1\nlabels: a b c\nstarts: S\nmap:\na..b\n....\n.S.c\n"
DISCOUNT, SUBJECTS, EPISODES, LENGTH = 0.9, 20, 6, 25
TASKS = (("x -a-> y", "y -b/1-> x"), ("x -c-> y", "y -a/1-> x"))
ALPHAS = (3.0, 30.0)
PARTS = ("two", "one")


def watched(mdp: LabeledMDP, part: str, seed: int) -> tuple[Demonstrations, list[int], np.ndarray]:
    """Return demonstrations, the task of each subject, and the alpha of each."""
    rng = np.random.default_rng((1618, seed))
    alpha = np.exp(rng.uniform(*np.log(ALPHAS), SUBJECTS))
    task = [s % 2 if part == "two" else 0 for s in range(SUBJECTS)]
    episodes = []
    for s in range(SUBJECTS):
        wants = RewardMachine.from_arrows(TASKS[task[s]], alphabet=mdp.alphabet)
        own = whence.simulate(
            mdp, wants, Expert(float(alpha[s]), DISCOUNT, 0.02),
            episodes=EPISODES, length=LENGTH, seed=int(rng.integers(2**31)),
        )  # fmt: skip
        episodes += [each._replace(subject=f"s{s}") for each in own]
    return Demonstrations.from_episodes(episodes), task, alpha


def one(mdp: LabeledMDP, part: str, seed: int) -> tuple[bool, np.ndarray]:
    """Return whether the groups are right, and which alphas are covered."""
    demos, task, alpha = watched(mdp, part, seed)
    run = whence.infer(
        mdp, demos, states=2, discount=DISCOUNT, experts="by-subject", tasks=(1, 3),
        method="exhaustive", seed=seed, threads=1, progress=False,
    )  # fmt: skip
    assert run.groups is not None
    found = [each.group for each in run.groups.subjects]
    right = len(run.groups.groups) == len(set(task)) and len(
        set(zip(found, task, strict=True))
    ) == len(set(task))
    covered = [
        each.alpha.low <= true <= each.alpha.high
        for each, true in zip(run.groups.subjects, alpha, strict=True)
    ]
    return right, np.array(covered)


def main() -> None:
    """Make sets, infer, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    mdp = LabeledMDP.from_map(MAP, source="map")
    for part in given.part or PARTS:
        found = [one(mdp, part, given.first + at) for at in range(given.sets)]
        covered = np.concatenate([each for _, each in found])
        error = np.sqrt(0.95 * 0.05 / len(covered))
        print(
            f"{part}: {given.sets} sets, groups right in {sum(right for right, _ in found)}; "
            f"{covered.mean():.1%} of {len(covered)} alphas covered (95% ± {error:.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()
