"""whence demo."""

from __future__ import annotations

import click

from whence.cli.console import Output, output_options


@click.command("demo")
@click.argument("world", default="coffee")
@click.option("--seed", type=int, default=0, show_default=True)
@output_options
def command(world: str, seed: int, out: Output) -> None:
    """Tell the story on a built-in world: watch an expert, draw its task, evaluate a policy."""
    from whence.drawing import terminal
    from whence.errors import ArgumentError
    from whence.evaluation import evaluate
    from whence.planning import expert_policy, plan
    from whence.worlds import BUILT_IN

    if world not in BUILT_IN:
        raise ArgumentError(f"{world}: no built-in world; built in are {', '.join(BUILT_IN)}")
    given = BUILT_IN[world](None)
    out.show(f"The world: {given.name}. {given.summary}", "", str(given.mdp))
    demos = given.demonstrations(seed)
    out.show(
        f"\nAn expert of alpha {given.expert.alpha:g} was watched for {len(demos)} episodes, "
        f"{demos.n_steps} steps. What it wants:\n",
        terminal.machine_text(given.task),
    )
    watched = expert_policy(given.mdp, given.task, given.expert)
    expert = evaluate(given.mdp, watched, given.task, given.length)
    agent = evaluate(
        given.mdp, plan(given.mdp, given.task, given.expert.discount), given.task, given.length
    )
    out.document(
        {
            "world": given.name,
            "episodes": len(demos),
            "steps": demos.n_steps,
            "seed": seed,
            "expert_return": expert.expected_return,
            "agent_return": agent.expected_return,
            "horizon_optimum": agent.horizon_optimum,
        }
    )
    out.show(
        f"\nIn {given.length} steps the expert earns {expert.expected_return:.3f} on average, "
        f"and a policy that is optimal for this machine {agent.expected_return:.3f}."
    )
