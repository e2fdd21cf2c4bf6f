"""Draw what `growing_tasks.py` found: success and time over the number of states.

    python benchmarks/growing_curves.py found-5-6.json found-7-8.json -o curves.svg

Each point is one task; filled where it was found, hollow at the time at which it was given up.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "whence"
mpl.rcParams["font.size"] = 11

from matplotlib import pyplot  # noqa: E402

COLOURS = {0.0: "#0b6e99", 0.1: "#c2570c"}
NAMES = {0.0: "deterministic, 40 x 40 cells", 0.1: "slip 0.1, 20 x 20 cells"}


def drawn(rows: list[dict[str, Any]]) -> Any:
    """Return the figure."""
    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(7, 5.4), sharex=True, height_ratios=(1, 2.4), constrained_layout=True
    )
    states = sorted({row["states"] for row in rows})
    share = [np.mean([row["found"] for row in rows if row["states"] == n]) for n in states]
    above.bar(states, share, color="#8aa6a3", width=0.6)
    for n, value in zip(states, share, strict=True):
        many = [row["found"] for row in rows if row["states"] == n]
        above.text(n, value + 0.03, f"{sum(many)} of {len(many)}", ha="center", fontsize=9)
    above.set(ylabel="share found", ylim=(0, 1.25), yticks=(0, 0.5, 1))
    for slip, colour in COLOURS.items():
        own = [row for row in rows if row["slip"] == slip]
        for m, marker in ((8, "o"), (12, "s")):
            some = [row for row in own if row["symbols"] == m]
            if not some:
                continue
            shift = -0.12 if slip == 0 else 0.12
            below.scatter(
                [row["states"] + shift for row in some],
                [row["seconds"] for row in some],
                marker=marker,
                edgecolors=colour,
                facecolors=[colour if row["found"] else "none" for row in some],
                label=f"{NAMES[slip]}, {m} labels",
                s=34,
            )
    below.set(xlabel="states of the machine", ylabel="seconds until found", yscale="log")
    below.set_xticks(range(min(states), max(states) + 1))
    below.set_yticks((1, 3, 10, 30, 100), ("1", "3", "10", "30", "100"))
    below.minorticks_off()
    below.legend(frameon=False, fontsize=9, loc="upper left")
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def main() -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("curves.svg"))
    asked = parser.parse_args()
    rows = [row for file in asked.files for row in json.loads(file.read_text(encoding="utf-8"))]
    drawn(rows).savefig(asked.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
