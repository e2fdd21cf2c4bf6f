"""whence bench."""

from __future__ import annotations

import click

from whence.cli.console import Output, output_options


@click.command("bench")
@click.option("--machines", type=int, default=200, show_default=True, help="Scored in each case.")
@click.option("--seed", type=int, default=0, show_default=True)
@output_options
def command(machines: int, seed: int, out: Output) -> None:
    """Measure how fast machines are scored, as ratios to other programs."""
    from rich.table import Table

    from whence.bench import engine
    from whence.errors import ArgumentError
    from whence.simulation import checked_seed

    if machines < 1:
        raise ArgumentError(f"--machines {machines}: give a number of at least 1")
    checked_seed(seed)
    results = []
    for world, discount in engine.CASES:
        if not out.quiet:
            click.echo(f"measuring {world} at discount {discount} ...", err=True)
        results.append(engine.measure(world, discount, machines, seed))
    out.document({"cases": [r.document() for r in results], "machines": machines, "seed": seed})
    table = Table("world", "discount", "µs a machine", "QuantEcon", "readable engine", "all cores")
    for r in results:
        ratios = [f"{ratio:.0f} times" for ratio in (r.quantecon, r.reference)]
        table.add_row(
            r.world, str(r.discount), f"{r.microseconds:.1f}", *ratios, f"{r.threads:.2f} times"
        )
    out.show(table, "one thread each; the last column is the gain of all cores over one")
