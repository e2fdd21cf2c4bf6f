"""The next demonstration: where to start it, and what it would show either way."""

from __future__ import annotations

from typing import NamedTuple

from whence.analysis.design import LITTLE_TOLD, NOTHING_TOLD, Start
from whence.model.machine import RewardMachine, number
from whence.report.html import (
    Html,
    bullets,
    code,
    counted,
    figure,
    fill,
    join,
    marked,
    nats,
    paragraph,
    section,
    sequence,
    share,
    width,
)
from whence.report.replay import scene_of
from whence.report.study import Study
from whence.report.walks import Walk, predicted
from whence.report.words import word
from whence.runs.trust import unweighed

KINDS = ("one-way", "other-way")
SHIFTS = (-0.12, 0.12)


class _Choice(NamedTuple):
    """What one more demonstration would tell apart.

    Attributes:
        start: where it begins.
        machines: two that remain possible.
        cases: when each of them is the expert's, in words.
    """

    start: Start
    machines: tuple[RewardMachine, RewardMachine]
    cases: tuple[Html, Html]


def following(study: Study) -> Html:
    """Return the section."""
    title = "The next demonstration"
    if study.run.posterior is None:
        text = f"It cannot be said what would tell most: {unweighed(study.run)}."
        return section("next", title, paragraph(text))
    choices = _choices(study)
    if not choices:
        return section("next", title, paragraph("Nothing is open, so none is needed."))
    best = max(choices, key=lambda each: each.start.nats)
    if best.start.nats < NOTHING_TOLD:
        text = "No demonstration would settle what is open: the expert acts the same either way."
        return section("next", title, paragraph(text))
    return section("next", title, fill('<div class="next">{all}</div>', all=_card(study, best)))


def _choices(study: Study) -> list[_Choice]:
    """Return what is open, and what was hardly put to the test."""
    run = study.run
    assert run.posterior is not None
    found = []
    for question in run.open_questions:
        one, other = (run.posterior.machines[at] for at in question.between)
        cases = [
            join(["if ", sequence(question.labels), f" pays {number(reward)} ({share(p)})"])
            for reward, p in list(question.outcomes.items())[:2]
        ]
        found.append(_Choice(question.start, (one, other), (cases[0], cases[1])))
    if run.next_test is not None:
        untold, start = run.next_test
        own, rather = (join(["if it wants ", marked(wanted)]) for wanted in untold.wants)
        found.append(_Choice(start, (untold.own, untold.other), (own, rather)))
    return found


def _card(study: Study, choice: _Choice) -> Html:
    start = choice.start
    mdp = study.worlds[start.world][0]
    walks = [
        predicted(mdp, machine, study.run.expert.discount, start.state)
        for machine in choice.machines
    ]
    ways = [
        join([
            fill('<span class="key {kind}"><span class="dash"></span></span>', kind=kind),
            case, ": ", _told(study, start.world, walk),
        ])
        for kind, case, walk in zip(KINDS, choice.cases, walks, strict=True)
    ]  # fmt: skip
    of = join([" of ", code(study.names[start.world])]) if len(study.worlds) > 1 else ""
    much = "would tell a little" if start.nats < LITTLE_TOLD else "would tell"
    lead = paragraph(
        fill("<strong>Start in {name}</strong>", name=code(mdp.state_name(start.state))),
        of, f" and watch: an episode of 100 steps {much}, ", nats(start.nats), " ",
        word("nats", "nat"), " on average. An expert who does not err goes",
    )  # fmt: skip
    return join([lead, bullets(ways), *_map(study, start, walks)])


def _told(study: Study, world: int, walk: Walk) -> Html:
    """Return a way in words: the labels that are entered on it."""
    mdp = study.worlds[world][0]
    labels = [mdp.label(state) for state in walk.states[1:]]
    entered = [label for label in labels if label is not None]
    steps = len(walk.states) - 1
    if not entered:
        return Html(
            "nowhere in particular" if steps == 0 else f"{counted(steps, 'step')}, past no label"
        )
    more = "" if len(entered) <= 6 else ", ..."
    return join([sequence(entered[:6]), more, f", in {counted(steps, 'step')}"])


def _map(study: Study, start: Start, walks: list[Walk]) -> list[Html]:
    scene = scene_of(study, start.world)
    if scene is None:
        return []
    over = [
        scene.way(walk.states, kind, shift)
        for walk, kind, shift in zip(walks, KINDS, SHIFTS, strict=False)
    ]
    svg = scene.svg("The next demonstration: two predicted ways", over=over)
    caption = "The start, and the two ways that are predicted from there; both begin at the dots."
    return [figure(svg, caption, least=min(width(svg), 300))]
