"""whence simulate."""

from __future__ import annotations

import click

from whence.cli._console import Output, expert_option, output_options


@click.command("simulate")
@click.argument("world")
@click.option("-o", "--output", metavar="DEMOS", required=True, help=".jsonl, .npz or .csv.")
@click.option("--episodes", type=int, help="How many episodes.  [default: the world's, or 100]")
@click.option("--length", type=int, help="Steps in each episode.  [default: the world's, or 100]")
@click.option("--alpha", type=float, help="Rationality, or inf.  [default: 30]")
@click.option("--discount", type=float, help="[default: the world's, or 0.95]")
@click.option(
    "--lapse", type=float, default=0.0, show_default=True, help="Share of random actions."
)
@expert_option
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--start", metavar="X,Y", help="Where episodes start.")
@click.option("--machine", metavar="M", help="What the expert wants.  [default: the world's task]")
@output_options
def command(
    world: str,
    output: str,
    episodes: int | None,
    length: int | None,
    alpha: float | None,
    discount: float | None,
    lapse: float,
    expert_kind: str,
    seed: int,
    start: str | None,
    machine: str | None,
    out: Output,
) -> None:
    """Make demonstrations of an expert in WORLD."""
    from whence.cli._inputs import finite, setting
    from whence.io import demonstrations_format
    from whence.planning.simulation import simulate

    demonstrations_format(output)
    given = setting(world, start)
    task = given.task(machine, "--machine")
    expert = given.expert(alpha, discount, lapse, given.alpha, expert_kind)
    demos = simulate(
        given.mdp,
        task,
        expert,
        episodes=given.episodes if episodes is None else episodes,
        length=given.length if length is None else length,
        seed=seed,
    )
    demos.save(output, given.mdp)
    out.document(
        {
            "written": output,
            "episodes": len(demos),
            "steps": demos.n_steps,
            "alpha": finite(expert.alpha),
            "discount": expert.discount,
            "lapse": expert.lapse,
            "expert": expert.kind,
            "seed": seed,
        }
    )
    out.show(f"wrote {output}: {len(demos)} episodes, {demos.n_steps} steps")
