"""Whether every machine of a space can be scored: how many there are, and what that takes."""

from __future__ import annotations

import math
import time

from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.likelihood.posterior import Posterior
from whence.search.enumeration import Enumeration
from whence.search.problem import spelled

MOST_DIGITS = 80  # of a number of machines that is worth counting
TRIALS = (1, 8, 256, 8_192, 65_536)  # machines of each trial; the first one loads the engine
PATIENCE = 0.05  # seconds; a trial that would take longer is not made
SPANS = ((31_557_600, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes"))

CURE = (
    "allow fewer states or levels, raise the limit (`Exhaustive(limit=...)`, --limit), or search "
    "with method 'tempering'"
)


def check_affordable(space: Enumeration, target: Posterior | Integrated, limit: int) -> None:
    """Refuse a space without machines, and one with more than `limit`."""
    what = f"states {spelled(space.sizes)}, {space.m} symbols, {len(space.levels)} reward levels"
    if space.m < 1 or len(space.levels) < 2:
        raise ArgumentError(
            f"{what}: there is no valid machine; give at least one symbol, and one level that is "
            "not 0"
        )
    digits = space.sizes[-1] * space.m * math.log10(len(space.levels))
    if digits > MOST_DIGITS:
        raise ArgumentError(
            f"{what}: more than 10^{int(digits)} machines, above the limit of {limit:,}; {CURE}"
        )
    if space.total > limit:
        seconds = space.total * seconds_each(space, target)
        raise ArgumentError(
            f"{what}: {spelled_count(space.total)} machines, above the limit of {limit:,}; to "
            f"score them all takes about {spelled_time(seconds)} here; {CURE}"
        )


def seconds_each(space: Enumeration, target: Posterior | Integrated) -> float:
    """Return how long a machine of the largest size takes, by scoring some, evenly spread."""
    first, last = space.edges[-2:]
    spent = 0.0
    for number, trial in enumerate(TRIALS):
        if number > 1 and spent * trial > PATIENCE:
            break
        positions = space.numbers(first + i * (last - first) // trial for i in range(trial))
        began = time.perf_counter()
        tables = space.machines(positions).tables(target.levels)
        target.log_likelihood(*tables, remember=False)
        spent = (time.perf_counter() - began) / trial
    return spent


def spelled_count(number: int) -> str:
    """Return a number in digits, or, where there are too many, as a power of ten."""
    return f"{number:,}" if number < 10**12 else f"about 10^{math.floor(math.log10(number))}"


def spelled_time(seconds: float) -> str:
    """Return a time in the largest unit of which there are two or more."""
    for unit, name in SPANS:
        if seconds >= 2 * unit:
            number = seconds / unit
            return (
                f"{number:,.0f} {name}" if number < 1e6 else f"10^{math.log10(number):.0f} {name}"
            )
    return f"{seconds:.1f} seconds"
