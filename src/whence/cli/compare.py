"""whence compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli._console import Output, output_options, printable

if TYPE_CHECKING:
    from whence.model.machine import RewardMachine


@click.command("compare")
@click.argument("a")
@click.argument("b")
@click.option("--world", metavar="WORLD", help="Also compare them on what this world can produce.")
@click.option("--start", metavar="X,Y", help="With --world: where its episodes start.")
@output_options
def command(a: str, b: str, world: str | None, start: str | None, out: Output) -> None:
    """Say whether the machines A and B are the same, or what tells them apart."""
    from whence.cli import _inputs as inputs
    from whence.errors import ArgumentError

    if start is not None and world is None:
        raise ArgumentError(f"--start {start}: there is no world to start in; add --world WORLD")
    first, second = inputs.machine(a), inputs.machine(b)
    told = first.difference(second)
    document: dict[str, object] = {
        "same": told is None,
        "difference": None if told is None else list(told),
        "rewards": None if told is None else _rewards(first, second, told),
    }
    lines = [_sentence(first, second, told, "the same")]
    if world is not None:
        inside = first.difference(second, inputs.setting(world, start).mdp)
        document |= {
            "same_in_world": inside is None,
            "difference_in_world": None if inside is None else list(inside),
            "rewards_in_world": None if inside is None else _rewards(first, second, inside),
        }
        lines.append(f"in this world: {_sentence(first, second, inside, 'the same')}")
    out.document(document)
    out.show("\n".join(lines))


def _rewards(a: RewardMachine, b: RewardMachine, labels: tuple[str, ...]) -> list[list[float]]:
    return [list(a.run(labels).rewards), list(b.run(labels).rewards)]


def _sentence(
    a: RewardMachine, b: RewardMachine, labels: tuple[str, ...] | None, same: str
) -> str:
    from whence.model.machine import number

    if labels is None:
        return same
    paid = [" ".join(number(r) for r in rewards) for rewards in _rewards(a, b, labels)]
    told = printable(" ".join(labels))
    return f"different: {told}\n  the first pays  {paid[0]}\n  the second pays {paid[1]}"
