"""The answer: what the expert wants, in a sentence, and how far to trust it."""

from __future__ import annotations

from collections import deque

from whence.model.machine import RewardMachine, number
from whence.report.html import (
    Html,
    bullets,
    code,
    counted,
    fill,
    fixed,
    join,
    paragraph,
    section,
    share,
    share_with_error,
)
from whence.report.study import LOOKED_AT, Study

MOST = 4  # rewards that the sentence names


def answer(study: Study) -> Html:
    """Return the section."""
    run = study.run
    lead = paragraph(
        f"{counted(study.episodes, 'episode')} ({counted(study.steps, 'step')}) are "
        f"best explained by a reward machine with "
        f"{counted(run.best.n_states, 'state')}: ",
        in_words(run.best),
        kind="lead",
    )
    return section("answer", "The answer", lead, _trust(study), *_heavier(study), facts(study))


def in_words(machine: RewardMachine) -> Html:
    """Return what a machine pays for, shortest first, and what forfeits everything."""
    paths = _paths(machine)
    paid = [
        ((*paths[state], symbol), float(machine.rewards[state, column]))
        for state in paths
        for column, symbol in enumerate(machine.alphabet)
        if machine.rewards[state, column]
    ]
    paid.sort(key=lambda each: len(each[0]))
    said = [_pays(labels, reward) for labels, reward in paid[:MOST]]
    if len(paid) > MOST:
        said.append(Html(f"there are {len(paid) - MOST} more such rewards"))
    alive = machine.can_pay
    lost = [
        symbol
        for column, symbol in enumerate(machine.alphabet)
        if alive[0]
        and not alive[machine.transitions[0, column]]
        and machine.rewards[0, column] == 0
    ]
    end = fill(". After {lost} at the start nothing more is paid", lost=_either(lost))
    return join([join(said, "; "), end if lost else Html(""), Html(".")])


def _pays(labels: tuple[str, ...], reward: float) -> Html:
    verb = "pays" if reward > 0 else "costs"
    return fill(
        "{labels} {verb} {reward}",
        labels=join(map(code, labels), ", then "),
        verb=verb,
        reward=number(abs(reward)),
    )


def _either(symbols: list[str]) -> Html:
    return join(map(code, symbols), " or ")


def _paths(machine: RewardMachine) -> dict[int, tuple[str, ...]]:
    """Return a shortest label sequence to each reachable state."""
    paths: dict[int, tuple[str, ...]] = {0: ()}
    queue = deque([0])
    while queue:
        state = queue.popleft()
        for column, symbol in enumerate(machine.alphabet):
            target = int(machine.transitions[state, column])
            if target not in paths:
                paths[target] = (*paths[state], symbol)
                queue.append(target)
    return paths


def _trust(study: Study) -> Html:
    """Return whether the search can be trusted."""
    run = study.run
    doubts = [f"{doubt[:1].upper()}{doubt[1:]}." for doubt in run.doubts]
    if run.stopped == "unfinished":
        doubts.insert(0, "The run is not finished.")
    if doubts:
        return fill(
            '<div class="notice doubt"><p><strong>Do not trust this yet.</strong></p>{all}</div>',
            all=bullets(doubts),
        )
    if run.posterior is None:
        return fill(
            '<div class="notice doubt"><p><strong>One machine, no probabilities.</strong> '
            "The method, {method}, returns the best machine that it met and cannot say how sure "
            "it is.</p></div>",
            method=run.method,
        )
    known = "every machine was scored" if run.exact else "independent samplers agree"
    return fill(
        '<div class="notice good"><p><strong>The search left no doubts:</strong> {known}.</p>'
        "</div>",
        known=known,
    )


def _heavier(study: Study) -> list[Html]:
    """Say so where the machine with the best score is not the most probable."""
    sample = study.run.posterior
    if sample is None or study.place == 0:
        return []
    weight = share_with_error(float(sample.weights[0]), float(sample.errors[0]))
    text = (
        f"Another machine is likelier, with a probability of {weight}: machine 1 of the "
        "alternatives. The answer is the single machine with the best score; many machines that "
        "score less but pay the same can weigh more together. Besides, frequencies are wrong "
        "where the search leaves doubts."
    )
    return [paragraph(text)]


def facts(study: Study) -> Html:
    """Return the figures that matter most."""
    run = study.run
    found: list[tuple[str, str]] = []
    sample = run.posterior
    if sample is not None:
        chance = "not sampled"
        if study.place is not None:
            at = study.place
            chance = share_with_error(float(sample.weights[at]), float(sample.errors[at]))
        elif len(sample) > LOOKED_AT:
            chance = f"at most {share(float(sample.weights[LOOKED_AT]))}"
        others = len(sample) - (study.place is not None)
        found.append(("Probability of this machine", chance))
        found.append(("Other machines still possible", f"{others:,}"))
    if run.certainty:
        sure = sum(each.determined for each in run.certainty)
        found.append(("Arrows determined", f"{sure} of {len(run.certainty)}"))
    if sample is not None:
        found.append(
            ("Open questions", f"{len(run.open_questions)}" if run.open_questions else "none")
        )
    if study.comparison is not None:
        gain = next(p for p in study.comparison.predictions if p.method == "markovian")
        better = fixed(gain.behind, 3)
        found.append(("Held-out log likelihood gained by memory, nats a step", better))
    cells = (
        fill("<div><dt>{name}</dt><dd>{value}</dd></div>", name=name, value=value)
        for name, value in found
    )
    return fill('<dl class="facts">{cells}</dl>', cells=join(cells))
