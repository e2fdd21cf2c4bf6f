"""Questions in words, and what their answers would settle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence._arrays import Floats
from whence.analysis.facts import percent
from whence.analysis.sample import PosteriorSample
from whence.analysis.wording import in_turn, shown
from whence.ask.belief import Belief

NEGLIGIBLE = 1e-3  # an answer less likely than this settles nothing worth saying


def sequence(alphabet: Sequence[str], word: tuple[int, ...]) -> str:
    """Return `After a: b. Does that count, and how much?`."""
    names = shown(alphabet)
    labels = [names[symbol] for symbol in word]
    before = f"After {in_turn(labels[:-1])}" if len(labels) > 1 else "At the very beginning"
    return f"{before}: {labels[-1]}. Does that count, and how much?"


def preference(alphabet: Sequence[str], one: tuple[int, ...], other: tuple[int, ...]) -> str:
    """Return `Which would you rather see: first, a, then b; or second, c?`."""
    names = shown(alphabet)
    first, second = (in_turn([names[symbol] for symbol in word]) for word in (one, other))
    return f"Which would you rather see: the first, {first}; or the second, {second}?"


def demonstration(
    sample: PosteriorSample, world: int, state: int, history: tuple[int, ...]
) -> str:
    """Return `Please show me what you would do from (3, 2), with a already read.`."""
    where = sample.worlds[world].state_name(state)
    if len(sample.worlds) > 1:
        where += f" of world {world + 1}"
    names = shown(sample.alphabet)
    read = f", with {in_turn([names[s] for s in history])} already read" if history else ""
    return f"Please show me what you would do from {where}{read}."


def settles(known: Belief, chance: Floats, names: Sequence[str]) -> str:
    """Return what the expert would probably want after each answer.

    Args:
        known: what is believed now.
        chance: float64[K, answers].
        names: of the answers.
    """
    parts = []
    for answer, name in enumerate(names):
        mass = known.weight * chance[:, answer]
        by_route = np.bincount(known.route + 1, weights=mass)[1:]
        if mass.sum() >= NEGLIGIBLE and len(by_route):
            at = int(np.argmax(by_route))
            share = percent(float(by_route[at] / mass.sum()))
            parts.append(f"if {name}, {known.sample.routes[at].text} ({share})")
    return "; ".join(parts)


def rivals(known: Belief) -> str:
    """Return between which routes a demonstration would decide."""
    most = [f"{route.text} ({percent(route.probability)})" for route in known.sample.routes[:2]]
    return " or rather ".join(most)
