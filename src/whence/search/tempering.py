"""Parallel tempering over reward machines: the default method.

Several independent ladders of chains, from the posterior at the coldest rung to one where the
likelihood hardly matters at the hottest, advance together, and every step scores one batch of
machines. A step makes one kind of move on every chain (Metropolis-Hastings, exact proposal
ratios, invalid proposals rejected) and then swaps neighbours on each ladder. During the warm-up,
rungs and the frequencies of moves adapt (`whence.search.adapting`); then both are frozen, and the
coldest chains are samples.

Ladders do not know of each other but where they adapt: a state of some of them goes the same way
with the others beside it and without (`whence.search.parting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search import census, changing, ladder
from whence.search.census import Census
from whence.search.leaping import Leaper
from whence.search.moves import MOVES, usable
from whence.search.recalling import Recaller
from whence.search.seeking import Seeker, Seeking
from whence.search.settings import Tempering
from whence.search.streams import taken
from whence.search.target import Chains, Target

EXPERT = "expert"
SPREAD_SHARE = 0.1
SMALL_SPREAD = 200.0  # nats
DRAWN = 8  # samples of each ladder and step where there is a census
MOST_COPIES = 4  # of a ladder
SMALL = 4_000  # states of the product of worlds and machine: to score one takes no time


@dataclass(frozen=True, eq=False)
class State:
    """Where the ladders stand after `step` steps; L ladders of K rungs, chain l K + k.

    Attributes:
        step: steps done.
        ladder: int64[L], the number of each in the run, by which its streams are named.
        common: whether all ladders draw from one stream, and the finders take turns one after the
            other: in runs that were begun before each ladder had streams of its own.
        warm: the step at which the warm-up ended, or -1.
        chains: L K of them.
        best: the best that each ladder has met, L of them.
        temperatures: float64[L, K].
        replica: int64[L, K], who stands on each rung.
        came_from_hot: bool[L, K], by replica.
        trips: int64[L], round trips since the warm-up.
        moves: the kinds of move.
        shares: float64[moves], how often each is made.
        tried: float64[L, moves], how often each was made since the last adaptation.
        made: float64[L, moves], the shares of chains that moved, summed.
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
        copies: how many copies of each ladder go on once the warm-up is over. Then the L rows of
            all arrays are the copies of the first ladder, those of the second, and so on. One in
            runs that were begun before there were copies.
    """

    step: int
    ladder: Ints
    common: bool
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
    copies: int

    @property
    def strands(self) -> int:
        """How many copies of each ladder there are now."""
        return self.copies if self.warm >= 0 else 1

    @property
    def ladders(self) -> int:
        """How many ladders there are, their copies not counted."""
        return len(self.ladder) // self.strands


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
    nothing = np.zeros((ladders, len(moves)))
    pairs = np.zeros((ladders, rungs - 1))
    return State(
        step=0,
        ladder=np.arange(ladders),
        common=False,
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
        copies=_copies(target),
    )


def started(state: State, target: Target, given: Chains, places: Ints) -> State:
    """Return the state with a chain given in some places, int64[...], of the ladders' chains."""
    where = np.zeros(state.chains.size, dtype=np.bool_)
    where[places] = True
    chains = state.chains.replaced(given.rows(np.zeros(len(where), dtype=np.int64)), where)
    new = _best(target, chains, len(state.trips))
    return replace(state, chains=chains, best=_better(target, state.best, new))


def sought(rngs: list[np.random.Generator], state: State, target: Target, seeker: Seeker) -> State:
    """Take a turn of each ladder's finder, with its generator, during the warm-up.

    The best machine of a ladder's finder takes the coldest chain's place where the ladder has met
    no better one.
    """
    if state.warm >= 0 or state.seeking.heard:
        return state
    rungs = state.temperatures.shape[1]
    places = state.seeking.turning(state.common)
    seeking, every = seeker.step(rngs, state.seeking, places)
    state = replace(state, seeking=seeking)
    for place, found in zip(places, every, strict=True):
        if found is not None and target.score(found)[0] > target.score(state.best)[place]:
            state = started(state, target, found, np.array([place * rungs]))
    return state


def step(lot: float, rng: np.random.Generator, state: State, target: Target) -> tuple[State, Info]:
    """Advance every chain by one move, and swap neighbours.

    Args:
        lot: from 0 up to 1, which kind of move: the same for all ladders.
        rng: of every other choice, row by row.
        state: where some ladders stand.
        target: what is sampled.
    """
    ladders, rungs = state.temperatures.shape
    running = np.cumsum(state.shares)
    number = int(np.searchsorted(running / running[-1], lot, side="right"))
    proposed, log_q = _propose(rng, state, state.moves[number], target)
    log_ratio = acceptance(state.chains, proposed, state.temperatures.reshape(-1), log_q)
    size = state.chains.size
    accepted = np.log(rng.random(size)) < log_ratio
    every = np.where(accepted, np.arange(size), -1)
    reached = np.where(accepted, proposed.log_likelihood, state.chains.log_likelihood)
    order, chance = ladder.swaps(
        taken(rng, np.arange(ladders) * rungs),
        state.temperatures,
        reached.reshape(state.temperatures.shape),
        bool(state.step % 2),
    )
    here = np.arange(ladders)[:, None]
    places = (here * rungs + order).reshape(-1)
    chains = state.chains.picked(proposed, places, every[places])
    best = state.best
    if _has_better(target, best, chains):  # of equally good ones the first before they swap
        moved = state.chains.replaced(proposed, accepted)
        best = _better(target, best, _best(target, moved, ladders))
    replica = state.replica[here, order]
    came_from_hot, arrived = ladder.travelled(replica, state.came_from_hot)
    made = np.arange(len(state.moves)) == number
    useful = _useful(state.chains, proposed, accepted).reshape(ladders, rungs).mean(axis=1)
    following = replace(
        state,
        step=state.step + 1,
        chains=chains,
        best=best,
        replica=replica,
        came_from_hot=came_from_hot,
        trips=state.trips + arrived,
        tried=state.tried + made,
        made=state.made + made * useful[:, None],
        swap_tried=state.swap_tried + np.isfinite(chance),
        swap_chance=state.swap_chance + np.nan_to_num(chance),
    )
    return following, Info(state.moves[number], proposed, log_ratio, accepted)


def recalled(rng: np.random.Generator, state: State, target: Target, recaller: Recaller) -> State:
    """Draw chains anew among the machines of the census, once the warm-up is over.

    The coldest chains are drawn anew several times, and each time they are samples.
    """
    ladders, rungs = state.temperatures.shape
    chains = recaller.step(rng, state.chains, np.tile(np.arange(rungs), ladders))
    cold = np.arange(ladders) * rungs
    times = max(DRAWN // state.strands, 1)
    drawn = recaller.several(taken(rng, cold), chains.rows(cold), 0, times)
    others = np.full(chains.size, -1)
    others[cold] = np.arange(drawn.size - ladders, drawn.size)
    chains = chains.picked(drawn, np.arange(chains.size), others)
    best = state.best
    if _has_better(target, best, chains):
        best = _better(target, best, _best(target, chains, ladders))
    return replace(state, chains=chains, best=best, drawn=drawn)


def leapt(rng: np.random.Generator, state: State, target: Target, leaper: Leaper) -> State:
    """Let the chains of some rungs leap, once the census is taken."""
    ladders, rungs = state.temperatures.shape
    where = np.flatnonzero(np.tile(leaper.due(state.step), ladders))
    if not len(where):
        return state
    some, jumped = leaper.step(taken(rng, where), state.chains.rows(where), where % rungs)
    others = np.full(state.chains.size, -1)
    others[where[jumped]] = np.flatnonzero(jumped)
    chains = state.chains.picked(some, np.arange(state.chains.size), others)
    best = state.best
    if _has_better(target, best, chains):
        best = _better(target, best, _best(target, chains, ladders))
    return replace(state, chains=chains, best=best)


def acceptance(old: Chains, new: Chains, temperatures: Floats, log_q: Floats) -> Floats:
    """Return float64[B], the log of the acceptance ratio: likelihood^(1/T) prior and proposals."""
    with np.errstate(invalid="ignore"):
        likelihood = (new.log_likelihood - old.log_likelihood) / temperatures
        ratio = likelihood + new.log_prior - old.log_prior + log_q
    same = np.isneginf(old.log_likelihood) & np.isneginf(new.log_likelihood)
    ratio = np.where(same, new.log_prior - old.log_prior + log_q, ratio)
    return np.where(np.isfinite(new.log_prior), ratio, -np.inf)


def _propose(
    rng: np.random.Generator, state: State, move: str, target: Target
) -> tuple[Chains, Floats]:
    machines = state.chains.machines
    temperatures = state.temperatures.reshape(-1)
    if move == EXPERT:
        changed, log_q = changing.another_expert(rng, state.chains, target, temperatures)
        return target.chains(machines, changed), log_q
    proposed, log_q = MOVES[move](rng, machines, target.space)
    log_prior = target.space.log_prior(proposed)
    carried, log_jacobian = changing.carried(
        state.chains, proposed, target, temperatures, log_prior
    )
    return target.chains(proposed, carried, log_prior), log_q + log_jacobian


def _useful(old: Chains, new: Chains, accepted: Bools) -> Bools:
    """Return bool[L K]: which chains moved to a machine with another likelihood."""
    return np.asarray(accepted & (new.log_likelihood != old.log_likelihood))


def _best(target: Target, chains: Chains, ladders: int) -> Chains:
    """Return the best chain of each ladder."""
    score = target.score(chains).reshape(ladders, -1)
    return chains.rows(np.arange(ladders) * score.shape[1] + score.argmax(axis=1))


def _has_better(target: Target, best: Chains, chains: Chains) -> bool:
    """Return whether a ladder has a chain that is better than the best that it met."""
    score = target.score(chains).reshape(best.size, -1).max(axis=1)
    return bool((score > target.score(best)).any())


def _better(target: Target, old: Chains, new: Chains) -> Chains:
    return old.replaced(new, target.score(new) > target.score(old))


def _copies(target: Target) -> int:
    """Return how many copies of a ladder are worth it, by counted work.

    A step costs about a millisecond, however few chains it moves, beside what machines cost to
    score; with an unknown expert they cost more than that.
    """
    worlds = sum(mdp.n_states for mdp, _ in target.posteriors[0].worlds)
    work = worlds * target.space.largest * len(target.posteriors)
    if target.unknowns.any:
        return 1
    return min(max(SMALL // work, 1), MOST_COPIES)


def _hottest(target: Target, chains: Chains) -> float:
    """Return a temperature at which chains pass from one kind of machine to another.

    The spread of log likelihoods over the prior where that is small; else a share of it: most
    machines there are hopeless, and need not be visited as often as the prior would.
    """
    finite = chains.log_likelihood[np.isfinite(chains.log_likelihood)]
    spread = float(np.std(finite)) if len(finite) > 1 else 0.0
    return max(2.0, min(spread, SMALL_SPREAD), SPREAD_SHARE * spread) / target.temperature
