"""Routes in words: loops as loops, either order as such, choices as choices."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whence.analysis.routes import ANYTHING, Moves, cycle
from whence.drawing import text

WORD = re.compile(r"[^\W\d_]{2,}(?:[ -][^\W\d_]{2,})*")
TAKEN = frozenset({"and", "or", "then", "first", "either", "order", "nothing", "over", "in", "it"})
LONGEST = 30  # characters of a label
MOST_TOGETHER = 4  # labels that are looked at for coming in any order
DEEPEST = 3  # choices within choices
ENDLESS = ", over and over"


def shown(alphabet: Sequence[str]) -> tuple[str, ...]:
    """Return labels as sentences show them.

    Words stand as they are where all labels are words that a sentence is not made of itself;
    otherwise every label stands between backquotes.
    """
    plain = all(WORD.fullmatch(label) and label.lower() not in TAKEN for label in alphabet)
    return tuple(label if plain and len(label) <= LONGEST else quoted(label) for label in alphabet)


def quoted(label: str) -> str:
    """Return a label between backquotes, none of them within."""
    inside = text.visible(label).replace("`", "'")
    return f"`{text.shorten(inside, LONGEST)}`"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Return `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def in_turn(labels: Sequence[str]) -> str:
    """Return `a, then b`."""
    return ", then ".join(labels)


def around(loop: Sequence[int], names: Sequence[str]) -> str:
    """Return a loop in words, such as `a and b in turn, over and over`."""
    labels = [names[symbol] for symbol in loop]
    said = f"{listed(labels)} in turn" if len(labels) == 2 else in_turn(labels)
    return said + ENDLESS


def phrase(moves: Moves, names: Sequence[str], *, by_start: bool = False) -> str:
    """Return a route in words, such as `first a, then b, over and over`; `nothing` for none.

    Args:
        moves: the automaton.
        names: how each symbol is shown.
        by_start: whether what comes first depends on the start alone.
    """
    parts, loop = _parts(moves, names, 0, DEEPEST)
    if by_start and parts:
        parts[0] += ", depending on the start" + ("," if len(parts) > 1 else "")
    return _joined(parts, loop).replace(",,", ",")


def _joined(parts: list[str], loop: int | None) -> str:
    """Return parts in turn; from the one numbered `loop` on they come again and again."""
    if not parts:
        return "nothing"
    first = "first " if len(parts) > 1 else ""
    if loop is None or loop == 0:
        return first + in_turn(parts) + ("" if loop is None else ENDLESS)
    again = in_turn(parts[loop:])
    return f"first {in_turn(parts[:loop])}, and from then on {again}{ENDLESS}"


def _parts(
    moves: Moves, names: Sequence[str], node: int, deeper: int
) -> tuple[list[str], int | None]:
    """Return the parts of a route from a node on, and the part that it comes back to, if any."""
    parts: list[str] = []
    seen: dict[int, int] = {}
    here: int | None = node
    while here is not None and here not in seen and moves[here]:
        seen[here] = len(parts)
        if moves[here][0][0] == ANYTHING:
            parts.append("more, in ways too many to say")
            return parts, None
        loop = cycle(moves, here)
        if loop is not None and len(moves[here]) > 1:
            parts.append(f"{around(loop, names)}, {_entered(moves[here], loop, names)}")
            return parts, None
        part, here = _part(moves, names, here, deeper)
        parts.append(part)
    return parts, seen.get(here) if here is not None else None


def _entered(edges: tuple[tuple[int, int], ...], loop: Sequence[int], names: Sequence[str]) -> str:
    """Return where a loop may begin."""
    if len(edges) < len(set(loop)):
        return f"beginning with {listed([names[symbol] for symbol, _ in edges], 'or')}"
    return f"beginning with {'either' if len(edges) == 2 else 'any of them'}"


def _part(moves: Moves, names: Sequence[str], node: int, deeper: int) -> tuple[str, int | None]:
    """Return what comes next at a node, and the node after it; None where that is all."""
    edges = moves[node]
    if len({target for _, target in edges}) == 1:
        return listed([names[symbol] for symbol, _ in edges], "or"), edges[0][1]
    together = _any_order(moves, node, frozenset(symbol for symbol, _ in edges))
    if together is not None:
        labels = [names[symbol] for symbol, _ in edges]
        return f"{listed(labels)} in {'either' if len(labels) == 2 else 'any'} order", together
    chains = [_chain(moves, target) for _, target in edges]
    join = next((at for at in chains[0] if all(at in chain for chain in chains)), None)
    if join is not None:
        ways = [
            in_turn([names[s] for s in (symbol, *_along(moves, target, join))])
            for symbol, target in edges
        ]
        return "either " + ", or ".join(ways), join
    return _split(moves, names, edges, deeper), None


def _split(
    moves: Moves, names: Sequence[str], edges: tuple[tuple[int, int], ...], deeper: int
) -> str:
    """Return alternatives that never meet again."""
    if not deeper:
        return listed([names[symbol] for symbol, _ in edges], "or") + ", and so on"
    ways = []
    for symbol, target in edges:
        parts, loop = _parts(moves, names, target, deeper - 1)
        rest = _joined(parts, loop).removeprefix("first ")
        ways.append(f"{names[symbol]}, then {rest}" if parts else names[symbol])
    return "either " + ", or ".join(ways)


def _any_order(moves: Moves, node: int, labels: frozenset[int]) -> int | None:
    """Return the node after some labels, where they are wanted in any order; else None."""
    if not labels:
        return node
    if len(labels) > MOST_TOGETHER or {symbol for symbol, _ in moves[node]} != labels:
        return None
    ends = {_any_order(moves, target, labels - {symbol}) for symbol, target in moves[node]}
    return ends.pop() if len(ends) == 1 else None


def _chain(moves: Moves, node: int) -> list[int]:
    """Return a node and those after it, as long as there is one way to go on."""
    chain = [node]
    while len(moves[chain[-1]]) == 1 and moves[chain[-1]][0][1] not in chain:
        chain.append(moves[chain[-1]][0][1])
    return chain


def _along(moves: Moves, node: int, end: int) -> list[int]:
    """Return the labels from a node to another, one way to go on in each."""
    labels = []
    while node != end:
        symbol, node = moves[node][0]
        labels.append(symbol)
    return labels
