"""The machine, drawn, with how sure each arrow is."""

from __future__ import annotations

from whence.drawing import machine_svg
from whence.model.machine import number
from whence.report.html import (
    Html,
    code,
    details,
    figure,
    fill,
    join,
    nats,
    paragraph,
    section,
    table,
    width,
)
from whence.report.study import Study
from whence.report.words import word


def machine(study: Study) -> Html:
    """Return the section."""
    svg = drawn_machine(study)
    caption: str = (
        "Circles are states of the machine, the arrow from nowhere marks the first one. An arrow "
        "reads a label and pays what stands after the bar. Grey states can pay nothing any more. "
    )
    if study.certainty:
        caption = join(
            [
                caption,
                "The number in brackets is the arrow's support, for several labels the least: "
                "the log posterior odds against the next best target or reward of this arrow "
                "alone; 3 ",
                word("nats", "nat"),
                " are odds of 20 to 1. A question mark marks what is not determined.",
            ]
        )
    shown = [figure(svg, caption, least=0.7 * width(svg))]
    if study.certainty:
        shown.append(details("How sure each arrow is, as a table", arrows(study)))
    else:
        shown.append(paragraph("The method does not say how sure single arrows are."))
    return section("machine", "The machine", *shown)


def drawn_machine(study: Study) -> str:
    """Return the machine of the answer as SVG, with the support of each arrow."""
    support = {(each.state, study.shown.index(each.symbol)): each.loss for each in study.certainty}
    return machine_svg(study.shown, undetermined=study.undetermined, support=support or None)


def arrows(study: Study) -> Html:
    """Return a row for each arrow."""
    names = study.shown.state_names
    rows = []
    for each in study.certainty:
        other = "none is possible"
        if each.other_target is not None and each.other_reward is not None:
            other = fill(
                "to {state}, paying {reward}",
                state=code(names[each.other_target]),
                reward=number(each.other_reward),
            )
        rows.append(
            [
                join([code(names[each.state]), " reads ", code(each.symbol)]),
                code(names[each.target]),
                number(each.reward),
                "yes" if each.determined else fill("<strong>open</strong>"),
                nats(each.loss),
                other,
            ]
        )
    return table(
        "Every arrow of the machine and the next best choice, log posterior odds in nats",
        ["arrow", "leads to", "pays", "determined", "log posterior odds", "against the next best"],
        rows,
        numbers=(2, 4),
    )
