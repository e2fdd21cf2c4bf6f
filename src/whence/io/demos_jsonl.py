"""Demonstrations as JSON lines, one episode a line.

`{"states": [...], "actions": [...], "labels": [...]?, "history": [...]?}`. Where the world is
known, states and actions may be given by name.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from whence._arrays import BLANK, UNSAID, Ints
from whence.errors import DemonstrationsError, FormatError
from whence.io.documents import explained, refuse_repeats
from whence.model.demos import Demonstrations, Episode, joined
from whence.model.mdp import LabeledMDP

QUOTES = 4  # of a line that holds its two required keys and no text


class _Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    states: list[int]
    actions: list[int]
    labels: list[str | None] | None = None
    history: list[str] = []


class _NamedLine(_Line, omit_defaults=True, forbid_unknown_fields=True):
    states: list[int | str]  # type: ignore[assignment]
    actions: list[int | str]  # type: ignore[assignment]


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations; the world is not needed."""
    encoder = msgspec.json.Encoder()
    return b"".join(
        encoder.encode(
            _Line(
                list(episode.states),
                list(episode.actions),
                None if episode.labels is None else list(episode.labels),
                list(episode.history),
            )
        )
        + b"\n"
        for episode in demos
    )


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations; with a world, names are allowed."""
    episodes, lines = [], []
    names = None if mdp is None else _Names(mdp)
    plain, named = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_NamedLine)
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{source}, line {number}"
        try:
            decoded = plain.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            decoded = _decode_named(line, named, names, place, error)
        if line.count(b'"') != QUOTES:
            refuse_repeats(line, place)
        episodes.append(Episode(decoded.states, decoded.actions, decoded.labels, decoded.history))
        lines.append(number)
    return gathered(episodes, source, np.array(lines, dtype=np.int64))


def gathered(
    episodes: Sequence[Episode], source: str, lines: Ints | None = None
) -> Demonstrations:
    """Return episodes as demonstrations."""

    def place(i: int) -> str:
        return f"{source}, episode {i}" if lines is None else f"{source}, line {lines[i]}"

    states, state_offsets = joined(
        [_column(e.states, "states", place(i)) for i, e in enumerate(episodes)]
    )
    actions, action_offsets = joined(
        [_column(e.actions, "actions", place(i)) for i, e in enumerate(episodes)]
    )
    index: dict[str, int] = {}
    labels = None
    if any(e.labels is not None for e in episodes):
        labels, _ = joined([_labels(e, index, place(i)) for i, e in enumerate(episodes)])
    history, history_offsets = joined(
        [_history(e, index, place(i)) for i, e in enumerate(episodes)]
    )
    return Demonstrations.from_flat(
        states,
        state_offsets,
        actions,
        action_offsets,
        alphabet=tuple(index),
        labels=labels,
        history=history,
        history_offsets=history_offsets,
        source=source,
        lines=lines,
    )


class _Names:
    """The numbers of a world's states and actions, by name."""

    def __init__(self, mdp: LabeledMDP) -> None:
        self.actions = {name: a for a, name in enumerate(mdp.actions)}
        self.states = {name: s for s, name in enumerate(mdp.names or ())}

    def numbers(self, values: Sequence[int | str], what: str, place: str) -> list[int]:
        table = self.states if what == "state" else self.actions
        result = []
        for position, value in enumerate(values):
            if isinstance(value, str) and value not in table:
                known = ", ".join(list(table)[:8]) or "none"
                raise DemonstrationsError(
                    f"{place}, {what}s, entry {position}: the world has no {what} {value!r}; "
                    f"its names are {known}"
                )
            result.append(table[value] if isinstance(value, str) else value)
        return result


def _decode_named(
    line: bytes,
    decoder: msgspec.json.Decoder[_NamedLine],
    names: _Names | None,
    place: str,
    first: Exception,
) -> _Line:
    """Decode a line that has names in it, or say what is wrong with it."""
    try:
        decoded = decoder.decode(line)
    except msgspec.ValidationError as error:
        raise FormatError(f"{place}: {explained(error, _NamedLine)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(
            f'{place}: not valid JSON ({error}); write {{"states": [...], "actions": [...]}}'
        ) from None
    if names is None:
        raise FormatError(
            f"{place}: {first}; names need the world: Demonstrations.load(path, mdp)"
        )
    return _Line(
        names.numbers(decoded.states, "state", place),
        names.numbers(decoded.actions, "action", place),
        decoded.labels,
        decoded.history,
    )


def _column(values: Sequence[int], what: str, place: str) -> Ints:
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.zeros(1)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DemonstrationsError(f"{place}: {what} must be a list of whole numbers")
    if array.min() < 0 or array.max() > 2**31 - 1:
        position = int(np.argmax((array < 0) | (array > 2**31 - 1)))
        raise DemonstrationsError(
            f"{place}, {what}, entry {position}: {array[position]} is out of range; count from 0"
        )
    return array


def _labels(episode: Episode, index: dict[str, int], place: str) -> Ints:
    if episode.labels is None:
        return np.full(len(episode.states), UNSAID)
    if len(episode.labels) != len(episode.states):
        raise DemonstrationsError(
            f"{place}: {len(episode.labels)} labels for {len(episode.states)} states; "
            "give one a state (null for blank)"
        )
    return np.array(
        [
            BLANK if s is None else _code(s, index, "labels", i, place)
            for i, s in enumerate(episode.labels)
        ],
        dtype=np.int64,
    )


def _history(episode: Episode, index: dict[str, int], place: str) -> Ints:
    codes = [_code(s, index, "history", i, place) for i, s in enumerate(episode.history)]
    return np.array(codes, dtype=np.int64)


def _code(symbol: object, index: dict[str, int], what: str, position: int, place: str) -> int:
    if not isinstance(symbol, str) or not symbol:
        raise DemonstrationsError(
            f"{place}, {what}, entry {position}: {symbol!r} is not a symbol; "
            "use a non-empty string"
        )
    return index.setdefault(symbol, len(index))
