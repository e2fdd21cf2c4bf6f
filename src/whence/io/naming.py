"""Names of states and actions that a file of demonstrations keeps beside their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whence.errors import FormatError
from whence.model.demos import Demonstrations

NAMES = ("state_names", "action_names")


def named(
    demos: Demonstrations,
    state_names: Sequence[str] | None,
    action_names: Sequence[str] | None,
) -> Demonstrations:
    """Return demonstrations with the names of their numbers; refuse fewer names than those."""
    for what, names, numbers in zip(
        NAMES, (state_names, action_names), (demos.states, demos.actions), strict=True
    ):
        if names is not None and len(names) <= numbers.max(initial=-1):
            raise FormatError(
                f"{demos.source}: {len(names)} {what} for numbers up to {numbers.max()}; name each"
            )
    return replace(
        demos,
        state_names=None if state_names is None else tuple(state_names),
        action_names=None if action_names is None else tuple(action_names),
    )
