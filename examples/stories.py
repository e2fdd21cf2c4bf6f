"""Stories with a known task: what whence says beside the truth, each with its report.

A rat that alternates, a key that opens a door in a slippery world, a warehouse of 50 by 50 cells,
coffee as in the paper, coffee from where it cannot be told, and coffee of two strengths. With few
steps, as by default, the answers are rough; `--full` lets whence decide. `examples/rat.py` tells
the rat's story from a table with faults.

    python examples/stories.py [--stories rat key warehouse coffee usual multi] [--full]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import whence
from whence import Demonstrations, Expert, LabeledMDP, RewardMachine, Tempering
from whence.analysis.plans import Plans
from whence.analysis.wording import phrase, shown

ARMS, STEPS = 12, 100  # of the maze; of a rough run
ROOMS = """slip: 0.1
labels: k=key d=door g=goal t=trap
starts: S
map:
+-------+
|k..|..g|
|... ...|
|.t.|.t.|
|...|...|
|..t|.d.|
|... ...|
|S..|...|
+-------+
"""


@dataclass(frozen=True)
class Story:
    """A task that is known.

    Attributes:
        mdp: the world.
        task: what the expert wants.
        expert: how it acts.
        episodes: how many are watched.
        length: steps of each.
        asked: arguments of `infer`.
    """

    mdp: LabeledMDP
    task: RewardMachine
    expert: Expert
    episodes: int
    length: int
    asked: dict[str, Any]


def rat() -> Story:
    """A rat in a maze of twelve arms alternates between light and water."""
    rows = [[0, arm, arm + 1, 1.0] for arm in range(ARMS)]
    rows += [[arm + 1, action, 0, 1.0] for arm in range(ARMS) for action in range(ARMS)]
    labels: list[str | None] = [None] * (ARMS + 1)
    labels[3], labels[8] = "light", "water"
    mdp = LabeledMDP.from_triples(
        rows, states=ARMS + 1, actions=[f"arm {arm + 1}" for arm in range(ARMS)],
        labels=labels, alphabet=["light", "water"],
        names=["the middle", *(f"arm {arm + 1}" for arm in range(ARMS))],
    )  # fmt: skip
    task = RewardMachine.from_arrows(
        ["a -light-> b", "b -water/1-> a"], alphabet=("light", "water")
    )
    asked = {"states": (1, 3), "discount": 0.9, "settings": Tempering(steps=4000)}
    return Story(mdp, task, Expert(8, 0.9, 0.05), 20, 40, asked)


def key() -> Story:
    """A key opens a door, behind which is the goal; moves slip, traps end everything."""
    mdp = LabeledMDP.from_map(ROOMS, source="rooms")
    task = RewardMachine.from_arrows(
        ["0 -key-> 1", "1 -door-> 2", "2 -goal/1-> 3", *(f"{n} -trap-> 3" for n in range(3))],
        alphabet=mdp.alphabet,
    )
    asked = {"states": 4, "discount": 0.95, "settings": Tempering(steps=6000)}
    return Story(mdp, task, Expert(40, 0.95), 40, 60, asked)


def coffee() -> Story:
    """Coffee to the office, as in the paper."""
    return _paper(whence.worlds.coffee(), 100)


def usual() -> Story:
    """The same from (2, 1), from where the task cannot be told from reaching the office."""
    story = _paper(whence.worlds.coffee(start=(2, 1)), 100)
    return replace(story, asked={**story.asked, "expert": story.expert})


def multi() -> Story:
    """Strong coffee pays twice."""
    return _paper(whence.worlds.multi_coffee(), 300)


def _paper(world: Any, episodes: int) -> Story:
    asked = {"states": world.task.n_states, "rewards": world.rewards,
             "expert": Expert(50, world.expert.discount)}  # fmt: skip
    return Story(world.mdp, world.task, world.expert, episodes, world.length, asked)


def warehouse() -> Story:
    """A cart in a warehouse of 50 by 50 cells: scan, pick, pack, to the dock; spills end it."""
    mdp = LabeledMDP.from_map(_shelves(50), source="warehouse")
    task = RewardMachine.from_arrows(
        ["0 -scan-> 1", "1 -pick-> 2", "2 -pack-> 3", "3 -dock/1-> 4",
         *(f"{n} -spill-> 4" for n in range(4))],
        alphabet=mdp.alphabet,
    )  # fmt: skip
    asked = {"states": 5, "discount": 0.98, "lapse": 0.0}
    return Story(mdp, task, Expert(1500, 0.98), 60, 220, asked)


def _shelves(side: int) -> str:
    """Draw shelves in rows, with aisles between them, and where things are."""
    rows = [["."] * side for _ in range(side)]
    for y in range(3, side - 3):
        for x in range(4, side - 4):
            if y % 4 != 0 and x % 12 not in (0, 1):
                rows[y][x] = "#" if y % 4 == 2 else "."
    for letter, places in {
        "s": [(2, 47), (30, 45)], "p": [(20, 12), (44, 30)], "k": [(38, 4)], "d": [(47, 47)],
        "c": [(2, 2), (47, 2)], "x": [(12, 24), (24, 36), (36, 16)], "S": [(2, 24)],
    }.items():  # fmt: skip
        for x, y in places:
            rows[side - 1 - y][x] = letter
    edge = "+" + "-" * side + "+"
    text = "\n".join(f"|{''.join(row)}|" for row in rows)
    names = "s=scan p=pick k=pack d=dock c=charger x=spill"
    return f"labels: {names}\nstarts: S\nmap:\n{edge}\n{text}\n{edge}\n"


STORIES: dict[str, Callable[[], Story]] = {
    each.__name__: each for each in (rat, key, warehouse, coffee, usual, multi)
}


def simulated(story: Story, seed: int) -> Demonstrations:
    """Watch the story's expert."""
    return whence.simulate(
        story.mdp, story.task, story.expert, episodes=story.episodes, length=story.length,
        seed=seed,
    )  # fmt: skip


def truth_of(story: Story, alphabet: tuple[str, ...]) -> tuple[Plans, str]:
    """Return the plan of the true task, and what the expert wants in words."""
    plans = Plans.of([story.mdp], alphabet, [story.task.over(alphabet)], [story.expert.discount])
    course = plans.courses[0]
    return plans, phrase(course.moves, shown(alphabet), by_start=course.by_start)


def told(name: str, folder: Path, seed: int, full: bool) -> None:
    """Infer a story's task, print the sentence beside the truth, and write the report."""
    story = STORIES[name]()
    demos = simulated(story, seed)
    asked = dict(story.asked) if full else {**story.asked, "settings": Tempering(steps=STEPS)}
    began = time.perf_counter()
    run = whence.infer(story.mdp, demos, **asked, seed=seed, folder=folder / name)
    study = whence.report.Study.of(
        run, story.mdp, demos, names=[name], compare=full, folder=str(folder / name)
    )
    whence.report.write(folder / f"{name}.html", study)
    alphabet = story.mdp.alphabet if run.posterior is None else run.posterior.alphabet
    _, truth = truth_of(story, alphabet)
    print(f"{name}: {STORIES[name].__doc__}")
    print(f"  the truth: the expert wants {truth}")
    print(f"  whence:    {run.answer}")
    print(f"  {time.perf_counter() - began:.0f} s; {folder / f'{name}.html'}", flush=True)


def main() -> None:
    """Tell the stories."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stories", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--folder", type=Path, default=Path("stories"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full", action="store_true", help="as many steps as whence makes")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.stories:
        told(name, given.folder, given.seed, given.full)


if __name__ == "__main__":
    main()
