"""The worlds: where the expert went, and where the learned policy goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.memoryless import pairs
from whence.drawing.overlay import SHADES, bounds
from whence.drawing.ways import COARSE, FINE, Scene
from whence.likelihood.steps import machine_states
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted
from whence.planning.policies import plan
from whence.report.html import (
    LINE,
    Html,
    code,
    counted,
    details,
    figure,
    fill,
    join,
    paragraph,
    section,
    share,
    table,
    width,
)
from whence.report.study import Study

MOST_WORLDS, MOST_STATES, MOST_PLACES = 6, 8, 12
BUDGET = 1_200_000  # characters that all maps may take together


@dataclass(frozen=True, eq=False)
class Seen:
    """What happened in one world, and what the policy does there; n machine states.

    Attributes:
        mdp: the world.
        visits: float64[n, S], steps taken in each world state while the machine was in each of
            its own states.
        policy: float64[n, S, A], the plan's probabilities.
    """

    mdp: LabeledMDP
    visits: Floats
    policy: Floats


def seen(study: Study, mdp: LabeledMDP, demos: Demonstrations) -> Seen:
    """Count visits and plan with the machine that is drawn."""
    machine = restricted(study.shown, mdp)
    memory: Ints = machine_states(mdp, demos, machine)
    state = pairs(demos)[0]
    size = machine.n_states * mdp.n_states
    counts = np.bincount(memory * mdp.n_states + state, minlength=size)
    visits = counts.reshape(machine.n_states, mdp.n_states).astype(np.float64)
    policy = plan(mdp, machine, study.run.expert.discount)
    return Seen(mdp, visits, policy.probabilities)


def maps(study: Study) -> Html:
    """Return the section."""
    parts = [
        paragraph(
            "Where the expert was while the machine was in each of its states, and what a policy "
            "that is optimal for the machine does there (at discount "
            f"{study.run.expert.discount:g}; equally good actions are all shown)."
        )
    ]
    shown = study.worlds[:MOST_WORLDS]
    for number, (mdp, demos) in enumerate(shown):
        name = study.names[number]
        if len(study.worlds) > 1:
            parts.append(fill("<h3>{name}</h3>", name=name))
        parts.append(_described(mdp, demos, name, study.sources[number]))
        if demos.n_steps == 0:
            parts.append(paragraph("There are no steps in this world."))
            continue
        there = seen(study, mdp, demos)
        parts += _panels(study, there, BUDGET // len(shown))
    if len(study.worlds) > MOST_WORLDS:
        parts.append(paragraph(f"{len(study.worlds) - MOST_WORLDS} more worlds are not drawn."))
    title = "The world" if len(study.worlds) == 1 else "The worlds"
    return section("worlds", title, *parts)


def _described(mdp: LabeledMDP, demos: Demonstrations, name: str, source: str) -> Html:
    kind = "deterministic" if mdp.is_deterministic else "stochastic"
    labels = join((code(symbol) for symbol in mdp.alphabet), ", ")
    return fill(
        "<p>{name}: {states}, {actions} ({names}), {kind}; labels {labels}. {episodes} from "
        "{source}.</p>",
        name=name[:1].upper() + name[1:],
        states=counted(mdp.n_states, "state"),
        actions=counted(mdp.n_actions, "action"),
        names=join((code(action) for action in mdp.actions[:12]), ", "),
        kind=kind,
        labels=labels or "none",
        episodes=counted(len(demos), "episode"),
        source=code(source),
    )


def _panels(study: Study, there: Seen, budget: int) -> list[Html]:
    """Return a legend and a map for each machine state, as finely drawn as the budget allows."""
    n = len(there.visits)
    shown = range(min(n, MOST_STATES))
    largest = float(there.visits.max())
    for most in (FINE, COARSE):
        scene = Scene.of(there.mdp, most)
        if scene is None:
            return _undrawn(study, there)
        drawings = [_map(study, scene, there, at, largest) for at in shown]
        if sum(map(len, drawings)) <= budget:
            break
    else:
        return _undrawn(study, there)
    cards = [
        figure(svg, _caption(study, there, at), least=min(width(svg), 330), kind="card")
        for at, svg in zip(shown, drawings, strict=True)
    ]
    result = [_legend(largest), fill('<div class="cards">{all}</div>', all=join(cards, LINE))]
    if n > MOST_STATES:
        result.append(paragraph(f"{n - MOST_STATES} more states of the machine are not drawn."))
    return [*result, details("The same as a table", _places(study, there))]


def _undrawn(study: Study, there: Seen) -> list[Html]:
    text = "Its map is too large for this page; here are the most visited states."
    return [paragraph(text), _places(study, there)]


def _map(study: Study, scene: Scene, there: Seen, at: int, largest: float) -> str:
    name = study.shown.state_names[at]
    return scene.svg(
        f"Visits and policy while the machine is in {name}",
        visits=there.visits[at],
        largest=largest,
        policy=there.policy[at],
    )


def _caption(study: Study, there: Seen, at: int) -> Html:
    steps, total = float(there.visits[at].sum()), float(there.visits.sum())
    machine = restricted(study.shown, there.mdp)
    idle = (
        "" if machine.can_pay[at] else " Nothing can be earned here: all actions are equally good."
    )
    first = " (the first)" if at == 0 else ""
    return fill(
        "While the machine is in {name}{first}: {steps}, {share} of all.{idle}",
        name=code(study.shown.state_names[at]),
        first=first,
        steps=counted(int(steps), "step"),
        share=share(steps / total),
        idle=idle,
    )


def _legend(largest: float) -> Html:
    """Return what each shade means."""
    keys, low = [], 1
    for shade, most in zip(SHADES, bounds(largest), strict=True):
        high = int(most)
        if high < low:
            continue
        shown = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        low = high + 1
        keys.append(
            fill(
                '<li><span class="swatch" style="--heat-shade:{shade}"></span>{shown}</li>',
                shade=f"{shade:g}",
                shown=shown,
            )
        )
    return fill(
        '<div class="legend"><span>Steps taken in each state, on one scale for all maps:</span>'
        "<ul>{keys}</ul><span>Arrows: the policy.</span></div>",
        keys=join(keys),
    )


def _places(study: Study, there: Seen) -> Html:
    """Return the most visited states, and what the policy does in each."""
    total = there.visits.sum(axis=0)
    order = np.argsort(-total, kind="stable")[:MOST_PLACES]
    names = study.shown.state_names
    memory = range(min(len(names), MOST_STATES))
    rows = []
    for state in order[total[order] > 0].tolist():
        label = there.mdp.label(state)
        rows.append(
            [
                code(there.mdp.state_name(state)),
                "–" if label is None else code(label),
                f"{int(total[state]):,}",
                *(_does(there, at, state) for at in memory),
            ]
        )
    heads = [fill("policy in {name}", name=code(names[at])) for at in memory]
    return table(
        "The most visited states, and what the policy does there in each machine state",
        ["state", "label", "steps", *heads],
        rows,
        numbers=(2,),
    )


def _does(there: Seen, at: int, state: int) -> Html:
    """Return the actions that the policy may take in a state, or `any`."""
    chances = there.policy[at, state]
    if chances.max() - chances.min() < 1e-9:
        return Html("any")
    best = np.flatnonzero(chances >= chances.max() - 1e-9)
    return join((code(there.mdp.actions[action]) for action in best.tolist()), " or ")
