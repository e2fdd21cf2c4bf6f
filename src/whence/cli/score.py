"""whence score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import (
    Output,
    endings_option,
    expert_option,
    output_options,
    printable,
    table_options,
)

if TYPE_CHECKING:
    from whence.likelihood.posterior import Posterior
    from whence.model.machine import RewardMachine


@click.command("score")
@click.argument("world")
@click.argument("demos")
@click.argument("machines", nargs=-1, required=True)
@click.option("--alpha", type=float, help="Rationality, or inf.  [default: 50]")
@click.option("--discount", type=float, help="[default: the world's, or 0.95]")
@click.option(
    "--lapse", type=float, default=0.0, show_default=True, help="Share of random actions."
)
@expert_option
@click.option("--temperature", type=float, default=1.0, show_default=True)
@click.option("--rewards", metavar="LEVELS", help="Such as 0,1.  [default: the machines' own]")
@endings_option
@table_options
@output_options
def command(
    world: str,
    demos: str,
    machines: tuple[str, ...],
    alpha: float | None,
    discount: float | None,
    lapse: float,
    expert_kind: str,
    temperature: float,
    rewards: str | None,
    endings: str,
    table: dict[str, str],
    out: Output,
) -> None:
    """Say how likely DEMOS are under each of MACHINES."""
    from rich.table import Table
    from rich.text import Text

    from whence.cli import _inputs as inputs
    from whence.likelihood.posterior import Posterior

    inputs.check_columns(table, world, demos)
    given = inputs.setting(world, table=table)
    inputs.warn_estimated(given, world, out)
    scored = [inputs.machine_in(name, given.mdp) for name in machines]
    levels = inputs.levels(rewards, scored)
    expert = given.expert(alpha, discount, lapse, inputs.INFERENCE_ALPHA, expert_kind)
    posterior = Posterior(
        given.mdp,
        inputs.demonstrations(demos, given.mdp, table),
        expert=expert,
        rewards=levels,
        temperature=temperature,
        endings=endings,
    )
    rows = [_scored(posterior, *pair) for pair in zip(machines, scored, strict=True)]
    out.document(
        {
            "scores": rows,
            "steps": posterior.n_steps,
            "rewards": list(levels),
            "alpha": inputs.finite(expert.alpha),
            "discount": expert.discount,
            "lapse": expert.lapse,
            "expert": expert.kind,
            "temperature": temperature,
            "endings": endings,
        }
    )
    shown = Table("machine", "log likelihood", "log prior", "score", "per step")
    for row in rows:
        shown.add_row(Text(printable(row["machine"])), *_cells(row, posterior.n_steps))
    out.show(shown)


def _scored(posterior: Posterior, name: str, machine: RewardMachine) -> dict[str, Any]:
    """Return one machine's object in the JSON document."""
    from whence.cli._inputs import finite

    likelihood = posterior.finest(machine)
    prior = float(posterior.log_prior(machine.transitions[None], machine.rewards[None])[0])
    return {
        "machine": name,
        "log_likelihood": finite(likelihood),
        "log_prior": finite(prior),
        "score": finite(likelihood / posterior.temperature + prior),
    }


def _cells(row: dict[str, Any], steps: int) -> list[str]:
    numbers = [row[key] for key in ("log_likelihood", "log_prior", "score")]
    each = None if numbers[0] is None or not steps else numbers[0] / steps
    return ["-inf" if number is None else f"{number:,.4f}" for number in (*numbers, each)]
