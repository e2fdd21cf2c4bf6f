"""Demonstrations: ragged episodes of states and actions, stored flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, UNSAID, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.errors import ArgumentError, DemonstrationsError
from whence.model.conveniences import DemonstrationsMethods
from whence.model.episodes import (
    UNKNOWN,
    Episode,
    acted,
    checked_offsets,
    endings,
    flat,
    gathered,
    said,
)


class TableRows(NamedTuple):
    """Where each state stands in the table that demonstrations came from.

    Attributes:
        episodes: E names.
        rows: int64 like `states`: the number of its row.
        word: what that number counts, `line` or `row`.
    """

    episodes: tuple[str, ...]
    rows: Ints
    word: str


@dataclass(frozen=True, eq=False, repr=False)
class Demonstrations(DemonstrationsMethods):
    """Episodes, stored flat; build them with `from_episodes`, `load` or `whence.simulate`.

    Logs come in by `from_table`, `from_trajectories` and `from_minari`.

    Attributes:
        states: int32[sum of T or T + 1].
        state_offsets: int64[E + 1], where each episode's states begin.
        actions: int32[T in all].
        action_offsets: int64[E + 1].
        alphabet: the symbols of `labels` and `history`; empty where episodes name none.
        labels: int32 like `states`: a symbol, -1 blank, -2 left to the world; or None.
        history: int32, the symbols read before each episode, one episode after the other.
        history_offsets: int64[E + 1].
        ended: int8[E], 1 where an episode ended because the task was over, 0 where it did not,
            -1 where that is not known; None where nothing is known.
        source: the file they came from, if any; messages name it.
        lines: int64[E], the line of each episode in that file, or None.
        state_names: what the log calls each state, or None where it gives numbers.
        action_names: what the log calls each action, or None where it gives numbers.
        table: where each state stands in a table, or None.
        subjects: who acted in each of the E episodes, None where that is not known; or None.
    """

    states: Ints
    state_offsets: Ints
    actions: Ints
    action_offsets: Ints
    alphabet: tuple[str, ...]
    labels: Ints | None
    history: Ints
    history_offsets: Ints
    ended: Ints | None = None
    source: str = field(default="demonstrations")
    lines: Ints | None = None
    state_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None
    table: TableRows | None = None
    subjects: tuple[str | None, ...] | None = None

    @classmethod
    def from_episodes(
        cls,
        episodes: Iterable[Episode | tuple[npt.ArrayLike, npt.ArrayLike]],
        *,
        source: str = "demonstrations",
        lines: Ints | None = None,
    ) -> Demonstrations:
        """Build demonstrations from episodes, or from (states, actions) pairs.

        Args:
            episodes: one after the other.
            source: the file they came from; messages name it.
            lines: int64[E], the line of each episode in that file.
        """

        def place(i: int) -> str:
            return f"{source}, episode {i}" if lines is None else f"{source}, line {lines[i]}"

        found = gathered([Episode(*episode) for episode in episodes], place)
        return cls.from_flat(**found._asdict(), source=source, lines=lines)

    @classmethod
    def from_flat(
        cls,
        states: npt.ArrayLike,
        state_offsets: npt.ArrayLike,
        actions: npt.ArrayLike,
        action_offsets: npt.ArrayLike,
        *,
        alphabet: Iterable[str] = (),
        labels: npt.ArrayLike | None = None,
        history: npt.ArrayLike = (),
        history_offsets: npt.ArrayLike | None = None,
        ended: Ints | None = None,
        subjects: Sequence[str | None] | None = None,
        source: str = "demonstrations",
        lines: npt.ArrayLike | None = None,
    ) -> Demonstrations:
        """Build demonstrations from the flat arrays that the class documents."""
        a_offsets = checked_offsets(action_offsets, "action_offsets", source)
        n = len(a_offsets) - 1
        if history_offsets is None:
            history_offsets = np.zeros(n + 1, dtype=np.int64)
        result = cls(
            states=flat(states, "states", source),
            state_offsets=checked_offsets(state_offsets, "state_offsets", source),
            actions=flat(actions, "actions", source),
            action_offsets=a_offsets,
            alphabet=tuple(alphabet),
            labels=said(None if labels is None else flat(labels, "labels", source)),
            history=flat(history, "history", source),
            history_offsets=checked_offsets(history_offsets, "history_offsets", source),
            ended=endings(ended),
            subjects=acted(subjects),
            source=source,
            lines=None if lines is None else frozen_own(np.array(lines, dtype=np.int64)),
        )
        check_shape(result)
        return result

    @property
    def n_steps(self) -> int:
        """The number of steps, of all episodes together."""
        return len(self.actions)

    @property
    def lengths(self) -> Ints:
        """int64[E]: the number of steps of each episode."""
        return np.diff(self.action_offsets)

    def subset(self, episodes: npt.ArrayLike) -> Demonstrations:
        """Return some episodes, by number, in the order given; they keep their lines.

        A mask, a bool for each episode, will do, too.
        """
        chosen = _chosen(episodes, len(self), self.source)
        states, state_offsets = _rows(self.state_offsets, chosen)
        actions, action_offsets = _rows(self.action_offsets, chosen)
        history, history_offsets = _rows(self.history_offsets, chosen)
        result = Demonstrations.from_flat(
            self.states[states],
            state_offsets,
            self.actions[actions],
            action_offsets,
            alphabet=self.alphabet,
            labels=None if self.labels is None else self.labels[states],
            history=self.history[history],
            history_offsets=history_offsets,
            ended=None if self.ended is None else self.ended[chosen],
            subjects=None
            if self.subjects is None
            else [self.subjects[i] for i in chosen.tolist()],
            source=self.source,
            lines=None if self.lines is None else self.lines[chosen],
        )
        table = None
        if self.table is not None:
            names = tuple(self.table.episodes[i] for i in chosen.tolist())
            table = TableRows(names, frozen_own(self.table.rows[states]), self.table.word)
        kept = {"state_names": self.state_names, "action_names": self.action_names}
        return replace(result, table=table, **kept)  # type: ignore[arg-type]

    def place(self, episode: int, position: int | None = None) -> str:
        """Return how messages call an episode: by its line, where it came from a file.

        In a table each of its states, numbered by `position`, has a line of its own.
        """
        if self.table is not None:
            name = f"episode {self.table.episodes[episode]!r}"
            if position is None:
                return f"{self.source}, {name}"
            row = self.table.rows[self.state_offsets[episode] + position]
            return f"{self.source}, {self.table.word} {row}, {name}"
        if self.lines is not None:
            return f"{self.source}, line {self.lines[episode]}"
        return f"{self.source}, episode {episode}"

    def symbol(self, code: int) -> str | None:
        """Return the symbol of a label code, or None for blank."""
        return None if code == BLANK else self.alphabet[code]

    def __len__(self) -> int:
        return len(self.action_offsets) - 1

    def __getitem__(self, episode: int) -> Episode:
        if not -len(self) <= episode < len(self):
            raise IndexError(f"episode {episode} of {len(self)}")
        i = episode % len(self)
        part = slice(int(self.state_offsets[i]), int(self.state_offsets[i + 1]))
        codes = None if self.labels is None else self.labels[part].tolist()
        before = self.history[self.history_offsets[i] : self.history_offsets[i + 1]]
        return Episode(
            states=self.states[part].tolist(),
            actions=self.actions[self.action_offsets[i] : self.action_offsets[i + 1]].tolist(),
            labels=[self.symbol(c) for c in codes] if codes and codes[0] != UNSAID else None,
            history=tuple(self.alphabet[c] for c in before.tolist()),
            ended=self._ended(i),
            subject=None if self.subjects is None else self.subjects[i],
        )

    def _ended(self, episode: int) -> bool | None:
        code = UNKNOWN if self.ended is None else int(self.ended[episode])
        return None if code == UNKNOWN else bool(code)

    def __iter__(self) -> Iterator[Episode]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """The same episodes; where they came from does not count."""
        if not isinstance(other, Demonstrations):
            return NotImplemented
        if self.alphabet == other.alphabet:
            arrays = ("states", "state_offsets", "actions", "action_offsets", "history",
                      "history_offsets")  # fmt: skip
            same = all(np.array_equal(getattr(self, a), getattr(other, a)) for a in arrays)
            return (same and self.subjects == other.subjects) and all(
                mine is theirs if mine is None or theirs is None else np.array_equal(mine, theirs)
                for mine, theirs in ((self.labels, other.labels), (self.ended, other.ended))
            )
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), self.n_steps, self.actions.tobytes()))

    def __repr__(self) -> str:
        return f"<Demonstrations: {len(self)} episodes, {self.n_steps} steps>"


def _chosen(episodes: npt.ArrayLike, count: int, source: str) -> Ints:
    """Return int64[..], numbers of episodes, of which there are `count`."""
    given = np.asarray(episodes).reshape(-1)
    if given.dtype.kind == "b" and len(given) == count:
        return np.flatnonzero(given)
    whole = given.dtype.kind in "iu" or not given.size
    if not whole or (given.size and not (given.min() >= 0 and given.max() < count)):
        raise ArgumentError(
            f"{source}: episodes are {given.tolist()!r:.60}; give numbers from 0 to {count - 1}, "
            f"or {count} bools"
        )
    return given.astype(np.int64)


def _rows(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return where the entries of some rows stand, row after row, and their new offsets."""
    first, last = offsets[chosen], offsets[chosen + 1]
    return concatenated_ranges(first, last), offsets_of(last - first)


def check_shape(demos: Demonstrations) -> None:
    """Refuse arrays that do not fit together."""
    for name, data in (("state", demos.states), ("action", demos.actions),
                       ("history", demos.history)):  # fmt: skip
        offsets = getattr(demos, f"{name}_offsets")
        if len(offsets) != len(demos) + 1 or offsets[-1] != len(data):
            raise DemonstrationsError(
                f"{demos.source}: {name}_offsets do not fit: {len(offsets)} entries up to "
                f"{offsets[-1]} for {len(demos)} episodes and {len(data)} entries"
            )
    surplus = np.diff(demos.state_offsets) - demos.lengths
    bad = np.flatnonzero((surplus < 0) | (surplus > 1))
    if len(bad):
        i = int(bad[0])
        raise DemonstrationsError(
            f"{demos.place(i)}: {surplus[i] + demos.lengths[i]} states for {demos.lengths[i]} "
            "actions; give as many states as actions, or one more"
        )
    if (demos.states < 0).any() or (demos.actions < 0).any():
        raise DemonstrationsError(f"{demos.source}: a negative state or action; both count from 0")
    _check_symbols(demos)
    _check_endings(demos, surplus)
    if demos.subjects is not None and len(demos.subjects) != len(demos):
        raise DemonstrationsError(
            f"{demos.source}: {len(demos.subjects)} subjects for {len(demos)} episodes; name one "
            "for each"
        )


def _check_endings(demos: Demonstrations, surplus: Ints) -> None:
    """Refuse an episode that ended without the state that it ended in."""
    if demos.ended is None:
        return
    if len(demos.ended) != len(demos) or not np.isin(demos.ended, (UNKNOWN, 0, 1)).all():
        raise DemonstrationsError(
            f"{demos.source}: ended must say 1, 0 or -1 for each of the {len(demos)} episodes"
        )
    bad = np.flatnonzero((demos.ended == 1) & (surplus == 0))
    if len(bad):
        raise DemonstrationsError(
            f"{demos.place(int(bad[0]))}: it ended, but the state that its last action led to is "
            "missing; add that state, or leave out that the episode ended"
        )


def _check_symbols(demos: Demonstrations) -> None:
    if len(set(demos.alphabet)) != len(demos.alphabet) or not all(demos.alphabet):
        raise DemonstrationsError(f"{demos.source}: alphabet: symbols must differ, none empty")
    m = len(demos.alphabet)
    if (demos.history < 0).any() or (demos.history >= m).any():
        raise DemonstrationsError(f"{demos.source}: history: a symbol outside of 0 to {m - 1}")
    if demos.labels is None:
        return
    if len(demos.labels) != len(demos.states):
        raise DemonstrationsError(
            f"{demos.source}: {len(demos.labels)} labels for {len(demos.states)} states; "
            "give one a state"
        )
    if (demos.labels >= m).any():
        raise DemonstrationsError(f"{demos.source}: labels: a symbol outside of -2 to {m - 1}")
    lengths = np.diff(demos.state_offsets)
    said = np.cumsum(np.concatenate([[0], demos.labels != UNSAID]))[demos.state_offsets]
    mixed = np.flatnonzero((np.diff(said) != 0) & (np.diff(said) != lengths))
    if len(mixed):
        raise DemonstrationsError(
            f"{demos.place(int(mixed[0]))}: some labels are said and others left to the world "
            "(-2); say all or none"
        )
