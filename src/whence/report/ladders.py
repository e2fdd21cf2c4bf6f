"""How the ladders of tempering did, as a run's journal tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whence.report import words
from whence.report.html import Html, details, paragraph, table


@dataclass(frozen=True)
class Ladders:
    """The ladders at the end of a run; K rungs.

    Attributes:
        temperatures: K of them, the coldest first.
        swap_rates: K - 1, how often neighbours were exchanged.
        round_trips: for each ladder, how often a chain went from the hottest rung to the coldest.
    """

    temperatures: tuple[float, ...]
    swap_rates: tuple[float, ...]
    round_trips: tuple[int, ...]

    @classmethod
    def told(cls, event: Mapping[str, Any] | None) -> Ladders | None:
        """Return what an event of a journal says of ladders; None if it says nothing sound."""
        keys = ("temperatures", "swap_rates", "round_trips")
        found = [(event or {}).get(key) for key in keys]
        for values in found:
            if not isinstance(values, list) or not all(map(_number, values)):
                return None
        temperatures, rates, trips = (tuple(values) for values in found if values is not None)
        if len(temperatures) != len(rates) + 1:
            return None
        return cls(temperatures, rates, trips)


def ladder_parts(ladders: Ladders | None) -> list[Html]:
    """Return the round trips, and the swap rate of each pair of neighbours."""
    if ladders is None or not ladders.swap_rates:
        return []
    trips = words.listed([f"{trip:,}" for trip in ladders.round_trips])
    low, high = min(ladders.swap_rates), max(ladders.swap_rates)
    text = (
        f"Round trips from the hottest rung to the coldest since the warm-up, by ladder: {trips}. "
        f"Neighbouring rungs were exchanged in {words.share(low)} to {words.share(high)} of the "
        "tries."
    )
    pairs = zip(ladders.temperatures, ladders.temperatures[1:], ladders.swap_rates, strict=False)
    rows = [
        [f"{at + 1}", words.plain(cold), words.plain(hot), words.share(rate)]
        for at, (cold, hot, rate) in enumerate(pairs)
    ]
    header = ["rung", "temperature", "of the next", "exchanged"]
    shown = table("Rungs and how often neighbours were exchanged", header, rows, numbers=range(4))
    return [paragraph(text), details("Every rung", shown)]


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )
