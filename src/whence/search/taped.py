"""Draws from what tempering keeps of its steps, and from where it stands before it keeps any."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints
from whence.search.draws import Draws
from whence.search.problem import Problem
from whence.search.tape import Tape, mapped
from whence.search.target import Chains, stacked

Records = Tape[Chains]


def draws(records: Records, problem: Problem, ladders: int, copies: int) -> Draws | None:
    """Return what the coldest chains visited, ladder by ladder, in order of time.

    Args:
        records: of all steps that are kept.
        problem: what is searched.
        ladders: how many there are.
        copies: of each; what the first visited comes first.
    """
    if not len(records):
        return None
    chains = in_order(records, ladders * copies)
    weight = np.full(chains.size, 1 / chains.size)
    owner = np.repeat(np.arange(ladders), chains.size // ladders)
    return _drawn(chains, problem, weight, owner)


def met(chains: Chains, best: Chains, problem: Problem) -> Draws | None:
    """Return different machines that chains stand at, each weighed beside the others.

    Of one machine with several experts the best counts. Nothing where no machine is possible.
    """
    every = stacked([best, chains])
    score = problem.target().score(every)
    order = np.argsort(-score, kind="stable")
    order = order[np.isfinite(score[order])]
    if not len(order):
        return None
    _, first = np.unique(coded(every.rows(order), problem), return_index=True)
    chosen = order[np.sort(first)]
    weight = np.exp(score[chosen] - score[chosen].max())
    nobody = np.zeros(len(chosen), dtype=np.int64)
    return _drawn(every.rows(chosen), problem, weight / weight.sum(), nobody, exact=True)


def in_order(records: Records, strands: int) -> Chains:
    """Return all that was kept, one ladder, or copy of one, after the other."""
    found = records.together()
    together: Chains = mapped(lambda array: array.reshape(-1, *array.shape[2:]), found)
    size = together.size // strands
    return together.rows(np.arange(size * strands).reshape(size, strands).T.reshape(-1))


def coded(chains: Chains, problem: Problem) -> Ints:
    """Return int64[N]: one number for each machine, however its states are labelled."""
    machines, posterior = chains.machines, problem.posteriors[0]
    tables = posterior.canonical(*machines.tables(posterior.levels))
    rows = np.concatenate([table.reshape(machines.size, -1) for table in tables], axis=1)
    rows = np.ascontiguousarray(rows.astype(np.float64))
    _, found = np.unique(rows.view(f"V{rows.shape[1] * 8}").reshape(-1), return_inverse=True)
    return np.asarray(found.reshape(-1))


def _drawn(
    chains: Chains, problem: Problem, weight: Floats, ladder: Ints, *, exact: bool = False
) -> Draws:
    """Return chains as draws, with their weights and the ladder of each."""
    transitions, rewards = chains.machines.tables(problem.target().space.levels)
    discount, soft = problem.unknowns.spelled(chains.experts.discount)
    return Draws(
        transitions=transitions,
        rewards=rewards,
        n_states=chains.machines.n_states,
        alpha=chains.experts.alpha,
        lapse=chains.experts.lapse,
        discount=discount,
        log_likelihood=chains.log_likelihood,
        log_prior=chains.log_prior,
        weight=weight,
        ladder=ladder,
        exact=exact,
        soft=soft,
    )
