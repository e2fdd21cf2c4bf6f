"""The report on a run: one HTML file that needs nothing else.

`write("report.html", Study.of(run, world.mdp, demos))` writes it.
"""

from __future__ import annotations

from whence.report.page import render, write
from whence.report.study import Study

__all__ = ["Study", "render", "write"]
