"""What a run believes, as the page shows it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from whence.analysis.claims import KINDS
from whence.drawing import machine_svg
from whence.drawing.places import MOST_PLACES
from whence.drawing.ways import HUGE
from whence.errors import WhenceWarning
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted
from whence.planning.policies import plan
from whence.runs.posterior_document import facts_document, open_questions_document
from whence.runs.result import Run
from whence.studio.asking import answers_document

MOST_FACTS, MOST_OPEN, MOST_ROUTES = 12, 6, 5
LONG_FACT = 240  # characters


def belief_document(run: Run, *, stage: str) -> dict[str, Any]:
    """Return what a run believes.

    Args:
        run: what was found.
        stage: `so far`, or `whole`.
    """
    mdp, demos = run.job.pairs[0]
    facts = [fact for fact in facts_document(run) if len(fact["text"]) <= LONG_FACT]
    known = [fact for fact in facts if fact["kind"] in KINDS]
    routes = () if run.posterior is None else run.posterior.routes[:MOST_ROUTES]
    return {
        "stage": stage,
        "stopped": run.stopped,
        "episodes": len(demos),
        "answer": run.answer,
        "facts": known[:MOST_FACTS],
        "untested": [each["text"] for each in facts if each["kind"] not in KINDS][:MOST_OPEN],
        "routes": [{"text": each.text, "probability": each.probability} for each in routes],
        "open": open_questions_document(run)[:MOST_OPEN],
        "doubts": list(run.doubts),
        "notes": list(run.notes),
        "answers": answers_document(run),
        "questions": None,  # until they are worked out
        "seconds": run.seconds,
        "evaluations": run.evaluations,
        **machine_parts(mdp, run.shown, run.expert.discount),
    }


def machine_parts(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> dict[str, Any]:
    """Return a machine, its drawing, and where an agent goes that it pays."""
    return {
        "svg": machine_svg(machine),
        "alphabet": list(machine.alphabet),
        "names": list(machine.state_names),
        "transitions": machine.transitions.tolist(),
        "arrows": _arrows(mdp, machine, discount),
    }


def _arrows(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> list[list[list[int]]]:
    """Return, for each state of a machine, [state, next] pairs of the world's: the best moves.

    Nothing where the world is not drawn, and nothing from states where all moves are as good.
    """
    drawn = (
        mdp.n_states <= MOST_PLACES
        if mdp.grid is None
        else mdp.grid.width * mdp.grid.height <= HUGE
    )
    if not drawn:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WhenceWarning)
        policy = plan(mdp, restricted(machine, mdp), discount).probabilities
    return [_best_moves(mdp, policy[memory]) for memory in range(len(policy))]


def _best_moves(mdp: LabeledMDP, policy: np.typing.NDArray[np.float64]) -> list[list[int]]:
    top = policy.max(axis=1)
    least = np.where(mdp.available, policy, top[:, None]).min(axis=1)
    found = set()
    for state in np.flatnonzero(top > least + 1e-9).tolist():
        for action in np.flatnonzero(policy[state] >= top[state] - 1e-9).tolist():
            successors, chances = mdp.row(state, action)
            if len(successors):
                found.add((state, int(successors[chances.argmax()])))
    return [[state, then] for state, then in sorted(found) if state != then]
