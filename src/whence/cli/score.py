"""whence score."""

from __future__ import annotations

from typing import Any

import click

from whence.cli.console import Output, output_options, printable


@click.command("score")
@click.argument("world")
@click.argument("demos")
@click.argument("machines", nargs=-1, required=True)
@click.option("--alpha", type=float, help="Rationality, or inf.  [default: 50]")
@click.option("--discount", type=float, help="[default: the world's, or 0.95]")
@click.option("--lapse", type=float, default=0.0, show_default=True, help="Blind actions.")
@click.option("--temperature", type=float, default=1.0, show_default=True)
@click.option("--rewards", metavar="LEVELS", help="Such as 0,1.  [default: the machines' own]")
@output_options
def command(
    world: str,
    demos: str,
    machines: tuple[str, ...],
    alpha: float | None,
    discount: float | None,
    lapse: float,
    temperature: float,
    rewards: str | None,
    out: Output,
) -> None:
    """Say how likely DEMOS are under each of MACHINES."""
    from rich.table import Table
    from rich.text import Text

    from whence.cli import inputs
    from whence.demos import Demonstrations
    from whence.expert import Expert
    from whence.posterior import Posterior

    given = inputs.setting(world)
    scored = [inputs.machine_in(name, given.mdp) for name in machines]
    levels = inputs.levels(rewards, scored)
    expert = Expert(
        alpha=inputs.INFERENCE_ALPHA if alpha is None else alpha,
        discount=given.discount if discount is None else discount,
        lapse=lapse,
    )
    posterior = Posterior(
        given.mdp,
        Demonstrations.load(demos, given.mdp),
        expert=expert,
        rewards=levels,
        temperature=temperature,
    )
    rows: list[dict[str, Any]] = []
    for name, machine in zip(machines, scored, strict=True):
        likelihood = posterior.finest(machine)
        prior = float(posterior.log_prior(machine.transitions[None], machine.rewards[None])[0])
        rows.append(
            {
                "machine": name,
                "log_likelihood": inputs.finite(likelihood),
                "log_prior": inputs.finite(prior),
                "score": inputs.finite(likelihood / temperature + prior),
            }
        )
    out.document(
        {
            "scores": rows,
            "steps": posterior.n_steps,
            "rewards": list(levels),
            "alpha": inputs.finite(expert.alpha),
            "discount": expert.discount,
            "lapse": expert.lapse,
            "temperature": temperature,
        }
    )
    table = Table("machine", "log likelihood", "log prior", "score", "per step")
    for row in rows:
        numbers = [row[key] for key in ("log_likelihood", "log_prior", "score")]
        steps = posterior.n_steps
        each = None if numbers[0] is None or not steps else numbers[0] / steps
        cells = ["-inf" if x is None else f"{x:,.4f}" for x in (*numbers, each)]
        table.add_row(Text(printable(row["machine"])), *cells)
    out.show(table)
