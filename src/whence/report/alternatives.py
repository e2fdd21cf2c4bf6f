"""The machines that remain possible, and what tells them apart."""

from __future__ import annotations

from whence.analysis.questions import Difference, differences
from whence.analysis.sample import PosteriorSample
from whence.drawing import machine_svg
from whence.model.machine import RewardMachine, number
from whence.report.html import (
    Html,
    counted,
    details,
    figure,
    paragraph,
    section,
    sequence,
    share,
    share_with_error,
    table,
    width,
)
from whence.report.study import Study
from whence.runs.trust import unweighed

TOP = 5
TITLE = "Single machines"


def alternatives(study: Study) -> Html:
    """Return the section."""
    sample = study.run.posterior
    if sample is None:
        text = f"No machine has a probability: {unweighed(study.run)}."
        return section("alternatives", TITLE, paragraph(text))
    shown = min(TOP, len(sample))
    rest = 1 - float(sample.weights[:shown].sum())
    intro = (
        f"{counted(len(sample), 'machine remains', 'machines remain')} possible; machines "
        "that pay the same on every label sequence that the world can produce count as one. "
    )
    if rest > 0.0005:
        intro += f"The ones not listed hold {share(rest)} of the probability between them."
    parts = [paragraph(intro), _weights(study, sample, shown)]
    if shown > 1:
        parts.append(details("Draw them", *(_drawing(study, sample, at) for at in range(shown))))
    return section("alternatives", TITLE, *parts)


def _weights(study: Study, sample: PosteriorSample, shown: int) -> Html:
    """Return a table of the most probable machines, and how each differs from the first."""
    apart = {d.second: d for d in differences(sample, shown) if d.first == 0} if shown > 1 else {}
    rows = []
    for at in range(shown):
        own = " (drawn above)" if at == study.place else ""
        rows.append(
            [
                f"{at + 1}{own}",
                share_with_error(float(sample.weights[at]), float(sample.errors[at])),
                str(sample.machines[at].n_states),
                *_apart(sample, apart.get(at)),
            ]
        )
    return table(
        "The most probable machines, and what tells them apart",
        ["machine", "probability", "states", "differs from 1 on", "it pays", "1 pays"],
        rows,
        numbers=(1, 2, 4, 5),
    )


def _apart(sample: PosteriorSample, difference: Difference | None) -> list[str]:
    if difference is None:
        return ["–", "–", "–"]
    return [
        sequence(difference.labels),
        *(
            number(round(sum(_read(sample.machines[at], difference)), 9))
            for at in (difference.second, difference.first)
        ),
    ]


def _read(machine: RewardMachine, difference: Difference) -> tuple[float, ...]:
    return machine.run(difference.labels).rewards


def _drawing(study: Study, sample: PosteriorSample, at: int) -> Html:
    weight = share_with_error(float(sample.weights[at]), float(sample.errors[at]))
    svg = machine_svg(sample.machines[at], title=f"Machine {at + 1}: {weight}")
    caption = f"Machine {at + 1}, probability {weight}, in its smallest form."
    return figure(svg, caption, least=0.7 * width(svg))
