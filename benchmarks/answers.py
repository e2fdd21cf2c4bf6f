"""Does the answer say what the expert wanted? Stories with a known task, sentence beside truth.

For each story and seed an expert is simulated, its task inferred, and the sentence printed; every
fact that was stated is asked of the true task. Facts of probability p should be false in a share
1 - p of cases; facts of one run hang together, so the p-value is a rough one.

    python benchmarks/answers.py [--stories rat key coffee usual multi] [--seeds 10]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import whence
from whence import Expert, LabeledMDP, RewardMachine, Tempering
from whence.analysis.plans import Plans
from whence.analysis.wording import phrase, shown

ARMS = 12
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


STORIES: dict[str, Callable[[], Story]] = {
    each.__name__: each for each in (rat, key, coffee, usual, multi)
}


def told(story: Story, seed: int) -> tuple[list[tuple[str, float, bool]], bool]:
    """Infer, print the sentence, and return each fact's text, probability and truth.

    The second is whether the sentence has the whole true route.
    """
    demos = whence.simulate(
        story.mdp, story.task, story.expert, episodes=story.episodes, length=story.length,
        seed=seed,
    )  # fmt: skip
    began = time.perf_counter()
    run = whence.infer(story.mdp, demos, **story.asked, seed=seed)
    assert run.posterior is not None
    answer = run.found
    assert answer is not None
    alphabet = run.posterior.alphabet
    truth = Plans.of([story.mdp], alphabet, [story.task.over(alphabet)], [story.expert.discount])
    right = [bool(holds[0]) for holds in answer.truth(truth)]
    facts = [(s.claim.text, s.probability, ok) for s, ok in zip(answer.told, right, strict=True)]
    course = truth.courses[0]
    whole = phrase(course.moves, shown(alphabet), by_start=course.by_start)
    named = any(
        stated.claim.kind == "route" and stated.claim.text.removesuffix(" first") == whole
        for stated in answer.sure
    )
    seconds = time.perf_counter() - began
    print(f"  {seed}: {run.answer} [{seconds:.0f} s, {len(run.doubts)} doubts]", flush=True)
    for text, probability, ok in facts:
        if not ok:
            print(f"     false: {text} ({probability:.1%})", flush=True)
    return facts, named


def p_value(probabilities: np.ndarray, false: int) -> float:
    """Return how likely so many false facts are, or more, if facts were independent."""
    rng = np.random.default_rng(0)
    draws = (rng.random((100_000, len(probabilities))) >= probabilities).sum(axis=1)
    return float((draws >= false).mean())


def main() -> None:
    """Tell the stories, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stories", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    for name in given.stories:
        story = STORIES[name]()
        print(f"{name}: {STORIES[name].__doc__}", flush=True)
        facts, named = [], 0
        for seed in range(given.seeds):
            found, whole = told(story, seed)
            facts += found
            named += whole
        stated = np.array([min(p, 1.0) for _, p, _ in facts])
        false = sum(not ok for _, _, ok in facts)
        grave = sum(not ok and p > 0.995 for _, p, ok in facts)
        print(
            f"  the whole true route in {named} of {given.seeds} sentences; {len(facts)} facts, "
            f"{false} false ({(1 - stated).sum():.2f} expected, "
            f"p = {p_value(stated, false):.3f}), {grave} of them stated above 99.5%",
            flush=True,
        )


if __name__ == "__main__":
    main()
