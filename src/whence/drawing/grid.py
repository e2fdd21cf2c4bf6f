"""A grid world as a picture: walls, labels and where episodes start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from whence._arrays import Floats
from whence.drawing import overlay, text
from whence.drawing.overlay import Cell, blocks, runs
from whence.errors import WorldError

if TYPE_CHECKING:
    from whence.model.grid import Grid
    from whence.model.mdp import LabeledMDP

_SIDE, _LEAST, _MOST = 720, 3, 46
_INK, _PAPER, _LINE, _SOLID, _QUIET = "#1f2328", "#ffffff", "#d8dee4", "#424a53", "#57606a"
_HUES = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
_LISTED, _RING = 12, 14
_LEFT, _TOP = 34.0, 12.0
_SMALL = 20  # cells of fewer pixels share their arrows
_KEYS = 40
_SHOWN, _LARGEST = 360, 2.0  # pixels at which pages show a drawing; how far print is enlarged


def grid_svg(
    mdp: LabeledMDP,
    *,
    title: str | None = None,
    visits: Floats | None = None,
    largest: float | None = None,
    policy: Floats | None = None,
    most: int = _MOST,
    over: Sequence[str] = (),
) -> str:
    """Return a drawing of a grid world as SVG.

    Args:
        mdp: a world with a grid.
        title: what the drawing is called; by default its size.
        visits: float[S], how often each state was visited: shown as heat.
        largest: the number of visits that is hottest; by default the most of `visits`.
        policy: float[S, A], probabilities of actions: shown as arrows, one for many cells where
            these are small.
        most: the largest side of a cell, in pixels.
        over: what else is drawn on top, where `cell_centres` says that cells are.

    Raises:
        WorldError: if the world is not a grid.
    """
    grid = grid_of(mdp)
    unit = _unit(grid, most)
    scale = enlarged(grid.width * unit)
    hottest = largest if largest is not None else 0.0 if visits is None else float(visits.max())
    body = [
        *([] if visits is None else overlay.heat(grid, unit, visits, hottest)),
        _ground(grid, unit),
        _solids(grid, unit),
        *_tiles(mdp, grid, unit),
        *_starts(mdp, grid, unit),
        _walls(grid, unit),
        *([] if policy is None else _policy(mdp, grid, unit, policy)),
        *_numbers(grid, unit, scale),
    ]
    placed = f'<g transform="translate({-_LEFT:.0f} {-_TOP:.0f})">{"".join(over)}</g>'
    heading = title or f"Grid world, {grid.width} by {grid.height} cells"
    keys, bottom, wide = legend(mdp, int(grid.width * unit / scale))
    left, top = _LEFT, _TOP
    below = grid.height * unit + 14 + 12 * scale
    width = left + max(grid.width * unit, wide * scale) + 16
    height = top + below + bottom * scale
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{text.FONT}">\n'
        f"<title>{text.xml(heading)}</title>\n"
        f"<desc>{text.xml(_described(mdp, grid))}</desc>\n"
        f'<rect class="background" width="{width:.0f}" height="{height:.0f}" rx="6" '
        f'fill="{_PAPER}"/>\n<g transform="translate({left:.0f} {top:.0f})">\n'
        + "\n".join(part for part in (*body, placed if over else "") if part)
        + f'\n<g transform="translate(0 {below:.1f}) scale({scale:.3g})">{"".join(keys)}</g>\n'
        "</g>\n</svg>\n"
    )


def _unit(grid: Grid, most: int) -> int:
    """Return the side of a cell, in pixels."""
    return min(most, _MOST, max(_LEAST, _SIDE // max(grid.width, grid.height)))


def _policy(mdp: LabeledMDP, grid: Grid, unit: int, policy: Floats) -> Iterator[str]:
    if unit < _SMALL:
        return overlay.flow_arrows(mdp, grid, unit, policy)
    return overlay.policy_arrows(mdp, grid, unit, policy)


def cell_centres(mdp: LabeledMDP, most: int = _MOST) -> tuple[Floats, float]:
    """Return float[S, 2], where `grid_svg` draws each state, and the side of a cell, in pixels."""
    grid = grid_of(mdp)
    unit = _unit(grid, most)
    x, y = grid.cells[:, 0], grid.cells[:, 1]
    points = np.stack([(x + 0.5) * unit, (grid.height - 0.5 - y) * unit], axis=1)
    return np.asarray(points + np.array([_LEFT, _TOP])), float(unit)


def grid_of(mdp: LabeledMDP) -> Grid:
    """Return where a world's states lie, or say that it is not a grid."""
    if mdp.grid is None:
        raise WorldError(
            "this world has no grid, so there is no map to draw; worlds from a *.map file, "
            "or files with a 'grid' field, have one"
        )
    return mdp.grid


def labelled(mdp: LabeledMDP, grid: Grid) -> dict[Cell, int]:
    """Return the index of the symbol in every cell that has a label."""
    cells = map(tuple, grid.cells.tolist())
    return {
        (x, y): symbol
        for (x, y), symbol in zip(cells, mdp.labels.tolist(), strict=True)
        if symbol >= 0
    }


def solid(grid: Grid) -> list[Cell]:
    """Return the cells without a state, row by row."""
    y, x = np.nonzero(grid.index().T < 0)
    return list(zip(x.tolist(), y.tolist(), strict=True))


def starting(mdp: LabeledMDP, grid: Grid) -> list[Cell]:
    """Return the cells in which episodes can start."""
    states = mdp.initial_states[mdp.initial_probabilities > 0]
    return [(x, y) for x, y in grid.cells[states].tolist()]


def starts_anywhere(mdp: LabeledMDP) -> bool:
    """Whether there are several states and an episode can start in any of them."""
    return 1 < len(mdp.labels) == int((mdp.initial_probabilities > 0).sum())


def symbol_colour(symbol: int) -> str:
    """Return the colour of a symbol: seven hues, safe for the colour-blind, then tints."""
    hue, tint = _HUES[symbol % len(_HUES)], symbol // len(_HUES) % 3
    towards, part = ((0, 0.0), (255, 0.55), (0, 0.4))[tint]
    mixed = [round(value + part * (towards - value)) for value in _rgb(hue)]
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on a colour."""
    linear = [(value / 255) ** 2.2 for value in _rgb(colour)]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#ffffff"


def _ground(grid: Grid, unit: int) -> str:
    """Return thin lines between the cells; none where cells are tiny."""
    if unit < 8:
        return ""
    wide, high = grid.width * unit, grid.height * unit
    down = "".join(f"M{x * unit},0v{high}" for x in range(1, grid.width))
    across = "".join(f"M0,{y * unit}h{wide}" for y in range(1, grid.height))
    return f'<path class="lines" d="M0,0{down}{across}" stroke="{_LINE}" stroke-width="1"/>'


def _solids(grid: Grid, unit: int) -> str:
    path = blocks(solid(grid), grid.height, unit)
    return f'<path class="solid" d="{path}" fill="{_SOLID}"/>' if path else ""


def _tiles(mdp: LabeledMDP, grid: Grid, unit: int) -> Iterator[str]:
    """Yield the labels: tiles with text, or plain colour where cells are tiny."""
    cells = labelled(mdp, grid)
    for symbol in sorted(set(cells.values())):
        mine = [cell for cell, other in cells.items() if other == symbol]
        if unit < 12:
            path = blocks(mine, grid.height, unit)
            yield f'<path class="tile" d="{path}" fill="{symbol_colour(symbol)}"/>'
        else:
            for x, y in mine:
                at = x * unit + unit / 2, (grid.height - 1 - y) * unit + unit / 2
                yield _tile(mdp.alphabet[symbol], symbol, at, 0.78 * unit)


def _tile(name: str, symbol: int, at: tuple[float, float], size: float) -> str:
    colour = symbol_colour(symbol)
    x, y = at
    shown, font = _fitted(text.visible(name), 0.92 * size, 0.66 * size)
    return (
        f'<g><title>{text.xml(name)}</title><rect class="tile" x="{x - size / 2:.1f}" '
        f'y="{y - size / 2:.1f}" width="{size:.1f}" height="{size:.1f}" rx="{size / 5:.1f}" '
        f'fill="{colour}" stroke="{_INK}" stroke-opacity="0.35"/>'
        f'<text x="{x:.1f}" y="{y + 0.36 * font:.1f}" font-size="{font:.1f}" '
        f'text-anchor="middle" fill="{ink_on(colour)}">{text.xml(shown)}</text></g>'
    )


def _fitted(shown: str, width: float, size: float) -> tuple[str, float]:
    """Return a text and its size so that it fits; a long text is shortened."""
    size = min(size, 17.0)
    least = min(size, 8.0)
    for length in range(text.cells(shown), 0, -1):
        short = text.shorten(shown, length)
        fitting = min(size, size * width / max(text.pixels(short, size), 1e-9))
        if fitting >= least or length == 1:
            return short, max(fitting, 4.0)
    return shown, size


def _starts(mdp: LabeledMDP, grid: Grid, unit: int) -> Iterator[str]:
    if starts_anywhere(mdp):
        return
    for x, y in starting(mdp, grid):
        centre = x * unit + unit / 2, (grid.height - 1 - y) * unit + unit / 2
        yield _ring(*centre, max(unit, _RING))


def _ring(x: float, y: float, unit: float) -> str:
    """Return the mark of a start: a dashed square ring."""
    weight = max(1.0, unit / 16)
    side = unit - weight - max(1.0, unit / 16)
    return (
        f'<rect class="start" x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" '
        f'width="{side:.1f}" height="{side:.1f}" rx="{unit / 5:.1f}" fill="none" '
        f'stroke="{_INK}" stroke-width="{weight:.1f}" stroke-dasharray="{weight * 2:.1f} '
        f'{weight:.1f}"/>'
    )


def _walls(grid: Grid, unit: int) -> str:
    """Return the walls; what lies on one line without a gap is one stroke."""
    down = [(x + 1, y) for x, y, side in grid.walls if side == "right"]
    across = [(y + 1, x) for x, y, side in grid.walls if side == "up"]
    high = grid.height * unit
    parts = [f"M0,0h{grid.width * unit}v{high}h{-grid.width * unit}z"]
    for x, line in groupby(sorted(down), key=lambda wall: wall[0]):
        for start, stop in runs(y for _, y in line):
            parts.append(f"M{x * unit},{high - start * unit}V{high - stop * unit}")
    for y, line in groupby(sorted(across), key=lambda wall: wall[0]):
        for start, stop in runs(x for _, x in line):
            parts.append(f"M{start * unit},{high - y * unit}H{stop * unit}")
    weight = max(1.0, min(4.0, unit / 10))
    return (
        f'<path class="walls" d="{"".join(parts)}" fill="none" stroke="{_INK}" '
        f'stroke-width="{weight:.1f}" stroke-linecap="round" stroke-linejoin="round"/>'
    )


def enlarged(width: float) -> float:
    """Return by how much small print is larger in a drawing that pages show at a smaller size."""
    return min(max(1.0, width / _SHOWN), _LARGEST)


def _numbers(grid: Grid, unit: int, scale: float) -> Iterator[str]:
    """Yield the coordinates along the left and the lower edge."""
    least = 22 * scale
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if step * unit >= least)
    bottom, size = grid.height * unit, 10 * scale
    for x in range(0, grid.width, step):
        yield _small(str(x), x * unit + unit / 2, bottom + 6 + size, "middle", size)
    for y in range(0, grid.height, step):
        yield _small(str(y), -7, bottom - y * unit - unit / 2 + 0.4 * size, "end", size)


def _small(shown: str, x: float, y: float, anchor: str, size: float) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.3g}" fill="{_QUIET}" '
        f'text-anchor="{anchor}">{text.xml(shown)}</text>'
    )


def legend(mdp: LabeledMDP, width: int) -> tuple[list[str], float, float]:
    """Return the legend's parts, its height and its width."""
    names = text.symbol_names(mdp.alphabet, 30)
    used = set(mdp.labels.tolist())
    keys = [
        (name if symbol in used else f"{name} (nowhere)", symbol)
        for symbol, name in enumerate(names[:_KEYS])
    ]
    if len(names) > _KEYS:
        keys.append((f"and {len(names) - _KEYS} more", -2))
    anywhere = starts_anywhere(mdp)
    keys.append(("episodes start in any cell" if anywhere else "start", -2 if anywhere else -1))
    return _flowed(keys, max(width, 200))


def _flowed(keys: list[tuple[str, int]], width: int) -> tuple[list[str], float, float]:
    """Place the keys side by side, in as many rows as they need."""
    parts, x, y, widest = [], 0.0, 18.0, 0.0
    for shown, symbol in keys:
        icon = 0.0 if symbol == -2 else 22.0
        needed = icon + text.pixels(shown, 12) + 18
        if x and x + needed > width + 18:
            x, y = 0.0, y + 24
        if symbol == -1:
            parts.append(_ring(x + 8, y, 18))
        elif symbol >= 0:
            parts.append(
                f'<rect class="key" x="{x:.1f}" y="{y - 8:.1f}" width="16" height="16" rx="3" '
                f'fill="{symbol_colour(symbol)}" stroke="{_INK}" stroke-opacity="0.35"/>'
            )
        parts.append(_small(shown, x + icon, y + 4, "start", 12))
        x += needed
        widest = max(widest, x - 18)
    return parts, y + 20, widest


def _described(mdp: LabeledMDP, grid: Grid) -> str:
    cells = labelled(mdp, grid)
    sentences = [f"{grid.width} columns and {grid.height} rows, {len(grid.walls)} inner walls."]
    for symbol, name in enumerate(mdp.alphabet):
        at = sorted(cell for cell, other in cells.items() if other == symbol)
        sentences.append(f"{name}: {listed(at)}.")
    where = "in any cell" if starts_anywhere(mdp) else f"at {listed(starting(mdp, grid))}"
    return " ".join([*sentences, f"Episodes start {where}."])


def listed(cells: list[Cell], most: int = _LISTED) -> str:
    """Return cells in words, and how many are not named."""
    if not cells:
        return "nowhere"
    named = ", ".join(f"({x}, {y})" for x, y in cells[:most])
    return named if len(cells) <= most else f"{named} and {len(cells) - most} more"
