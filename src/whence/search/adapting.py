"""Where ladders meet: during the warm-up they hear of each other, and rungs and moves adapt.

All that happens between one step and the next, at steps that are known beforehand (`meeting`);
until then each ladder goes its own way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence._arrays import Floats
from whence.search import census, ladder
from whence.search.census import Census
from whence.search.parting import widened
from whence.search.settings import Tempering
from whence.search.surveying import renewed, survey
from whence.search.target import Target
from whence.search.tempering import State, started

UNBALANCED = 0.25  # how far apart the rejection rates of neighbours may be
SAME_SCORE = 0.02  # scores this close are of equally good machines
SAME_WITH_EXPERT = 1.0  # the same where experts are drawn, and no two draws are alike
LEAST_SHARE = 0.03  # of each kind of move
LEAST_LEFT = 500  # steps after the warm-up; of fewer, copies of ladders settle for too many


def meeting(state: State, settings: Tempering) -> int:
    """Return the next step after which ladders meet: while warming up, they adapt."""
    half = settings.steps // 2
    if state.warm >= 0:
        return settings.steps
    return max(min(state.turn, half), state.step + 1)


def settled(state: State, target: Target, settings: Tempering) -> State:
    """Return the state with what ladders do when they meet, if that is now."""
    half = state.step >= settings.steps // 2
    if state.warm >= 0:
        return state
    if state.common:
        return adapted(state, target, settings)
    if state.step < state.turn and not half:
        return state
    if not state.seeking.heard and state.seeking.over:
        state = heard(state, target, settings)
        if not half:
            return state
    return adapted(state, target, settings)


def heard(state: State, target: Target, settings: Tempering) -> State:
    """Return the state in which every chain starts from the best machine of any ladder.

    Hot chains leave it soon, while cold ones would take long to find it.
    """
    alone = target.score(state.best)
    best = state.best.rows(np.array([alone.argmax()]))
    state = replace(started(state, target, best, np.arange(state.chains.size)), alone=alone)
    return replace(
        _counted_afresh(state),
        seeking=replace(state.seeking, heard=True),
        round=settings.pace,
        turn=state.step + settings.pace,
    )


def adapted(state: State, target: Target, settings: Tempering) -> State:
    """Move the rungs and share the moves anew at the end of a round of the warm-up; end it.

    Each round is twice as long as the one before, so that the last one, in which the chains have
    settled, decides. After `warm_up` steps, once all finders are over, all ladders have found
    equally good machines, and all neighbours swap about equally often or a round took half as
    long as the shortest warm-up, the census is taken. One or two shorter rounds more, in which
    chains are drawn from it and leap, say where rungs belong, and the warm-up ends; or else after
    half of all steps.
    """
    half = state.step >= settings.steps // 2
    if state.warm >= 0 or (state.step < state.turn and not half):
        return state
    rejection = (1 - state.swap_chance / np.maximum(state.swap_tried, 1)).mean(axis=0)
    tried, made = state.tried.mean(axis=0), state.made.mean(axis=0)
    rate = np.sqrt((made + 0.5) / (tried + 1.0))
    shares = LEAST_SHARE + rate / rate.sum()
    found = state.seeking.heard
    balanced = apart(rejection) <= UNBALANCED if len(rejection) else True
    agreed = state.step >= settings.warm_up and apart(target.score(state.best)) < same_score(
        target
    )
    parts = 1 if state.common else 4 if state.census.size else 2
    long = state.round >= settings.warm_up // parts
    ready = half or (found and agreed and (balanced or long))
    members, weighed = _census(state, target) if ready else (state.census, state.weighed)
    last = members.size > 0 and not (half or state.census.size or state.common)
    ended = ready and not last
    longer = 2 * state.round if found else state.round
    if last:
        longer = max(settings.warm_up // 6, settings.pace)
    adapted = replace(
        _counted_afresh(state),
        census=members,
        weighed=weighed,
        warm=state.step if ended else -1,
        temperatures=np.tile(
            ladder.respaced(state.temperatures[0], rejection), (len(state.ladder), 1)
        ),
        came_from_hot=state.came_from_hot & (not ended),
        trips=state.trips * (not ended),
        shares=shares / shares.sum(),
        round=longer,
        turn=state.step + longer,
    )
    if not ended or state.copies == 1:
        return adapted
    if settings.steps - state.step < LEAST_LEFT:
        return replace(adapted, copies=1)
    return widened(adapted, settings.ladders)


def _census(state: State, target: Target) -> tuple[Census, int]:
    """Return the machines near the best in weight, and how many were weighed to find them."""
    wanted = state.weighed >= 0 and census.possible(target)
    if not wanted or not np.isfinite(state.best.log_likelihood).any():
        return state.census, state.weighed
    if state.common:
        every = (state.best, state.chains)
        seeds = [Census(each.machines, each.experts.discount) for each in every]
        return census.take(target, census.joined(seeds))
    rungs = state.temperatures.shape[1]
    if state.census.size:
        return renewed(target, state.census, state.chains, rungs), state.weighed
    return survey(target, state.best, state.chains, rungs)


def _counted_afresh(state: State) -> State:
    """Return the state with no proposals and no swaps counted."""
    return replace(
        state,
        tried=np.zeros_like(state.tried),
        made=np.zeros_like(state.made),
        swap_tried=np.zeros_like(state.swap_tried),
        swap_chance=np.zeros_like(state.swap_chance),
    )


def same_score(target: Target) -> float:
    """Return how far apart the scores of equally good machines may be."""
    return SAME_WITH_EXPERT if target.unknowns.any else SAME_SCORE


def apart(scores: Floats) -> float:
    """Return how far the best of scores lies above the worst; equal infinities are not apart."""
    best, worst = float(scores.max()), float(scores.min())
    return 0.0 if best == worst else best - worst
