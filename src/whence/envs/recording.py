"""Episodes as an environment showed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Recording(NamedTuple):
    """One episode of T steps.

    Attributes:
        observations: T or T + 1 of them.
        actions: T actions.
        terminated: whether the last step ended the episode.
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    terminated: bool = False
