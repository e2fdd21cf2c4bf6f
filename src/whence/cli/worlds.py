"""whence worlds."""

from __future__ import annotations

import click

from whence.cli._console import Output, output_options


@click.command("worlds")
@output_options
def command(out: Output) -> None:
    """List the built-in worlds."""
    from rich.table import Table

    from whence.paper.worlds import BUILT_IN

    built_in = [make(None) for make in BUILT_IN.values()]
    out.document(
        {
            "worlds": [
                {
                    "name": w.name,
                    "summary": w.summary,
                    "states": w.mdp.n_states,
                    "actions": list(w.mdp.actions),
                    "alphabet": list(w.mdp.alphabet),
                    "deterministic": w.mdp.is_deterministic,
                    "machine_states": w.task.n_states,
                    "rewards": list(w.rewards),
                    "episodes": w.episodes,
                    "length": w.length,
                }
                for w in built_in
            ]
        }
    )
    table = Table("world", "states", "labels", "task states", "episodes", "what it is about")
    for w in built_in:
        table.add_row(
            w.name,
            str(w.mdp.n_states),
            " ".join(w.mdp.alphabet),
            str(w.task.n_states),
            f"{w.episodes} x {w.length}",
            w.summary,
        )
    out.show(table)
