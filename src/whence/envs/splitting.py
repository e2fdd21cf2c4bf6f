"""From outcomes and a label function to a world, whose states carry one label each.

A world labels the states that are entered; a label function may speak of whole steps, and a step
may end the episode. So an environment's state s is split by how it was entered: into parts (s,
label, ended) for each label that is read on entering it, with the episode going on or over.

- State s of the world is state s of the environment; further parts of it are appended.
- A part with the episode going on acts as s does, whatever was read on entering it.
- A part with the episode over leads, where it has a label, to a blank state `end` that absorbs:
  the label is read once, and nothing after it. If it is blank, it absorbs itself.
- A pair that nothing is known about leads to a blank state `unknown` that absorbs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Floats, Ints, concatenated_ranges
from whence.envs.labelling import Labelling, label_place
from whence.envs.outcomes import Outcomes, going_on
from whence.errors import WorldError
from whence.model.mdp import LabeledMDP


class Part(NamedTuple):
    """A state of the environment and how it was entered.

    Attributes:
        state: its number.
        ended: whether the episode is over.
        label: what was read on entering it: a symbol's number, or -1 for blank.
    """

    state: int
    ended: bool
    label: int


@dataclass(frozen=True, eq=False)
class Split:
    """A world and what its states are parts of.

    Attributes:
        mdp: the world.
        parts: the part that each state of the world is, except `end` and `unknown`.
        numbers: the state of the world of each part.
    """

    mdp: LabeledMDP
    parts: tuple[Part, ...]
    numbers: dict[Part, int]


def split(
    outcomes: Outcomes,
    labelling: Labelling,
    alphabet: Iterable[str] | None,
    actions: Sequence[str] | None,
) -> Split:
    """Return the world of an environment's outcomes.

    Args:
        outcomes: of the environment.
        labelling: reads states or steps.
        alphabet: the symbols; by default those of the labels, in order of appearance.
        actions: a name for each.
    """
    symbols = _Symbols(alphabet, outcomes.source)
    of_state = _state_labels(outcomes, labelling, symbols)
    goes_on = going_on(outcomes)
    has = outcomes.available[outcomes.state, outcomes.action]
    used = np.flatnonzero(goes_on[outcomes.state] & has)
    read = (
        _step_labels(outcomes, used, labelling, symbols)
        if of_state is None
        else of_state[outcomes.successor[used]]
    )
    columns = outcomes.successor[used], outcomes.ended[used], read
    reached = [Part(*part) for part in zip(*(c.tolist() for c in columns), strict=True)]
    parts = _listed(set(reached), goes_on, of_state)
    numbers = {part: number for number, part in enumerate(parts)}
    into = np.array([numbers[part] for part in reached], dtype=np.int64)
    triples, special = _transitions(outcomes, parts, used, into)
    names = [*_names_of(parts, outcomes, symbols.known), *special]
    plain = outcomes.observations.plain and len(names) == outcomes.observations.n
    mdp = LabeledMDP.from_triples(
        triples,
        states=len(names),
        actions=_action_names(outcomes, actions),
        labels=np.array([part.label for part in parts] + [BLANK] * len(special)),
        alphabet=symbols.known,
        initial=outcomes.initial,
        unavailable=_unavailable(outcomes, parts),
        names=None if plain else names,
        source=outcomes.source,
    )
    return Split(mdp, parts, numbers)


class _Symbols:
    """Numbers of symbols, in order of appearance or as the user lists them."""

    def __init__(self, alphabet: Iterable[str] | None, source: str) -> None:
        self.known = [] if alphabet is None else list(alphabet)
        self.closed = alphabet is not None
        self.source = source

    def number(self, symbol: str | None, place: str) -> int:
        if symbol is None:
            return BLANK
        if symbol not in self.known:
            if self.closed:
                raise WorldError(
                    f"{self.source}: {place}: {symbol!r} is not in the alphabet "
                    f"({', '.join(self.known)}); add it there or correct the label"
                )
            self.known.append(symbol)
        return self.known.index(symbol)


def _state_labels(outcomes: Outcomes, labelling: Labelling, symbols: _Symbols) -> Ints | None:
    """Return int[S], the label of each known state, where labels depend on the state alone."""
    if not labelling.of_states:
        return None
    result = np.full(outcomes.observations.n, BLANK)
    for state in np.flatnonzero(outcomes.known).tolist():
        member = outcomes.observations.member(state)
        result[state] = symbols.number(labelling(None, None, member), label_place(member))
    return result


def _step_labels(outcomes: Outcomes, used: Ints, labelling: Labelling, symbols: _Symbols) -> Ints:
    """Return the label of each of some outcomes."""
    if labelling.wants > 3:
        raise WorldError(
            f"{outcomes.source}: the label function wants `info`, which a world does not have; "
            "give one of (state, action, next state)"
        )
    result = np.empty(len(used), dtype=np.int64)
    for place, row in enumerate(used.tolist()):
        known = (
            outcomes.observations.member(int(outcomes.state[row])),
            outcomes.actions.member(int(outcomes.action[row])),
            outcomes.observations.member(int(outcomes.successor[row])),
        )
        result[place] = symbols.number(labelling(*known), label_place(*known))
    return result


def _transitions(
    outcomes: Outcomes, parts: tuple[Part, ...], used: Ints, into: Ints
) -> tuple[Floats, list[str]]:
    """Return float64[N, 4], all transitions, and the names of the blank states that absorb.

    Args:
        outcomes: of the environment.
        parts: the first states of the world.
        used: int[], the outcomes that can happen.
        into: int[], the parts that these lead to.
    """
    state = np.array([part.state for part in parts], dtype=np.int64)
    over = np.array([part.ended for part in parts])
    labelled = np.array([part.label != BLANK for part in parts])
    known = np.zeros((outcomes.observations.n, outcomes.actions.n), dtype=np.bool_)
    known[outcomes.state[used], outcomes.action[used]] = True
    unknown = np.argwhere(~known[state] & ~over[:, None] & outcomes.available[state])
    special = ["end"] * bool((over & labelled).any()) + ["unknown"] * bool(len(unknown))
    place = {name: len(parts) + i for i, name in enumerate(special)}
    ended = np.flatnonzero(over)
    absorbing = len(parts) + np.arange(len(special))
    after = np.where(labelled[ended], place.get("end", BLANK), ended)
    lost = np.full(len(unknown), place.get("unknown", BLANK))
    triples = [
        _copied(outcomes, state, np.flatnonzero(~over), used, into),
        _always(ended, after, outcomes.actions.n),
        _always(absorbing, absorbing, outcomes.actions.n),
        np.column_stack([unknown, lost, np.ones(len(unknown))]),
    ]
    return np.concatenate(triples), special


def _unavailable(outcomes: Outcomes, parts: tuple[Part, ...]) -> Ints:
    """Return int64[..., 2]: the pairs (state, action) that states of the world do not have.

    Where the episode is over, every action is as good as any other.
    """
    state = np.array([part.state for part in parts], dtype=np.int64)
    over = np.array([part.ended for part in parts])
    return np.argwhere(~outcomes.available[state] & ~over[:, None])


def _copied(outcomes: Outcomes, state: Ints, acting: Ints, used: Ints, into: Ints) -> Floats:
    """Return the outcomes of each state once more for every part that acts as it does."""
    order = np.argsort(outcomes.state[used], kind="stable")
    by_state = outcomes.state[used][order]
    first, last = (np.searchsorted(by_state, state[acting], side) for side in ("left", "right"))
    entry = order[concatenated_ranges(first, last)]
    row = used[entry]
    chance = outcomes.probability[row]
    parts = np.repeat(acting, last - first)
    return np.column_stack([parts, outcomes.action[row], into[entry], chance])


def _always(states: Ints, targets: Ints, n_actions: int) -> Floats:
    """Return rows in which every action leads to one state."""
    actions = np.tile(np.arange(n_actions), len(states))
    columns = np.repeat(states, n_actions), actions, np.repeat(targets, n_actions)
    return np.column_stack([*columns, np.ones(len(actions))])


def _action_names(outcomes: Outcomes, given: Sequence[str] | None) -> int | Sequence[str]:
    codes = outcomes.actions
    if given is None:
        return codes.n if codes.plain else [str(codes.member(a)) for a in range(codes.n)]
    if len(given) != codes.n:
        raise WorldError(
            f"{outcomes.source}: {len(given)} action names for {codes.n} actions; give one per "
            "action"
        )
    return given


def _listed(entered: set[Part], goes_on: Bools, of_state: Ints | None) -> tuple[Part, ...]:
    """Return all parts: first one of each state, then the others in order.

    Args:
        entered: the parts that some step leads to.
        goes_on: bool[S], whether an episode can go on in a state.
        of_state: int[S], the labels, where they depend on the state alone.
    """
    ways: dict[tuple[int, bool], list[int]] = {}
    for part in entered:
        ways.setdefault((part.state, part.ended), []).append(part.label)
    first = []
    for state, open_ended in enumerate(goes_on.tolist()):
        labels = (
            ways.get((state, not open_ended), [BLANK])
            if of_state is None
            else [int(of_state[state])]
        )
        first.append(Part(state, not open_ended, min(labels)))
    return (*first, *sorted(entered.difference(first)))


def _names_of(parts: Sequence[Part], outcomes: Outcomes, symbols: Sequence[str]) -> list[str]:
    """Return a name for each part: its state's, and for further parts how they were entered."""
    names = []
    for number, part in enumerate(parts):
        name = str(outcomes.observations.member(part.state))
        if number >= outcomes.observations.n:
            read = "nothing read" if part.label == BLANK else f"{symbols[part.label]} read"
            name = f"{name}, {read}" + (", ended" if part.ended else "")
        names.append(name)
    return names
