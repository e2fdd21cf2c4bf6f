"""What a label function says: a symbol, a set of propositions, or nothing.

A set of propositions is one symbol: that of its only member, or its members in alphabetical
order with `&` between them. The empty set and None are blank.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whence.errors import ArgumentError, WhenceError, WorldError

Label = Callable[..., Any] | Mapping[Any, Any]

_FORMS = "(state), (state, action, next state) or (state, action, next state, info)"


@dataclass(frozen=True)
class Labelling:
    """A label function and what it wants to know.

    Attributes:
        function: the one that the user gave.
        wants: 1, the state entered; 3, state, action and next state; 4, `info` too.
    """

    function: Callable[..., Any]
    wants: int

    @property
    def of_states(self) -> bool:
        """Whether labels depend on the state entered alone."""
        return self.wants == 1

    def __call__(self, state: Any, action: Any, following: Any, info: Any = None) -> str | None:
        """Return the symbol of a step, or None for blank."""
        known = (following,) if self.of_states else (state, action, following, info)[: self.wants]
        try:
            value = self.function(*known)
        except WhenceError:
            raise
        except Exception as error:
            raise WorldError(
                f"{label_place(*known)}: the label function raised {type(error).__name__}: "
                f"{error}; make it answer for every state"
            ) from error
        return self._symbol(value, known)

    def _symbol(self, value: Any, known: tuple[Any, ...]) -> str | None:
        if value is None:
            return None
        if isinstance(value, str) and value:
            return str(value)
        if isinstance(value, set | frozenset) and all(isinstance(p, str) and p for p in value):
            return "&".join(sorted(map(str, value))) or None
        raise WorldError(
            f"{label_place(*known)}: the label is {value!r}; give a symbol (a non-empty string), "
            "a set of propositions, or None"
        )


def label_place(*known: Any) -> str:
    """Return what messages call a step, or a state if that is all that is known."""
    if len(known) == 1:
        return f"label of state {shown(known[0])}"
    state, action, following = (shown(part) for part in known[:3])
    return f"label of state {state}, action {action}, next state {following}"


def labelling(label: Label) -> Labelling:
    """Return a label function with the number of arguments that it takes.

    Args:
        label: a function, or a mapping from states to labels, blank where it has none.
    """
    if isinstance(label, Mapping):
        return Labelling(label.get, 1)
    if not callable(label):
        raise ArgumentError(f"label is {label!r}; give a function or a mapping of states")
    try:
        parameters = inspect.signature(label).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"label {label!r} does not say how many arguments it takes; wrap it in a function of "
            f"{_FORMS}"
        ) from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    wants = sum(p.default is p.empty for p in positional)
    if wants not in (1, 3, 4):
        raise ArgumentError(
            f"label {getattr(label, '__name__', label)!r} takes {wants} arguments; "
            f"give a function of {_FORMS}"
        )
    return Labelling(label, wants)


def shown(value: Any) -> str:
    """Return an observation as messages show it: numbers without their type."""
    if isinstance(value, np.generic):
        return str(value.item())
    if isinstance(value, tuple):
        return "(" + ", ".join(map(shown, value)) + ")"
    return str(value) if isinstance(value, np.ndarray) else repr(value)
