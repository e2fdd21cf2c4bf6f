"""Worlds: labelled, reward-free Markov decision processes, kept sparse."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, Bools, Floats, Ints, concatenated_ranges, frozen_own
from whence.errors import WhenceWarning, WorldError
from whence.model import _world_checks as checks
from whence.model.conveniences import WorldMethods
from whence.model.grid import Grid

FEW = 8  # states from which walking one by one beats array operations
MANY = 64  # states from which it no longer does

Initial = int | Sequence[tuple[int, float]]
Labels = Sequence[str | None] | npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False, repr=False)
class LabeledMDP(WorldMethods):
    """A world: transition probabilities, where episodes start, and a label or blank per state.

    The successors of action a in state s stand at `offsets[s * A + a]` up to the next offset,
    in ascending order, each once, with a probability above 0; an action that the state does not
    have leads nowhere. Build one with `from_dense`, `from_triples`, `from_map`,
    `from_gymnasium` or `load`, which validate.

    Attributes:
        actions: A names.
        alphabet: m symbols.
        labels: int32[S], the symbol's index, or -1 for blank.
        offsets: int64[S * A + 1].
        successors: int32[N].
        probabilities: float64[N].
        initial_states: int32[I], ascending.
        initial_probabilities: float64[I].
        names: S state names, or None.
        grid: where the states lie, for worlds that are grids, or None.
        unseen: of a world estimated from a log, int64[..]: the pairs s * A + a, ascending, that
            the log never shows; else None.
    """

    actions: tuple[str, ...]
    alphabet: tuple[str, ...]
    labels: Ints
    offsets: Ints
    successors: Ints
    probabilities: Floats
    initial_states: Ints
    initial_probabilities: Floats
    names: tuple[str, ...] | None = None
    grid: Grid | None = None
    unseen: Ints | None = None

    @classmethod
    def from_triples(
        cls,
        transitions: npt.ArrayLike,
        *,
        states: int,
        actions: int | Sequence[str],
        labels: Labels,
        alphabet: Iterable[str] | None = None,
        initial: Initial = 0,
        names: Iterable[str] | None = None,
        grid: Grid | None = None,
        unseen: npt.ArrayLike | None = None,
        unavailable: npt.ArrayLike | None = None,
        source: str = "world",
    ) -> LabeledMDP:
        """Build a world from rows (state, action, successor, probability).

        Rows that repeat a successor are added up; rows with probability 0 are left out; rows
        whose sum is off by less than one in a million are rescaled.

        Args:
            transitions: float[N, 4] or the like.
            states: S.
            actions: A, or the action names.
            labels: a symbol or None per state, or int[S] with -1 for blank.
            alphabet: the symbols; by default those of `labels`, in order of appearance.
            initial: a state, or (state, probability) pairs.
            names: a name per state.
            grid: where the states lie.
            unseen: pairs s * A + a that nobody saw, where the world is estimated from a log.
            unavailable: pairs (state, action), the actions that states do not have; every state
                keeps at least one. Rows about them are left out.
            source: what messages call this world.
        """
        n_states = checks.count(states, "states", source)
        action_names = checks.actions(actions, source)
        symbols, coded = checks.labels(labels, alphabet, n_states, source)
        table = checks.rows(transitions, n_states, action_names, source)
        closed = checks.unavailable(unavailable, n_states, action_names, source)
        offsets, successors, probabilities = checks.compressed(
            *table, closed, n_states, action_names, source
        )
        starts, weights = checks.initial(initial, n_states, source)
        world = cls(
            actions=action_names,
            alphabet=symbols,
            labels=frozen_own(coded),
            offsets=frozen_own(offsets),
            successors=frozen_own(successors),
            probabilities=frozen_own(probabilities),
            initial_states=frozen_own(starts),
            initial_probabilities=frozen_own(weights),
            names=checks.names(names, n_states, source),
            grid=checks.grid(grid, n_states, source),
            unseen=checks.unseen(unseen, closed, n_states * len(action_names), source),
        )
        _warn_unreadable(world, source)
        return world

    @classmethod
    def from_dense(
        cls,
        transitions: npt.ArrayLike,
        *,
        labels: Labels,
        actions: Sequence[str] | None = None,
        alphabet: Iterable[str] | None = None,
        initial: Initial = 0,
        names: Iterable[str] | None = None,
        unavailable: npt.ArrayLike | None = None,
    ) -> LabeledMDP:
        """Build a world from float[S, A, S]: the probability of each successor.

        The other arguments are those of `from_triples`.
        """
        try:
            dense = np.asarray(transitions)
        except (TypeError, ValueError):
            dense = np.zeros(0, dtype=object)
        if dense.dtype.kind not in "iuf":
            raise WorldError("world: transitions are not an array of numbers; give [S, A, S]")
        if dense.ndim != 3 or dense.shape[0] != dense.shape[2]:
            raise WorldError(
                f"world: transitions have shape {dense.shape}; give an array [S, A, S]"
            )
        state, action, successor = np.nonzero(dense)
        table = np.column_stack([state, action, successor, dense[state, action, successor]])
        return cls.from_triples(
            table,
            states=dense.shape[0],
            actions=dense.shape[1] if actions is None else actions,
            labels=labels,
            alphabet=alphabet,
            initial=initial,
            names=names,
            unavailable=unavailable,
        )

    @property
    def n_states(self) -> int:
        """The number of states, S."""
        return len(self.labels)

    @property
    def n_actions(self) -> int:
        """The number of actions, A."""
        return len(self.actions)

    @property
    def n_transitions(self) -> int:
        """The number of transitions with positive probability, N."""
        return len(self.successors)

    @cached_property
    def available(self) -> Bools:
        """bool[S, A]: the actions that each state has; at least one."""
        return frozen_own((np.diff(self.offsets) > 0).reshape(self.n_states, self.n_actions))

    @cached_property
    def is_masked(self) -> bool:
        """Whether some state lacks an action."""
        return not bool(self.available.all())

    @property
    def unavailable(self) -> Ints:
        """int64[..., 2]: the pairs (state, action) that are not available, ascending."""
        return np.argwhere(~self.available)

    @cached_property
    def is_deterministic(self) -> bool:
        """Whether every action has exactly one successor."""
        return self.n_transitions == int(self.available.sum())

    def row(self, state: int, action: int) -> tuple[Ints, Floats]:
        """Return the successors of a state-action pair and their probabilities."""
        pair = state * self.n_actions + action
        part = slice(int(self.offsets[pair]), int(self.offsets[pair + 1]))
        return self.successors[part], self.probabilities[part]

    def entries(self, states: Ints) -> Ints:
        """Return where the transitions of some states stand, state after state."""
        first = self.offsets[:: self.n_actions]
        return concatenated_ranges(first[states], first[np.asarray(states) + 1])

    def reachable(self, within: int | None = None) -> Bools:
        """Return bool[S]: the states that can be reached, in a number of steps if one is given."""
        seen = np.zeros(self.n_states, dtype=np.bool_)
        frontier = self.initial_states
        seen[frontier] = True
        steps = 0
        while len(frontier) and steps != within:
            if within is None and len(frontier) < FEW:
                frontier = self._followed(frontier.tolist(), seen)
                continue
            steps += 1
            following = self.successors[self.entries(frontier)]
            frontier = np.unique(following[~seen[following]])
            seen[frontier] = True
        return seen

    def _followed(self, frontier: list[int], seen: Bools) -> Ints:
        """Walk on from a few states, one at a time, until there are many of them or none is left.

        Corridors are as deep as they are long: an array operation a step would cost too much.
        """
        first = self.offsets[:: self.n_actions]
        while frontier and len(frontier) < MANY:
            state = frontier.pop()
            for following in self.successors[first[state] : first[state + 1]].tolist():
                if not seen[following]:
                    seen[following] = True
                    frontier.append(following)
        return np.array(frontier, dtype=np.int64)

    def readable(self) -> Bools:
        """Return bool[m]: the symbols that a machine can get to read in this world."""
        entered = self.labels[self.successors[self.entries(np.flatnonzero(self.reachable()))]]
        result = np.zeros(len(self.alphabet), dtype=np.bool_)
        result[entered[entered != BLANK]] = True
        return result

    def with_initial(self, initial: Initial) -> LabeledMDP:
        """Return the same world with other initial states."""
        states, weights = checks.initial(initial, self.n_states, "world")
        return replace(
            self,
            initial_states=frozen_own(states),
            initial_probabilities=frozen_own(weights),
        )

    def label(self, state: int) -> str | None:
        """Return the symbol of a state, or None where it is blank."""
        index = int(self.labels[state])
        return None if index == BLANK else self.alphabet[index]

    def state_name(self, state: int) -> str:
        """Return a state's name, its place on the grid, or its number."""
        if self.names is not None:
            return self.names[state]
        if self.grid is not None:
            x, y = self.grid.cells[state].tolist()
            return f"({x}, {y})"
        return str(state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabeledMDP):
            return NotImplemented
        arrays = (
            "labels",
            "offsets",
            "successors",
            "probabilities",
            "initial_states",
            "initial_probabilities",
            "unseen",
        )
        return (
            (self.actions, self.alphabet, self.names, self.grid)
            == (other.actions, other.alphabet, other.names, other.grid)
        ) and all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)

    def __hash__(self) -> int:
        return hash((self.actions, self.alphabet, self.n_states, self.n_transitions))

    def __repr__(self) -> str:
        return (
            f"<LabeledMDP: {self.n_states} states, {self.n_actions} actions, "
            f"{self.n_transitions} transitions, alphabet ({', '.join(self.alphabet)})>"
        )


def _warn_unreadable(world: LabeledMDP, source: str) -> None:
    """Warn of symbols that no demonstration from the initial states can contain."""
    silent = [s for s, can in zip(world.alphabet, world.readable(), strict=True) if not can]
    if silent:
        warnings.warn(
            f"{source}: no state that can be entered from the initial states carries "
            f"{', '.join(repr(s) for s in silent)}; machines never read it there",
            WhenceWarning,
            stacklevel=3,
        )
