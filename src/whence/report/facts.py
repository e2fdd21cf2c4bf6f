"""What is known, what is probable and what is open; the plans that remain possible."""

from __future__ import annotations

from whence.analysis.design import NOTHING_TOLD
from whence.analysis.facts import SURE, Fact
from whence.analysis.questions import OpenQuestion, differences
from whence.model.machine import number
from whence.report.html import (
    Html,
    bullets,
    code,
    fill,
    join,
    marked,
    nats,
    paragraph,
    section,
    sequence,
    share,
    share_with_error,
    table,
)
from whence.report.study import Study
from whence.report.words import word
from whence.runs.trust import unweighed

TOP = 5
LOOKED = 12  # machines among which differences are looked for
HEADINGS = {
    "route": "what it goes for",
    "ends": "where it ends",
    "avoids": "what it avoids",
    "pays": "what pays",
}


def facts(study: Study) -> Html:
    """Return the section."""
    title = "What is known"
    if study.run.posterior is None:
        text = f"Nothing can be said of how sure anything is: {unweighed(study.run)}."
        return section("facts", title, paragraph(text))
    return section("facts", title, _stated(study), *_limits(study), *_routes(study), *_open(study))


def _stated(study: Study) -> Html:
    """Return a table of all facts, the surest kinds first."""
    rows = [
        [
            marked(_sentence(each)),
            HEADINGS[each.kind],
            "sure" if each.probability >= SURE else "probable",
            share_with_error(each.probability, each.error),
        ]
        for each in study.run.facts
        if each.kind in HEADINGS
    ]
    if not rows:
        return paragraph("No statement about what the expert wants is likelier than not.")
    return table(
        "Statements that are likelier than not, over all machines that remain possible",
        ["statement", "about", "is", "probability"],
        rows,
        numbers=(3,),
    )


def _sentence(fact: Fact) -> str:
    text = f"it wants {fact.text}" if fact.kind == "route" else fact.text
    return text[:1].upper() + text[1:]


def _limits(study: Study) -> list[Html]:
    """Return what was never tested, and what no demonstration tells."""
    told = [each for each in study.run.facts if each.kind not in HEADINGS]
    if not told:
        return []
    return [bullets(marked(f"{_sentence(each)}.") for each in told)]


def _routes(study: Study) -> list[Html]:
    """Return the plans that remain possible, and what tells each from the first."""
    sample = study.run.posterior
    assert sample is not None
    shown = sample.routes[:TOP]
    rows = []
    for at, route in enumerate(shown):
        rows.append(
            [
                marked(route.text[:1].upper() + route.text[1:]),
                share_with_error(route.probability, route.error),
                f"{len(route.classes):,}",
                _apart(study, route.classes[0], shown[0].classes[0]) if at else "–",
            ]
        )
    heading = fill("<h3>Plans that remain possible</h3>")
    text = join(
        [
            "Machines are grouped by their ", word("plan", "plan"), ": they may pay differently "
            "and still act alike.",
        ]
    )  # fmt: skip
    header = ["the expert wants", "probability", "machines", "told from the first by"]
    return [heading, paragraph(text), table("Plans", header, rows, numbers=(1, 2))]


def _apart(study: Study, one: int, other: int) -> Html:
    """Return the shortest label sequence that two machines of the sample pay differently."""
    sample = study.run.posterior
    assert sample is not None
    if max(one, other) >= LOOKED or one == other:
        return Html("–")
    for each in differences(sample, max(one, other) + 1):
        if {each.first, each.second} == {one, other}:
            return sequence(each.labels)
    return Html("–")


def _open(study: Study) -> list[Html]:
    """Return the open questions, and which demonstration would settle each."""
    heading = fill("<h3>Open questions</h3>")
    if not study.run.open_questions:
        text = (
            "None: on every label sequence that the world can produce, at least 95% of the "
            "probability agrees on what is paid."
        )
        return [heading, paragraph(text)]
    several = len(study.worlds) > 1
    rows = [_question(study, each, several) for each in study.run.open_questions]
    text = join(
        [
            "The shortest ", word("label sequences", "label sequence"), " whose total reward is "
            "still open, since no answer has a probability of 95%, and the state from which one "
            "more demonstration would best tell the two most likely answers apart. The last "
            "column is the expected log Bayes factor of an episode of 100 steps from there, in ",
            word("nats", "nat"), ": 3 settle a question; where it is far below 1, the answer "
            "hardly changes what the expert does.",
        ]
    )  # fmt: skip
    header = ["sequence", "what it pays", "start a demonstration in", "log Bayes factor"]
    return [heading, paragraph(text), table("Open questions", header, rows, numbers=(3,))]


def _question(study: Study, each: OpenQuestion, several: bool) -> list[str]:
    mdp = study.worlds[each.start.world][0]
    where: list[str] = [code(mdp.state_name(each.start.state))]
    if several:
        where += [" of ", code(study.names[each.start.world])]
    pays = (
        fill('<span class="sequence">{one}</span>', one=f"{number(reward)} ({share(p)})")
        for reward, p in each.outcomes.items()
    )
    if each.start.nats < NOTHING_TOLD:
        where = ["nowhere: the expert acts the same either way"]
    return [sequence(each.labels), join(pays, "; "), join(where), nats(each.start.nats)]
