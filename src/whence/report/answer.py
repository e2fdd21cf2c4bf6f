"""The answer: what the expert wants, in a sentence, drawn, and how to be surer."""

from __future__ import annotations

import numpy as np

from whence.analysis.design import LITTLE_TOLD, NOTHING_TOLD, Start
from whence.analysis.questions import OpenQuestion
from whence.analysis.rivals import BARELY, Untold
from whence.analysis.untested import NEVER
from whence.drawing import machine_svg
from whence.drawing.ways import COARSE, FINE, Scene
from whence.report.html import (
    Html,
    bullets,
    code,
    counted,
    figure,
    fill,
    join,
    marked,
    paragraph,
    section,
    sequence,
    width,
)
from whence.report.maps import seen
from whence.report.study import Study
from whence.report.words import explained
from whence.runs.result import Run
from whence.runs.trust import checks, cure, grave, longer, sampled

LARGEST_MAP = 300_000  # characters of the map beside the machine


def answer(study: Study) -> Html:
    """Return the section; of several groups of subjects, the answer of each."""
    parts: list[Html] = []
    if len(study.groups) > 1:
        parts.append(paragraph(study.run.answer.partition(":")[0] + ".", kind="lead"))
    for part in study.groups or (study,):
        if len(study.groups) > 1:
            parts.append(fill("<h3>{name}</h3>", name=part.group))
        parts += [_lead(part), _surer(part), _pictures(part)]
    return section("answer", "The answer", *parts, _trust(study))


def _lead(study: Study) -> Html:
    """Return the sentence with its confidence."""
    found = study.run.found
    if found is None or not found.sure:
        return paragraph(marked(study.run.answer), kind="lead")
    shaky = bool(grave(study.run)) or study.run.provisional
    badge = fill(
        ' <span class="sure {kind}">{chance}{but}</span>',
        kind="shaky" if shaky or found.granted else "",
        chance=found.surety,
        but=", if the doubts below are unfounded" if shaky else "",
    )
    lead = f"{study.run.until_now}{found.statement}."
    return paragraph(marked(lead), badge, kind="lead")


def _surer(study: Study) -> Html:
    """Return, in one line, what would make the answer surer."""
    run = study.run
    if run.provisional:
        text = join(["let the run end, ", _command(f"whence resume {study.kept}")])
    elif grave(run):
        text = join(["run ", _command(cure(grave(run)[0], run, study.kept))])
    elif run.posterior is None:
        text = join(["let a method that gives probabilities search: ",
                     _command(sampled(run, study.kept))])  # fmt: skip
    elif run.next_test is not None and run.next_test[1].nats >= NOTHING_TOLD:
        text = _tested(study, *run.next_test)
    elif run.open_questions:
        text = _settled(study, max(run.open_questions, key=lambda each: each.start.nats))
    elif run.draws is not None and run.draws.exact:
        text = Html("nothing is open")
    else:
        text = join(["nothing is open; ", _command(longer(run, study.kept)), " sharpens figures"])
    return paragraph(fill("<strong>To be surer:</strong> "), text, ".", kind="surer")


def _settled(study: Study, question: OpenQuestion) -> Html:
    """Return which demonstration would settle a question."""
    if question.start.nats < NOTHING_TOLD:
        return Html(
            "no demonstration would tell what is open; the expert acts the same either way"
        )
    much = "would tell a little of" if question.start.nats < LITTLE_TOLD else "would tell"
    what = join([f" {much} what ", sequence(question.labels), " pays"])
    return join([_demonstrated(study, question.start), what])


def _tested(study: Study, untold: Untold, start: Start) -> Html:
    """Return which demonstration would put something to the test that hardly was."""
    what = untold.fact.text.removesuffix(f" {BARELY}").removesuffix(f" {NEVER}")
    return join([_demonstrated(study, start), " would tell ", marked(what.removesuffix(","))])


def _demonstrated(study: Study, start: Start) -> Html:
    """Return a demonstration that is yet to be made, by where it begins."""
    mdp = study.worlds[start.world][0]
    of = join([" of ", code(study.names[start.world])]) if len(study.worlds) > 1 else ""
    return join(["one more demonstration from ", code(mdp.state_name(start.state)), of])


def _command(text: str) -> Html:
    return fill('<code class="command">{text}</code>', text=text)


def _pictures(study: Study) -> Html:
    """Return the machine beside the map."""
    machine = machine_svg(study.shown, undetermined=study.undetermined)
    kind = "The simplest machine with this plan" if study.run.posterior else "The machine"
    watched = f"{counted(study.episodes, 'episode')}, {counted(study.steps, 'step')}"
    figures = [
        figure(
            machine,
            f"{kind}: an arrow reads a label and pays what stands after the bar.",
            least=min(width(machine), 300),
        )
    ]
    drawn = _map(study)
    if drawn is not None:
        caption = f"Where the expert was: {watched}."
        figures.append(figure(drawn, caption, least=min(width(drawn), 260)))
    return fill('<div class="first">{all}</div>', all=join(figures))


def _map(study: Study) -> str | None:
    """Return the map of the first world with all visits, if there is one that fits."""
    mdp, demos = study.worlds[0]
    if demos.n_steps == 0:
        return None
    visits = seen(study, mdp, demos).visits.sum(axis=0)
    for most in (FINE, COARSE):
        scene = Scene.of(mdp, most)
        if scene is None:
            return None
        drawn = scene.svg("Where the expert was", visits=visits, largest=float(np.max(visits)))
        if len(drawn) <= LARGEST_MAP:
            return drawn
    return None


def _trust(study: Study) -> Html:
    """Return whether the search can be trusted, and what to do about each doubt."""
    run = study.run
    doubts = _doubts(study)
    if run.provisional:
        resume = _command(f"whence resume {study.kept}")
        doubts.insert(0, join(["The run is not finished: ", resume, "."]))
    alone = join([_no_probabilities(run)] if run.posterior is None and not run.provisional else [])
    if doubts:
        lead = "Do not trust this yet."
        if not grave(run) and not run.provisional:
            lead = "The answer stands; some figures are rough."
        return fill(
            '{alone}<div class="notice doubt"><p><strong>{lead}</strong></p>{all}</div>',
            alone=alone,
            lead=lead,
            all=bullets(doubts),
        )
    if run.posterior is None:
        return alone
    return fill(
        '<div class="notice good"><p><strong>No doubts.</strong> Checked were {known}.</p></div>',
        known=join((explained(check) for check in checks(run)), "; "),
    )


def _no_probabilities(run: Run) -> Html:
    """Return the notice of a method that returns one machine."""
    return fill(
        '<div class="notice doubt"><p><strong>One machine, no probabilities.</strong> '
        "The method, {method}, returns the best machine that it met and cannot say how sure "
        "it is.</p></div>",
        method=run.method,
    )


def _doubts(study: Study) -> list[Html]:
    """Return the doubts, those with the same cure together."""
    together: dict[str, list[str]] = {}
    for doubt in study.run.doubts:
        together.setdefault(cure(doubt, study.run, study.kept), []).append(doubt)
    found = []
    for command, said in together.items():
        text = "; ".join(said)
        said_so = marked(f"{text[:1].upper()}{text[1:]}.")
        found.append(join([said_so, " Try ", _command(command), "."]))
    return found
