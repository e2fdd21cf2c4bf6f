"""whence ask."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import Output, output_options, printable

if TYPE_CHECKING:
    from whence.runs.result import Run

KINDS = ("sequence", "preference", "demonstration")


@click.command("ask")
@click.argument("run")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="[default: all]")
@click.option(
    "--about",
    type=click.Choice(["facts", "route", "regret"]),
    default="facts",
    show_default=True,
    help="What answers should tell about.",
)
@click.option(
    "--bound",
    type=float,
    default=0.02,
    show_default=True,
    help="Ask nothing that is expected to tell less: nats, or reward about the regret.",
)
@click.option("--most", type=int, default=30, show_default=True, help="Questions at most.")
@click.option(
    "--seconds",
    metavar="KIND=S",
    multiple=True,
    help="A person's time for a kind of question, and for each label; such as sequence=6.",
)
@click.option("--simulate", metavar="MACHINE", help="Answer by this machine, not by a person.")
@click.option("--wrong", type=float, default=0.0, help="How often that answers wrongly.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is simulated.")
@click.option("--group", type=int, help="Ask one group of subjects, from 1; nothing is kept.")
@click.option("--list", "listing", is_flag=True, help="List the answers that were given.")
@click.option("--withdraw", metavar="ID", help="Take an answer back.")
@output_options
def command(
    run: str,
    kinds: tuple[str, ...],
    about: str,
    bound: float,
    most: int,
    seconds: tuple[str, ...],
    simulate: str | None,
    wrong: float,
    seed: int,
    group: int | None,
    listing: bool,
    withdraw: str | None,
    out: Output,
) -> None:
    """Ask what would tell most about RUN, one question at a time; answers are kept there."""
    from whence.ask import Manner
    from whence.runs.resuming import load

    found = load(run)
    if group is not None:
        found = _of_group(found, group)
    if withdraw is not None:
        found = found.withdrawn(withdraw)
    elif not listing:
        times = dict(_time(each) for each in seconds)
        manner = Manner(kinds or KINDS, about, bound, most, times, seed=seed)
        found = _asked(found, manner, simulate, wrong, seed, out)
    _tell(found, out)


def _of_group(run: Run, group: int) -> Run:
    """Return one group of a run's subjects; people count them from 1."""
    from whence.errors import ArgumentError

    count = 0 if run.groups is None else len(run.groups.groups)
    if count and not 1 <= group <= count:
        raise ArgumentError(f"--group {group}: the run has {count}; give 1 to {count}")
    return run.of_group(group - 1)


def _asked(
    run: Run, manner: Any, simulate: str | None, wrong: float, seed: int, out: Output
) -> Run:
    """Return a run after a conversation, with whoever sits there or with a machine."""
    from whence.ask import Person, Prompt, converse
    from whence.cli import _inputs as inputs

    def say(line: str) -> None:
        if not out.quiet:
            click.echo(printable(line), err=out.json)

    if simulate is None:
        return converse(
            run,
            Prompt(say, lambda prompt: _read(prompt, out), seed),
            manner,
            lambda after: say(f"  so far: {after.answer}"),
        )
    person = Person(inputs.machine(simulate), wrong=wrong, seed=seed)
    return converse(run, person, manner, lambda after: say(_last(after)))


def _read(prompt: str, out: Output) -> str:
    click.echo(prompt, nl=False, err=out.json)
    line = sys.stdin.readline() if sys.stdin is not None else ""
    if not line:
        raise EOFError
    return str(line)


def _last(run: Run) -> str:
    given = run.answers[-1]
    return f"{given.id}. {given.question.text} {given.text}. So far: {run.answer}"


def _tell(run: Run, out: Output) -> None:
    """Print what was answered, and what follows."""
    from whence.runs.folder import result_document

    rate = run.error_rate
    out.document(
        {
            "answers": [each.document() | {"withdrawn": each.withdrawn} for each in run.answers],
            "error_rate": {"mean": rate.mean, "deviation": rate.deviation},
            **(result_document(run) if out.json else {}),
        }
    )
    if out.json or out.quiet:
        return
    for each in run.answers:
        gone = " (withdrawn)" if each.withdrawn else ""
        out.show(printable(f"{each.id}. {each.question.text} {each.text}{gone}"))
    out.show(printable(run.answer))
    standing = sum(not each.withdrawn for each in run.answers)
    if standing:
        out.show(
            f"{standing} answer{'s' * (standing > 1)}; {rate.mean:.0%} (± {rate.deviation:.0%}) "
            "of answers are expected to be wrong"
        )
    for doubt in run.doubts:
        out.warn(doubt)


def _time(text: str) -> tuple[str, float]:
    from whence.errors import ArgumentError

    kind, _, value = text.partition("=")
    try:
        return kind, float(value)
    except ValueError:
        raise ArgumentError(f"--seconds {text}: give KIND=S, such as sequence=6") from None
