"""How well new episodes are predicted: those that nothing was fitted to."""

from __future__ import annotations

import math

from whence.report.html import (
    Html,
    counted,
    fill,
    fixed,
    join,
    marked,
    paragraph,
    section,
    share,
    table,
)
from whence.report.study import Study
from whence.report.words import word
from whence.runs.held_out import HeldOut, Prediction

NAMES = {
    "machine": "the machine",
    "markovian": "the best reward per label, without memory",
    "per_state": "the best reward per world state found",
    "cloning": "behavioural cloning, by state",
    "uniform": "every action equally likely",
}


def prediction(study: Study) -> Html:
    """Return the section."""
    found = study.comparison
    title = "Prediction of new episodes"
    if found is None:
        return section("prediction", title, paragraph(marked(f"Left out. {study.left_out}")))
    rows = [_row(each) for each in found.predictions]
    header = ["method", "log likelihood a step", "mean probability", "behind the machine"]
    return section(
        "prediction",
        title,
        paragraph(_verdict(found)),
        table(
            "Log likelihood of episodes set aside, in nats a step", header, rows, numbers=(1, 3)
        ),
        paragraph(_how(study, found), kind="note"),
    )


def _row(each: Prediction) -> list[str]:
    chance = math.exp(each.per_step)
    bar = fill(
        '<span class="bar" style="--share:{share}"></span>{text}',
        share=f"{100 * chance:.1f}%",
        text=share(chance),
    )
    behind = "" if each.method == "machine" else _with_error(each.behind, each.behind_error)
    return [NAMES[each.method], _with_error(each.per_step, each.error), bar, behind]


def _with_error(value: float, error: float) -> str:
    shown = fixed(value, 4)
    return shown if math.isnan(error) else f"{shown} ± {fixed(error, 4)}"


def _verdict(found: HeldOut) -> str:
    """Say in a sentence whether the machine predicts best."""
    others = [p for p in found.predictions if p.method != "machine"]
    rival = max(others, key=lambda each: each.per_step)
    name, gap, error = NAMES[rival.method], rival.behind, rival.behind_error
    size = f"{fixed(abs(gap), 4)} nats a step"
    if not math.isfinite(gap):
        return (
            "The machine calls an action impossible that the expert took."
            if gap < 0
            else "All other methods call an action impossible that the expert took."
        )
    if not math.isnan(error) and abs(gap) <= 2 * error:
        return (
            f"The machine and {name} predict equally well as far as these episodes can tell: "
            f"{size} apart, with a standard error of {fixed(error, 4)}."
        )
    if gap < 0:
        return f"The machine predicts worse than {name}, by {size}."
    return (
        f"The machine predicts better than every other method; the next is {name}, {size} behind."
    )


def _how(study: Study, found: HeldOut) -> Html:
    """Return how the comparison was made."""
    trained = found.run
    same = (
        "It found the same machine as the run on all episodes."
        if found.same
        else "It found a different machine from the run on all episodes."
    )
    end = {
        "agreed": "ended when its samplers agreed",
        "steps": "made all its steps",
        "minutes": "was cut off by the clock, so these figures may differ when made again",
    }.get(trained.stopped, trained.stopped)
    doubts = " It left doubts: " + "; ".join(trained.doubts) + "." if trained.doubts else ""
    parts = (
        f"{counted(found.episodes, 'episode')} ({counted(found.steps, 'step')}), a "
        "fifth drawn at random, were set aside; everything was fitted to the other "
        f"{found.training_episodes:,}. The machine comes from a new inference on these, with the "
        f"same settings, that did not start from the result above; it took "
        f"{counted(trained.steps, 'step')} and {end}. {same}{doubts} The rewards without "
        "memory have an ",
        word("alpha", "alpha"),
        " and a ",
        word("lapse", "lapse"),
        " of their own, fitted to the same episodes; cloning counts the actions in each state and "
        "adds one to each. Errors are standard errors over episodes; mean probabilities are "
        "geometric.",
    )
    return join(parts)
