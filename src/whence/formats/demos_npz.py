"""Large sets of demonstrations as arrays, `*.npz`: flat arrays and offsets.

format, states int[..], state_offsets int[E + 1], actions int[..], action_offsets int[E + 1] and,
where there are any, alphabet[m], labels int[..] (-1 blank, -2 left to the world), history int[..],
history_offsets int[E + 1].
"""

from __future__ import annotations

import numpy as np

from whence.demos import Demonstrations
from whence.errors import FormatError, WhenceError
from whence.formats import arrays as npz
from whence.mdp import LabeledMDP

TAG = "whence/demos/1"
REQUIRED = ("format", "states", "state_offsets", "actions", "action_offsets")
OPTIONAL = ("alphabet", "labels", "history", "history_offsets")


def dumps(demos: Demonstrations) -> bytes:
    """Write demonstrations."""
    fields: npz.Arrays = {
        "format": np.array(TAG),
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
    return npz.write(fields)


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations; the world is not needed."""
    fields = npz.read(data, source, REQUIRED, OPTIONAL)
    npz.tagged(fields, TAG, source)
    try:
        return Demonstrations.from_flat(
            *(fields[name] for name in REQUIRED[1:]),
            alphabet=npz.strings(fields, "alphabet", source) if "alphabet" in fields else (),
            labels=fields.get("labels"),
            history=fields.get("history", np.zeros(0, dtype=np.int32)),
            history_offsets=fields.get("history_offsets"),
            source=source,
        )
    except WhenceError as error:
        raise FormatError(str(error)) from None
