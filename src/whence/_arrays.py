"""Array types, and the legend of letters that every docstring uses.

S, A, K   world states, actions, successors of a state-action pair
N         transitions of a world with positive probability
m         symbols of the alphabet; blank (index -1) is no symbol
n         machine states; 0 is initial
G         reward levels
B         machines in a batch
E, T      episodes, steps in all
H         distinct label histories in the demonstrations
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[Any]  # of integers, whatever their width
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

BLANK = -1
UNSAID = -2  # a label that the episode leaves to the world


def frozen_own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make `array`, which the caller made and gives away, contiguous and read-only."""
    result = np.ascontiguousarray(array)
    result.flags.writeable = False
    return result


def concatenated_ranges(starts: Ints, stops: Ints) -> Ints:
    """Return the numbers of start[0]..stop[0]-1, then of start[1]..stop[1]-1, and so on."""
    lengths = np.asarray(stops, dtype=np.int64) - starts
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shift: Ints = np.repeat(starts - (ends - lengths), lengths)
    return np.asarray(np.arange(total) + shift)


def offsets_of(lengths: Ints) -> Ints:
    """Return where each of the ragged rows starts, and where the last one ends."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result
