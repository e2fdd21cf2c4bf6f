"""Outliers: the episodes that fit worst."""

from __future__ import annotations

import math

from whence.analysis.outliers import Outlier, outliers
from whence.report.html import (
    Html,
    code,
    counted,
    fill,
    join,
    listed,
    nats,
    paragraph,
    section,
    table,
)
from whence.report.study import Study
from whence.report.words import word

RISK = 0.05  # of calling any of the expert's own episodes an outlier
MOST = 20
MANY = 0.05  # a larger share of outliers speaks against what was assumed about the expert


def episodes(study: Study) -> Html:
    """Return the section."""
    found = outliers(study.posterior, study.run.best)
    title = "Outliers: episodes that fit worst"
    if not found:
        return section("episodes", title, paragraph("No episode has any steps."))
    limit = math.log(len(found) / RISK)
    worst = sorted((e for e in found if e.surprise >= limit), key=lambda e: -e.surprise)
    how = join(
        [
            f"An episode is an outlier when its surprise is at least {nats(limit)} ",
            word("nats", "nat"),
            ". Under the machine and the expert above, the probability that any of these "
            f"{counted(len(found), 'episode')} gets there is at most 5%.",
        ]
    )
    if not worst:
        most = max(found, key=lambda each: each.surprise)
        text = fill(
            "None. {how} The most surprising one, {place}, has {surprise}.",
            how=how,
            place=_place(study, most),
            surprise=nats(most.surprise),
        )
        return section("episodes", title, paragraph(text))
    intro = paragraph(f"{_counted(worst)} ", how, _too_many(study, len(worst), len(found)))
    return section("episodes", title, intro, _listed(study, worst))


def _counted(outliers: list[Outlier]) -> str:
    """Return how many outliers there are, and how many of them the table leaves out."""
    count = counted(len(outliers), "episode is an outlier", "episodes are outliers")
    more = f" {len(outliers) - MOST} more are not listed." if len(outliers) > MOST else ""
    return f"{count}.{more}"


def _too_many(study: Study, outliers: int, among: int) -> str:
    """Say so where there are so many that the assumed expert is to blame."""
    assumed = {"alpha", "lapse"} - set(study.run.inferred)
    if outliers <= MANY * among or not assumed:
        return ""
    return (
        " So many outliers speak against what was assumed about the expert, its "
        f"{listed(sorted(assumed))}, rather than against the episodes: infer it instead."
    )


def _listed(study: Study, outliers: list[Outlier]) -> Html:
    header = ["episode", "surprise, nats", "z", "steps", "least likely step, from 0", "there"]
    rows = [_row(study, each) for each in outliers[:MOST]]
    return table("Outliers, the most surprising first", header, rows, numbers=(1, 2, 3, 4))


def _row(study: Study, each: Outlier) -> list[str]:
    mdp, demos = study.worlds[each.world]
    first = int(demos.state_offsets[each.episode]) + each.worst_step
    action = int(demos.actions[int(demos.action_offsets[each.episode]) + each.worst_step])
    there = fill(
        "{action} in {state}",
        action=code(mdp.actions[action]),
        state=code(mdp.state_name(int(demos.states[first]))),
    )
    return [
        _place(study, each),
        nats(each.surprise),
        nats(each.z),
        f"{each.steps:,}",
        f"{each.worst_step:,}",
        there,
    ]


def _place(study: Study, each: Outlier) -> Html:
    """Say which episode it is, by its line if it came from a file of lines."""
    lines = study.worlds[each.world][1].lines
    number = f"episode {each.episode}" if lines is None else f"line {lines[each.episode]}"
    return fill("{number} of {source}", number=number, source=code(study.sources[each.world]))
