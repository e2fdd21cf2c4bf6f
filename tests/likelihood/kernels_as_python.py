"""The kernels without a compiler: the same source, run line by line by Python.

The vector instructions that the kernels are built from are replaced by NumPy's, everything else
is as it stands. Import this in a process of its own, before numba: it turns the compiler off.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

import numpy as np

from whence.likelihood import kernels

LANES = kernels.LANES


def _rows(array: Any) -> Any:
    return array.reshape(-1)[: array.size // LANES * LANES].reshape(-1, LANES)


def _load(array: Any, row: Any) -> Any:
    return _rows(array)[int(row)].copy()


def _store(array: Any, row: Any, vector: Any) -> None:
    _rows(array)[int(row)] = vector


def _load_short(array: Any, row: Any) -> Any:
    return _load(array, row).astype(np.float64)


def _store_short(array: Any, row: Any, vector: Any) -> None:
    most = kernels.LARGEST_SHORT
    _store(array, row, np.clip(vector, -most, most).astype(np.float32))


def _spread(number: Any) -> Any:
    return np.full(LANES, float(number))


def _pick(array: Any, start: Any, lanes: Any, row: Any) -> Any:
    flat, index = array.reshape(-1), lanes.reshape(-1)
    first = int(row) * LANES
    return flat[int(start) + index[first : first + LANES].astype(np.int64)].copy()


REPLACED: dict[str, Any] = {
    "_load": _load,
    "_store": _store,
    "_load_short": _load_short,
    "_store_short": _store_short,
    "_spread": _spread,
    "_pick": _pick,
    "_times": lambda a, b: a * b,
    "_times_plus": lambda a, b, c: a * b + c,
    "_plus": lambda a, b: a + b,
    "_minus": lambda a, b: a - b,
    "_larger": lambda a, b: np.where(a > b, a, b),
    "_smaller": lambda a, b: np.where(a < b, a, b),
}

for _name, _function in REPLACED.items():
    setattr(kernels, _name, _function)


class _Numpy:
    """NumPy, but records have their fields as attributes, as compiled ones do."""

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        found = np.zeros(shape, dtype)
        return found.view(np.recarray) if found.dtype.names else found

    empty = zeros


setattr(kernels, "np", _Numpy())  # noqa: B010
