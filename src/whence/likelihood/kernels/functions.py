"""Exponentials and logarithms of many numbers, as vector instructions."""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import part


@part
def exponentials(x, size, out, bits, powers):
    """Write exp(x[i]) to out[i] for x[i] <= 0, correctly rounded but for the last digits.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2; the loops have no branches, so that they compile
    to vector instructions. `powers` is `bits` seen as floating point numbers.
    """
    for i in range(size):
        y = x[i] if x[i] > -700.0 else -700.0
        k = math.floor(y * 1.4426950408889634 + 0.5)
        r = (y - k * 0.6931471803691238) - k * 1.9082149292705877e-10
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
        bits[i] = (np.int64(k) + 1023) << 52
    for i in range(size):
        out[i] *= powers[i]


@part
def logarithms(x, size, out, bits, floats):
    """Write log(x[i]) to out[i] for normal x[i] > 0, right but for the last digits.

    log(2^k m) = k log(2) + 2 artanh((m - 1) / (m + 1)) with m around 1; no branches.
    """
    for i in range(size):
        floats[i] = x[i]
    for i in range(size):
        k = (bits[i] - 0x3FE6A09E667F3BCD) >> 52
        bits[i] -= k << 52
        out[i] = k
    for i in range(size):
        s = (floats[i] - 1.0) / (floats[i] + 1.0)
        z = s * s
        p = 0.047619047619047616
        p = p * z + 0.05263157894736842
        p = p * z + 0.058823529411764705
        p = p * z + 0.06666666666666667
        p = p * z + 0.07692307692307693
        p = p * z + 0.09090909090909091
        p = p * z + 0.1111111111111111
        p = p * z + 0.14285714285714285
        p = p * z + 0.2
        p = p * z + 0.3333333333333333
        out[i] = out[i] * 0.6931471805599453 + 2.0 * (s + s * (z * p))
