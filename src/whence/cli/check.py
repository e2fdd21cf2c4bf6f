"""whence check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import Output, output_options, say_error, table_options

if TYPE_CHECKING:
    from whence.runs.checking import Check


@click.command("check")
@click.argument("world", metavar="WORLD|RUN")
@click.argument("demos", required=False)
@click.option(
    "--replicas", type=int, help="Of RUN: how often to make episodes anew.  [default: 400]"
)
@click.option("--minutes", type=float, help="Of RUN: most minutes to infer.  [default: 5]")
@click.option("--threads", type=int, help="Of RUN.  [default: all cores]")
@table_options
@output_options
def command(
    world: str,
    demos: str | None,
    replicas: int | None,
    minutes: float | None,
    threads: int | None,
    table: dict[str, str],
    out: Output,
) -> int:
    """Check that DEMOS fit WORLD: name the first problem and count the rest.

    Of a RUN, check that its model fits: infer from half of the episodes, make the others anew, and
    say how the real ones differ.
    """
    if demos is None:
        if table:
            raise click.UsageError(
                "options for the columns of a table are for 'whence check WORLD DEMOS'; leave "
                "them out"
            )
        options = {"most": replicas, "minutes": minutes, "threads": threads}
        return _model(world, {k: v for k, v in options.items() if v is not None}, out)
    for name, value in (("replicas", replicas), ("minutes", minutes), ("threads", threads)):
        if value is not None:
            raise click.UsageError(f"--{name} is for 'whence check RUN'; leave it out")
    return _demonstrations(world, demos, table, out)


def _model(run: str, options: dict[str, Any], out: Output) -> int:
    """Check the model of a run."""
    from pathlib import Path

    from whence.cli._live import loading, watching
    from whence.errors import ArgumentError

    if not Path(run).is_dir():
        raise ArgumentError(
            f"{run}: not a run folder; give one, or a world and its demonstrations, as in "
            f"'whence check {run} demos.jsonl'"
        )
    with loading(out, "reading the run"):
        from whence.runs.checking import check
        from whence.runs.resuming import load

        found = load(run, threads=options.get("threads"))
    with watching(out) as show:
        checked = check(found.job, on_event=show, **options)
    out.document(document(checked))
    out.show(
        f"inferred from {checked.training_episodes} episodes, tested on {checked.episodes} others "
        f"({checked.steps} steps)\n{checked}"
    )
    return 0


def document(checked: Check) -> dict[str, Any]:
    """Return a check for JSON."""
    return {
        "fits": checked.fits,
        "p_value": checked.p_value,
        "training_episodes": checked.training_episodes,
        "episodes": checked.episodes,
        "steps": checked.steps,
        "replicas": checked.misfit.replicas,
        "discrepancies": [
            {
                "kind": each.statistic.kind,
                "of": each.statistic.of or None,
                "phase": None if each.statistic.phase < 0 else each.statistic.phase,
                "observed": each.observed,
                "expected": each.expected,
                "interval": [each.low, each.high],
                "p_value": each.p_value,
                "adjusted": each.adjusted,
            }
            for each in checked.discrepancies
        ],
        "found": [each.text for each in checked.misfit.found],
        "advice": list(checked.advice),
        "notes": list(checked.notes),
    }


def _demonstrations(world: str, demos: str, table: dict[str, str], out: Output) -> int:
    """Check demonstrations against their world."""
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
