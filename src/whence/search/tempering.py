"""Parallel tempering over reward machines: the default method.

Several independent ladders of chains, from the posterior at the coldest rung to one where the
likelihood hardly matters at the hottest, advance together, and every step scores one batch of
machines. A step makes one kind of move on every chain (Metropolis-Hastings, exact proposal
ratios, invalid proposals rejected) and then swaps neighbours on each ladder. During the warm-up,
rungs and the frequencies of moves adapt; then both are frozen, and the coldest chains are samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search import census, changing, ladder
from whence.search.census import Census
from whence.search.moves import MOVES, usable
from whence.search.recalling import Recaller
from whence.search.seeking import Seeker, Seeking
from whence.search.settings import Tempering
from whence.search.target import Chains, Target

EXPERT = "expert"
SPREAD_SHARE = 0.1
SMALL_SPREAD = 200.0  # nats
UNBALANCED = 0.25  # how far apart the rejection rates of neighbours may be
SAME_SCORE = 0.02  # scores this close are of equally good machines
SAME_WITH_EXPERT = 1.0  # the same where experts are drawn, and no two draws are alike
DRAWN = 8  # samples of each ladder and step where there is a census
LEAST_SHARE = 0.03  # of each kind of move


@dataclass(frozen=True, eq=False)
class State:
    """Where the ladders stand after `step` steps; L ladders of K rungs, chain l K + k.

    Attributes:
        step: steps done.
        warm: the step at which the warm-up ended, or -1.
        chains: L K of them.
        best: the best that each ladder has met, L of them.
        temperatures: float64[L, K].
        replica: int64[L, K], who stands on each rung.
        came_from_hot: bool[L, K], by replica.
        trips: int64[L], round trips since the warm-up.
        moves: the kinds of move.
        shares: float64[moves], how often each is made.
        tried: float64[moves], changes proposed since the last adaptation.
        made: float64[moves], changes accepted.
        swap_tried: float64[L, K - 1], since the last adaptation.
        swap_chance: float64[L, K - 1], the sum of their probabilities.
        seeking: where the finders are.
        round: how many steps this round of the warm-up has.
        turn: the step at which it ends.
        census: machines near the best in weight, once the warm-up is over.
        weighed: machines that the census took; -1 where none is taken, as in runs that were begun
            before there was one.
        alone: float64[L], the score that each ladder reached before it heard of the others.
        drawn: the samples of this step where there is a census, the ladders' in turn.
    """

    step: int
    warm: int
    chains: Chains
    best: Chains
    temperatures: Floats
    replica: Ints
    came_from_hot: Bools
    trips: Ints
    moves: tuple[str, ...]
    shares: Floats
    tried: Floats
    made: Floats
    swap_tried: Floats
    swap_chance: Floats
    seeking: Seeking
    round: int
    turn: int
    census: Census
    weighed: int
    alone: Floats
    drawn: Chains


@dataclass(frozen=True, eq=False)
class Info:
    """What a step did.

    Attributes:
        move: the kind of move.
        proposed: the proposals.
        log_ratio: float64[L K], the log of the acceptance ratio.
        accepted: bool[L K].
    """

    move: str
    proposed: Chains
    log_ratio: Floats
    accepted: Bools


def init(rng: np.random.Generator, target: Target, settings: Tempering, seeking: Seeking) -> State:
    """Return ladders of chains drawn from the prior, with rungs up to where it rules."""
    ladders, rungs = settings.ladders, settings.rungs
    chains = target.sample(rng, ladders * rungs)
    hottest = max(1.0, settings.hottest or _hottest(target, chains))
    temperatures = ladder.geometric(target.temperature, hottest * target.temperature, rungs)
    moves = usable(target.space) + ((EXPERT,) if target.unknowns.any else ())
    order = np.argsort(-chains.log_likelihood.reshape(ladders, rungs), axis=1)
    chains = chains.rows((np.arange(ladders)[:, None] * rungs + order).reshape(-1))
    nothing = np.zeros(len(moves))
    pairs = np.zeros((ladders, rungs - 1))
    return State(
        step=0,
        warm=-1,
        chains=chains,
        best=_best(target, chains, ladders),
        temperatures=np.tile(temperatures, (ladders, 1)),
        replica=np.tile(np.arange(rungs), (ladders, 1)),
        came_from_hot=np.zeros((ladders, rungs), dtype=np.bool_),
        trips=np.zeros(ladders, dtype=np.int64),
        moves=moves,
        shares=np.full(len(moves), 1 / len(moves)),
        tried=nothing,
        made=nothing,
        swap_tried=pairs,
        swap_chance=pairs,
        seeking=seeking,
        round=settings.pace,
        turn=settings.pace,
        census=census.empty(target.space),
        weighed=0,
        alone=np.full(ladders, -np.inf),
        drawn=chains.rows(np.zeros(0, dtype=np.int64)),
    )


def started(state: State, target: Target, given: Chains, places: Ints) -> State:
    """Return the state with a chain given in some places, int64[...], of the ladders' chains."""
    where = np.zeros(state.chains.size, dtype=np.bool_)
    where[places] = True
    chains = state.chains.replaced(given.rows(np.zeros(len(where), dtype=np.int64)), where)
    new = _best(target, chains, len(state.trips))
    return replace(state, chains=chains, best=_better(target, state.best, new))


def sought(
    rng: np.random.Generator, state: State, target: Target, settings: Tempering, seeker: Seeker
) -> State:
    """Take a turn of the finders, during the warm-up.

    The best machine of a ladder's finder takes the coldest chain's place where the ladder has met
    no better one. When all finders are over, every chain of a ladder starts from the best machine
    that any ladder has met: hot chains leave it soon, while cold ones would take long to find it.
    """
    if state.warm >= 0 or state.seeking.over(settings):
        return state
    ladder_now = state.seeking.ladder
    seeking, found = seeker.step(rng, state.seeking)
    state = replace(state, seeking=seeking)
    if found is not None and target.score(found)[0] > target.score(state.best)[ladder_now]:
        state = started(state, target, found, np.array([ladder_now * settings.rungs]))
    if not seeking.over(settings):
        return state
    alone = target.score(state.best)
    best = state.best.rows(np.array([alone.argmax()]))
    state = replace(started(state, target, best, np.arange(state.chains.size)), alone=alone)
    return replace(_counted_afresh(state), round=settings.pace, turn=state.step + settings.pace)


def step(
    rng: np.random.Generator, state: State, target: Target, settings: Tempering
) -> tuple[State, Info]:
    """Advance every chain by one move, and swap neighbours."""
    number = int(rng.choice(len(state.moves), p=state.shares))
    proposed, log_q = _propose(rng, state, state.moves[number], target)
    log_ratio = acceptance(state.chains, proposed, state.temperatures.reshape(-1), log_q)
    accepted = np.log(rng.random(state.chains.size)) < log_ratio
    chains = state.chains.replaced(proposed, accepted)
    best = _better(target, state.best, _best(target, chains, settings.ladders))
    order, chance = ladder.swaps(
        rng,
        state.temperatures,
        chains.log_likelihood.reshape(state.temperatures.shape),
        bool(state.step % 2),
    )
    here = np.arange(settings.ladders)[:, None]
    replica = state.replica[here, order]
    came_from_hot, arrived = ladder.travelled(replica, state.came_from_hot)
    made = np.arange(len(state.moves)) == number
    following = State(
        step=state.step + 1,
        warm=state.warm,
        chains=chains.rows((here * settings.rungs + order).reshape(-1)),
        best=best,
        temperatures=state.temperatures,
        replica=replica,
        came_from_hot=came_from_hot,
        trips=state.trips + arrived,
        moves=state.moves,
        shares=state.shares,
        tried=state.tried + made,
        made=state.made + made * _useful(state.chains, proposed, accepted),
        swap_tried=state.swap_tried + np.isfinite(chance),
        swap_chance=state.swap_chance + np.nan_to_num(chance),
        seeking=state.seeking,
        round=state.round,
        turn=state.turn,
        census=state.census,
        weighed=state.weighed,
        alone=state.alone,
        drawn=state.drawn,
    )
    return adapted(following, target, settings), Info(
        state.moves[number], proposed, log_ratio, accepted
    )


def recalled(rng: np.random.Generator, state: State, target: Target, recaller: Recaller) -> State:
    """Draw chains anew among the machines of the census, once the warm-up is over.

    The coldest chains are drawn anew several times, and each time they are samples.
    """
    ladders, rungs = state.temperatures.shape
    chains = recaller.step(rng, state.chains, np.tile(np.arange(rungs), ladders))
    cold = np.arange(ladders) * rungs
    drawn = recaller.several(rng, chains.rows(cold), 0, DRAWN)
    last = drawn.rows(np.arange(drawn.size - ladders, drawn.size))
    where = np.zeros(chains.size, dtype=np.bool_)
    where[cold] = True
    chains = chains.replaced(last.rows(np.repeat(np.arange(ladders), rungs)), where)
    best = _better(target, state.best, _best(target, chains, ladders))
    return replace(state, chains=chains, best=best, drawn=drawn)


def acceptance(old: Chains, new: Chains, temperatures: Floats, log_q: Floats) -> Floats:
    """Return float64[B], the log of the acceptance ratio: likelihood^(1/T) prior and proposals."""
    with np.errstate(invalid="ignore"):
        likelihood = (new.log_likelihood - old.log_likelihood) / temperatures
        ratio = likelihood + new.log_prior - old.log_prior + log_q
    same = np.isneginf(old.log_likelihood) & np.isneginf(new.log_likelihood)
    ratio = np.where(same, new.log_prior - old.log_prior + log_q, ratio)
    return np.where(np.isfinite(new.log_prior), ratio, -np.inf)


def adapted(state: State, target: Target, settings: Tempering) -> State:
    """Move the rungs and share the moves anew at the end of a round of the warm-up; end it.

    Each round is twice as long as the one before, so that the last one, in which the chains have
    settled, decides. The warm-up ends after `warm_up` steps, once all finders are over, all
    ladders have found equally good machines, and all neighbours swap about equally often or a
    round took as long as the shortest warm-up; or else after half of all steps.
    """
    half = state.step >= settings.steps // 2
    if state.warm >= 0 or (state.step < state.turn and not half):
        return state
    rejection = (1 - state.swap_chance / np.maximum(state.swap_tried, 1)).mean(axis=0)
    rate = np.sqrt((state.made + 0.5) / (state.tried + 1.0))
    shares = LEAST_SHARE + rate / rate.sum()
    found = state.seeking.over(settings)
    balanced = apart(rejection) <= UNBALANCED if len(rejection) else True
    agreed = state.step >= settings.warm_up and apart(target.score(state.best)) < same_score(
        target
    )
    ended = half or (found and agreed and (balanced or state.round >= settings.warm_up))
    longer = 2 * state.round if found else state.round
    members, weighed = _census(state, target) if ended else (state.census, state.weighed)
    return replace(
        _counted_afresh(state),
        census=members,
        weighed=weighed,
        warm=state.step if ended else -1,
        temperatures=np.tile(
            ladder.respaced(state.temperatures[0], rejection), (settings.ladders, 1)
        ),
        came_from_hot=state.came_from_hot & (not ended),
        trips=state.trips * (not ended),
        shares=shares / shares.sum(),
        round=longer,
        turn=state.step + longer,
    )


def _census(state: State, target: Target) -> tuple[Census, int]:
    """Return the machines near the best in weight, and how many were weighed to find them."""
    wanted = state.weighed >= 0 and census.possible(target)
    if not wanted or not np.isfinite(state.best.log_likelihood).any():
        return state.census, state.weighed
    seeds = [Census(each.machines, each.experts.discount) for each in (state.best, state.chains)]
    return census.take(target, census.joined(seeds))


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


def _propose(
    rng: np.random.Generator, state: State, move: str, target: Target
) -> tuple[Chains, Floats]:
    machines = state.chains.machines
    temperatures = state.temperatures.reshape(-1)
    if move == EXPERT:
        changed, log_q = changing.another_expert(rng, state.chains, target, temperatures)
        return target.chains(machines, changed), log_q
    proposed, log_q = MOVES[move](rng, machines, target.space)
    carried, log_jacobian = changing.carried(state.chains, proposed, target, temperatures)
    return target.chains(proposed, carried), log_q + log_jacobian


def _useful(old: Chains, new: Chains, accepted: Bools) -> float:
    """Return the share of chains that moved to a machine with another likelihood."""
    return float((accepted & (new.log_likelihood != old.log_likelihood)).mean())


def _best(target: Target, chains: Chains, ladders: int) -> Chains:
    """Return the best chain of each ladder."""
    score = target.score(chains).reshape(ladders, -1)
    return chains.rows(np.arange(ladders) * score.shape[1] + score.argmax(axis=1))


def _better(target: Target, old: Chains, new: Chains) -> Chains:
    return old.replaced(new, target.score(new) > target.score(old))


def _hottest(target: Target, chains: Chains) -> float:
    """Return a temperature at which chains pass from one kind of machine to another.

    The spread of log likelihoods over the prior where that is small; else a share of it: most
    machines there are hopeless, and need not be visited as often as the prior would.
    """
    finite = chains.log_likelihood[np.isfinite(chains.log_likelihood)]
    spread = float(np.std(finite)) if len(finite) > 1 else 0.0
    return max(2.0, min(spread, SMALL_SPREAD), SPREAD_SHARE * spread) / target.temperature
