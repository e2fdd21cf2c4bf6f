"""Demonstrations as JSON lines, one episode per line.

`{"states": [...], "actions": [...], "labels": [...]?, "history": [...]?, "ended": true?,
"subject": "..."?}`. Where the world is known, states and actions may be given by name. Where the
log named them and gave the numbers, the first line has those names: `{"format": "whence/demos/2",
"state_names": [...]?, "action_names": [...]?}`; a file without that line is of version 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from whence.errors import DemonstrationsError, FormatError
from whence.io.documents import decode, explained, refuse_repeats
from whence.io.naming import named
from whence.model.demos import Demonstrations
from whence.model.episodes import Episode
from whence.model.mdp import LabeledMDP

ENDINGS = (".jsonl",)
TAG = "whence/demos/2"
QUOTES = 4  # of a line that holds its two required keys and no text


class _Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    states: list[int]
    actions: list[int]
    labels: list[str | None] | None = None
    history: list[str] = []
    ended: bool | None = None
    subject: str | None = None


class _NamedLine(_Line, omit_defaults=True, forbid_unknown_fields=True):
    states: list[int | str]  # type: ignore[assignment]
    actions: list[int | str]  # type: ignore[assignment]


class _Tagged(msgspec.Struct):
    format: str


class _Head(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    format: str
    state_names: list[str] | None = None
    action_names: list[str] | None = None


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations; the world is not needed."""
    lines = episode_lines(demos)
    if demos.state_names is not None or demos.action_names is not None:
        names = (demos.state_names, demos.action_names)
        head = _Head(TAG, *(None if each is None else list(each) for each in names))
        lines.insert(0, msgspec.json.encode(head))
    return b"".join(line + b"\n" for line in lines)


def episode_lines(demos: Demonstrations) -> list[bytes]:
    """Return a line for each episode, without the names of a log."""
    encoder = msgspec.json.Encoder()
    return [
        encoder.encode(
            _Line(
                list(episode.states),
                list(episode.actions),
                None if episode.labels is None else list(episode.labels),
                list(episode.history),
                episode.ended,
                episode.subject,
            )
        )
        for episode in demos
    ]


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations; with a world, names are allowed."""
    episodes: list[Episode] = []
    lines: list[int] = []
    names, head = None if mdp is None else _Names(mdp), None
    plain, spelled = msgspec.json.Decoder(_Line), msgspec.json.Decoder(_NamedLine)
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{source}, line {number}"
        try:
            decoded = plain.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if _is_head(line):
                head = _decode_head(line, place, head, first=not lines)
                continue
            decoded = _decode_named(line, spelled, names, place, error)
        if line.count(b'"') != QUOTES:
            refuse_repeats(line, place)
        parts = decoded.states, decoded.actions, decoded.labels, decoded.history
        episodes.append(Episode(*parts, decoded.ended, decoded.subject))
        lines.append(number)
    demos = Demonstrations.from_episodes(
        episodes, source=source, lines=np.array(lines, dtype=np.int64)
    )
    return demos if head is None else named(demos, head.state_names, head.action_names)


def _is_head(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=_Tagged)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _decode_head(line: bytes, place: str, before: _Head | None, *, first: bool) -> _Head:
    """Decode the line that has the log's names; files with the same names may be joined."""
    head = decode(line, _Head, TAG, place)
    if head != before and not (first and before is None):
        raise FormatError(
            f"{place}: other names than those of the episodes before; numbers go by them, so "
            "keep the two parts in files of their own"
        )
    return head


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
        decoded.ended,
        decoded.subject,
    )
