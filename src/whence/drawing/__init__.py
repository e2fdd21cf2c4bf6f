"""Drawings of machines and worlds: SVG, PNG and text."""

from __future__ import annotations

from whence.drawing.grid import grid_svg
from whence.drawing.machine import machine_svg
from whence.drawing.png import svg_to_png

__all__ = ["grid_svg", "machine_svg", "svg_to_png"]
