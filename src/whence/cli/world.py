"""whence world."""

from __future__ import annotations

import click

from whence.cli._console import (
    Output,
    available_option,
    output_options,
    repair_options,
    table_options,
)

MOST_DRAWN = 10_000  # cells that a terminal can show


@click.command("world")
@click.argument("world")
@click.option("-o", "--output", metavar="FILE", help="Write .json, .npz, .map, .svg or .png.")
@click.option("--start", metavar="X,Y", help="Where episodes start.")
@available_option
@table_options
@repair_options
@output_options
def command(
    world: str,
    output: str | None,
    start: str | None,
    available: str | None,
    table: dict[str, str],
    repair: bool,
    as_is: bool,
    out: Output,
) -> None:
    """Show WORLD, a built-in name or a file, or write it out.

    A table of demonstrations (.csv, .tsv, .parquet) stands for the world estimated from it.
    """
    from whence.cli._inputs import check_columns, setting
    from whence.io import is_table

    check_columns(table, world)
    if is_table(world):
        from whence.cli import _logs as logs

        given, _ = logs.read(
            world, table, out, start=start, available=available, repair=repair, as_is=as_is
        )
    else:
        if repair or as_is:
            raise click.UsageError("--repair and --as-is are for a table")
        given = setting(world, start, available, table)
    mdp, coverage = given.mdp, given.coverage
    if output is not None:
        mdp.save(output)
    out.document(
        {
            "states": mdp.n_states,
            "actions": list(mdp.actions),
            "alphabet": list(mdp.alphabet),
            "transitions": mdp.n_transitions,
            "deterministic": mdp.is_deterministic,
            "initial": [
                [state, weight]
                for state, weight in zip(
                    mdp.initial_states.tolist(), mdp.initial_probabilities.tolist(), strict=True
                )
            ],
            "labelled_states": int((mdp.labels >= 0).sum()),
            "unavailable": len(mdp.unavailable),
            "coverage": None if coverage is None else coverage.document(),
            "written": output,
        }
    )
    if coverage is not None:
        out.show(str(coverage))
    if output is None:
        drawn = mdp.grid is not None and mdp.grid.width * mdp.grid.height <= MOST_DRAWN
        out.show(repr(mdp)[1:-1], str(mdp) if drawn else "")
    else:
        out.show(f"wrote {output}")
