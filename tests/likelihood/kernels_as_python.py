"""The kernels without a compiler: the same source, run line by line by Python.

The vector instructions that the kernels are built from are replaced by NumPy's, and groups of
arrays stay the tuples that they are; everything else is as it stands. Import this in a process of
its own, before numba: it turns the compiler off.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from whence.likelihood.kernels import groups, vectors
from whence.likelihood.kernels.constants import LANES, LARGEST_SHORT


def _rows(array: Any) -> Any:
    return array.reshape(-1)[: array.size // LANES * LANES].reshape(-1, LANES)


def _load(array: Any, row: Any) -> Any:
    return _rows(array)[int(row)].copy()


def _store(array: Any, row: Any, vector: Any) -> None:
    _rows(array)[int(row)] = vector


def _load_short(array: Any, row: Any) -> Any:
    return _load(array, row).astype(np.float64)


def _store_short(array: Any, row: Any, vector: Any) -> None:
    _store(array, row, np.clip(vector, -LARGEST_SHORT, LARGEST_SHORT).astype(np.float32))


def _spread(number: Any) -> Any:
    return np.full(LANES, float(number))


def _pick(array: Any, start: Any, lanes: Any, row: Any) -> Any:
    flat, index = array.reshape(-1), lanes.reshape(-1)
    first = int(row) * LANES
    return flat[int(start) + index[first : first + LANES].astype(np.int64)].copy()


def _times_plus_where(code: Any, a: Any, b: Any, c: Any) -> Any:
    chosen = (int(code) >> np.arange(LANES)) & 1 == 1
    result = c.copy()
    result[chosen] = (a * b + c)[chosen]
    return result


REPLACED: dict[str, Any] = {
    "load": _load,
    "store": _store,
    "load_short": _load_short,
    "store_short": _store_short,
    "spread": _spread,
    "pick": _pick,
    "times": lambda a, b: a * b,
    "times_plus": lambda a, b, c: a * b + c,
    "times_plus_where": _times_plus_where,
    "plus": lambda a, b: a + b,
    "minus": lambda a, b: a - b,
    "larger": lambda a, b: np.where(a > b, a, b),
    "smaller": lambda a, b: np.where(a < b, a, b),
    "over": lambda a, b: a / b,
    "better": lambda new, old, chosen, other: np.where(new > old, chosen, other),
    "scaled": lambda number, power: np.ldexp(number, power.astype(np.int64)),
    "exponent": lambda number: np.floor(np.log2(number) + 0.5),
}

for _name, _function in REPLACED.items():
    setattr(vectors, _name, _function)  # before any module takes them from there


def _own(given: Any) -> Any:
    return given.values if isinstance(given, groups.Handed) else given


setattr(groups, "own", _own)  # noqa: B010
setattr(groups, "either", lambda first, one, other: one if first else other)  # noqa: B010


class _Numpy:
    """NumPy, but records have their fields as attributes, as compiled ones do."""

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        found = np.zeros(shape, dtype)
        return found.view(np.recarray) if found.dtype.names else found

    empty = zeros


_packs = import_module("whence.likelihood.kernels.packs")
setattr(_packs, "np", _Numpy())  # noqa: B010
