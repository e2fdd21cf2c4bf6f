"""whence infer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import (
    Output,
    available_option,
    endings_option,
    output_options,
    repair_options,
    table_options,
    typed,
    workers_option,
)
from whence.cli._grouped import grouped

if TYPE_CHECKING:
    from whence.search.settings import Annealing, Exhaustive, Tempering

ANNEALING = {
    "t0": (float, "First temperature."),
    "t_min": (float, "Lowest temperature; scores are compared at it."),
    "beta_t": (float, "What the temperature is multiplied by."),
    "p0": (float, "First probability that an entry changes."),
    "p_min": (float, "Lowest such probability."),
    "beta_p": (float, "What that probability is multiplied by."),
    "every": (int, "Steps between two multiplications."),
    "runs": (int, "Independent runs; the best machine of all is kept."),
    "rule": (str, "modified: temperature on the likelihood only; or standard."),
    "neighbours": (str, "Changed entries: several, or one."),
}


GROUPS = {
    "What to infer": (
        "output", "states", "rewards", "start", "init", "fix", "available", "endings", "p_self",
        "p_zero", "sizes_prior", "temperature",
    ),
    "The expert": (
        "expert_kind", "alpha", "discount", "lapse", "alpha_prior", "lapse_prior", "experts",
        "tasks",
    ),
    "A table's columns": (
        "column_episode", "column_step", "column_state", "column_action", "column_label",
        "column_ended", "column_subject", "bin", "boxes", "gaps", "repair", "as_is",
    ),
    "How long": ("steps", "minutes", "threads", "workers", "device", "checkpoint"),
    "The search": ("method", "seed"),
    "A sample, --method tempering": ("precision", "ladders", "rungs"),
    "Every machine, --method exhaustive": ("limit",),
    "The paper's method, --method annealing": ("preset", *ANNEALING),
}  # fmt: skip


def annealing_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each setting of annealing."""
    for name, (kind, text) in reversed(ANNEALING.items()):
        option = click.option("--" + name.replace("_", "-"), name, type=kind, help=text)
        function = option(function)
    return function


@click.command("infer", cls=grouped(GROUPS, "What is printed"))
@click.argument("world")
@click.argument("demos", required=False)
@click.option("-o", "--output", metavar="RUN", required=True, help="A new folder for the run.")
@click.option("--states", metavar="N", help="3, or a range, 1-5.  [default: the task's]")
@click.option("--rewards", metavar="LEVELS", help="Such as 0,1.  [default: the world's, or 0,1]")
@click.option("--alpha", metavar="X", help="Rationality, inf, or infer.  [default: infer]")
@click.option("--discount", metavar="X", help="A number, several, or infer.  [default: infer]")
@click.option("--lapse", metavar="X", help="Share of random actions, or infer.  [default: infer]")
@click.option(
    "--expert",
    "expert_kind",
    metavar="KIND",
    help="boltzmann, soft or infer.  [default: boltzmann]",
)
@click.option("--p-self", type=float, help="Prior probability of a self-loop.  [default: 3/5]")
@click.option("--p-zero", type=float, help="Prior probability of a reward of 0.  [default: 3/4]")
@click.option("--sizes-prior", metavar="X", help="P(n + 1) / P(n), or weights.  [default: 0.5]")
@click.option("--alpha-prior", metavar="X,Y", help="Centre, spread of log.  [default: 30,2]")
@click.option("--lapse-prior", metavar="X,Y", help="Beta distribution.  [default: 1,19]")
@click.option(
    "--temperature", type=float, help="What scores are compared at; annealing ends there."
)
@click.option(
    "--method", default="auto", show_default=True, help="Or tempering, exhaustive, annealing."
)
@click.option("--precision", type=float, help="Error of probabilities to reach.  [default: 0.01]")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--steps", type=int, help="Most steps to make.  [default: the method's]")
@click.option("--minutes", type=float, help="Stop after this many minutes.")
@click.option("--threads", type=int, help="[default: all cores]")
@workers_option
@click.option("--device", default="cpu", show_default=True, help="Or cuda: a graphics card.")
@click.option("--checkpoint", type=float, help="Seconds between checkpoints.  [default: 10]")
@click.option("--start", metavar="X,Y", help="Where the world's episodes start.")
@available_option
@endings_option
@click.option(
    "--experts",
    default="shared",
    show_default=True,
    help="Or by-subject: an alpha and lapse each.",
)
@click.option(
    "--tasks", default="1", show_default=True, help="Groups of subjects, such as 2 or 1-3."
)
@table_options
@repair_options
@click.option("--init", metavar="M", help="A machine to start from.")
@click.option("--fix", metavar="FILE", help="Known arrows, such as 'a -c-> b', one a line.")
@click.option("--ladders", type=int, help="Independent ladders.  [default: 2]")
@click.option("--rungs", type=int, help="Chains of each ladder.  [default: 20]")
@click.option(
    "--preset", help="Settings of the paper's Table 1.  [default: the world's, or coffee]"
)
@annealing_options
@click.option("--limit", type=int, help="Most machines to score.  [default: 2e7]")
@output_options
def command(
    world: str,
    demos: str | None,
    output: str,
    start: str | None,
    threads: int | None,
    workers: str | None,
    device: str,
    checkpoint: float | None,
    out: Output,
    **said: Any,
) -> None:
    """Infer the machine behind DEMOS, and write it and how it was found to a folder.

    A table alone, without a WORLD, stands for both: its columns are guessed, the world is
    estimated from it, and a report is written into the folder.
    """
    from whence.cli._live import loading, watching

    with loading(out):
        from whence.cli import _findings as findings
        from whence.runs.inference import infer
        from whence.runs.keeper import check_free
        from whence.runs.workers import opened

        check_free(output)
        given, seen = _read(world, demos, start, said, out)
        asked = _arguments(given, **said)
    if said["rewards"] is None and given.built_in is None:
        out.note("machines may pay 0 or 1, since no other rewards were named: --rewards 0,1,2")
    with watching(out) as show, opened(workers) as executor:
        run = infer(
            given.mdp,
            seen,
            **asked,
            folder=output,
            names=[(world, demos or world)],
            command=typed(),
            checkpoint=checkpoint,
            threads=threads,
            device=device,
            executor=executor,
            on_event=show,
        )
    findings.show(out, run, output)
    report = None
    if demos is None:
        from whence.cli._logs import report_on

        report = report_on(run, output, threads, out)
        out.show(f"\nThe report on all of this: {report}")
    findings.document(out, run, output, report=report)


def _read(
    world: str, demos: str | None, start: str | None, said: dict[str, Any], out: Output
) -> tuple[Any, Any]:
    """Return the world and the demonstrations; takes what concerns them out of the options."""
    from whence import io as formats
    from whence.cli import _inputs as inputs

    names = ("table", "available", "repair", "as_is")
    table, available, repair, as_is = (said.pop(name) for name in names)
    if demos is not None:
        if repair or as_is:
            raise click.UsageError("--repair and --as-is are for a table alone, without a WORLD")
        inputs.check_columns(table, world, demos)
        given = inputs.setting(world, start, available, table)
        inputs.warn_estimated(given, world, out)
        return given, inputs.demonstrations(demos, given.mdp, table)
    if not formats.is_table(world):
        raise click.UsageError("Missing argument 'DEMOS'.")
    from whence.cli import _logs as logs

    given, seen = logs.read(
        world, table, out, start=start, available=available, repair=repair, as_is=as_is
    )
    inputs.warn_estimated(given, world, out)
    said["states"] = said["states"] or logs.STATES
    return given, seen


def _arguments(
    given: Any,
    *,
    states: str | None,
    rewards: str | None,
    expert_kind: str | None,
    alpha: str | None,
    discount: str | None,
    lapse: str | None,
    p_self: float | None,
    p_zero: float | None,
    sizes_prior: str | None,
    alpha_prior: str | None,
    lapse_prior: str | None,
    temperature: float | None,
    method: str,
    precision: float | None,
    seed: int,
    steps: int | None,
    minutes: float | None,
    init: str | None,
    fix: str | None,
    endings: str,
    experts: str,
    tasks: str,
    **settings: Any,
) -> dict[str, Any]:
    """Return the options as arguments of `infer`."""
    from whence.cli import _inputs as inputs

    return {
        "states": _states(states, given),
        "rewards": _levels(rewards, given),
        **_expert(method, given, {"alpha": alpha, "discount": discount, "lapse": lapse}),
        "expert_kind": expert_kind,
        "prior": inputs.prior(p_self, p_zero),
        "sizes_prior": _numbers("sizes-prior", sizes_prior),
        "alpha_prior": _numbers("alpha-prior", alpha_prior),
        "lapse_prior": _numbers("lapse-prior", lapse_prior),
        "temperature": temperature,
        "method": method,
        "precision": precision,
        "settings": _settings(method, given, settings, temperature),
        "init": None if init is None else inputs.machine_in(init, given.mdp),
        "fix": () if fix is None else _lines(fix),
        "seed": seed,
        "steps": steps,
        "minutes": minutes,
        "endings": endings,
        "experts": experts,
        "tasks": _tasks(tasks),
    }


def _tasks(tasks: str) -> int | tuple[int, int]:
    from whence.errors import ArgumentError

    least, dash, most = tasks.partition("-")
    if not (_digits(least) and (_digits(most) if dash else True)):
        raise ArgumentError(
            f"--tasks {tasks}: give how many groups of subjects there may be, such as 2, or a "
            "range, such as 1-3"
        )
    return (int(least), int(most)) if dash else int(least)


def _states(states: str | None, given: Any) -> int | tuple[int, int]:
    from whence.errors import ArgumentError

    if states is not None:
        least, dash, most = states.partition("-")
        if not (_digits(least) and (_digits(most) if dash else True)):
            raise ArgumentError(
                f"--states {states}: give a whole number of at least 1, such as 3, or a range, "
                "such as 2-5"
            )
        return (int(least), int(most)) if dash else int(least)
    if given.built_in is None:
        raise ArgumentError(
            "--states is missing: a world from a file has no task of its own; say how many "
            "states the machine has, such as --states 3"
        )
    return int(given.built_in.task.n_states)


def _expert(method: str, given: Any, said: dict[str, str | None]) -> dict[str, Any]:
    """Return what the options say about the expert; what cannot be inferred is as usual."""
    from whence.cli import _inputs as inputs

    values = {name: _value(name, text) for name, text in said.items()}
    if method == "annealing":
        usual = {"alpha": inputs.INFERENCE_ALPHA, "discount": given.discount, "lapse": 0.0}
        values = {name: usual[name] if value is None else value for name, value in values.items()}
    return values


def _value(name: str, text: str | None) -> Any:
    """Return a number, several, or `infer`."""
    from whence.errors import ArgumentError

    if text is None or text == "infer":
        return text
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(f"--{name} {text}: give a number, or infer") from None
    if len(numbers) > 1 and name != "discount":
        raise ArgumentError(f"--{name} {text}: give one number, or infer")
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _numbers(name: str, text: str | None) -> Any:
    """Return a number, or several, of an option."""
    from whence.errors import ArgumentError

    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ArgumentError(f"--{name} {text}: give numbers, such as 30,2") from None
    return numbers[0] if len(numbers) == 1 and name == "sizes-prior" else numbers


def _lines(path: str) -> list[str]:
    """Return the arrows of a file, one a line; blank lines and # comments are left out."""
    from whence import _files as files

    lines = files.read_text(path).splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _digits(text: str) -> bool:
    return text.isdecimal() and len(text) <= 9


def _levels(rewards: str | None, given: Any) -> tuple[float, ...]:
    from whence.cli import _inputs as inputs

    if rewards is None:
        return given.built_in.rewards if given.built_in else (0.0, 1.0)
    return inputs.levels(rewards, [])


def _usual_preset(given: Any) -> str:
    return given.built_in.name if given.built_in else "coffee"


OWNERS = {"limit": "exhaustive", "ladders": "tempering", "rungs": "tempering"}


def _settings(
    method: str, given: Any, options: dict[str, Any], temperature: float | None
) -> Annealing | Exhaustive | Tempering | None:
    """Return the settings that the options describe; each must be one of the method's own."""
    from whence.errors import ArgumentError
    from whence.search.settings import Exhaustive, Tempering

    said = {name: value for name, value in options.items() if value is not None}
    if method == "auto" and said:
        method = OWNERS.get(next(iter(said)), "annealing")
    for name, value in said.items():
        owner = OWNERS.get(name, "annealing")
        if method != owner and method in ("annealing", "exhaustive", "tempering"):
            raise ArgumentError(
                f"--{name.replace('_', '-')} {value}: a setting of {owner}; leave it out, or "
                f"say --method {owner}"
            )
    if method == "exhaustive":
        return Exhaustive(**said)
    if method == "annealing":
        return _annealing(said.pop("preset", None) or _usual_preset(given), said, temperature)
    return Tempering(**said) if method == "tempering" else None


def _annealing(preset: str, said: dict[str, Any], temperature: float | None) -> Annealing:
    """Return a preset, changed as the options say."""
    from dataclasses import replace

    from whence.errors import ArgumentError
    from whence.search.settings import Annealing

    if temperature is not None and said.get("t_min", temperature) != temperature:
        raise ArgumentError(
            f"--temperature {temperature:g} and --t-min {said['t_min']:g} mean the same to "
            "annealing; leave one of them out"
        )
    return replace(Annealing.preset(preset), **said)
