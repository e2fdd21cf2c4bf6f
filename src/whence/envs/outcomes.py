"""What an environment's actions lead to, with states and actions as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.envs.labelling import shown
from whence.errors import ArgumentError, WorldError

MOST = 10_000_000  # members of a space
_KINDS = "Discrete, MultiDiscrete, MultiBinary, or a Tuple of Discrete spaces"


@dataclass(frozen=True)
class Codes:
    """The members of a discrete space, counted from 0; the last part counts fastest.

    Attributes:
        what: what messages call a member: state or action.
        starts: the smallest value of each part.
        sizes: the number of values of each part.
        kind: `number`, `tuple` or `array`.
        shape: of an array.
    """

    what: str
    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    kind: str
    shape: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        """The number of members."""
        return math.prod(self.sizes)

    @property
    def plain(self) -> bool:
        """Whether members are 0, 1, ... themselves."""
        return self.kind == "number" and self.starts == (0,)

    def number(self, member: Any) -> int:
        """Return a member's number.

        Raises:
            WorldError: if it is not a member.
        """
        values = self._values(member)
        places = None if values is None else values - self.starts
        if places is None or (places < 0).any() or (places >= self.sizes).any():
            raise WorldError(f"{self.what} {shown(member)} is not in {self._range()}")
        return int(np.ravel_multi_index(places.tolist(), self.sizes))

    def member(self, number: int) -> Any:
        """Return the member with a number: an int, a tuple of them or an array."""
        places = np.unravel_index(number, self.sizes)
        values = [int(p) + start for p, start in zip(places, self.starts, strict=True)]
        if self.kind == "number":
            return values[0]
        return tuple(values) if self.kind == "tuple" else np.array(values).reshape(self.shape)

    def _values(self, member: Any) -> Ints | None:
        """Return the value of each part, or None if they are not whole numbers."""
        try:
            values = np.asarray(member)
        except ValueError:
            return None
        whole = values.dtype.kind in "iu" or (values.dtype.kind == "b" and self.kind != "number")
        return values.reshape(-1) if whole and values.size == len(self.sizes) else None

    def _range(self) -> str:
        parts = [f"{a} to {a + n - 1}" for a, n in zip(self.starts, self.sizes, strict=True)]
        return parts[0] if self.kind == "number" else f"({', '.join(parts)})"


def codes(space: Any, what: str, source: str) -> Codes:
    """Return the numbers of a space's members.

    Args:
        space: of observations or actions.
        what: what messages call a member.
        source: what messages call the environment.
    """
    spaces = gymnasium.spaces
    if isinstance(space, spaces.Discrete):
        result = Codes(what, (int(space.start),), (int(space.n),), "number")
    elif isinstance(space, spaces.MultiDiscrete):
        starts = tuple(np.asarray(space.start).reshape(-1).tolist())
        sizes = tuple(np.asarray(space.nvec).reshape(-1).tolist())
        result = Codes(what, starts, sizes, "array", space.shape)
    elif isinstance(space, spaces.MultiBinary):
        size = math.prod(space.shape)
        result = Codes(what, (0,) * size, (2,) * size, "array", space.shape)
    elif parts := _discrete_parts(space):
        starts, sizes = zip(*((int(part.start), int(part.n)) for part in parts), strict=True)
        result = Codes(what, starts, sizes, "tuple")
    else:
        raise WorldError(
            f"{source}: the {what} space is {space}; a world needs a discrete one ({_KINDS})"
        )
    if result.n > MOST:
        raise WorldError(
            f"{source}: the {what} space has {result.n:,} members, more than {MOST:,}; "
            "wrap the environment so that it shows less"
        )
    return result


def _discrete_parts(space: Any) -> list[gymnasium.spaces.Discrete]:
    """Return the parts of a tuple of discrete spaces; an empty list for other spaces."""
    parts = space.spaces if isinstance(space, gymnasium.spaces.Tuple) else ()
    found = [part for part in parts if isinstance(part, gymnasium.spaces.Discrete)]
    return found if len(found) == len(parts) else []


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The dynamics of an environment; N outcomes with a probability above 0.

    Attributes:
        source: what messages call the environment.
        observations: numbers of its observations, which are its states.
        actions: numbers of its actions.
        state: int64[N].
        action: int64[N].
        successor: int64[N].
        probability: float64[N].
        ended: bool[N], whether the episode ends there.
        initial: pairs of a state and its probability.
        known: bool[S], the states that something is known about.
        available: bool[S, A], the actions that states have.
    """

    source: str
    observations: Codes
    actions: Codes
    state: Ints
    action: Ints
    successor: Ints
    probability: Floats
    ended: Bools
    initial: tuple[tuple[int, float], ...]
    known: Bools
    available: Bools


def mask_of(mask: Any, n_actions: int, place: str) -> Bools | None:
    """Return bool[A] of an action mask, or None where there is none.

    Args:
        mask: what the environment says, such as `info["action_mask"]`.
        n_actions: A.
        place: where messages say that it is.
    """
    if mask is None:
        return None
    found = np.asarray(mask)
    if found.shape != (n_actions,) or found.dtype.kind not in "biuf":
        raise WorldError(
            f"{place}: the action mask is {shown(mask)}; give {n_actions} numbers, 0 for an "
            "action that the state does not have, or say available='all'"
        )
    if not found.any():
        raise WorldError(
            f"{place}: the action mask leaves no action; leave at least one, or say "
            "available='all'"
        )
    return found.astype(np.bool_)


def going_on(outcomes: Outcomes) -> Bools:
    """Return bool[S]: whether an episode can be in a state and not be over.

    It cannot be where every way into the state, other than from itself, ends the episode.
    """
    inward = outcomes.state != outcomes.successor
    entered = np.zeros((2, outcomes.observations.n), dtype=np.bool_)
    entered[outcomes.ended[inward].astype(np.int64), outcomes.successor[inward]] = True
    result = entered[0] | ~entered[1]
    result[[state for state, _ in outcomes.initial]] = True
    return np.asarray(result)


def without_endings(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes where episodes end because of a task, which is no part of a world.

    A step that ended an episode leads where it leads, unless no episode was ever seen to go on
    from there: what would follow is not known, and nothing is made up.
    """
    return replace(outcomes, ended=~going_on(outcomes)[outcomes.successor])


def source_of(env: Any) -> str:
    """Return what messages call an environment; refuse anything else."""
    if not isinstance(env, gymnasium.Env):
        raise ArgumentError(
            f"{type(env).__name__} is not a Gymnasium environment; make one with "
            "gymnasium.make(...)"
        )
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__
