"""Numbers and places as the report writes them."""

from __future__ import annotations

import math


def share(value: float) -> str:
    """Return a probability as a percentage."""
    if 0 < value < 0.0005:
        return "<0.1%"
    if 0.9995 < value < 1:
        return ">99.9%"
    return f"{100 * value:.1f}%" if value not in (0.0, 1.0) else f"{100 * value:.0f}%"


def share_with_error(value: float, error: float) -> str:
    """Return a probability with its standard error, where it has one."""
    if not error or value < 0.0005:
        return share(value)
    return f"{share(value)} ± {100 * error:.1f}%" if error >= 0.0005 else f"{share(value)} ± <0.1%"


def nats(value: float) -> str:
    """Return a number of nats."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < value < 0.001:
        return "<0.001"
    if value and abs(value) < 0.05:
        return f"{value:.1g}".replace("-", "−")
    return f"{value:,.1f}".replace("-", "−")


def plain(value: float, digits: int = 4) -> str:
    """Return a number of so many digits; infinities as a sign."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return "–" if math.isnan(value) else f"{value:.{digits}g}".replace("-", "−")


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals; infinities as a sign."""
    if not math.isfinite(value):
        return plain(value)
    return f"{value:,.{digits}f}".replace("-", "−")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `3 episodes`, `1 episode`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(parts: list[str]) -> str:
    """Return `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def duration(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
