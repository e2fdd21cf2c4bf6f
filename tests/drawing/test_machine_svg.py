"""Facts about drawings of machines, read back from the SVG itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest

from whence import RewardMachine
from whence.drawing import machine_svg
from whence.drawing.text import pixels

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]
Points = npt.NDArray[np.float64]

COFFEE = RewardMachine.from_arrows(
    ["before -c-> holding", "before -*-> over", "holding -o/1-> over", "holding -*-> over"],
    alphabet=["c", "o", "*"],
)
RECHARGE = RewardMachine.from_arrows(
    ["dry -w-> wet", "dry -l-> over", "dry -r/1-> over", "wet -t-> dry", "wet -l,r-> over"],
    alphabet=["t", "w", "l", "r"],
)
MULTI_COFFEE = RewardMachine.from_arrows(
    [
        "before -c-> strong",
        "before -k-> weak",
        "before -*-> over",
        "strong -o/2-> over",
        "strong -*-> over",
        "weak -o/1-> over",
        "weak -*-> over",
    ],
    alphabet=["c", "k", "o", "*"],
)
PAPER = [COFFEE, RECHARGE, MULTI_COFFEE]


@dataclass(frozen=True)
class Picture:
    """What a drawing shows, read from its SVG."""

    frame: Box
    states: list[Box]
    labels: dict[tuple[int, int], Box]
    lines: dict[tuple[int, int], list[str]]
    arrows: dict[tuple[int, int], Points]
    dashed: set[tuple[int, int]]
    texts: list[Box]
    title: str
    description: str


def read(svg: str) -> Picture:
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    labels, lines, arrows, dashed = {}, {}, {}, set()
    for group in root.iter(f"{SVG}g"):
        if "data-from" not in group.attrib:
            continue
        link = int(group.attrib["data-from"]), int(group.attrib["data-to"])
        rect, paths = group.find(f"{SVG}rect[@class='label']"), group.findall(f"{SVG}path")
        if rect is not None:
            labels[link] = box(rect)
            lines[link] = [shown(line) for line in group.findall(f"{SVG}text")]
        else:
            arrows[link] = sampled(paths[0].attrib["d"], paths[1].attrib["d"])
        if any("stroke-dasharray" in path.attrib for path in paths):
            dashed.add(link)
    return Picture(
        frame=(left, top, left + width, top + height),
        states=[box(rect) for rect in root.iter(f"{SVG}rect") if rect.get("class") == "state"],
        labels=labels,
        lines=lines,
        arrows=arrows,
        dashed=dashed,
        texts=[text_box(element) for element in root.iter(f"{SVG}text")],
        title=shown(root.find(f"{SVG}title")),
        description=shown(root.find(f"{SVG}desc")),
    )


def shown(element: ElementTree.Element | None) -> str:
    assert element is not None
    return element.text or ""


def box(rect: ElementTree.Element) -> Box:
    x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def text_box(element: ElementTree.Element) -> Box:
    x, y, size = (float(element.attrib[key]) for key in ("x", "y", "font-size"))
    half = pixels(shown(element), size) / 2
    return x - half, y - size, x + half, y + size / 4


def sampled(curve: str, head: str) -> Points:
    """Return points along a curve, and the tip of its arrowhead."""
    controls = np.array(re.findall(r"-?[\d.]+", curve), dtype=np.float64).reshape(4, 2)
    tip = np.array(re.findall(r"-?[\d.]+", head), dtype=np.float64)[:2]
    t = np.linspace(0, 1, 200)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.vstack([weights @ controls, tip])


def outside_of(points: Points, state: Box) -> Points:
    """Return how far points lie outside of a state's circle or stadium."""
    left, top, right, bottom = state
    radius = (bottom - top) / 2
    nearest = np.clip(points[:, 0], left + radius, right - radius)
    return np.asarray(np.hypot(points[:, 0] - nearest, points[:, 1] - top - radius) - radius)


def label_on_state(label: Box, state: Box) -> bool:
    left, top, right, bottom = state
    radius = (bottom - top) / 2
    apart_x = max(label[0] - (right - radius), left + radius - label[2], 0.0)
    apart_y = max(label[1] - top - radius, top + radius - label[3], 0.0)
    return bool(np.hypot(apart_x, apart_y) < radius)


def overlapping(first: Box, second: Box) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )


def inside(part: Box, frame: Box) -> bool:
    return (
        part[0] >= frame[0] and part[1] >= frame[1] and part[2] <= frame[2] and part[3] <= frame[3]
    )


def flaws(svg: str) -> list[str]:
    """Return everything that makes a drawing hard to read."""
    picture = read(svg)
    boxes = list(picture.labels.values())
    found = [f"labels {a} {b}" for a, b in combinations(boxes, 2) if overlapping(a, b)] + [
        f"label {label} on state {state}"
        for label in boxes
        for state in picture.states
        if label_on_state(label, state)
    ]
    for link, points in picture.arrows.items():
        low, high = points.min(axis=0), points.max(axis=0)
        if not inside((low[0], low[1], high[0], high[1]), picture.frame):
            found.append(f"arrow {link} leaves the frame")
        for at, state in enumerate(picture.states):
            if outside_of(points, state).min() < (-1.5 if at in link else 1.0):
                found.append(f"arrow {link} runs through state {at}")
    parts = [*boxes, *picture.states, *picture.texts]
    return found + [f"{part} is cut off" for part in parts if not inside(part, picture.frame)]


def hidden_arrows(svg: str) -> int:
    """Return how many labels lie on an arrow that is not theirs."""
    picture = read(svg)
    count = 0
    for mine, label in picture.labels.items():
        for link, points in picture.arrows.items():
            within = (points > label[:2]).all(axis=1) & (points < label[2:]).all(axis=1)
            count += link != mine and bool(within.any())
    return count


def random_machine(seed: int, n: int, m: int, p_self: float) -> RewardMachine:
    generator = np.random.default_rng(seed)
    symbols = [chr(ord("a") + column) for column in range(m)]
    while True:
        stays = generator.random((n, m)) < p_self
        transitions = np.where(stays, np.arange(n)[:, None], generator.integers(n, size=(n, m)))
        rewards = np.where(generator.random((n, m)) < 0.75, 0, generator.integers(-1, 3, (n, m)))
        machine = RewardMachine(symbols, transitions, rewards)
        if machine.is_valid:
            return machine


@pytest.mark.parametrize("machine", PAPER)
def test_paper_machines_have_no_flaw(machine: RewardMachine) -> None:
    svg = machine_svg(machine, title="A task")
    assert flaws(svg) == []
    assert hidden_arrows(svg) == 0


@pytest.mark.parametrize("seed", range(60))
def test_random_machines_have_no_flaw(seed: int) -> None:
    machine = random_machine(
        seed, n=2 + seed % 15, m=(2, 3, 4, 6)[seed // 15], p_self=(0.5, 0.1)[seed % 2]
    )
    svg = machine_svg(machine)
    assert flaws(svg) == []
    assert hidden_arrows(svg) == 0
    joined = {(arrow.source, arrow.target) for arrow in machine.arrows()}
    assert set(read(svg).arrows) == set(read(svg).labels) == joined
    assert len(read(svg).states) == machine.n_states


def test_the_checker_sees_what_it_must() -> None:
    svg = machine_svg(MULTI_COFFEE)
    picture = read(svg)
    first, second = list(picture.labels.values())[:2]
    moved = svg.replace(
        f'class="label" x="{first[0]:.1f}" y="{first[1]:.1f}"',
        f'class="label" x="{second[0]:.1f}" y="{second[1]:.1f}"',
    )
    assert any(flaw.startswith("labels") for flaw in flaws(moved))
    onto = svg.replace(
        f'class="label" x="{first[0]:.1f}" y="{first[1]:.1f}"',
        f'class="label" x="{picture.states[0][0]:.1f}" y="{picture.states[0][1]:.1f}"',
    )
    assert any("on state" in flaw for flaw in flaws(onto))
    narrow = re.sub(r'viewBox="(\S+) (\S+) (\S+) ', r'viewBox="\1 \2 200 ', svg)
    assert any("cut off" in flaw for flaw in flaws(narrow))
    state = picture.states[1]
    aside = svg.replace(f'x="{state[0]:.1f}"', f'x="{(picture.states[0][0] + 40):.1f}"').replace(
        f'y="{state[1]:.1f}" width', f'y="{picture.states[0][1]:.1f}" width'
    )
    assert any("runs through" in flaw for flaw in flaws(aside))


def test_symbols_share_a_line_by_target_and_reward() -> None:
    lines = read(machine_svg(RECHARGE)).lines
    assert lines[0, 1] == ["w | 0"]
    assert lines[1, 2] == ["l, r | 0"]
    assert lines[0, 2] == ["r | 1", "l | 0"]
    assert lines[2, 2] == ["any | 0"]


def test_any_is_another_word_where_it_is_a_symbol() -> None:
    machine = RewardMachine(["any", "b"], [[0, 0]], [[1, 1]])
    assert read(machine_svg(machine)).lines[0, 0] == ["any symbol | 1"]


def test_arrows_that_pay_stand_out() -> None:
    root = ElementTree.fromstring(machine_svg(COFFEE))
    weights = {
        (group.get("data-from"), group.get("data-to")): float(path.attrib["stroke-width"])
        for group in root.iter(f"{SVG}g")
        for path in group.findall(f"{SVG}path[@class='arrow']")
    }
    paying = weights.pop(("1", "2"))
    assert paying > max(weight for link, weight in weights.items() if link != (None, None))


def test_undetermined_entries_are_dashed_and_explained() -> None:
    svg = machine_svg(COFFEE, undetermined=frozenset({(1, 2), (0, 1)}))
    assert read(svg).dashed == {(1, 2), (0, 0)}
    assert "dashed: not determined" in svg
    assert "dashed" not in machine_svg(COFFEE)
    assert flaws(svg) == []


def test_two_way_pairs_bend_apart() -> None:
    machine = RewardMachine(["a"], [[1], [0]], [[1], [0]])
    arrows = read(machine_svg(machine)).arrows
    there, back = arrows[0, 1], arrows[1, 0]
    gaps = np.hypot(*(there[:, None] - back[None]).T).min(axis=0)
    assert gaps[60:140].min() > 8


@pytest.mark.parametrize("n", [3, 4, 5, 7])
def test_complete_graphs_have_no_flaw(n: int) -> None:
    machine = RewardMachine(
        [f"s{column}" for column in range(n)], [list(range(n))] * n, np.eye(n).tolist()
    )
    assert flaws(machine_svg(machine)) == []


@pytest.mark.parametrize("n", [2, 9, 16])
def test_rings_have_no_flaw(n: int) -> None:
    ring = [[(state + 1) % n, state] for state in range(n)]
    machine = RewardMachine(["go", "wait"], ring, [[state == 0, 0] for state in range(n)])
    svg = machine_svg(machine)
    assert flaws(svg) == []
    assert read(svg).frame[2] - read(svg).frame[0] < 1200


def test_one_state_with_and_without_symbols() -> None:
    assert read(machine_svg(RewardMachine(["a"], [[0]], [[1]]))).lines[0, 0] == ["a | 1"]
    empty = RewardMachine([], np.zeros((1, 0), dtype=int), np.zeros((1, 0)))
    svg = machine_svg(empty, title="nothing to read")
    assert flaws(svg) == []
    assert read(svg).arrows == {}


def test_strange_names_stay_inside_and_harmless() -> None:
    names = ["<script>&\"'", "line\nbreak\x1b[31m\x00\ufffe\ud800", "🤖☕日本語" * 9, "x" * 500]
    symbols = ["a\tb", "<&>", "]]>", "\u202eevil", "very long symbol " * 9]
    targets = [[(state + column) % 4 for column in range(5)] for state in range(4)]
    machine = RewardMachine(symbols, targets, [[0, 1, 0, -2.5, 1 / 3]] * 4, names)
    svg = machine_svg(machine, title="<b>\x07" + "long " * 99)
    assert flaws(svg) == []
    assert not set(svg) & set("\x1b\x00\x07\ufffe\ud800\u202e")
    picture = read(svg)
    assert "line\\nbreak\\x1b[31m" in picture.description
    assert "x" * 500 in picture.description
    assert max(right - left for left, _, right, _ in picture.states) < 320
    assert any("-2.5" in line for lines in picture.lines.values() for line in lines)


def test_names_that_end_differently_stay_different() -> None:
    names = [f"a_room_with_a_very_long_name_{at}" for at in range(3)]
    ring = RewardMachine(["a"], [[1], [2], [0]], [[1], [0], [0]], names)
    svg = machine_svg(ring)
    root = ElementTree.fromstring(svg)
    drawn = [shown(text) for text in root.iter(f"{SVG}text") if "…" in shown(text)]
    assert len(set(drawn)) == 3


def test_many_symbols_are_counted_not_listed() -> None:
    symbols = [f"symbol{at}" for at in range(60)]
    machine = RewardMachine(symbols, [[1] * 59 + [0], [1] * 60], [[1] * 60, [0] * 60])
    svg = machine_svg(machine)
    assert flaws(svg) == []
    assert any("more" in line for line in read(svg).lines[0, 1])
    assert "symbol58" in read(svg).description


def test_it_is_described_in_words() -> None:
    picture = read(machine_svg(COFFEE, title="Coffee"))
    assert picture.title == "Coffee"
    assert "starts in before" in picture.description
    assert "holding to over: o pays 1; * pays 0" in picture.description


def test_the_same_machine_gives_the_same_drawing() -> None:
    machine = random_machine(5, n=7, m=3, p_self=0.3)
    again = RewardMachine(machine.alphabet, machine.transitions, machine.rewards)
    assert machine_svg(machine) == machine_svg(again)


def test_the_background_is_opaque() -> None:
    root = ElementTree.fromstring(machine_svg(COFFEE))
    background = root.find(f"{SVG}rect[@class='background']")
    assert background is not None
    assert background.get("fill") == "#ffffff"
    assert box(background) == pytest.approx(read(machine_svg(COFFEE)).frame, abs=0.11)


def test_support_stands_behind_each_line_and_is_the_least_of_its_symbols() -> None:
    support = {(0, 0): 12.3, (0, 1): 4.56, (0, 2): float("inf"), (1, 1): 123456.0, (1, 2): -0.2}
    shown = read(machine_svg(COFFEE, support=support, undetermined=[(0, 1)]))
    assert shown.lines[0, 1] == ["c | 0 (12)"]
    assert shown.lines[0, 0] == ["o | 0 (4.6?)"]
    assert shown.lines[0, 2] == ["* | 0 (∞)"]
    assert shown.lines[1, 2] == ["o | 1 (123k)", "* | 0 (-0.2)"]
    assert shown.lines[2, 2] == ["any | 0"]
    together = {(2, column): nats for column, nats in enumerate((8.0, 3.0, 5.0))}
    assert read(machine_svg(COFFEE, support=together)).lines[2, 2] == ["any | 0 (3.0)"]
