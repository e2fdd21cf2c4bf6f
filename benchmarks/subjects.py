"""Are subjects told apart? Groups with different tasks, one group, and experts that differ.

Twenty subjects act in a small world. `two`: ten of them want one thing and ten another; `one`: all
want the same; each has an alpha of its own, up to ten times that of another. A set is right where
the likeliest number of groups is the true one and every subject stands with those that share its
task. True alphas must be covered by their 95% intervals as often as that, within what chance
allows: coverage is printed with its error. With two labels, tasks are "a, then b" and "b"; with
three, "a, then b" and "c, then a", and a set takes four times as long.

    python benchmarks/subjects.py [--part two] [--sets 20] [--first 0] [--labels 2] [--soft]
"""

from __future__ import annotations

import argparse

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, LapsePrior, RewardMachine
from whence.model.expert import BOLTZMANN, SOFT

MAPS = {
    2: "slip: 0.1\nlabels: a b\nstarts: S\nmap:\na..b\n.S..\n",
    3: "slip: 0.1\nlabels: a b c\nstarts: S\nmap:\na..b\n....\n.S.c\n",
}
TASKS = {
    2: (("x -a-> y", "y -b/1-> x"), ("x -b/1-> x",)),
    3: (("x -a-> y", "y -b/1-> x"), ("x -c-> y", "y -a/1-> x")),
}
DISCOUNT, SUBJECTS, EPISODES, LENGTH = 0.9, 20, 6, 25
ALPHAS = (3.0, 30.0)
PARTS = ("two", "one")


def watched(
    mdp: LabeledMDP, part: str, seed: int, kind: str
) -> tuple[Demonstrations, list[int], np.ndarray]:
    """Return demonstrations, the task of each subject, and the alpha of each."""
    rng = np.random.default_rng((1618, seed))
    alpha = np.exp(rng.uniform(*np.log(ALPHAS), SUBJECTS))
    lapse = LapsePrior().sample(rng, SUBJECTS)
    task = [s % 2 if part == "two" else 0 for s in range(SUBJECTS)]
    episodes = []
    for s in range(SUBJECTS):
        arrows = TASKS[len(mdp.alphabet)][task[s]]
        wants = RewardMachine.from_arrows(arrows, alphabet=mdp.alphabet)
        own = whence.simulate(
            mdp, wants, Expert(float(alpha[s]), DISCOUNT, float(lapse[s]), kind),
            episodes=EPISODES, length=LENGTH, seed=int(rng.integers(2**31)),
        )  # fmt: skip
        episodes += [each._replace(subject=f"s{s}") for each in own]
    return Demonstrations.from_episodes(episodes), task, alpha


def one(mdp: LabeledMDP, part: str, seed: int, kind: str) -> tuple[bool, np.ndarray]:
    """Return whether the groups are right, and which alphas are covered."""
    demos, task, alpha = watched(mdp, part, seed, kind)
    run = whence.infer(
        mdp, demos, states=(1, 2), discount=DISCOUNT, experts="by-subject", tasks=(1, 3),
        method="exhaustive", seed=seed, threads=1, progress=False, expert_kind=kind,
    )  # fmt: skip
    assert run.groups is not None
    found = [each.group for each in run.groups.subjects]
    pairs = set(zip(found, task, strict=True))
    right = len(run.groups.groups) == len(set(task)) == len(pairs)
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
    parser.add_argument("--labels", type=int, choices=sorted(MAPS), default=2)
    parser.add_argument("--soft", action="store_true")
    given = parser.parse_args()
    mdp = LabeledMDP.from_map(MAPS[given.labels], source="map")
    kind = SOFT if given.soft else BOLTZMANN
    for part in given.part or PARTS:
        found = []
        for at in range(given.sets):
            found.append(one(mdp, part, given.first + at, kind))
            print(
                f"{part} {given.first + at}: {found[-1][0]}, {found[-1][1].sum()} covered",
                flush=True,
            )
        covered = np.concatenate([each for _, each in found])
        error = np.sqrt(0.95 * 0.05 / len(covered))
        print(
            f"{part}: {given.sets} sets, groups right in {sum(right for right, _ in found)}; "
            f"{covered.mean():.1%} of {len(covered)} alphas covered (95% ± {error:.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()
