"""What tells two machines apart in a world of any size.

In a small world all places that pairs of machine states can be in are walked. In a large one that
would take as many steps as its longest corridor has; there the label sequences that it can
produce, as a small automaton, stand for it.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from whence.analysis.language import Language, language
from whence.model.equivalence import difference_in
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted

LARGE = 20_000  # states from which on the automaton stands for a world

_KNOWN: WeakKeyDictionary[LabeledMDP, Language] = WeakKeyDictionary()

Place = tuple[int, int, int]


def told_apart(
    one: RewardMachine, other: RewardMachine, mdp: LabeledMDP
) -> tuple[str, ...] | None:
    """Return a shortest label sequence of a world on which the rewards differ, or None.

    Args:
        one: a machine that reads every symbol of the world.
        other: another one.
        mdp: the world.
    """
    one, other = restricted(one, mdp), restricted(other, mdp)
    if mdp.n_states < LARGE:
        return difference_in(one, other, mdp)
    if mdp not in _KNOWN:
        _KNOWN[mdp] = language((mdp,), mdp.alphabet)
    word = _shortest(_KNOWN[mdp], one, other)
    return None if word is None else tuple(mdp.alphabet[symbol] for symbol in word)


def _shortest(possible: Language, one: RewardMachine, other: RewardMachine) -> list[int] | None:
    """Return a shortest possible word, as symbols' numbers; nodes and states breadth-first."""
    queue: list[Place] = [(node, 0, 0) for node in possible.starts.tolist()]
    before: dict[Place, tuple[Place, int] | None] = dict.fromkeys(queue)
    for place in queue:
        node, y, z = place
        for at in range(int(possible.offsets[node]), int(possible.offsets[node + 1])):
            symbol, target = int(possible.symbols[at]), int(possible.targets[at])
            if one.rewards[y, symbol] != other.rewards[z, symbol]:
                return [*_read(before, place), symbol]
            following = (
                target,
                int(one.transitions[y, symbol]),
                int(other.transitions[z, symbol]),
            )
            if following not in before:
                before[following] = (place, symbol)
                queue.append(following)
    return None


def _read(before: dict[Place, tuple[Place, int] | None], place: Place) -> list[int]:
    """Return what was read on the way to a place."""
    word: list[int] = []
    step = before[place]
    while step is not None:
        place, symbol = step
        word.append(symbol)
        step = before[place]
    return word[::-1]
