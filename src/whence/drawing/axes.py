"""Linear and logarithmic axes: limits, ticks and how they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LEAST = 0.7  # decades that a logarithmic axis shows at least
_DECADES = 1.8  # from this many on, ticks are powers of ten alone
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, which are exponents of ten if it is logarithmic.

    Attributes:
        low: its lower end.
        high: its upper end.
        ticks: values to mark.
        logarithmic: whether equal distances are equal factors.
        texts: what stands at the ticks, if not their values.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False
    texts: tuple[str, ...] | None = None

    def place(self, value: float) -> float:
        """Return where a value stands: 0 at the lower end, 1 at the upper one."""
        at = math.log10(value) if self.logarithmic else value
        return (at - self.low) / (self.high - self.low)

    def marks(self) -> Iterator[tuple[float, str]]:
        """Yield the place and the text of each tick."""
        texts = self.texts or [written(tick) for tick in self.ticks]
        return zip(map(self.place, self.ticks), texts, strict=True)


def linear_axis(values: Iterable[float]) -> Axis:
    """Return an axis from 0 that shows values of at least 0, with six ticks at most."""
    high = max(values)
    power = 10.0 ** math.floor(math.log10(high))
    step = next(power * part for part in (0.1, 0.2, 0.25, 0.5, 1, 2) if high / power / part <= 5)
    count = math.ceil(high / step - 1e-9)
    return Axis(0.0, count * step, tuple(round(i * step, 12) for i in range(count + 1)))


def log_axis(values: Iterable[float], ticks: Iterable[float] | None = None) -> Axis:
    """Return a logarithmic axis that shows positive values with some room on either side."""
    logs = [math.log10(value) for value in values]
    middle, half = (min(logs) + max(logs)) / 2, (max(logs) - min(logs)) / 2
    if ticks is None:
        half = max(half, _LEAST / 2)
    low, high = middle - 1.12 * half, middle + 1.12 * half
    return Axis(low, high, _powers(low, high) if ticks is None else tuple(ticks), True)


def axis_between(low: float, high: float) -> Axis:
    """Return an axis for values of any sign, with round ticks and some room on either side."""
    spread = high - low if high > low else max(abs(high) * 1e-3, 1.0)
    low, high = low - 0.04 * spread, high + 0.06 * spread
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 2.5, 5, 10) if size * times >= rough)
    ticks = [step * at for at in range(math.ceil(low / step), math.floor(high / step) + 1)]
    shown = tuple(f"{tick:,.10g}".replace("-", "−") for tick in ticks)
    return Axis(low, high, tuple(ticks), texts=shown)


def written(value: float) -> str:
    """Return a tick's text: plain if that is short, else a power of ten."""
    if value == 0:
        return "0"
    exponent = round(math.log10(value))
    if 1e-3 <= value < 1e4 or not math.isclose(value, 10.0**exponent):
        return f"{value:,.10g}"
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def _powers(low: float, high: float) -> tuple[float, ...]:
    """Return powers of ten, and if these are few, also twice and five times as much."""
    steps = (1,) if high - low >= _DECADES else (1, 2, 5)
    powers = range(math.floor(low), math.ceil(high) + 1)
    marks = [float(f"{step}e{power}") for power in powers for step in steps]
    return tuple(mark for mark in marks if low <= math.log10(mark) <= high)
