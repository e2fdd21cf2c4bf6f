"""whence demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import Output, output_options

if TYPE_CHECKING:
    from whence.paper.worlds import World
    from whence.planning.evaluation import Evaluation
    from whence.runs.result import Run

FOLDER, REPORT = "whence-demo", "report.html"


@click.command("demo")
@click.argument("world", default="coffee")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("-o", "--output", metavar="RUN", help="A new folder.  [default: whence-demo]")
@output_options
def command(world: str, seed: int, output: str | None, out: Output) -> None:
    """Tell the story on a built-in world: watch an expert, infer its task, use it."""
    from whence.cli._live import loading

    with loading(out):
        from whence.errors import ArgumentError
        from whence.paper.worlds import BUILT_IN
        from whence.runs.keeper import check_free
        from whence.runs.posterior_document import facts_document

        if world not in BUILT_IN:
            raise ArgumentError(f"{world}: no built-in world; built in are {', '.join(BUILT_IN)}")
        given = BUILT_IN[world](None)
        folder = _free() if output is None else output
        check_free(folder)
    with loading(out, "watching the expert"):
        _watch(given, seed, out)
    run = _inferred(given, seed, folder, out)
    with loading(out, "working out what is known"):
        _tell(given, run, out)
        expert, agent = _returns(given, run)
    out.show(
        f"\nIn {given.length} steps the expert earns {expert.expected_return:.3f} on average, "
        f"an agent that plans with the machine found {agent.expected_return:.3f}."
    )
    report = _report(given, run, folder, seed, out)
    demos = given.demonstrations(seed)
    out.document(
        {
            "world": given.name,
            "episodes": len(demos),
            "steps": demos.n_steps,
            "seed": seed,
            "answer": run.answer,
            "facts": facts_document(run),
            "found": run.best.same_in(given.task, given.mdp),
            "seconds": run.seconds,
            "evaluations": run.evaluations,
            "expert_return": expert.expected_return,
            "agent_return": agent.expected_return,
            "horizon_optimum": agent.horizon_optimum,
            "run": folder,
            "report": report,
        }
    )
    out.show(f"\nThe report on all of this: {report}")


def _free() -> str:
    """Return the first name for the demo's folder that is not taken."""
    number, name = 1, FOLDER
    while Path(name).exists():
        number += 1
        name = f"{FOLDER}-{number}"
    return name


def _watch(given: World, seed: int, out: Output) -> None:
    """Show the world, and what was watched."""
    demos = given.demonstrations(seed)
    out.show(
        f"The world: {given.name}. {given.summary}",
        "",
        str(given.mdp),
        f"\nAn expert of alpha {given.expert.alpha:g} was watched for {len(demos)} episodes, "
        f"{demos.n_steps} steps. No reward was seen. What did it want?\n",
    )


def _inferred(given: World, seed: int, folder: str, out: Output) -> Run:
    """Infer the task, keep the run in a folder, and show how it goes."""
    from whence.cli._inputs import INFERENCE_ALPHA
    from whence.cli._live import watching
    from whence.model.expert import Expert
    from whence.runs.inference import infer

    with watching(out) as show:
        return infer(
            given.mdp,
            given.demonstrations(seed),
            states=given.task.n_states,
            rewards=given.rewards,
            expert=Expert(INFERENCE_ALPHA, given.expert.discount),
            seed=seed,
            folder=folder,
            names=[(given.name, None)],
            command=_command(given, seed),
            on_event=show,
        )


def _command(given: World, seed: int) -> list[str]:
    return ["whence", "demo", given.name, "--seed", str(seed)]


def _tell(given: World, run: Run, out: Output) -> None:
    """Show the machine found, and whether it is the task."""
    from whence.cli import _findings as findings
    from whence.drawing import terminal

    same = run.best.same_in(given.task, given.mdp)
    verdict = (
        "pays the same as the task that the expert had." if same else "differs from the task:"
    )
    out.show(
        *findings.answer_lines(run),
        "",
        *findings.machine_parts(run),
        *findings.trust_lines(run),
        f"{run.evaluations:,} machines scored in {run.seconds:.1f} s. In this world it {verdict}",
    )
    if not same:
        out.show("", terminal.machine_text(given.task))


def _returns(given: World, run: Run) -> tuple[Evaluation, Evaluation]:
    """Return what the expert earns, and what an agent earns that plans with the machine found."""
    from whence.planning.evaluation import evaluate
    from whence.planning.policies import expert_policy, plan

    watched: Any = expert_policy(given.mdp, given.task, given.expert)
    policy = plan(given.mdp, run.best, given.expert.discount)
    return (
        evaluate(given.mdp, watched, given.task, given.length),
        evaluate(given.mdp, policy, given.task, given.length),
    )


def _report(given: World, run: Run, folder: str, seed: int, out: Output) -> str:
    """Write the report into the run's folder; returns its path."""
    import shlex

    from whence.cli._live import loading, watching
    from whence.report import Study, write
    from whence.report.study import Ladders
    from whence.runs.status import status_document

    path = str(Path(folder) / REPORT)
    out.show(
        "\nFor the report, a machine is inferred once more, from four fifths of the episodes: how "
        "well does it predict the rest?"
    )
    with watching(out) as show:
        study = Study.of(
            run,
            given.mdp,
            given.demonstrations(seed),
            names=[given.name],
            command=shlex.join(_command(given, seed)),
            ladders=Ladders.told(status_document(Path(folder))["last"]),
            folder=folder,
            on_event=show,
        )
    with loading(out, "drawing the report"):
        write(path, study)
    return path
