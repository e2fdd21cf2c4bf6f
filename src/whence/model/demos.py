"""Demonstrations: ragged episodes of states and actions, stored flat."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, UNSAID, Ints, frozen_own
from whence._ragged import concatenated_ranges, offsets_of
from whence.model._demos_checks import check_shape, checked_offsets, flat, said

if TYPE_CHECKING:
    from whence.io.trajectories import Label, Meaning
    from whence.model.checks import Findings
    from whence.model.coverage import Coverage
    from whence.model.mdp import LabeledMDP


class Episode(NamedTuple):
    """One episode of T steps.

    Attributes:
        states: T or T + 1 world states.
        actions: T actions.
        labels: a symbol or None (blank) per state, in place of the world's; entry 0 is not read.
        history: symbols read before the first state.
    """

    states: Sequence[int]
    actions: Sequence[int]
    labels: Sequence[str | None] | None = None
    history: Sequence[str] = ()


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
class Demonstrations:
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
        source: the file they came from, if any; messages name it.
        lines: int64[E], the line of each episode in that file, or None.
        state_names: what the log calls each state, or None where it gives numbers.
        action_names: what the log calls each action, or None where it gives numbers.
        table: where each state stands in a table, or None.
    """

    states: Ints
    state_offsets: Ints
    actions: Ints
    action_offsets: Ints
    alphabet: tuple[str, ...]
    labels: Ints | None
    history: Ints
    history_offsets: Ints
    source: str = field(default="demonstrations")
    lines: Ints | None = None
    state_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None
    table: TableRows | None = None

    @classmethod
    def from_episodes(
        cls, episodes: Iterable[Episode | tuple[npt.ArrayLike, npt.ArrayLike]]
    ) -> Demonstrations:
        """Build demonstrations from episodes, or from (states, actions) pairs."""
        from whence.io import demos_jsonl

        return demos_jsonl.gathered([Episode(*episode) for episode in episodes], "demonstrations")

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
            source=source,
            lines=None if lines is None else frozen_own(np.array(lines, dtype=np.int64)),
        )
        check_shape(result)
        return result

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        mdp: LabeledMDP | None = None,
        episode: str = "episode",
        step: str | None = None,
        state: str = "state",
        action: str = "action",
        label: str | None = None,
        numbers: bool = True,
        gaps: str = "error",
    ) -> Demonstrations:
        """Build demonstrations from a table with one row a state; `docs/tables.md` says how.

        Args:
            table: a path (`*.csv`, `*.tsv`, `*.parquet`), a frame of pandas or polars, a table of
                pyarrow, or a dictionary of columns.
            mdp: the world, whose names or numbers of states and actions the table uses. Without
                it names are numbered in sorted order.
            episode: the column that says which episode a row belongs to.
            step: the column of whole numbers that orders an episode's rows; by default `step`,
                where there is one, else the rows are in order.
            state: the column of states.
            action: the column of the actions taken there; an episode's last row may have none.
            label: the column of the states' labels, empty for blank; by default `label`, where
                there is one, else labels are left to the world.
            numbers: whether, without a world, whole numbers are the numbers of states and
                actions themselves; else they are names like any others.
            gaps: `error` refuses episodes that lack a step, `cut` keeps what is before it.
        """
        from whence import io as formats
        from whence.io import tables

        names = tables.ColumnNames(episode, step, state, action, label)
        if isinstance(table, str | os.PathLike):
            found = formats.load_table(table)
        else:
            found = tables.framed(table, "table")
        return tables.demonstrations(found, names, mdp=mdp, numbers=numbers, gaps=gaps)

    def to_table(self, mdp: LabeledMDP | None = None) -> dict[str, list[Any]]:
        """Return the columns episode, step, state, action and, where known, label.

        With `mdp`, states and actions have its names and every state its label.
        """
        from whence.io import table_writer

        return table_writer.columns(self, mdp)

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Iterable[Any] | str | os.PathLike[str],
        *,
        state: Meaning | None = None,
        action: Meaning | None = None,
        label: Label = None,
        mdp: LabeledMDP | None = None,
    ) -> Demonstrations:
        """Build demonstrations from objects with `obs` and `acts`, such as those of imitation.

        Args:
            trajectories: the objects (or mappings), or the folder that imitation saved them to.
            state: what an observation stands for: a number or a name; by default itself.
            action: what an action stands for; by default itself.
            label: the symbol of an observation, or None; or the key of `infos` that holds it.
                Without, labels are left to the world.
            mdp: the world whose names or numbers these are.
        """
        from whence.io import trajectories as records

        if isinstance(trajectories, str | os.PathLike):
            found, source = records.saved_records(trajectories), os.fspath(trajectories)
        else:
            found, source = list(records.records_of(trajectories)), "trajectories"
        return records.from_records(
            found, state=state, action=action, label=label, mdp=mdp, source=source
        )

    @classmethod
    def from_minari(
        cls,
        dataset: Any,
        *,
        state: Meaning | None = None,
        action: Meaning | None = None,
        label: Label = "label",
        mdp: LabeledMDP | None = None,
    ) -> Demonstrations:
        """Build demonstrations from a dataset of Minari.

        Args:
            dataset: its id, its folder, or the dataset itself.
            state: what an observation stands for: a number or a name; by default itself.
            action: what an action stands for; by default itself.
            label: the symbol of an observation, or None; or the key of `infos` that holds it.
            mdp: the world whose names or numbers these are.
        """
        from whence.io import minari

        return minari.load(dataset, state=state, action=action, label=label, mdp=mdp)

    def to_minari(self, dataset_id: str, mdp: LabeledMDP | None = None) -> Any:
        """Write a dataset of Minari and return it.

        Observations are the states' numbers; `infos` hold labels, and names where there are any.
        Minari keeps datasets in the folder that MINARI_DATASETS_PATH names.
        """
        from whence.io import minari

        return minari.save(self, dataset_id, mdp)

    @classmethod
    def load(cls, path: str | os.PathLike[str], mdp: LabeledMDP | None = None) -> Demonstrations:
        """Read `*.jsonl`, `*.npz` or a table, `*.csv`, `*.tsv` or `*.parquet`.

        With `mdp`, states and actions may be given by name.
        """
        from whence import io as formats

        return formats.load_demonstrations(path, mdp)

    def save(self, path: str | os.PathLike[str], mdp: LabeledMDP | None = None) -> None:
        """Write `*.jsonl`, `*.npz` or a table, the latter with the names that `mdp` has."""
        from whence import io as formats

        formats.save_demonstrations(self, path, mdp)

    @property
    def n_steps(self) -> int:
        """The number of steps, of all episodes together."""
        return len(self.actions)

    @property
    def lengths(self) -> Ints:
        """int64[E]: the number of steps of each episode."""
        return np.diff(self.action_offsets)

    def check(self, mdp: LabeledMDP) -> Findings:
        """Compare with a world; the findings name each place where the two do not fit."""
        from whence.model import checks as checking

        return checking.check(self, mdp)

    def subset(self, episodes: npt.ArrayLike) -> Demonstrations:
        """Return some episodes, by number, in the order given; they keep their lines."""
        chosen = np.asarray(episodes, dtype=np.int64).reshape(-1)
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
            source=self.source,
            lines=None if self.lines is None else self.lines[chosen],
        )
        table = None
        if self.table is not None:
            names = tuple(self.table.episodes[i] for i in chosen.tolist())
            table = TableRows(names, frozen_own(self.table.rows[states]), self.table.word)
        kept = {"state_names": self.state_names, "action_names": self.action_names}
        return replace(result, table=table, **kept)  # type: ignore[arg-type]

    def coverage(self, mdp: LabeledMDP) -> Coverage:
        """Return how often each state-action pair of a world was seen; print it."""
        from whence.model import coverage

        return coverage.coverage(self, mdp)

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
        )

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
            mine, theirs = self.labels, other.labels
            return same and (
                mine is theirs if mine is None or theirs is None else np.array_equal(mine, theirs)
            )
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((len(self), self.n_steps, self.actions.tobytes()))

    def __repr__(self) -> str:
        return f"<Demonstrations: {len(self)} episodes, {self.n_steps} steps>"


def _rows(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return where the entries of some rows stand, row after row, and their new offsets."""
    first, last = offsets[chosen], offsets[chosen + 1]
    return concatenated_ranges(first, last), offsets_of(last - first)


def joined(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return ragged rows as one flat int32 array, and their offsets."""
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    flat = np.concatenate(parts) if len(parts) else np.zeros(0)
    return flat.astype(np.int32), offsets_of(lengths)
