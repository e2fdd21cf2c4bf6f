"""A rat that alternates light and water, from a table as people have them.

A rat was watched in a maze of twelve arms. Whoever wrote it down used other words than whence
does, forgot a cell here and there, and made typing errors. `whence` lists all of it at once; with
`--repair` it makes the repairs that it suggests, and says what the rat wants.

    python examples/rat.py [--folder rat] [--seed 0]
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

import whence
from whence import Expert, LabeledMDP, RewardMachine, cli

ARMS = 12
MIDDLE = "middle"


def world() -> LabeledMDP:
    """A middle, and twelve arms from which there is only one way back."""
    rows = [[0, arm, arm + 1, 1.0] for arm in range(ARMS)]
    rows += [[arm + 1, ARMS, 0, 1.0] for arm in range(ARMS)]
    actions = [*(f"into arm{arm + 1}" for arm in range(ARMS)), "back"]
    labels: list[str | None] = [None] * (ARMS + 1)
    labels[3], labels[8] = "light", "water"
    unavailable = [[0, ARMS], *([arm + 1, a] for arm in range(ARMS) for a in range(ARMS))]
    return LabeledMDP.from_triples(
        rows, states=ARMS + 1, actions=actions, labels=labels, alphabet=["light", "water"],
        names=[MIDDLE, *(f"arm{arm + 1}" for arm in range(ARMS))], unavailable=unavailable,
    )  # fmt: skip


def task() -> RewardMachine:
    """First light, then water, over and over."""
    return RewardMachine.from_arrows(
        ["a -light-> b", "b -water/1-> a"], alphabet=("light", "water")
    )


def written(path: Path, seed: int) -> None:
    """Watch the rat, and write it down with five kinds of faults."""
    mdp = world()
    demos = whence.simulate(mdp, task(), Expert(8, 0.9, 0.05), episodes=20, length=40, seed=seed)
    table = demos.to_table(mdp)
    rows = [
        [f"day {e + 1}", t, where, "" if did is None else did, "" if cue is None else cue]
        for e, t, where, did, cue in zip(
            *(table[name] for name in ("episode", "step", "state", "action", "label")),
            strict=True,
        )
    ]
    _spoil(rows, np.random.default_rng([seed, 1]))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(["Trial", "t", "place", "choice", "cue"])
        writer.writerows(rows)


def _spoil(rows: list[list[object]], rng: np.random.Generator) -> None:
    """Put in a misspelt arm, a forgotten place, a forgotten cue, a bad step, a row twice."""
    arms = [at for at, row in enumerate(rows) if str(row[2]).startswith("arm")]
    lit = [at for at, row in enumerate(rows) if row[4] == "light"]
    wrong, empty = rng.choice(arms, 2, replace=False)
    rows[wrong][2] = str(rows[wrong][2]).replace("arm", "am")
    rows[empty][2] = "NA"
    rows[rng.choice([at for at in lit if at not in (wrong, empty)])][4] = ""
    middle = [at for at, row in enumerate(rows) if 5 < int(str(row[1])) < 35 and at != empty]
    step = int(rng.choice(middle))
    rows[step][1] = f"{rows[step][1]}?"
    twice = int(rng.choice([at for at in middle if at not in (step, wrong)]))
    again = list(rows[twice])
    again[2] = "arm1" if again[2] != "arm1" else "arm2"
    rows.insert(twice + 1, again)


def main() -> None:
    """Write the table, show what is wrong with it, and tell what the rat wants."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("rat"))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    log = given.folder / "rat.csv"
    written(log, given.seed)
    print(f"$ whence {log}")
    cli.run([str(log), "-o", str(given.folder / "run")])
    arguments = [str(log), "-o", str(given.folder / "run"), "--repair", "--states", "1-2"]
    print(f"\n$ whence {' '.join(arguments)}")
    raise SystemExit(cli.run(arguments))


if __name__ == "__main__":
    main()
