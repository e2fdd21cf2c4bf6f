"""One sweep over a small world as straight code: a variable a row, a statement an action."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from whence._arrays import Bools, Ints
from whence.likelihood.cuda.plan import Rows

MOST_ROWS = 112  # whose values fit into the registers of a lane
MOST_OUTCOMES = 6_000  # that are worth compiling
MOST_SYMBOLS = 40  # whose arrows fit into fast memory in all the ways that they are needed
LONGEST_DISCOUNT = 0.98  # beyond, extrapolation saves more than registers do
KERNELS = {"solve_roughly": 8, "solve_finely": 8}  # and blocks that a processor has registers for
SITTER = 48  # bytes that a lane keeps of its machine
ROUGH = 1e-7  # of the largest value: what 32-bit numbers are exact to

# Where an action may end, by weight, but for its likeliest outcome; and the weight of that one.
Outcomes = tuple[tuple[tuple[float, tuple[int, ...]], ...], float]


def pays(rows: Rows, discount: float) -> bool:
    """Return whether a world is small enough, and its discount, for straight code."""
    few = rows.swept <= MOST_ROWS and int(rows.entries[rows.first[rows.swept]]) <= MOST_OUTCOMES
    return few and discount <= LONGEST_DISCOUNT and rows.swept > 0


def rough_sweeps(discount: float) -> int:
    """Return how many sweeps in 32-bit numbers are of any use."""
    return 1 if discount == 0 else math.ceil(math.log(ROUGH) / math.log(discount))


def code(rows: Rows, discount: float) -> str:
    """Return the macros that `straight.cu` is compiled with, for an expert of a discount."""
    every = range(rows.swept)
    again = _again(rows, discount)
    rough = [_swept(rows, row, discount, again, "y", "f") for row in every]
    fine = [_swept(rows, row, discount, again, "x", "") for row in every]
    return "\n".join(
        [
            "",
            f"#define LOOPS {int(again.any())}",
            "#define ROWS32 float " + ", ".join(f"y{row} = 0.0f" for row in every) + ";",
            "#define SWEEP32 " + " ".join(rough),
            "#define CLEAR32 " + " ".join(f"EMPTY32(y{row})" for row in every),
            "#define STORE32 " + " ".join(f"KEEP32({row}, y{row})" for row in every),
            "#define LEAP32 " + " ".join(f"LEAD32({row}, y{row})" for row in every),
            "#define ROWS double " + ", ".join(f"x{row} = 0.0" for row in every) + ";",
            "#define LOAD " + " ".join(f"FROM({row}, x{row})" for row in every),
            "#define SWEEP " + " ".join(fine),
            "#define SIZE " + " ".join(f"MEASURE(x{row})" for row in every),
            "#define STORE " + " ".join(f"KEEP({row}, x{row})" for row in every),
            "#define LEAPS " + " ".join(f"LEAD({row}, x{row})" for row in every),
            "",
        ]
    )


def _swept(rows: Rows, row: int, discount: float, again: Ints, name: str, suffix: str) -> str:
    """Return the statements that give one row its new value, in numbers of one kind."""
    kind, mark = ("float", "32") if suffix else ("double", "")
    label, step = int(rows.label[row]), int(again[row])
    worth = [f"AGAIN{mark}({label}, {step})"] if step else []
    if math.isfinite(rows.least[row]):
        worth.append(f"{float(rows.least[row])!r}{suffix}")
    actions = _actions(rows, row)
    unit = _unit(actions) if rows.wide else 1.0
    worth += [_worth(rest, lead, ends, unit, name, suffix) for (rest, lead), ends in actions]
    best = f"b * {unit * discount!r}{suffix}"
    last = f"PUT{mark}({name}{row}, {best})"
    if label >= 0:
        last = f"ENTER{mark}({name}{row}, {best}, {label})"
    return f"{{ {kind} b = {_largest(worth, suffix)}; {last} }}"


def _actions(rows: Rows, row: int) -> list[tuple[Outcomes, tuple[int, ...]]]:
    """Return a row's actions, those together that differ in where their likeliest outcome ends."""
    alike: dict[Outcomes, list[int]] = {}
    for pair in range(rows.first[row], rows.first[row + 1]):
        ends: dict[float, list[int]] = {}
        for e in range(rows.entries[pair], rows.entries[pair + 1]):
            ends.setdefault(float(rows.weight[e]), []).append(int(rows.after[e]))
        lead = max((weight for weight in ends if len(ends[weight]) == 1), default=0.0)
        rest = tuple(
            sorted((weight, tuple(sorted(to))) for weight, to in ends.items() if weight != lead)
        )
        alike.setdefault((rest, lead), []).extend(ends.get(lead, []))
    return [(key, tuple(dict.fromkeys(to))) for key, to in alike.items()]


def _unit(actions: list[tuple[Outcomes, tuple[int, ...]]]) -> float:
    """Return the weight that most outcomes share: what is counted in it costs a product less."""
    found = Counter(weight for (rest, _), _ in actions for weight, _ in rest)
    return found.most_common(1)[0][0] if found else 1.0


def _worth(
    rest: tuple[tuple[float, tuple[int, ...]], ...],
    lead: float,
    ends: tuple[int, ...],
    unit: float,
    name: str,
    suffix: str,
) -> str:
    """Return what the best of some actions is worth, in a unit; what they share is summed once."""
    parts = [(weight, " + ".join(f"{name}{end}" for end in to)) for weight, to in rest]
    if ends:
        parts.append((lead, _largest([f"{name}{end}" for end in ends], suffix)))
    return " + ".join(
        f"({total})" if weight == unit else f"{weight / unit!r}{suffix} * ({total})"
        for weight, total in parts
    )


def _largest(terms: list[str], suffix: str) -> str:
    """Return the largest of some terms, each named once."""
    most = "fmaxf" if suffix else "larger"
    first, *others = dict.fromkeys(terms)
    for other in others:
        first = f"{most}({first}, {other})"
    return first


def _again(rows: Rows, discount: float) -> Ints:
    """Return int64[swept]: in how many steps, 1 or 2, a row's label can be read for ever; or 0.

    So it is where an action leads for sure to a row of the same label, from which it is so, too.
    """
    result = np.zeros(rows.swept, dtype=np.int64)
    if rows.wide:
        return result
    pairs = rows.first[rows.swept]
    origin = np.repeat(np.arange(rows.swept), np.diff(rows.first[: rows.swept + 1]))
    after, weight = rows.after[:pairs], rows.weight[:pairs]
    once = weight == 1.0
    blank = rows.label[: rows.swept] < 0
    by_two = [(origin[weight == discount], after[weight == discount])] if discount < 1 else []
    one = origin[once], after[once]
    through = once & blank[after]
    for row, middle in zip(origin[through].tolist(), after[through].tolist(), strict=True):
        beyond = after[rows.first[middle] : rows.first[middle + 1]]
        by_two.append((np.full(len(beyond), row), beyond))
    two = tuple(np.concatenate(parts) for parts in zip(*by_two, strict=True)) if by_two else one
    result[_lasting(rows, two[0], two[1])] = 2
    result[_lasting(rows, *one)] = 1
    return result


def _lasting(rows: Rows, origin: Ints, after: Ints) -> Bools:
    """Return bool[swept]: the rows from which some edges lead on and on to the same label."""
    label = rows.label[: rows.swept]
    same = (label[origin] >= 0) & (label[origin] == label[after])
    origin, after = origin[same], after[same]
    found = np.zeros(rows.swept, dtype=np.bool_)
    found[origin] = True
    while True:
        fewer = np.zeros_like(found)
        fewer[origin[found[after]]] = True
        fewer &= found
        if (fewer == found).all():
            return found
        found = fewer
