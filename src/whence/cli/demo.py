"""whence demo."""

from __future__ import annotations

import click

from whence.cli.console import Output, output_options


@click.command("demo")
@click.argument("world", default="coffee")
@click.option("--seed", type=int, default=0, show_default=True)
@output_options
def command(world: str, seed: int, out: Output) -> None:
    """Tell the story on a built-in world: watch an expert, infer its task, use it."""
    from whence.cli import findings
    from whence.cli.inputs import INFERENCE_ALPHA
    from whence.cli.live import watching
    from whence.drawing import terminal
    from whence.errors import ArgumentError
    from whence.evaluation import evaluate
    from whence.expert import Expert
    from whence.inference import infer
    from whence.planning import expert_policy, plan
    from whence.worlds import BUILT_IN

    if world not in BUILT_IN:
        raise ArgumentError(f"{world}: no built-in world; built in are {', '.join(BUILT_IN)}")
    given = BUILT_IN[world](None)
    demos = given.demonstrations(seed)
    out.show(
        f"The world: {given.name}. {given.summary}",
        "",
        str(given.mdp),
        f"\nAn expert of alpha {given.expert.alpha:g} was watched for {len(demos)} episodes, "
        f"{demos.n_steps} steps. No reward was seen. What did it want?\n",
    )
    assumed = Expert(INFERENCE_ALPHA, given.expert.discount)
    with watching(out) as show:
        run = infer(
            given.mdp, demos, states=given.task.n_states, rewards=given.rewards, expert=assumed,
            seed=seed, on_event=show,
        )  # fmt: skip
    watched = expert_policy(given.mdp, given.task, given.expert)
    expert = evaluate(given.mdp, watched, given.task, given.length)
    policy = plan(given.mdp, run.best, given.expert.discount)
    agent = evaluate(given.mdp, policy, given.task, given.length)
    same = run.best.same_in(given.task, given.mdp)
    out.document(
        {
            "world": given.name,
            "episodes": len(demos),
            "steps": demos.n_steps,
            "seed": seed,
            "found": same,
            "seconds": run.seconds,
            "evaluations": run.evaluations,
            "expert_return": expert.expected_return,
            "agent_return": agent.expected_return,
            "horizon_optimum": agent.horizon_optimum,
        }
    )
    out.show(
        *findings.machine_parts(run),
        f"{run.evaluations:,} machines scored in {run.seconds:.1f} s. In this world it pays "
        + ("the same as the task that the expert had." if same else "not the same as the task:"),
    )
    if not same:
        out.show("", terminal.machine_text(given.task))
    out.show(
        f"\nIn {given.length} steps the expert earns {expert.expected_return:.3f} on average, "
        f"and an agent that plans with the machine found {agent.expected_return:.3f}."
    )
