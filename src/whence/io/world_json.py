"""Worlds as JSON, `whence/mdp/2`; `whence/mdp/1` where every state has every action."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from whence._files import decode_text
from whence.errors import FormatError, WhenceError
from whence.io import documents
from whence.model.grid import Grid
from whence.model.mdp import LabeledMDP

ENDINGS = (".json",)
TAG = "whence/mdp/1"
MASKED_TAG = "whence/mdp/2"  # with actions that some states do not have


class _Grid(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    width: int
    height: int
    cells: list[tuple[int, int]]
    walls: list[tuple[int, int, str]] = []


class _Document(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    format: str
    states: int
    actions: list[str]
    alphabet: list[str]
    initial: int | list[tuple[int, float]]
    labels: list[str | None]
    transitions: list[tuple[int, int, int, float]]
    names: list[str] | None = None
    grid: _Grid | None = None
    unseen: list[tuple[int, int]] | None = None


class _Masked(_Document, omit_defaults=True, forbid_unknown_fields=True):
    unavailable: list[tuple[int, int]] = []


def dumps(mdp: LabeledMDP) -> bytes:
    """Write a world."""
    return msgspec.json.encode(
        _Masked(
            format=tag_of(mdp),
            states=mdp.n_states,
            actions=list(mdp.actions),
            alphabet=list(mdp.alphabet),
            initial=initial_of(mdp),
            labels=[mdp.label(state) for state in range(mdp.n_states)],
            transitions=_rows(mdp),
            names=None if mdp.names is None else list(mdp.names),
            grid=None if mdp.grid is None else _grid_out(mdp.grid),
            unseen=unseen_of(mdp),
            unavailable=[(state, action) for state, action in mdp.unavailable.tolist()],
        )
    )


def loads(data: bytes, source: str) -> LabeledMDP:
    """Read a world."""
    kinds = {TAG: _Document, MASKED_TAG: _Masked}
    document = documents.decode_any(decode_text(data, source), kinds, source)
    try:
        return LabeledMDP.from_triples(
            document.transitions,
            states=document.states,
            actions=document.actions,
            labels=document.labels,
            alphabet=document.alphabet,
            initial=document.initial,
            names=document.names,
            grid=None if document.grid is None else _grid_in(document.grid),
            unseen=unseen_in(document.unseen, len(document.actions), source),
            unavailable=getattr(document, "unavailable", ()),
            source=source,
        )
    except OverflowError:
        raise FormatError(f"{source}: a number is too large; counts end at {2**31 - 1}") from None
    except WhenceError as error:
        raise FormatError(placed(error, source)) from None


def tag_of(mdp: LabeledMDP) -> str:
    """Return the oldest version of the format that holds a world."""
    return MASKED_TAG if mdp.is_masked else TAG


def placed(error: WhenceError, source: str) -> str:
    """Return an error's message, with the file's name in front exactly once."""
    message = str(error)
    return message if message.startswith(source) else f"{source}: {message}"


def initial_of(mdp: LabeledMDP) -> int | list[tuple[int, float]]:
    """Return the initial state, or (state, probability) pairs where there are several."""
    if len(mdp.initial_states) == 1:
        return int(mdp.initial_states[0])
    return list(zip(mdp.initial_states.tolist(), mdp.initial_probabilities.tolist(), strict=True))


def unseen_of(mdp: LabeledMDP) -> list[tuple[int, int]] | None:
    """Return the (state, action) pairs that the log behind an estimated world never shows."""
    if mdp.unseen is None:
        return None
    return [divmod(pair, mdp.n_actions) for pair in mdp.unseen.tolist()]


def unseen_in(
    pairs: Sequence[Sequence[int]] | None, n_actions: int, source: str
) -> list[int] | None:
    """Return (state, action) pairs as numbers s * A + a."""
    if pairs is None:
        return None
    for _, action in pairs:
        if not 0 <= action < n_actions:
            raise FormatError(
                f"{source}: unseen: action {action} does not exist; use 0 to {n_actions - 1}"
            )
    return [state * n_actions + action for state, action in pairs]


def pairs_of(mdp: LabeledMDP) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return int64[N]: the state-action pair of each transition."""
    return np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))


def _rows(mdp: LabeledMDP) -> list[tuple[int, int, int, float]]:
    state, action = np.divmod(pairs_of(mdp), mdp.n_actions)
    columns = (state, action, mdp.successors, mdp.probabilities)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _grid_out(grid: Grid) -> _Grid:
    cells = [(x, y) for x, y in grid.cells.tolist()]
    return _Grid(grid.width, grid.height, cells, list(grid.walls))


def _grid_in(grid: _Grid) -> Grid:
    return Grid(grid.width, grid.height, grid.cells, grid.walls)
