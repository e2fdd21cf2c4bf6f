"""Tasks that grow: seeded grid worlds with machines of 3 to 16 states, to measure search by.

A task is put together from requirements, the way that people say what they want:

sequence   a, then b, then c, ...: the last one pays
either     two or three labels in either order, then a chain: the last one pays
chains     two chains interleaved in any way, then a last step that pays
patrol     a loop without end, paid each time it closes
choice     two chains to one last step, the longer one pays 2, the shorter 1

Each comes with or without something to avoid: a label after which nothing is paid any more. A
world is an open grid with walls, labels in several cells each and many starts; moves may slip.
The expert is the least rational one of a row that earns at least four fifths of what the best
policy does; episodes are long enough for the best policy to earn something.

Whether demonstrations can tell the task is checked, not assumed: `rivals` lists the machines one
change away that score at least as well and differ in the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.likelihood.posterior import Posterior
from whence.model.canonical import valid
from whence.model.expert import Expert
from whence.model.grid import Grid, Wall
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.paper.worlds import World
from whence.planning.evaluation import evaluate
from whence.planning.policies import expert_policy

KINDS = ("sequence", "either", "chains", "patrol", "choice")
ACTIONS = ("up", "right", "down", "left")
WALLS = 0.08  # the share of pairs of neighbouring cells with a wall between them
CELLS = 3  # in which each label stands
STARTS = 40
ALPHAS = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 2_000.0, 5_000.0)
EARNED = 0.8  # of what the best policy earns
DONE = 0.2  # that the best policy earns at least; else episodes are too short for the task
EPISODES = 200
NAMES = "abcdefghijklmnop"


@dataclass(frozen=True)
class Growing:
    """What to make.

    Attributes:
        kind: one of `KINDS`.
        states: n, of the machine; `sizes` says which a kind can have.
        symbols: m, those that the task does not name among them.
        side: of the square grid.
        slip: how often a move goes astray, half the time to either side.
        avoid: whether a label must not be read.
        seed: of layout and starts.
    """

    kind: str
    states: int
    symbols: int = 8
    side: int = 40
    slip: float = 0.0
    avoid: bool = False
    seed: int = 0


def sizes(kind: str, avoid: bool, most: int = 16) -> tuple[int, ...]:
    """Return the numbers of states that tasks of a kind can have."""
    return tuple(sorted({made for made, _ in _shapes(kind, avoid) if made <= most}))


def growing(asked: Growing) -> World:
    """Return a world with its task and its expert; the same for the same seed."""
    rng = np.random.default_rng(np.random.SeedSequence((asked.seed, KINDS.index(asked.kind))))
    task = task_of(asked)
    mdp = _grid(rng, asked, task)
    length = 4 * asked.side
    discount = 1 - 1 / asked.side
    expert, length = _expert(mdp, task, discount, length)
    levels = tuple(sorted({0.0, *np.unique(task.rewards).tolist()}))
    name = f"{asked.kind}-{asked.states}{'-avoid' if asked.avoid else ''}"
    summary = f"a growing task: {asked.kind}, {asked.states} states, {asked.symbols} symbols"
    return World(name, summary, mdp, task, expert, EPISODES, length, levels)


def rivals(posterior: Posterior, task: RewardMachine) -> list[RewardMachine]:
    """Return the machines one change from the task that score no worse, yet differ in the world.

    Where there are none, the demonstrations tell the task from all that are close to it.
    """
    own = task.over(posterior.alphabet)
    near = [np.array(t) for t in zip(*neighbours(own, posterior.levels), strict=True)]
    kept = valid(near[0], near[1])
    tables = near[0][kept], near[1][kept]
    goal = float(posterior.score(own.transitions[None], own.rewards[None])[0])
    close = np.flatnonzero(posterior.score(*tables) >= goal - posterior.tolerance)
    machines = [
        RewardMachine(posterior.alphabet, tables[0][i], tables[1][i]) for i in close.tolist()
    ]
    worlds = [mdp for mdp, _ in posterior.worlds]
    return [m for m in machines if not all(own.same_in(m, mdp) for mdp in worlds)]


def neighbours(machine: RewardMachine, levels: Sequence[float]) -> Iterator[tuple[Ints, Floats]]:
    """Yield the tables of every machine that differs in one entry."""
    for place in np.ndindex(*machine.transitions.shape):
        for target in range(machine.n_states):
            if target != machine.transitions[place]:
                changed = machine.transitions.copy()
                changed[place] = target
                yield changed, machine.rewards
        for level in levels:
            if level != machine.rewards[place]:
                paid = machine.rewards.copy()
                paid[place] = level
                yield machine.transitions, paid


def _shapes(kind: str, avoid: bool) -> list[tuple[int, tuple[int, ...]]]:
    """Return (states, shape) of the tasks of a kind; a shape says how long its parts are."""
    if kind == "sequence":
        return [(length + 1, (length,)) for length in range(2, 16)]
    if kind == "either":
        free = [(2**j + tail, (j, tail)) for j in (2, 3) for tail in range(1, 12)]
        return sorted(free)
    if kind == "chains":
        pairs = [(p, q) for p in range(1, 6) for q in range(1, p + 1) if (p, q) != (1, 1)]
        return [((p + 1) * (q + 1) + 1, (p, q)) for p, q in pairs]
    if kind == "patrol":
        return [(length + avoid, (length,)) for length in range(2, 16)]
    if kind == "choice":
        return [(p + q + 2, (p, q)) for q in range(1, 8) for p in (q, q + 1)]
    raise ArgumentError(f"kind is {kind!r}; known are {', '.join(KINDS)}")


def task_of(asked: Growing) -> RewardMachine:
    """Return the machine alone."""
    shapes = dict(reversed(_shapes(asked.kind, asked.avoid)))
    if asked.states not in shapes:
        known = ", ".join(str(n) for n in sizes(asked.kind, asked.avoid))
        raise ArgumentError(
            f"states is {asked.states}; a task of kind {asked.kind!r} has one of {known}"
        )
    arrows = _ARROWS[asked.kind](shapes[asked.states])
    named = sorted({symbol for _, symbol, _, _ in arrows}, key=NAMES.index)
    trap = [NAMES[len(named)]] if asked.avoid else []
    alphabet = tuple(NAMES[: asked.symbols])
    if len(named) + len(trap) > asked.symbols:
        raise ArgumentError(
            f"symbols is {asked.symbols}; this task names {len(named) + len(trap)}: allow as many"
        )
    return _machine(arrows, trap, alphabet)


Arrow = tuple[object, str, object, float]  # from, symbol, to, pay; the first one begins
OVER = "over"


def _machine(arrows: list[Arrow], trap: list[str], alphabet: tuple[str, ...]) -> RewardMachine:
    """Return the smallest machine with these arrows, in which a trap ends it all."""
    states = list(dict.fromkeys(s for a, _, b, _ in arrows for s in (a, b)))
    states += [OVER] if trap and OVER not in states else []
    number = {state: place for place, state in enumerate(states)}
    transitions = np.tile(np.arange(len(states))[:, None], (1, len(alphabet)))
    rewards = np.zeros(transitions.shape)
    for symbol in trap:
        transitions[:, alphabet.index(symbol)] = number[OVER]
    for here, symbol, there, pay in arrows:
        transitions[number[here], alphabet.index(symbol)] = number[there]
        rewards[number[here], alphabet.index(symbol)] = pay
    return RewardMachine(alphabet, transitions, rewards).minimised()


def _chain(begin: object, labels: Sequence[str], tag: str) -> list[Arrow]:
    """Return arrows through fresh states; the last of them is named (tag, length)."""
    places = [begin, *((tag, i) for i in range(1, len(labels) + 1))]
    return [(a, s, b, 0.0) for (a, b), s in zip(pairwise(places), labels, strict=True)]


def _paid(arrows: list[Arrow], pay: float = 1.0, to: object = OVER) -> list[Arrow]:
    """Return arrows whose last one pays, and leads elsewhere."""
    here, symbol, _, _ = arrows[-1]
    return [*arrows[:-1], (here, symbol, to, pay)]


def _sequence(shape: tuple[int, ...]) -> list[Arrow]:
    return _paid(_chain(0, NAMES[: shape[0]], "s"))


def _either(shape: tuple[int, ...]) -> list[Arrow]:
    free, tail = shape
    arrows: list[Arrow] = []
    for seen in range(2**free):
        for k in range(free):
            if not seen >> k & 1:
                arrows.append((("free", seen), NAMES[k], ("free", seen | 1 << k), 0.0))
    return arrows + _paid(_chain(("free", 2**free - 1), NAMES[free : free + tail], "t"))


def _chains(shape: tuple[int, ...]) -> list[Arrow]:
    p, q = shape
    arrows: list[Arrow] = []
    for i in range(p + 1):
        for j in range(q + 1):
            if i < p:
                arrows.append((("at", i, j), NAMES[i], ("at", i + 1, j), 0.0))
            if j < q:
                arrows.append((("at", i, j), NAMES[p + j], ("at", i, j + 1), 0.0))
    return [*arrows, (("at", p, q), NAMES[p + q], OVER, 1.0)]


def _patrol(shape: tuple[int, ...]) -> list[Arrow]:
    return _paid(_chain(0, NAMES[: shape[0]], "p"), to=0)


def _choice(shape: tuple[int, ...]) -> list[Arrow]:
    p, q = shape
    goal = NAMES[p + q]
    short = _paid([*_chain(0, NAMES[p : p + q], "short"), (("short", q), goal, OVER, 0.0)])
    long = _paid([*_chain(0, NAMES[:p], "long"), (("long", p), goal, OVER, 0.0)], 2.0)
    return long + short


_ARROWS = {
    "sequence": _sequence,
    "either": _either,
    "chains": _chains,
    "patrol": _patrol,
    "choice": _choice,
}


def _grid(rng: np.random.Generator, asked: Growing, task: RewardMachine) -> LabeledMDP:
    """Return an open grid with walls, labels and starts, all of which can be reached."""
    side = asked.side
    cells = np.array([(x, y) for y in range(side) for x in range(side)])
    grid = Grid(side, side, cells, _walls(rng, side))
    place = rng.permutation(side * side)
    labels: list[str | None] = [None] * (side * side)
    for number, symbol in enumerate(task.alphabet):
        for cell in place[number * CELLS : (number + 1) * CELLS].tolist():
            labels[cell] = symbol
    starts = place[len(task.alphabet) * CELLS :][: min(STARTS, side)].tolist()
    return LabeledMDP.from_triples(
        grid.transitions(ACTIONS, asked.slip),
        states=side * side,
        actions=ACTIONS,
        labels=labels,
        alphabet=task.alphabet,
        initial=[(start, 1 / len(starts)) for start in starts],
        grid=grid,
        source="growing task",
    )


def _walls(rng: np.random.Generator, side: int) -> list[Wall]:
    """Return walls between neighbouring cells; the doors of a random spanning tree stay open."""
    states = range(side * side)
    pairs = [(s, s + 1, "right") for s in states if (s + 1) % side]
    pairs += [(s, s + side, "up") for s in states if s + side < side * side]
    group = list(states)

    def root(cell: int) -> int:
        while group[cell] != cell:
            group[cell] = group[group[cell]]
            cell = group[cell]
        return cell

    walls: list[Wall] = []
    for number in rng.permutation(len(pairs)).tolist():
        here, there, way = pairs[number]
        one, other = root(here), root(there)
        if one != other:
            group[one] = other
        elif len(walls) < WALLS * len(pairs):
            walls.append((here % side, here // side, way))
    return walls


def _expert(
    mdp: LabeledMDP, task: RewardMachine, discount: float, length: int
) -> tuple[Expert, int]:
    """Return the least rational expert that earns enough, or the most rational one.

    Also returned is the length of episodes: as long as is asked, or longer where that is too short
    for the task to be done.
    """
    for alpha in ALPHAS:
        expert = Expert(alpha, discount)
        policy = expert_policy(mdp, task, expert)
        found = evaluate(mdp, policy, truth=task, length=length)
        while found.reference < DONE:
            length *= 2
            found = evaluate(mdp, policy, truth=task, length=length)
        if found.expected_return >= EARNED * found.reference:
            break
    return expert, length
