"""How well are mice predicted? Every fifth window is held out; nats a step on those.

Ten thirsty mice in a labyrinth (`examples/mice`), 238 windows of 500 steps. The windows held out
are those of SWIRL's split, 0, 5, 10 and so on. For each kind of expert and n = 1 to 4 machine
states the best machine with its expert is inferred from the others; beside it the same machine
with an alpha and a lapse for each window, cloning by state, and chance.
The data do not name the mice, so a window stands for a subject: what a held-out window's own
alpha is is not known, and is averaged over what the others tell of how windows differ.

`--back` makes a world in which a mouse knows where it came from: a state is a node and the one
before it, and a third label, `b`, is read where the mouse has just turned back although it could
have gone on. `--check` asks whether the model of n states fits. `--pictures` draws the machine of
two states, and where mice are in each of them.

    python benchmarks/mice.py [--states 1 2 3 4] [--kinds boltzmann soft] [--steps 150]
    python benchmarks/mice.py --back [--states 2]
    python benchmarks/mice.py --check [--states 2] [--kinds boltzmann]
    python benchmarks/mice.py --pictures docs/images
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, LapsePrior
from whence.analysis import memoryless
from whence.analysis.subjects import BY_SUBJECT, weighed
from whence.drawing.ways import Scene
from whence.likelihood.steps import machine_states, steps
from whence.model.available import log_chances
from whence.model.expert_prior import AlphaPrior

FOLDER = Path(__file__).parents[1] / "examples" / "mice"
DISCOUNT = 0.95
COSTS = (0.1, 0.3, 1.0)  # of turning back, beside a pay of 1


def told(name: str, by_window: np.ndarray, lengths: np.ndarray) -> None:
    """Print nats a step, with the standard error over windows."""
    each = by_window / lengths
    error = each.std(ddof=1) / np.sqrt(len(each))
    print(f"{name}: {by_window.sum() / lengths.sum():.4f} ± {error:.4f}", flush=True)


def of_table(table: np.ndarray, demos: Demonstrations) -> np.ndarray:
    """Return the log likelihood of each window under log probabilities by state and action."""
    taken = table[memoryless.pairs(demos)]
    episode = np.repeat(np.arange(len(demos)), demos.lengths)
    return np.bincount(episode, weights=taken, minlength=len(demos))


def by_window(
    mdp: LabeledMDP,
    machine: whence.RewardMachine,
    kind: str,
    training: Demonstrations,
    test: Demonstrations,
) -> np.ndarray:
    """Return the log likelihood of each held-out window, its own expert averaged over."""
    how = ([machine], np.zeros(1), [DISCOUNT], AlphaPrior(), LapsePrior())
    seen, new = (
        weighed([(mdp, part)], *how, [np.arange(len(part))], BY_SUBJECT, kind=kind)
        for part in (training, test)
    )
    log_context = seen.scores[:, :, 0].sum(axis=1) + seen.log_context
    log_context -= np.logaddexp.reduce(log_context)
    scores = np.array(
        [
            [own.log_integrals([each.alpha], [each.lapse])[0, 0] for own in new.profiles[0][0]]
            for each in seen.contexts
        ]
    )
    return np.logaddexp.reduce(scores + log_context[:, None], axis=0)


def with_memory(mdp: LabeledMDP) -> tuple[LabeledMDP, dict[tuple[int, int, bool], int]]:
    """Return the world whose states are (node before, node, turned back?), and their numbers.

    The node before is -1 where it is not known. Who turns back at an end of the tree, where
    nothing else is possible, has not turned back.
    """
    after = {}
    for s in range(mdp.n_states):
        for a in np.flatnonzero(mdp.available[s]).tolist():
            after[s, a] = int(mdp.successors[mdp.offsets[s * mdp.n_actions + a]])
    choice = mdp.available.sum(axis=1) > 1
    number = {(-1, s, False): s for s in range(mdp.n_states)}
    rows, todo = [], list(number)
    while todo:
        before, node, turned = todo.pop()
        here = number[before, node, turned]
        for a in np.flatnonzero(mdp.available[node]).tolist():
            target = after[node, a]
            back = bool(choice[node]) and target == before and target != node
            found = (node, target, back)
            if found not in number:
                number[found] = len(number)
                todo.append(found)
            rows.append((here, a, number[found], 1.0))
    labels = {i: mdp.label(node) or ("b" if turned else None) for (_, node, turned), i
              in number.items()}  # fmt: skip
    has = {(s, a) for s, a, _, _ in rows}
    lacking = [(s, a) for s in range(len(number)) for a in range(mdp.n_actions)
               if (s, a) not in has]  # fmt: skip
    return LabeledMDP.from_triples(
        rows, states=len(number), actions=mdp.actions, unavailable=lacking,
        labels=[labels[i] for i in range(len(number))], alphabet=(*mdp.alphabet, "b"),
        initial=[(s, 1 / mdp.n_states) for s in range(mdp.n_states)],
    ), number  # fmt: skip


def remembered(
    demos: Demonstrations, number: dict[tuple[int, int, bool], int], choice: np.ndarray
) -> Demonstrations:
    """Return windows in the world with memory."""
    found = []
    for window in demos:
        nodes = [int(s) for s in window.states]
        states = [number[-1, nodes[0], False]]
        for at in range(1, len(nodes)):
            before, node = nodes[at - 1], nodes[at]
            back = at > 1 and bool(choice[before]) and node == nodes[at - 2] and node != before
            states.append(number[before, node, back])
        found.append((states, window.actions))
    return Demonstrations.from_episodes(found)


def inferred(
    mdp: LabeledMDP, training: Demonstrations, n: int, kind: str, most: int,
    rewards: tuple[float, ...] = (0.0, 1.0),
) -> whence.Run:  # fmt: skip
    """Return what is inferred with n machine states."""
    small = n <= 2 and len(rewards) == 2
    return whence.infer(
        mdp, training, states=n, discount=DISCOUNT, threads=1, progress=False, rewards=rewards,
        expert_kind=kind, method="exhaustive" if small else "tempering",
        steps=None if small else most,
    )  # fmt: skip


def predicted(mdp: LabeledMDP, run: whence.Run, test: Demonstrations, name: str) -> None:
    """Print what a run found, and how well its best machine predicts."""
    expert = Expert(run.expert.alpha, DISCOUNT, run.expert.lapse, run.expert.kind)
    found = steps([(mdp, test)], run.best, expert)
    print(f"{name}: {expert}; {run.answer}")
    print(" ".join(str(run.best).splitlines()))
    print(f"training: log likelihood {run.log_likelihood:.0f}, evidence {dict(run.log_evidence)}")
    told(name, found.by_episode(found.log_likelihood), test.lengths)


def baselines(mdp: LabeledMDP, training: Demonstrations, test: Demonstrations) -> None:
    """Print what chance and cloning predict."""
    told("chance", of_table(log_chances(mdp), test), test.lengths)
    with np.errstate(divide="ignore"):  # of actions that a state does not have
        cloned = np.log(memoryless.cloned(mdp, training))
    told("cloning", of_table(cloned, test), test.lengths)


def draw(mdp: LabeledMDP, windows: Demonstrations, folder: Path) -> None:
    """Write the machine of two states, and the visits to each node in each of its states."""
    machine = inferred(mdp, windows, 2, "boltzmann", 0).best
    machine.save(folder / "mice-two.svg")
    memory, (state, _) = machine_states(mdp, windows, machine), memoryless.pairs(windows)
    visits = np.zeros((2, mdp.n_states))
    np.add.at(visits, (memory, state), 1.0)
    scene = Scene.of(mdp)
    assert scene is not None
    for at, shown in enumerate(visits):
        name = machine.state_names[at]
        drawn = scene.svg(f"Where mice are in {name}", visits=shown, largest=float(visits.max()))
        (folder / f"mice-in-{name}.svg").write_text(drawn + "\n", encoding="utf-8")
        print(f"{name}: {shown.sum() / visits.sum():.1%} of steps")


def main() -> None:
    """Infer from four fifths, predict the others."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, nargs="*", default=[1, 2, 3, 4])
    parser.add_argument("--kinds", nargs="*", default=["boltzmann", "soft"])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--back", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    mdp = LabeledMDP.load(FOLDER / "labyrinth.json")
    windows = Demonstrations.load(FOLDER / "windows.npz")
    levels = [(0.0, 1.0)]
    if given.pictures is not None:
        draw(mdp, windows, given.pictures)
        return
    if given.back:
        choice = mdp.available.sum(axis=1) > 1
        mdp, number = with_memory(mdp)
        windows = remembered(windows, number, choice)
        levels = [(0.0, 1.0, -cost) for cost in COSTS]
    aside = np.arange(len(windows)) % 5 == 0
    training, test = windows.subset(np.flatnonzero(~aside)), windows.subset(np.flatnonzero(aside))
    print(f"{len(training)} windows to infer from, {len(test)} held out, {mdp.n_states} states")
    if not given.check:
        baselines(mdp, training, test)
    for kind in given.kinds:
        for n in given.states:
            for rewards in levels:
                began = time.process_time()
                run = inferred(mdp, training, n, kind, given.steps, rewards)
                if given.check:
                    print(run.check(replicas=99, threads=1))
                    continue
                name = f"{kind}, n = {n}, levels {rewards}"
                predicted(mdp, run, test, name)
                if not given.back:
                    own = by_window(mdp, run.best, kind, training, test)
                    told(f"{name}, by window", own, test.lengths)
                print(f"{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
