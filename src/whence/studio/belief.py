"""What a run believes, as the page shows it."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence._arrays import Bools, Ints
from whence.analysis.claims import KINDS
from whence.drawing import machine_svg
from whence.drawing.places import MOST_PLACES
from whence.drawing.ways import HUGE
from whence.likelihood.values import compiled_q
from whence.model.expert import best_actions
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted
from whence.runs.posterior_document import facts_document, open_questions_document
from whence.runs.result import Run
from whence.studio.asking import answers_document
from whence.studio.walking import usual_successors

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
        "error_rate": None if run.posterior is None else run.error_rate.mean,
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
    best = best_actions(compiled_q(mdp, restricted(machine, mdp), discount))
    return [_moves(mdp, usual_successors(mdp), best[memory]) for memory in range(len(best))]


def _moves(mdp: LabeledMDP, usual: Ints, best: Bools) -> list[list[int]]:
    """Return [state, next] of best actions, bool[S, A], where these are not all there are."""
    telling = (best != mdp.available).any(axis=1)
    state, action = np.nonzero(best & telling[:, None])
    then = usual[state, action]
    pairs = np.unique(np.column_stack([state, then])[state != then], axis=0)
    found: list[list[int]] = pairs.tolist()
    return found
