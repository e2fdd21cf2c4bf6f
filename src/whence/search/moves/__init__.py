"""Moves of a Metropolis sampler: one small module each, found by being here.

A move has three names:

- `propose(rng, machines, space)` returns a proposal for each machine and, float64[B], the log of
  q(old | new) / q(new | old), the ratio by which a proposal is likelier made backward than
  forward. Proposals need not be valid: the prior says so, and they are rejected.
- `usable(space)` says whether the move can change anything in a space.
- `PLACE` orders the moves. A seed gives the same run only with the same moves in the same order,
  so a new one comes last.

Modules without `propose` hold what several moves share.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.space import Space

Move = Callable[[np.random.Generator, Machines, Space], tuple[Machines, Floats]]


def _found() -> dict[str, Any]:
    """Return the modules of moves by name, in their order."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    moves = {name: module for name, module in modules.items() if hasattr(module, "propose")}
    return dict(sorted(moves.items(), key=lambda item: (item[1].PLACE, item[0])))


_MODULES = _found()
MOVES: dict[str, Move] = {name: module.propose for name, module in _MODULES.items()}


def usable(space: Space) -> tuple[str, ...]:
    """Return the moves that can change anything in a space."""
    return tuple(name for name, module in _MODULES.items() if module.usable(space))
