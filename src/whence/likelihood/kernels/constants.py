"""Numbers that are compiled into the kernels."""

from __future__ import annotations

LANES = 16  # machine states that one row of values holds side by side
WINDOW = 6  # rounds that an extrapolation looks back on
SHORT_WINDOW = 4  # the same in deterministic worlds, and ...
LARGE_WINDOW = 3  # ... in large ones, up to ...
LONG_DISCOUNT = 0.97  # ... such a discount
REPEAT = 2  # sweeps a round
PATIENCE = 30  # rounds within which the change must have halved, else extrapolation pauses
PAUSE = 10  # rounds of the first pause; every later one is twice as long
EPSILON = 2.220446049250313e-16
TIE = 1e-9
SMALLEST = 1e-300  # below, numbers lose digits
RESOLUTION = 1e-13
LARGEST_SHORT = 1e38  # what steps may be
