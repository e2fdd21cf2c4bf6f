"""Numbers that are compiled into the kernels."""

from __future__ import annotations

LANES = 16  # machine states that one row of values holds side by side
STATES = 256  # of all machines of a pack together, at most: n to the power of LANES // n
WINDOW = 6  # rounds that an extrapolation looks back on
SHORT_WINDOW = 4  # the same in deterministic worlds, and ...
LARGE_WINDOW = 3  # ... in large ones, up to ...
LONG_DISCOUNT = 0.97  # ... such a discount
REPEAT = 2  # sweeps a round
PLAIN = 5  # rounds before the first extrapolation
PATIENCE = 30  # rounds within which the change must have halved, else extrapolation pauses
PAUSE = 10  # rounds of the first pause; every later one is twice as long
EPSILON = 2.220446049250313e-16
TIE = 1e-9
SMALLEST = 1e-300  # below, numbers lose digits
RESOLUTION = 1e-10
LARGEST_SHORT = 1e38  # what steps may be
MAGIC = 6755399441055744.0  # 1.5 * 2^52: what is added to it is rounded to a whole number
LOG2E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238  # with zeros at its end, so that multiples of it are exact
LN2_LOW = 1.9082149292705877e-10
SLANT = 3.0  # of integrals over experts: deviations up to which lines follow a peak's slant
WAIT = 3  # places in a row that are left out before a line ends
FARTHEST = 60.0  # the place at which a line ends in any case
