"""Statements about what the expert wants that a sample makes likely, and who they hold for.

A claim is chosen by looking at a sample and can then be asked of any plans, so that what is stated
can be checked against a task that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from whence._arrays import Bools, Floats
from whence.analysis.plans import Plans, Weighed, Word
from whence.analysis.routes import Course, Moves, beginning, cycle, ending, longest, unavoidable
from whence.analysis.wording import around, in_turn, listed, phrase, shown
from whence.model.machine import RewardMachine, number

LIKELY = 0.5  # what is less probable is not stated
SURELY = 0.95  # labels that are wanted so surely are named together
FIRST = " first"  # of a route that is known by what it begins with
DEEPEST = 16  # labels up to which beginnings are told apart
MOST_WAYS = 4  # label sequences whose pay is compared
TIMES = {2.0: "twice", 3.0: "three times", 0.5: "half", 1.0: "as much as"}

KINDS = ("route", "ends", "avoids", "pays")

Test = Callable[[Plans], Bools]


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement.

    Attributes:
        kind: `route`, `ends`, `avoids` or `pays`.
        text: what is stated, as part of a sentence.
        labels: the labels that it is about, in order.
        test: returns bool[P], for which of P plans it holds.
        rank: how special it is among those of its kind.
        last: the labels that what is stated ends with.
    """

    kind: str
    text: str
    labels: tuple[str, ...]
    test: Test
    rank: int = 0
    last: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Stated:
    """A claim with the plans of the sample that it holds for, bool[P], and its probability."""

    claim: Claim
    holds: Bools
    probability: float
    error: float


def stated(
    weighed: Weighed, shown_machine: RewardMachine, levels: Sequence[float]
) -> list[Stated]:
    """Return what a sample makes likely: routes, the most special first, then all else.

    Args:
        weighed: the plans of the sample.
        shown_machine: the machine that illustrates the answer.
        levels: that machines may pay.
    """
    names = shown(weighed.plans.alphabet)
    routes = [_stated(weighed, claim) for claim in _routes(weighed, names)]
    routes = [each for each in routes if each.probability >= LIKELY]
    routes.sort(key=lambda each: -each.claim.rank)
    lead = next((each for each in routes if each.claim.rank and each.claim.kind == "route"), None)
    if lead is None:
        return routes
    word = _word(weighed, lead)
    found = _avoids(weighed, names, word)
    found += _pays(weighed, names, word, levels)
    found += _ratios(weighed, names, word, shown_machine, levels)
    more = [_stated(weighed, claim) for claim in found]
    every = routes + [each for each in more if each.probability >= LIKELY]
    return sorted(every, key=lambda each: KINDS.index(each.claim.kind))


def _stated(weighed: Weighed, claim: Claim) -> Stated:
    holds = claim.test(weighed.plans)
    return Stated(claim, holds, *weighed.probability(holds))


def _routes(weighed: Weighed, names: Sequence[str]) -> list[Claim]:
    """Return the likely beginnings of what is wanted, whether that is all, and the whole."""
    courses = weighed.plans.courses
    claims: list[Claim] = []
    before: Moves = ((),)
    for length in range(1, DEEPEST + 1):
        heaviest, mass = _heaviest(weighed, [_cut(each.moves, length) for each in courses])
        if mass < LIKELY:
            break
        test = _begins(heaviest, length)
        by_start = _by_start(weighed, test(weighed.plans))
        labels = _labels(heaviest, weighed.plans.alphabet)
        if heaviest == before:
            break
        text = phrase(heaviest, names, by_start=by_start) + (FIRST if length == 1 else "")
        last = _last(heaviest, weighed.plans.alphabet)
        claims.append(Claim("route", text, labels, test, length, last))
        before = heaviest
    endless = _around(weighed, names) + _whole(weighed, names)
    return _some(weighed, names) + claims + endless + _ends(weighed, names)


def _ends(weighed: Weighed, names: Sequence[str]) -> list[Claim]:
    """Return after what nothing more is wanted, if that is likely."""
    mass: dict[frozenset[int] | None, float] = {}
    for course, weight in zip(weighed.plans.courses, weighed.weight.tolist(), strict=True):
        last = ending(course.moves)
        mass[last] = mass.get(last, 0.0) + weight
    best = max(mass, key=lambda last: mass[last])
    if best is None or mass[best] < LIKELY:
        return []
    labels = [symbol for symbol in range(len(names)) if symbol in best]
    text = "it heads for nothing"
    if labels:
        text = f"after {listed([names[s] for s in labels], 'or')} it wants nothing more"

    def test(plans: Plans) -> Bools:
        return np.array([ending(each.moves) == best for each in plans.courses])

    after = tuple(weighed.plans.alphabet[symbol] for symbol in labels)
    return [Claim("ends", text, after, test, last=after)]


def _last(moves: Moves, alphabet: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that a beginning ends with."""
    last = {symbol for move in moves for symbol, target in move if not moves[target]}
    return tuple(alphabet[symbol] for symbol in range(len(alphabet)) if symbol in last)


def _some(weighed: Weighed, names: Sequence[str]) -> list[Claim]:
    """Return the labels that are wanted in whatever order, the fewest that say most."""
    alphabet = weighed.plans.alphabet
    wanted = [unavoidable(each.moves) for each in weighed.plans.courses]
    mass = [
        sum(w for w, each in zip(weighed.weight.tolist(), wanted, strict=True) if symbol in each)
        for symbol in range(len(alphabet))
    ]
    for least in (SURELY, LIKELY):
        chosen = [symbol for symbol in range(len(alphabet)) if mass[symbol] >= least]
        if chosen:
            text = f"{listed([names[symbol] for symbol in chosen])} sooner or later"
            labels = tuple(alphabet[symbol] for symbol in chosen)
            last = labels if len(labels) == 1 else ()
            return [Claim("route", text, labels, _wants(frozenset(chosen)), last=last)]
    return []


def _wants(symbols: frozenset[int]) -> Test:
    def test(plans: Plans) -> Bools:
        return np.array([symbols <= unavoidable(each.moves) for each in plans.courses])

    return test


def _whole(weighed: Weighed, names: Sequence[str]) -> list[Claim]:
    """Return the claim of the heaviest route as a whole, where it goes on for ever."""
    moves, mass = _heaviest(weighed, [each.moves for each in weighed.plans.courses])
    if mass < LIKELY or longest(moves) is not None:
        return []

    def test(plans: Plans) -> Bools:
        return np.array([each.moves == moves for each in plans.courses], dtype=np.bool_)

    by_start = _by_start(weighed, test(weighed.plans))
    labels = _labels(moves, weighed.plans.alphabet)
    text = phrase(moves, names, by_start=by_start)
    return [Claim("route", text, labels, test, DEEPEST + 2)]


def _around(weighed: Weighed, names: Sequence[str]) -> list[Claim]:
    """Return the claim of the heaviest loop, wherever it begins."""
    mass: dict[tuple[int, ...] | None, float] = {}
    for course, weight in zip(weighed.plans.courses, weighed.weight.tolist(), strict=True):
        loop = cycle(course.moves)
        mass[loop] = mass.get(loop, 0.0) + weight
    best = max(mass, key=lambda loop: mass[loop])
    if best is None or len(best) < 2 or mass[best] < LIKELY:
        return []

    def test(plans: Plans) -> Bools:
        return np.array([cycle(each.moves) == best for each in plans.courses], dtype=np.bool_)

    text = around(best, names) + ("" if len(best) == 2 else ", wherever it begins")
    labels = tuple(weighed.plans.alphabet[symbol] for symbol in dict.fromkeys(best))
    return [Claim("route", text, labels, test, DEEPEST + 1)]


def _heaviest(weighed: Weighed, routes: Sequence[Moves]) -> tuple[Moves, float]:
    mass: dict[Moves, float] = {}
    for moves, weight in zip(routes, weighed.weight.tolist(), strict=True):
        mass[moves] = mass.get(moves, 0.0) + weight
    best = max(mass, key=lambda moves: mass[moves])
    return best, mass[best]


def _begins(start: Moves, length: int) -> Test:
    def test(plans: Plans) -> Bools:
        return np.array([_cut(each.moves, length) == start for each in plans.courses])

    return test


@lru_cache(maxsize=100_000)
def _cut(moves: Moves, length: int) -> Moves:
    """Return the beginning of a route; remembered, since samples ask again and again."""
    return beginning(moves, length)


def _by_start(weighed: Weighed, holds: Bools) -> bool:
    return _first(weighed, holds).by_start


def _first(weighed: Weighed, holds: Bools) -> Course:
    """Return what the heaviest plan heads for that a statement holds for."""
    return weighed.plans.courses[int(np.flatnonzero(holds)[0])]


def _labels(moves: Moves, alphabet: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a route in the order in which they come up."""
    found = dict.fromkeys(symbol for move in moves for symbol, _ in move if symbol >= 0)
    return tuple(alphabet[symbol] for symbol in found)


def _word(weighed: Weighed, lead: Stated) -> Word:
    """Return the likeliest labels of what is stated; of a loop, once around."""
    word = _first(weighed, lead.holds).word
    return word if lead.claim.rank > DEEPEST else word[: lead.claim.rank]


def _avoids(weighed: Weighed, names: Sequence[str], word: Word) -> list[Claim]:
    """Return which labels are avoided, all the way or on the way to a label."""
    if not word:
        return []
    found = weighed.plans.avoided(word)
    claims = []
    for symbol, label in enumerate(weighed.plans.alphabet):
        phases = [at for at, each in enumerate(word) if each != symbol]
        likely = [at for at in phases if weighed.weight[found[:, at, symbol]].sum() >= LIKELY]
        every = found[:, phases, symbol].all(axis=1) if phases else np.zeros(len(found), bool)
        if len(phases) > 1 and weighed.weight[every].sum() >= LIKELY:
            text = f"it avoids {names[symbol]} all the way"
            claims.append(_avoiding(text, label, word, phases, symbol))
            continue
        for at in likely:
            text = f"it avoids {names[symbol]} on its way to {names[word[at]]}"
            claims.append(_avoiding(text, label, word, [at], symbol))
    return claims


def _avoiding(text: str, label: str, word: Word, phases: list[int], symbol: int) -> Claim:
    def test(plans: Plans) -> Bools:
        return np.asarray(plans.avoided(word)[:, phases, symbol].all(axis=1))

    return Claim("avoids", text, (label,), test)


def _pays(
    weighed: Weighed, names: Sequence[str], word: Word, levels: Sequence[float]
) -> list[Claim]:
    """Return which labels of a word are paid, and with several levels how much."""
    several = sum(level != 0 for level in levels) > 1
    if not word or (len(word) == 1 and not several):
        return []
    paid = weighed.plans.paid(word)
    seen = paid if several else (paid != 0).astype(np.float64)
    rows, inverse = np.unique(seen, axis=0, return_inverse=True)
    mass = np.bincount(inverse.reshape(-1), weighed.weight)
    pattern: Floats = rows[int(mass.argmax())]
    places = np.flatnonzero(pattern).tolist()
    if not places or len({word[at] for at in places}) < len(places):
        return []
    if any(word[at] in {word[i] for i in places} and at not in places for at in range(len(word))):
        return []
    labels = [names[word[at]] for at in places]
    if several:
        text = listed([f"{names[word[at]]} pays {number(float(pattern[at]))}" for at in places])
    elif len(places) == len(word):
        text = f"{listed(labels)} {'both pay' if len(labels) == 2 else 'all pay'}"
    else:
        text = f"it is {listed(labels)} that {'pays' if len(labels) == 1 else 'pay'}"

    def test(plans: Plans) -> Bools:
        given = plans.paid(word)
        return np.asarray(((given if several else given != 0) == pattern).all(axis=1))

    return [Claim("pays", text, tuple(weighed.plans.alphabet[s] for s in word), test)]


def _ratios(
    weighed: Weighed,
    names: Sequence[str],
    word: Word,
    machine: RewardMachine,
    levels: Sequence[float],
) -> list[Claim]:
    """Return how the pay of a word compares with that of others that the machine pays for."""
    if sum(level != 0 for level in levels) < 2 or not word:
        return []
    alphabet = weighed.plans.alphabet
    own = sum(machine.run([alphabet[s] for s in word]).rewards)
    claims = []
    for other in _paid_words(machine, alphabet)[:MOST_WAYS]:
        theirs = sum(machine.run([alphabet[s] for s in other]).rewards)
        if other == word or theirs <= 0 or own <= 0 or own / theirs not in TIMES:
            continue
        said = TIMES[own / theirs]
        what = "" if own == theirs else "what "
        text = (
            f"{in_turn([names[s] for s in word])} pays {said} {what}"
            f"{in_turn([names[s] for s in other])} does"
        )
        labels = tuple(alphabet[s] for s in (*word, *other))
        claims.append(Claim("pays", text, labels, _ratio(word, other, own / theirs)))
    return claims


def _ratio(word: Word, other: Word, ratio: float) -> Test:
    def test(plans: Plans) -> Bools:
        one, two = plans.paid(word).sum(axis=1), plans.paid(other).sum(axis=1)
        return np.asarray((two > 0) & (np.abs(one - ratio * two) < 1e-9))

    return test


def _paid_words(machine: RewardMachine, alphabet: Sequence[str]) -> list[Word]:
    """Return a shortest word to each arrow that pays."""
    paths: dict[int, Word] = {0: ()}
    for state in (queue := [0]):
        for symbol in range(len(alphabet)):
            target = int(machine.transitions[state, symbol])
            if target not in paths:
                paths[target] = (*paths[state], symbol)
                queue.append(target)
    pairs = np.argwhere(machine.rewards != 0).tolist()
    return sorted(((*paths[s], c) for s, c in pairs if s in paths), key=lambda w: (len(w), w))
