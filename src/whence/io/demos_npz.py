"""Large sets of demonstrations as arrays, `*.npz`: flat arrays and offsets.

format, states int[..], state_offsets int[E + 1], actions int[..], action_offsets int[E + 1] and,
where there are any, alphabet[m], labels int[..] (-1 blank, -2 left to the world), history int[..],
history_offsets int[E + 1], state_names[..] and action_names[..]; in version 2 ended int[E], too:
1, 0, or -1 where it is not known, and subjects[E], empty where it is not known.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Ints
from whence.errors import FormatError, WhenceError
from whence.io import arrays as npz
from whence.io.naming import NAMES, named
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

ENDINGS = (".npz",)
TAG = "whence/demos/1"
SECOND_TAG = "whence/demos/2"  # which says which episodes ended, and who acted
SECOND = ("ended", "subjects")
REQUIRED = ("format", "states", "state_offsets", "actions", "action_offsets")
OPTIONAL = ("alphabet", "labels", "history", "history_offsets", *NAMES)


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations; the world is not needed."""
    fields: npz.Arrays = {
        "format": np.array(SECOND_TAG if _second(demos) else TAG),
        "states": demos.states,
        "state_offsets": demos.state_offsets,
        "actions": demos.actions,
        "action_offsets": demos.action_offsets,
    }
    if demos.alphabet:
        fields["alphabet"] = npz.text_array(demos.alphabet, "symbol")
    if demos.labels is not None:
        fields["labels"] = demos.labels
    if len(demos.history):
        fields |= {"history": demos.history, "history_offsets": demos.history_offsets}
    if demos.ended is not None:
        fields["ended"] = demos.ended
    if demos.subjects is not None:
        fields["subjects"] = npz.text_array([who or "" for who in demos.subjects], "subject")
    for name in NAMES:
        names: tuple[str, ...] | None = getattr(demos, name)
        if names is not None:
            fields[name] = npz.text_array(names, "name")
    return npz.write(fields)


def _second(demos: Demonstrations) -> bool:
    return demos.ended is not None or demos.subjects is not None


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations; the world is not needed."""
    fields = npz.read(data, source, REQUIRED, (*OPTIONAL, *SECOND))
    npz.tagged(fields, (TAG, SECOND_TAG), source)
    for name in SECOND:
        if name in fields and str(fields["format"]) == TAG:
            raise FormatError(f"{source}: {name} needs format {SECOND_TAG!r}; say so")
    ended = _ended(fields, source)
    names = {name: npz.strings(fields, name, source) for name in NAMES if name in fields}
    try:
        result = Demonstrations.from_flat(
            *(fields[name] for name in REQUIRED[1:]),
            alphabet=npz.strings(fields, "alphabet", source) if "alphabet" in fields else (),
            labels=fields.get("labels"),
            history=fields.get("history", np.zeros(0, dtype=np.int32)),
            history_offsets=fields.get("history_offsets"),
            ended=ended,
            subjects=_subjects(fields, source),
            source=source,
        )
    except WhenceError as error:
        raise FormatError(str(error)) from None
    return named(result, *(names.get(name) for name in NAMES))


def _ended(fields: npz.Arrays, source: str) -> Ints | None:
    value = fields.get("ended")
    if value is None:
        return None
    if value.ndim != 1 or value.dtype.kind not in "iu":
        raise FormatError(f"{source}: ended must be int[E], 1, 0 or -1 where it is not known")
    return value


def _subjects(fields: npz.Arrays, source: str) -> list[str | None] | None:
    if "subjects" not in fields:
        return None
    return [who or None for who in npz.strings(fields, "subjects", source)]
