"""Drawings of machines and worlds: SVG, PNG and text."""

from __future__ import annotations

from whence.drawing.grid import grid_svg
from whence.drawing.machine import machine_svg
from whence.errors import MissingExtraError

__all__ = ["grid_svg", "machine_svg", "svg_to_png"]


def svg_to_png(svg: str, *, width: int | None = None) -> bytes:
    """Return a drawing as PNG.

    Args:
        svg: the drawing.
        width: in pixels; by default the drawing's own.

    Raises:
        MissingExtraError: if resvg-py is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise MissingExtraError(
            "png needs the package resvg-py; install it with: pip install 'whence[plot]'"
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, background="#ffffff"))
