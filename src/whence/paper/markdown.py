"""Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; every row has as many cells as the head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_safe(cell) for cell in line)} |" for line in lines)


def percent(fraction: float | None) -> str:
    """Return a fraction as people read it, or nothing."""
    return "" if fraction is None else f"{100 * fraction:.0f}%"


def figure(value: float | None) -> str:
    """Return a return as people read it, or nothing."""
    return "" if value is None else f"{value:.3f}"


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|")
