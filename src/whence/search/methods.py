"""The methods that `infer` knows, by name."""

from __future__ import annotations

from typing import Any

from whence.errors import ArgumentError
from whence.search.annealing import SimulatedAnnealing
from whence.search.choosing import AUTO
from whence.search.exhaustive import ExactEnumeration
from whence.search.method import Method
from whence.search.sampling import ParallelTempering

METHODS: dict[str, type[Method[Any, Any, Any]]] = {
    "tempering": ParallelTempering,
    "annealing": SimulatedAnnealing,
    "exhaustive": ExactEnumeration,
}


def method_of(settings: Any) -> str:
    """Return the name of the method that settings are for; the usual one where there are none."""
    for name, kind in METHODS.items():
        if type(settings) is kind.settings_type:
            return name
    return "tempering"


def method(name: str) -> type[Method[Any, Any, Any]]:
    """Return a method by its name."""
    if name not in METHODS:
        raise ArgumentError(f"method is {name!r}; known are {', '.join((AUTO, *METHODS))}")
    return METHODS[name]
