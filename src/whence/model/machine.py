"""Reward machines: finite-state machines that read labels and pay rewards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from whence._arrays import Bools, Floats, Ints, frozen_own
from whence.errors import MachineError
from whence.model import canonical as tables
from whence.model.conveniences import MachineMethods


class Trace(NamedTuple):
    """What a machine did on a label sequence of length L.

    Attributes:
        states: L + 1 machine states, the initial one first.
        rewards: L rewards, one a label.
    """

    states: tuple[int, ...]
    rewards: tuple[float, ...]


class Arrow(NamedTuple):
    """The symbols that lead from one state to another with one reward."""

    source: int
    target: int
    symbols: tuple[str, ...]
    reward: float


@dataclass(frozen=True, eq=False, repr=False)
class RewardMachine(MachineMethods):
    """A reward machine over an alphabet; state 0 is initial.

    Attributes:
        alphabet: the m symbols.
        transitions: int[n, m], the state each symbol leads to.
        rewards: float[n, m], the reward each symbol is paid.
        names: a name per state, or None; `y0`, `y1`, ... count as none.
    """

    alphabet: tuple[str, ...]
    transitions: Ints
    rewards: Floats
    names: tuple[str, ...] | None = None

    def __init__(
        self,
        alphabet: Iterable[str],
        transitions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        names: Iterable[str] | None = None,
    ) -> None:
        symbols = checked_alphabet(alphabet)
        targets = _checked_transitions(transitions, len(symbols))
        paid = _checked_rewards(rewards, targets.shape, symbols)
        object.__setattr__(self, "alphabet", symbols)
        object.__setattr__(self, "transitions", frozen_own(targets))
        object.__setattr__(self, "rewards", frozen_own(paid))
        object.__setattr__(self, "names", _checked_names(names, len(targets)))

    @property
    def n_states(self) -> int:
        """The number of states, n."""
        return len(self.transitions)

    @property
    def state_names(self) -> tuple[str, ...]:
        """A name for every state: its own, or `y0`, `y1`, ..."""
        return self.names if self.names is not None else default_names(self.n_states)

    @property
    def is_valid(self) -> bool:
        """Whether every state is reachable and at least one reward is not 0."""
        every = len(tables.breadth_first(self.transitions)) == self.n_states
        return every and bool((self.rewards != 0).any())

    @property
    def can_pay(self) -> Bools:
        """bool[n]: whether a non-zero reward can still be paid from each state."""
        return tables.can_pay(self.transitions, self.rewards)

    def step(self, state: int, symbol: str | None) -> tuple[int, float]:
        """Return the next state and the reward; None is blank: stay, and 0."""
        if not 0 <= state < self.n_states:
            raise MachineError(
                f"state {state}: the machine has {self.n_states} states (0 to {self.n_states - 1})"
            )
        if symbol is None:
            return state, 0.0
        column = self.index(symbol)
        return int(self.transitions[state, column]), float(self.rewards[state, column])

    def run(self, labels: Iterable[str | None]) -> Trace:
        """Return the states visited and the rewards paid on a label sequence."""
        states, rewards = [0], []
        for symbol in labels:
            state, reward = self.step(states[-1], symbol)
            states.append(state)
            rewards.append(reward)
        return Trace(tuple(states), tuple(rewards))

    def index(self, symbol: str) -> int:
        """Return the column of a symbol."""
        try:
            return self.alphabet.index(symbol)
        except ValueError:
            raise MachineError(
                f"symbol {symbol!r} is not in the machine's alphabet {listed(self.alphabet)}"
            ) from None

    def arrows(self) -> list[Arrow]:
        """Return the arrows, by source; symbols with equal target and reward share one."""
        grouped: dict[tuple[int, int, float], list[str]] = {}
        for state in range(self.n_states):
            row = zip(
                self.alphabet,
                self.transitions[state].tolist(),
                self.rewards[state].tolist(),
                strict=True,
            )
            for symbol, target, reward in row:
                grouped.setdefault((state, target, reward), []).append(symbol)
        return [Arrow(s, t, tuple(symbols), r) for (s, t, r), symbols in grouped.items()]

    def canonical(self) -> RewardMachine:
        """Return the reachable part, states numbered breadth-first from 0."""
        return self._renumbered(tables.breadth_first(self.transitions))

    def minimised(self) -> RewardMachine:
        """Return the smallest machine that pays the same on every label sequence."""
        transitions, rewards, kept = tables.minimise(self.transitions, self.rewards)
        return RewardMachine(self.alphabet, transitions, rewards, self._names_of(kept))

    def over(self, alphabet: Sequence[str]) -> RewardMachine:
        """Return the same machine with its columns in the order of `alphabet`.

        Raises:
            MachineError: if `alphabet` is not a permutation of the machine's.
        """
        if tuple(alphabet) == self.alphabet:
            return self
        if sorted(alphabet) != sorted(self.alphabet):
            odd = sorted(set(alphabet) ^ set(self.alphabet))
            raise MachineError(
                f"the alphabets {listed(alphabet)} and {listed(self.alphabet)} differ in "
                f"{listed(odd)}; give both machines the same symbols"
            )
        index = {symbol: column for column, symbol in enumerate(self.alphabet)}
        columns = [index[symbol] for symbol in alphabet]
        return RewardMachine(
            alphabet, self.transitions[:, columns], self.rewards[:, columns], self.names
        )

    def same_as(self, other: RewardMachine) -> bool:
        """Whether both machines pay the same rewards on every label sequence."""
        return self.difference(other) is None

    def _renumbered(self, order: list[int]) -> RewardMachine:
        transitions, rewards = tables.renumber(self.transitions, self.rewards, order)
        return RewardMachine(self.alphabet, transitions, rewards, self._names_of(order))

    def _names_of(self, states: list[int]) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[state] for state in states)

    def __eq__(self, other: object) -> bool:
        """Equal tables over equal alphabets; names do not count. See also `same_as`."""
        if not isinstance(other, RewardMachine):
            return NotImplemented
        return (
            self.alphabet == other.alphabet
            and np.array_equal(self.transitions, other.transitions)
            and np.array_equal(self.rewards, other.rewards)
        )

    def __hash__(self) -> int:
        return hash((self.alphabet, self.transitions.tobytes(), self.rewards.tobytes()))

    def __repr__(self) -> str:
        return f"<RewardMachine: {self.n_states} states over {listed(self.alphabet)}>"


def default_names(n: int) -> tuple[str, ...]:
    """Return `y0`, `y1`, ..., as the paper names states."""
    return tuple(f"y{state}" for state in range(n))


def number(value: float) -> str:
    """Return the shortest text that reads back as `value`; whole numbers without a point."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def listed(symbols: Iterable[str]) -> str:
    """Return symbols as messages show them."""
    return "(" + ", ".join(symbols) + ")"


def checked_alphabet(alphabet: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols if they are different, non-empty strings."""
    if isinstance(alphabet, str):
        raise MachineError(
            f"alphabet {alphabet!r} is one string; give a list of symbols, such as "
            f"{list(alphabet[:3])}"
        )
    symbols = tuple(alphabet)
    seen: set[str] = set()
    for position, symbol in enumerate(symbols):
        if not isinstance(symbol, str) or not symbol:
            raise MachineError(
                f"alphabet, entry {position}: {symbol!r} is not a symbol; use a non-empty string"
            )
        if symbol in seen:
            raise MachineError(f"alphabet: {symbol!r} occurs twice; name each symbol once")
        seen.add(symbol)
    return symbols


def _checked_transitions(transitions: npt.ArrayLike, m: int) -> Ints:
    table = _rectangle(transitions, m, "transitions")
    if table.dtype.kind == "f" and not np.array_equal(np.floor(table), table):
        raise MachineError("transitions: the targets must be whole numbers, counted from 0")
    n = len(table)
    bad = np.argwhere((table < 0) | (table >= n))
    if len(bad):
        state, column = bad[0].tolist()
        raise MachineError(
            f"transitions, state {state}, symbol {column}: target {table[state, column]:.0f} does "
            f"not exist; the machine has {n} states (0 to {n - 1})"
        )
    return table.astype(np.int64, copy=True)


def _checked_rewards(
    rewards: npt.ArrayLike, shape: tuple[int, ...], alphabet: tuple[str, ...]
) -> Floats:
    table = _rectangle(rewards, shape[1], "rewards").astype(np.float64, copy=True)
    if table.shape != shape:
        raise MachineError(
            f"rewards has {len(table)} rows and transitions {shape[0]}; give one row a state"
        )
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        state, column = bad[0].tolist()
        raise MachineError(
            f"rewards, state {state}, symbol {alphabet[column]!r}: "
            f"{table[state, column]} is not a finite number"
        )
    return table + 0.0  # no negative zero: equal rewards have equal bytes


def _rectangle(table: npt.ArrayLike, m: int, what: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(table)
    except ValueError:
        array = np.empty(1, dtype=object)
    if array.size == 0 and array.ndim == 2 and array.shape[1] == 0:
        array = np.zeros(array.shape, dtype=np.int64)
    if array.ndim >= 1 and array.shape[0] == 0:
        raise MachineError(f"{what}: no rows; a machine has at least one state")
    if array.ndim != 2 or array.dtype.kind not in "iuf":
        raise MachineError(
            f"{what}: not a table of numbers; give a list of rows, one a state, each with "
            f"{m} entries, one a symbol"
        )
    if array.shape[1] != m:
        raise MachineError(
            f"{what}: rows of {array.shape[1]} entries for an alphabet of {m} symbols; "
            "give one entry a symbol"
        )
    return array


def _checked_names(names: Iterable[str] | None, n: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    result = tuple(names)
    if len(result) != n:
        raise MachineError(f"names: {len(result)} names for {n} states; give one a state")
    seen: set[str] = set()
    for position, name in enumerate(result):
        if not isinstance(name, str) or not name:
            raise MachineError(f"names, entry {position}: {name!r} is not a non-empty string")
        if name in seen:
            raise MachineError(f"names: {name!r} occurs twice; states need different names")
        seen.add(name)
    return None if result == default_names(n) else result
