"""whence check."""

from __future__ import annotations

import click

from whence.cli.console import Output, output_options, printable


@click.command("check")
@click.argument("world")
@click.argument("demos")
@output_options
def command(world: str, demos: str, out: Output) -> int:
    """Check that DEMOS fit WORLD: name the first problem and count the rest."""
    import numpy as np

    from whence.cli.inputs import setting
    from whence.demos import Demonstrations
    from whence.errors import DemonstrationsError

    mdp = setting(world).mdp
    episodes = Demonstrations.load(demos, mdp)
    findings = episodes.check(mdp)
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
        if out.json:
            return 1
        others = [printable(p) for p in findings.problems[1:]]
        if others and not out.quiet:
            more = findings.total - len(findings.problems)
            click.echo("\n".join([*others, f"... and {more} more"][: None if more else -1]))
        rest = findings.total - 1
        raise DemonstrationsError(
            findings.problems[0] + (f" (and {rest} more problem{'s' * (rest > 1)})" * bool(rest))
        )
    if not episodes.n_steps:
        raise DemonstrationsError(f"{demos}: no steps; there is nothing to learn from")
    out.show(
        f"ok: {len(episodes)} episodes, {episodes.n_steps} steps, "
        f"{len(np.unique(episodes.states))} of {mdp.n_states} states visited"
    )
    return 0
