"""Exponentials and logarithms of whole rows."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LN2_HIGH, LN2_LOW, LOG2E, MAGIC
from whence.likelihood.kernels.vectors import (
    exponent,
    minus,
    over,
    plus,
    scaled,
    spread,
    times,
    times_plus,
)


@part
def whole(x):
    """Return the whole number of powers of two in exp(x)."""
    magic = spread(MAGIC)
    return minus(times_plus(x, spread(LOG2E), magic), magic)


@part
def rest(x, k):
    """Return exp(x) / 2^k, right but for the last digits, for k = whole(x)."""
    r = times_plus(k, spread(-LN2_HIGH), x)
    r = times_plus(k, spread(-LN2_LOW), r)
    p = spread(1.6059043836821613e-10)
    p = times_plus(p, r, spread(2.08767569878681e-09))
    p = times_plus(p, r, spread(2.505210838544172e-08))
    p = times_plus(p, r, spread(2.755731922398589e-07))
    p = times_plus(p, r, spread(2.7557319223985893e-06))
    p = times_plus(p, r, spread(2.48015873015873e-05))
    p = times_plus(p, r, spread(0.0001984126984126984))
    p = times_plus(p, r, spread(0.001388888888888889))
    p = times_plus(p, r, spread(0.008333333333333333))
    p = times_plus(p, r, spread(0.041666666666666664))
    p = times_plus(p, r, spread(0.16666666666666666))
    p = times_plus(p, r, spread(0.5))
    p = times_plus(p, r, spread(1.0))
    return times_plus(p, r, spread(1.0))


@part
def log_of(z, k):
    """Return log(z 2^k) for normal z > 0, right but for the last digits."""
    e = exponent(z)
    m = scaled(z, minus(spread(0.0), e))
    one = spread(1.0)
    s = over(minus(m, one), plus(m, one))
    q = times(s, s)
    p = spread(0.047619047619047616)
    p = times_plus(p, q, spread(0.05263157894736842))
    p = times_plus(p, q, spread(0.058823529411764705))
    p = times_plus(p, q, spread(0.06666666666666667))
    p = times_plus(p, q, spread(0.07692307692307693))
    p = times_plus(p, q, spread(0.09090909090909091))
    p = times_plus(p, q, spread(0.1111111111111111))
    p = times_plus(p, q, spread(0.14285714285714285))
    p = times_plus(p, q, spread(0.2))
    p = times_plus(p, q, spread(0.3333333333333333))
    own = times(spread(2.0), times_plus(s, times(q, p), s))
    e = plus(e, k)
    return times_plus(e, spread(LN2_HIGH), times_plus(e, spread(LN2_LOW), own))
