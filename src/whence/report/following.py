"""The next demonstration: where to start it, and what it would show either way."""

from __future__ import annotations

from whence.analysis.design import LITTLE_TOLD, NOTHING_TOLD
from whence.analysis.questions import OpenQuestion
from whence.model.machine import number
from whence.report.html import (
    Html,
    bullets,
    code,
    figure,
    fill,
    join,
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

KINDS = ("one-way", "other-way")
SHIFTS = (-0.12, 0.12)


def following(study: Study) -> Html:
    """Return the section."""
    title = "The next demonstration"
    questions = study.run.open_questions
    if study.run.posterior is None:
        text = "The method gives no weights, so it cannot be said what would tell most."
        return section("next", title, paragraph(text))
    if not questions:
        return section("next", title, paragraph("Nothing is open, so none is needed."))
    best = max(questions, key=lambda each: each.start.nats)
    if best.start.nats < NOTHING_TOLD:
        text = "No demonstration would settle what is open: the expert acts the same either way."
        return section("next", title, paragraph(text))
    return section("next", title, fill('<div class="next">{all}</div>', all=_card(study, best)))


def _card(study: Study, question: OpenQuestion) -> Html:
    sample = study.run.posterior
    assert sample is not None
    mdp = study.worlds[question.start.world][0]
    outcomes = list(question.outcomes.items())[:2]
    walks = [
        predicted(mdp, sample.machines[at], study.run.expert.discount, question.start.state)
        for at in question.between
    ]
    ways = [
        join([
            fill('<span class="key {kind}"><span class="dash"></span></span>', kind=kind),
            "if ", sequence(question.labels), f" pays {number(reward)} ({share(p)}): ",
            _told(study, question.start.world, walk),
        ])
        for kind, (reward, p), walk in zip(KINDS, outcomes, walks, strict=False)
    ]  # fmt: skip
    of = join([" of ", code(study.names[question.start.world])]) if len(study.worlds) > 1 else ""
    much = "would tell a little" if question.start.nats < LITTLE_TOLD else "would tell"
    lead = paragraph(
        fill("<strong>Start in {name}</strong>", name=code(mdp.state_name(question.start.state))),
        of, f" and watch: an episode of 100 steps {much}, ", nats(question.start.nats), " ",
        word("nats", "nat"), " on average. An expert who does not err goes",
    )  # fmt: skip
    return join([lead, bullets(ways), *_map(study, question, walks)])


def _told(study: Study, world: int, walk: Walk) -> Html:
    """Return a way in words: the labels that are entered on it."""
    mdp = study.worlds[world][0]
    labels = [mdp.label(state) for state in walk.states[1:]]
    entered = [label for label in labels if label is not None]
    steps = len(walk.states) - 1
    if not entered:
        return Html("nowhere in particular" if steps == 0 else f"{steps} steps, past no label")
    more = "" if len(entered) <= 6 else ", ..."
    return join([sequence(entered[:6]), more, f", in {steps} steps"])


def _map(study: Study, question: OpenQuestion, walks: list[Walk]) -> list[Html]:
    scene = scene_of(study, question.start.world)
    if scene is None:
        return []
    over = [
        scene.way(walk.states, kind, shift)
        for walk, kind, shift in zip(walks, KINDS, SHIFTS, strict=False)
    ]
    svg = scene.svg("The next demonstration: two predicted ways", over=over)
    caption = "The start, and the two ways that are predicted from there; both begin at the dots."
    return [figure(svg, caption, least=min(width(svg), 300))]
