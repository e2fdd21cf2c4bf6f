"""whence check."""

from __future__ import annotations

import click

from whence.cli._console import Output, output_options, say_error, table_options


@click.command("check")
@click.argument("world")
@click.argument("demos")
@table_options
@output_options
def command(world: str, demos: str, table: dict[str, str], out: Output) -> int:
    """Check that DEMOS fit WORLD: name the first problem and count the rest."""
    import numpy as np

    from whence.cli import _inputs as inputs
    from whence.model.checks import Findings

    inputs.check_columns(table, world, demos)
    given = inputs.setting(world, table=table)
    inputs.warn_estimated(given, world, out)
    mdp = given.mdp
    episodes = inputs.demonstrations(demos, mdp, table)
    findings = episodes.check(mdp)
    if not episodes.n_steps:
        findings = Findings(1, (f"{demos}: no steps; there is nothing to learn from",))
    out.document(
        {
            "ok": findings.ok,
            "problems": findings.total,
            "first": list(findings.problems),
            "episodes": len(episodes),
            "steps": episodes.n_steps,
            "states_visited": len(np.unique(episodes.states)),
        }
    )
    if not findings.ok:
        if not out.json:
            hidden = findings.total - len(findings.problems)
            more = [*findings.problems[1:], *([f"... and {hidden} more"] if hidden else [])]
            say_error(findings.summary, *([] if out.quiet else more))
        return 1
    out.show(
        f"ok: {len(episodes)} episodes, {episodes.n_steps} steps, "
        f"{len(np.unique(episodes.states))} of {mdp.n_states} states visited"
    )
    return 0
