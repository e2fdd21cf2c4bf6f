"""whence evaluate."""

from __future__ import annotations

from typing import Any

import click

from whence.cli._console import Output, expert_option, output_options


@click.command("evaluate")
@click.argument("world")
@click.argument("machine")
@click.option(
    "--truth", metavar="MACHINE", help="The machine that pays.  [default: the world's task]"
)
@click.option("--length", type=int, help="Steps to act.  [default: the world's, or 100]")
@click.option("--discount", type=float, help="[default: the world's, or 0.95]")
@click.option("--alpha", type=float, help="Evaluate an expert of this rationality instead.")
@click.option("--lapse", type=float, help="Evaluate an expert with this lapse instead.")
@expert_option
@click.option("--start", metavar="X,Y", help="Where episodes start.")
@click.option(
    "--episodes", type=int, default=100, show_default=True, help="Episodes to simulate as well."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of those episodes.")
@output_options
def command(
    world: str,
    machine: str,
    truth: str | None,
    length: int | None,
    discount: float | None,
    alpha: float | None,
    lapse: float | None,
    expert_kind: str,
    start: str | None,
    episodes: int,
    seed: int,
    out: Output,
) -> None:
    """Say exactly what the policy for MACHINE earns in WORLD when the truth pays."""
    import math

    from whence.cli import _inputs as inputs
    from whence.model.expert import BOLTZMANN, Expert
    from whence.planning.evaluation import evaluate
    from whence.planning.policies import expert_policy, plan

    given = inputs.setting(world, start)
    wanted = inputs.machine_in(machine, given.mdp)
    paying = given.task(truth, "--truth")
    gamma = given.discount if discount is None else discount
    if alpha is None and lapse is None and expert_kind == BOLTZMANN:
        policy = plan(given.mdp, wanted, gamma)
    else:
        rationality = math.inf if alpha is None else alpha
        expert = Expert(rationality, gamma, lapse or 0.0, expert_kind)
        policy = expert_policy(given.mdp, wanted, expert)
    steps = given.length if length is None else length
    result = evaluate(given.mdp, policy, paying, steps, episodes=episodes, seed=seed)
    seen = result.simulated
    document: dict[str, Any] = {
        "return": result.expected_return,
        "reference": result.reference,
        "regret": result.regret,
        "horizon_optimum": result.horizon_optimum,
        "length": result.length,
        "discount": gamma,
        "simulated": None
        if seen is None
        else {
            "mean": seen.mean,
            "standard_error": inputs.finite(seen.standard_error),
            "episodes": seen.episodes,
        },
    }
    out.document(document)
    out.show(_text(document))


def _text(document: dict[str, Any]) -> str:
    who = {
        "return": "expected return in {length} steps",
        "reference": "the truth's own policy",
        "regret": "regret",
        "horizon_optimum": "the best that any policy can do",
    }
    lines = [f"{text.format(**document):<34}{document[key]:>9.4f}" for key, text in who.items()]
    seen = document["simulated"]
    if isinstance(seen, dict):
        error = seen["standard_error"]
        lines.append(
            f"{'mean of {episodes} simulated episodes'.format(**seen):<34}"
            f"{seen['mean']:>9.4f}" + (f" ± {error:.4f}" if error is not None else "")
        )
    return "\n".join(lines)
