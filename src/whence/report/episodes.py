"""Episodes that do not look like the expert's."""

from __future__ import annotations

import math

from whence.analysis.outliers import OddEpisode, odd_episodes
from whence.report.html import (
    Html,
    code,
    counted,
    fill,
    listed,
    nats,
    paragraph,
    section,
    table,
)
from whence.report.study import Study

RISK = 0.05  # of naming any episode of the expert's own
MOST = 20
MANY = 0.05  # a larger share of odd episodes says something of the expert


def episodes(study: Study) -> Html:
    """Return the section."""
    found = odd_episodes(study.posterior, study.run.best)
    title = "Odd episodes"
    if not found:
        return section("episodes", title, paragraph("There is no episode with a step."))
    limit = math.log(len(found) / RISK)
    odd = sorted((e for e in found if e.surprise >= limit), key=lambda e: -e.surprise)
    how = (
        f"An episode is odd when its surprise is at least {nats(limit)} nats: under the "
        "machine and the expert above, that happens to any of these "
        f"{counted(len(found), 'episode')} with a probability of at most 5%."
    )
    if not odd:
        most = max(found, key=lambda each: each.surprise)
        text = fill(
            "None. {how} The most surprising one, {place}, has {surprise}.",
            how=how,
            place=_place(study, most),
            surprise=nats(most.surprise),
        )
        return section("episodes", title, paragraph(text))
    more = f" {len(odd) - MOST} more are not listed." if len(odd) > MOST else ""
    rows = [_row(study, each) for each in odd[:MOST]]
    header = ["episode", "surprise, nats", "z", "steps", "least likely step, from 0", "there"]
    intro = f"{counted(len(odd), 'episode is', 'episodes are')} odd.{more} {how}"
    assumed = {"alpha", "lapse"} - set(study.run.inferred)
    if len(odd) > MANY * len(found) and assumed:
        intro += (
            " So many speak against what was assumed of the expert, its "
            f"{listed(sorted(assumed))}, rather than against the episodes: infer it."
        )
    return section(
        "episodes",
        title,
        paragraph(intro),
        table("Odd episodes, the most surprising first", header, rows, numbers=(1, 2, 3, 4)),
    )


def _row(study: Study, each: OddEpisode) -> list[str]:
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


def _place(study: Study, each: OddEpisode) -> Html:
    """Return which episode it is: its line where it came from a file of lines."""
    lines = study.worlds[each.world][1].lines
    number = f"episode {each.episode}" if lines is None else f"line {lines[each.episode]}"
    return fill("{number} of {source}", number=number, source=code(study.sources[each.world]))
