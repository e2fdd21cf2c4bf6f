"""What a posterior sample says, for JSON."""

from __future__ import annotations

import math
from typing import Any

from whence.analysis.certainty import Certainty
from whence.analysis.questions import OpenQuestion, differences
from whence.analysis.sample import PosteriorSample
from whence.model.machine import RewardMachine
from whence.runs.result import Run
from whence.search.diagnostics import Summary

TOP = 10  # machines that are named
COMPARED = 5  # machines whose differences are


def posterior_document(run: Run) -> dict[str, Any] | None:
    """Return what the sample says of the machine and the expert, or None without one."""
    sample = run.posterior
    if sample is None:
        return None
    together = sample.agreement
    return {
        "classes": len(sample),
        "draws": sample.size,
        "effective_size": _finite(sample.ess),
        "agreement": None if together is None else together._asdict(),
        "states": {str(n): p for n, p in sample.n_states.items()},
        "alpha": _summary(sample.alpha),
        "lapse": _summary(sample.lapse),
        "discount": _summary(sample.discount),
        "experts": dict(sample.kinds),
        "routes": [
            {"text": each.text, "probability": each.probability, "error": _finite(each.error)}
            for each in sample.routes[:TOP]
        ],
        "top": _top(sample),
        "differences": [
            {"machines": [each.first, each.second], "labels": list(each.labels)}
            for each in differences(sample, min(COMPARED, len(sample)))
        ],
    }


def facts_document(run: Run) -> list[dict[str, Any]]:
    """Return what is known of the expert's wishes, each with its probability."""
    sure = () if run.found is None else run.found.sure
    stated = {each.claim.text for each in sure}
    return [
        {
            "kind": fact.kind,
            "text": fact.text,
            "probability": fact.probability,
            "error": _finite(fact.error),
            "labels": list(fact.labels),
            "stated": fact.text in stated,
        }
        for fact in run.facts
    ]


def machine_document(machine: RewardMachine) -> dict[str, Any]:
    """Return the tables of a machine."""
    return {"transitions": machine.transitions.tolist(), "rewards": machine.rewards.tolist()}


def arrows_document(run: Run) -> list[dict[str, Any]]:
    """Return how sure each arrow of the best machine is."""
    names = run.best.state_names
    return [_arrow(each, names) for each in run.certainty]


def open_questions_document(run: Run) -> list[dict[str, Any]]:
    """Return the label sequences that are still open, the shortest first."""
    return [_open_question(each, run) for each in run.open_questions]


def _top(sample: PosteriorSample) -> list[dict[str, Any]]:
    some = zip(sample.machines[:TOP], sample.weights, sample.errors, strict=False)
    return [
        {"weight": float(weight), "error": float(error)} | machine_document(machine)
        for machine, weight, error in some
    ]


def _arrow(each: Certainty, names: tuple[str, ...]) -> dict[str, Any]:
    other = None if each.other_target is None else names[each.other_target]
    return {
        "from": names[each.state],
        "symbol": each.symbol,
        "to": names[each.target],
        "reward": each.reward,
        "determined": each.determined,
        "loss": _finite(each.loss),
        "other_to": other,
        "other_reward": each.other_reward,
    }


def _open_question(each: OpenQuestion, run: Run) -> dict[str, Any]:
    start = each.start
    return {
        "labels": list(each.labels),
        "pays": [
            {"reward": reward, "probability": probability}
            for reward, probability in each.outcomes.items()
        ],
        "start": None if start is None else start.state,
        "start_name": None if start is None else _state(run, start.world, start.state),
        "nats": None if start is None else _finite(start.nats),
    }


def _state(run: Run, world: int, state: int) -> str:
    """Return a world's state as people name it: a name, a cell, or its number."""
    mdp = run.posterior.worlds[world] if run.posterior else None
    if mdp is not None and mdp.names is not None:
        return mdp.names[state]
    if mdp is not None and mdp.grid is not None:
        x, y = mdp.grid.cells[state]
        return f"({x}, {y})"
    return str(state)


def _summary(summary: Summary) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in summary._asdict().items()}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def groups_document(run: Run) -> dict[str, Any] | None:
    """Return subjects and their groups for JSON, or None where they were not asked for."""
    found = run.groups
    if found is None:
        return None
    return {
        "probability": {str(k): share for k, share in found.probability.items()},
        "log_evidence": {str(k): value for k, value in found.log_evidence.items()},
        "machines_weighed": len(found.machines),
        "groups": [
            {
                "subjects": list(each.subjects),
                "answer": each.answer,
                "facts": [
                    {"kind": fact.kind, "text": fact.text, "probability": fact.probability}
                    for fact in each.facts
                ],
                "telling": [_open_question(asked, run) for asked in each.open_questions],
                "best": machine_document(each.best),
                "probability": float(each.posterior.weights[0]),
            }
            for each in found.groups
        ],
        "subjects": [
            {
                "name": each.name,
                "group": each.group,
                "share": each.share,
                "alpha": list(each.alpha),
                "lapse": list(each.lapse),
                "episodes": each.episodes,
                "steps": each.steps,
            }
            for each in found.subjects
        ],
    }
