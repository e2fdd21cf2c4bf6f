"""TikZ: a machine as a picture for LaTeX, in the manner of the paper's figures."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats
from whence.io.labels import by_ends, check_writable, label_text, name_text, symbol_text
from whence.io.machine_json import comment, read_comment
from whence.model.machine import Arrow, RewardMachine, number

ENDINGS = (".tex", ".tikz")
_ESCAPES = {
    **{c: "\\" + c for c in "{}$#%&_"},
    **{c: f"\\symbol{{{ord(c)}}}" for c in "\"'`"},
    **{c: c + "{}" for c in "-,"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
MARK = "%"
_LETTER = re.compile(r"[A-Za-z0-9*]")
_HEIGHT = 3.0  # from one state of a layer to the next, in centimetres
_CLEAR = 1.0  # how far a line should stay from the states it does not join
_BENDS = (0, 20, -20, 35, -35, 50, -50, 65, -65, 80, -80)
_ROUTED = 60  # states; beyond, lines bend by a simple rule


class _Spot(NamedTuple):
    """Where a state stands: centimetres, and whether its loop points down."""

    x: float
    y: float
    low: bool


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a `tikzpicture`."""
    check_writable(machine)
    spots = _layout(machine)
    lines = [*_preamble(machine), "\\begin{tikzpicture}[auto]"]
    for state, spot in enumerate(spots):
        options = "state,initial" if state == 0 else "state"
        at = f"({spot.x:g},{spot.y:g})"
        lines.append(f"  \\node[{options}] ({state}) at {at} {{{_name(machine, state)}}};")
    drawn = by_ends(machine)
    for (source, target), arrows in drawn.items():
        edge = _edge(source, target, spots, (target, source) in drawn)
        text = "\\\\".join(_label(machine, arrow) for arrow in arrows)
        lines.append(f"  \\path[->] ({source}) {edge} {{{text}}} ({target});")
    return "\n".join([*lines, "\\end{tikzpicture}"]) + "\n"


def loads(text: str, source: str) -> RewardMachine:
    """Read the machine from the comment of a picture that whence wrote."""
    return read_comment(text, source, MARK, dumps)


def _preamble(machine: RewardMachine) -> list[str]:
    lines = [
        "% A reward machine. It needs \\usepackage{tikz} and \\usetikzlibrary{automata}.",
        comment(machine, MARK),
    ]
    if not all(text.isascii() for text in (*machine.alphabet, *machine.state_names)):
        lines.insert(1, "% It has characters beyond ASCII: use LuaLaTeX or XeLaTeX.")
    return lines


def _name(machine: RewardMachine, state: int) -> str:
    if machine.names is not None:
        return _escaped(name_text(machine.names[state]))
    return f"$y_{state}$" if state < 10 else f"$y_{{{state}}}$"


def _label(machine: RewardMachine, arrow: Arrow) -> str:
    if arrow.source == arrow.target and len(arrow.symbols) == len(machine.alphabet):
        return f"${number(arrow.reward)}$"
    symbols = " \\vee ".join(map(_symbol, arrow.symbols))
    return f"${symbols} \\mid {number(arrow.reward)}$"


def _symbol(symbol: str) -> str:
    if _LETTER.fullmatch(symbol):
        return symbol
    return f"\\mbox{{{_escaped(symbol_text(symbol))}}}"


def _escaped(text: str) -> str:
    """Return `text` so that TeX shows it as it is."""
    escaped = "".join(_ESCAPES.get(c, c) for c in text)
    return re.sub("(?<= ) ", "\\\\ ", escaped)


def _layout(machine: RewardMachine) -> list[_Spot]:
    """Place states in columns by their distance from the initial one; unreachable ones last."""
    longest = max((len(label_text(arrow)) for arrow in machine.arrows()), default=0)
    width = min(max(3.5, 2.0 + 0.18 * longest), 10.0)
    depths = _depths(machine)
    columns: dict[int, list[int]] = {}
    for state in sorted(range(machine.n_states), key=lambda state: depths[state]):
        columns.setdefault(depths[state], []).append(state)
    spots = {}
    for depth, column in columns.items():
        middle = (len(column) - 1) / 2
        for row, state in enumerate(column):
            y = _HEIGHT * (middle - row)
            spots[state] = _Spot(round(width * depth, 2), y, row > middle)
    return [spots[state] for state in range(machine.n_states)]


def _depths(machine: RewardMachine) -> list[int]:
    depths, frontier = {0: 0}, [0]
    while frontier:
        targets = machine.transitions[frontier].ravel().tolist()
        fresh = dict.fromkeys(target for target in targets if target not in depths)
        depth = depths[frontier[0]] + 1
        depths.update(dict.fromkeys(fresh, depth))
        frontier = list(fresh)
    before = _deepest_before(machine, depths)
    for state in list(depths):
        if state and (machine.transitions[state] == state).all():  # an end: right of all before
            depths[state] = 1 + before[state]
    last = max(depths.values()) + 1
    return [depths.get(state, last) for state in range(machine.n_states)]


def _deepest_before(machine: RewardMachine, depths: dict[int, int]) -> list[int]:
    """Return, for each state, the depth of the deepest other state that leads to it."""
    own = np.array([depths.get(state, 0) for state in range(machine.n_states)])
    found = np.zeros_like(own)
    sources = np.arange(len(own))[:, None].repeat(machine.transitions.shape[1], axis=1)
    leaves = machine.transitions != sources
    np.maximum.at(found, machine.transitions[leaves], own[sources[leaves]])
    return found.tolist()  # type: ignore[no-any-return]


def _edge(source: int, target: int, spots: list[_Spot], both_ways: bool) -> str:
    """Return the shape of an arrow and the place of its label."""
    start, end = spots[source], spots[target]
    if source == target:
        return f"edge[loop {'below' if start.low else 'above'}] node[align=center]"
    bend = _bend(source, target, spots, both_ways)
    shape = f"[bend {'left' if bend > 0 else 'right'}={abs(bend)}]" if bend else ""
    return f"edge{shape} node[align=center{',swap' if _swapped(start, end, bend) else ''}]"


def _bend(source: int, target: int, spots: list[_Spot], both_ways: bool) -> int:
    """Return the angle by which an arrow leaves the straight line; left is positive."""
    choices = [bend for bend in _BENDS if bend > 0] if both_ways else list(_BENDS)
    if len(spots) > _ROUTED:
        return choices[0]
    others = [spot for state, spot in enumerate(spots) if state not in (source, target)]
    if not others:
        return choices[0]
    points = np.array([point for spot in others for point in _obstacles(spot)])
    clearances = [_clearance(spots[source], spots[target], bend, points) for bend in choices]
    for bend, clearance in zip(choices, clearances, strict=True):
        if clearance >= _CLEAR:
            return bend
    return choices[clearances.index(max(clearances))]


def _swapped(start: _Spot, end: _Spot, bend: int) -> bool:
    """Whether a label stands right of its line: outside of a bend, or away from the middle."""
    if bend or start.x == end.x:
        return bend < 0
    return (start.x < end.x) == (start.y + end.y < 0)


def _obstacles(spot: _Spot) -> list[tuple[float, float]]:
    """The state itself and the label of its loop."""
    return [(spot.x, spot.y), (spot.x, spot.y + (-1.2 if spot.low else 1.2))]


def _clearance(start: _Spot, end: _Spot, bend: int, points: Floats) -> float:
    """Return how near the curve that TikZ draws comes to any of float[k, 2] `points`."""
    dx, dy = end.x - start.x, end.y - start.y
    reach, angle, turn = 0.3915 * math.hypot(dx, dy), math.atan2(dy, dx), math.radians(bend)
    first = start.x + reach * math.cos(angle + turn), start.y + reach * math.sin(angle + turn)
    second = end.x - reach * math.cos(angle - turn), end.y - reach * math.sin(angle - turn)
    t = np.linspace(0, 1, 21)[:, None]
    curve = (
        (1 - t) ** 3 * np.array(start[:2])
        + 3 * (1 - t) ** 2 * t * np.array(first)
        + 3 * (1 - t) * t**2 * np.array(second)
        + t**3 * np.array(end[:2])
    )
    return float(np.linalg.norm(curve[:, None] - points[None], axis=-1).min())
