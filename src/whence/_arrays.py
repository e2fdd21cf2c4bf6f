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
