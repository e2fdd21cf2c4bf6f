"""whence show."""

from __future__ import annotations

import click

from whence.cli._console import Output, output_options


@click.command("show")
@click.argument("machine")
@output_options
def command(machine: str, out: Output) -> None:
    """Show MACHINE: a file, a run folder, or a built-in world's task."""
    from whence.cli import _inputs as inputs
    from whence.drawing import terminal

    shown = inputs.machine(machine)
    names = shown.state_names
    out.document(
        {
            "states": shown.n_states,
            "alphabet": list(shown.alphabet),
            "names": list(names),
            "valid": shown.is_valid,
            "minimal_states": shown.minimised().n_states,
            "arrows": [
                {
                    "from": names[arrow.source],
                    "to": names[arrow.target],
                    "symbols": list(arrow.symbols),
                    "reward": arrow.reward,
                }
                for arrow in shown.arrows()
            ],
        }
    )
    if not (out.json or out.quiet):
        out.show(terminal.machine_text(shown), "", terminal.machine_table(shown))
