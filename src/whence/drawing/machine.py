"""A machine as a picture: one self-contained SVG."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.drawing import geometry, text
from whence.drawing.layout import Graph
from whence.drawing.routing import Routing, routed
from whence.model.machine import RewardMachine, number

_NAME, _LABEL, _TITLE, _NOTE = 14.0, 12.0, 16.0, 12.0
_LINE = 16.0
_BOLD = 1.13
_MARGIN = 14.0
_INK, _PAPER, _QUIET, _FAINT = "#1f2328", "#ffffff", "#57606a", "#6e7781"
_GAIN, _LOSS = "#0a58a8", "#b3401f"


@dataclass(frozen=True)
class _Link:
    """All arrows between two states: a curve with a label of several lines."""

    source: int
    target: int
    lines: tuple[tuple[str, float], ...]
    words: str
    dashed: bool

    @property
    def reward(self) -> float:
        """The largest gain if there is one, else the largest loss, else 0."""
        rewards = [reward for _, reward in self.lines]
        return max(rewards) if max(rewards) > 0 else min(rewards)

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of the label."""
        widths = [text.pixels(line, _LABEL) * (_BOLD if paid else 1) for line, paid in self.lines]
        return max(widths) + 8, len(self.lines) * _LINE + 3


def machine_svg(
    machine: RewardMachine,
    *,
    title: str | None = None,
    undetermined: Collection[tuple[int, int]] = frozenset(),
    support: Mapping[tuple[int, int], float] | None = None,
) -> str:
    """Return a drawing of a machine as SVG.

    Symbols that lead to the same state for the same reward share a line `a, b | reward`. Arrows
    that pay are strong, the others quiet; states after which nothing can be paid are grey.

    Args:
        machine: what to draw.
        title: a heading above the drawing.
        undetermined: (state, column) entries whose arrows are drawn dashed.
        support: nats that the best other choice of each (state, column) loses; each line ends
            with the least of its symbols, and a question mark where one is undetermined.
    """
    links = _links(machine, undetermined, support)
    names = text.symbol_names(machine.state_names, 20)
    routing = routed(_graph(names, links))
    order = sorted(range(len(links)), key=lambda at: links[at].reward != 0)
    body = [
        *(_arrow(links[at], routing.controls[at]) for at in order),
        _initial(routing.controls[-1]),
        *(_label(link, routing.labels[at]) for at, link in enumerate(links)),
        *_states(machine, names, routing.places),
    ]
    heading = None if title is None else text.shorten(text.visible(title), 80)
    caption = _captions(support is not None, any(link.dashed for link in links))
    box = _frame(routing, links, names)
    return _document(body, box, heading, caption, _described(machine, title))


def _captions(supported: bool, dashed: bool) -> list[str]:
    """Return the lines below the drawing that explain its marks."""
    lines = ["in brackets: nats that the best other choice loses"] if supported else []
    return lines + (["dashed: not determined by the demonstrations"] if dashed else [])


def _links(
    machine: RewardMachine,
    dashed: Collection[tuple[int, int]],
    support: Mapping[tuple[int, int], float] | None = None,
) -> list[_Link]:
    found = []
    for state in range(machine.n_states):
        groups = text.grouped(machine, state)
        for target in dict.fromkeys(target for target, _ in groups):
            pays = {reward: at for (to, reward), at in groups.items() if to == target}
            lines = [
                (line, reward)
                for reward in sorted(pays, key=lambda paid: (paid == 0, -paid))
                for line in _supported(
                    _lines(machine, pays[reward].tolist(), reward),
                    [(state, column) for column in pays[reward].tolist()],
                    dashed,
                    support,
                )
            ]
            entries = {(state, column) for at in pays.values() for column in at.tolist()}
            words = _words(machine, state, target, {r: at.tolist() for r, at in pays.items()})
            marked = bool(entries & set(dashed))
            found.append(_Link(state, target, tuple(lines), words, marked))
    return found


def _lines(machine: RewardMachine, columns: list[int], reward: float) -> list[str]:
    if len(columns) == len(machine.alphabet) > 1:
        return [f"{text.everything(machine)} | {text.amount(reward)}"]
    symbols = text.symbol_names([machine.alphabet[column] for column in columns], 16)
    return text.label(symbols, reward, width=18)


def _supported(
    lines: list[str],
    entries: list[tuple[int, int]],
    dashed: Collection[tuple[int, int]],
    support: Mapping[tuple[int, int], float] | None,
) -> list[str]:
    """Return the lines of one arrow, the last with its support where that is known."""
    known = [support[entry] for entry in entries if entry in support] if support else []
    if not known:
        return lines
    doubt = "?" if set(entries) & set(dashed) else ""
    return [*lines[:-1], f"{lines[-1]} ({_nats(min(known))}{doubt})"]


def _nats(value: float) -> str:
    """Return a number of nats in five characters or so."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    for least, size, unit in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / size:.0f}{unit}"
    return f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"


def _words(machine: RewardMachine, state: int, target: int, pays: dict[float, list[int]]) -> str:
    names = machine.state_names
    told = (
        ", ".join(machine.alphabet[column] for column in columns) + f" pays {number(reward)}"
        for reward, columns in pays.items()
    )
    return f"{names[state]} to {names[target]}: {'; '.join(told)}"


def _described(machine: RewardMachine, title: str | None) -> tuple[str, str]:
    """Return a title and a description in words."""
    names = machine.state_names
    heading = title if title is not None else f"Reward machine with {machine.n_states} states"
    sentences = [
        f"A reward machine with {machine.n_states} states over the symbols "
        f"{', '.join(machine.alphabet)}. It starts in {names[0]}."
    ]
    sentences += [f"{link.words}." for link in _links(machine, frozenset())]
    return heading, " ".join(sentences)


def _graph(names: Iterable[str], links: list[_Link]) -> Graph:
    return Graph(
        halves=np.array([_half(name) for name in names]),
        links=tuple((link.source, link.target) for link in links),
        sizes=np.array([link.size for link in links]).reshape(-1, 2),
    )


def _half(name: str) -> float:
    """Return how much a state is longer than a circle on either side of its middle."""
    return max(0.0, text.pixels(name, _NAME) / 2 + 8 - geometry.RADIUS)


def _frame(routing: Routing, links: list[_Link], names: tuple[str, ...]) -> Floats:
    """Return float[2, 2]: the corners of what is drawn, without margins."""
    sizes = np.array([link.size for link in links]).reshape(-1, 2) / 2
    reach = np.array([[_half(name) + geometry.RADIUS, geometry.RADIUS] for name in names]) + 2
    curves = geometry.bezier(routing.controls, np.linspace(0, 1, 40)).reshape(-1, 2)
    labels = routing.labels[:-1]
    parts = [routing.places - reach, routing.places + reach, labels - sizes, labels + sizes]
    points = np.concatenate([*parts, curves - 6, curves + 6])
    return np.stack([points.min(axis=0), points.max(axis=0)])


def _document(
    body: list[str],
    box: Floats,
    heading: str | None,
    captions: list[str],
    described: tuple[str, str],
) -> str:
    """Put the parts together: size, background, title, description, drawing, caption."""
    (left, top), (right, bottom) = (box + np.array([[-_MARGIN], [_MARGIN]])).tolist()
    wide = [text.pixels(line, _NOTE) for line in captions]
    wide.append(text.pixels(heading or "", _TITLE) * _BOLD)
    spare = max(0.0, max(wide) + 2 * _MARGIN - (right - left)) / 2
    left, right = left - spare, right + spare
    middle = (left + right) / 2
    if heading is not None:
        top -= 30
        body = [*body, _text(heading, middle, top + 25, _TITLE, _INK, bold=True)]
    for caption in captions:
        bottom += 18
        body = [*body, _text(caption, middle, bottom - 11, _NOTE, _QUIET)]
    width, height = round(right - left, 1), round(bottom - top, 1)
    frame = f'x="{left:.1f}" y="{top:.1f}" width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{left:.1f} {top:.1f} {width} {height}" role="img" font-family="{text.FONT}">\n'
        f"<title>{text.xml(described[0])}</title>\n<desc>{text.xml(described[1])}</desc>\n"
        f'<rect class="background" {frame} rx="6" fill="{_PAPER}"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _colour(reward: float) -> str:
    return _FAINT if reward == 0 else _GAIN if reward > 0 else _LOSS


def _arrow(link: _Link, controls: Floats) -> str:
    strong = link.reward != 0
    dash = ' stroke-dasharray="6 4"' if link.dashed else ""
    return (
        f'<g data-from="{link.source}" data-to="{link.target}">'
        f"<title>{text.xml(link.words)}</title>"
        f"{_curve(controls, _colour(link.reward), 2.4 if strong else 1.4, dash)}</g>"
    )


def _initial(controls: Floats) -> str:
    return f'<g class="initial">{_curve(controls, _INK, 1.8, "")}</g>'


def _curve(controls: Floats, colour: str, weight: float, dash: str) -> str:
    """Return a curve with an arrowhead; the line ends inside of the head."""
    size = 6.5 + 1.9 * weight
    speed = 3 * max(float(np.hypot(*(controls[3] - controls[2]))), 1.0)
    end = np.array(max(0.5, 1 - 0.8 * size / speed))
    line = geometry.subcurve(controls, np.array(0.0), end)
    ahead = controls[3] - line[3]
    ahead = ahead / max(float(np.hypot(*ahead)), 1e-9)
    back = controls[3] - size * ahead
    aside = np.array([-ahead[1], ahead[0]]) * size * 0.42
    head = f"M{_xy(controls[3])}L{_xy(back + aside)}L{_xy(back - aside)}Z"
    path = f"M{_xy(line[0])}C{_xy(line[1])} {_xy(line[2])} {_xy(line[3])}"
    return (
        f'<path class="arrow" d="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="{weight}"{dash}/><path class="head" d="{head}" fill="{colour}"/>'
    )


def _xy(point: Floats) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _label(link: _Link, centre: Floats) -> str:
    x, y = centre.tolist()
    width, height = link.size
    top = y - len(link.lines) * _LINE / 2
    lines = "".join(
        _text(
            line,
            x,
            top + at * _LINE + 12,
            _LABEL,
            _colour(reward) if reward else _QUIET,
            bold=reward != 0,
        )
        for at, (line, reward) in enumerate(link.lines)
    )
    return (
        f'<g data-from="{link.source}" data-to="{link.target}">'
        f'<title>{text.xml(link.words)}</title><rect class="label" x="{x - width / 2:.1f}" '
        f'y="{y - height / 2:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" '
        f'fill="{_PAPER}"/>{lines}</g>'
    )


def _states(machine: RewardMachine, names: tuple[str, ...], places: Floats) -> list[str]:
    alive = machine.can_pay.tolist()
    return [
        _state(name, full, places[at], alive[at]).replace("<g>", f'<g data-state="{at}">', 1)
        for at, (name, full) in enumerate(zip(names, machine.state_names, strict=True))
    ]


def _state(name: str, full: str, place: Floats, alive: bool) -> str:
    x, y = place.tolist()
    half, radius = _half(name), geometry.RADIUS
    fill, edge = ("#eaf2fb", _INK) if alive else ("#eceef0", _FAINT)
    return (
        f'<g><title>{text.xml(full)}</title><rect class="state" x="{x - half - radius:.1f}" '
        f'y="{y - radius:.1f}" width="{2 * (half + radius):.1f}" height="{2 * radius:.0f}" '
        f'rx="{radius:.0f}" fill="{fill}" stroke="{edge}" stroke-width="1.6"/>'
        f"{_text(name, x, y + 5, _NAME, _INK if alive else _QUIET)}</g>"
    )


def _text(shown: str, x: float, y: float, size: float, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.0f}" fill="{colour}" '
        f'text-anchor="middle"{weight}>{text.xml(shown)}</text>'
    )
