"""Every move leaves the target as it is: exact samples, moved once, are exact samples again."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from scipy import stats

from whence._arrays import Floats, Ints
from whence.model.prior import Prior
from whence.search.machines import Machines
from whence.search.moves import MOVES, usable
from whence.search.space import Space

SAMPLES = 300_000
LEAST_P = 1e-4


def _space(
    sizes: tuple[int, ...],
    m: int,
    levels: tuple[float, ...],
    pinned: tuple[tuple[int, int, int, int], ...] = (),
) -> Space:
    """Return a space; pinned arrows are state, symbol, target and the place of what is paid."""
    largest = sizes[-1]
    log_size = np.full(largest + 1, -np.inf)
    for place, n in enumerate(sizes):
        log_size[n] = -0.7 * place
    targets, paid = np.full((largest, m), -1), np.full((largest, m), -1)
    for state, symbol, target, level in pinned:
        targets[state, symbol], paid[state, symbol] = target, level
    return Space(sizes, m, levels, Prior(), log_size, targets, paid)


SPACES = {
    "two states": _space((2,), 2, (0.0, 1.0)),
    "three states": _space((3,), 1, (-1.0, 0.0, 1.0)),
    "one state": _space((1,), 2, (0.0, 1.0, 2.0)),
    "one to three states": _space((1, 2, 3), 1, (0.0, 1.0)),
    "one or two states": _space((1, 2), 2, (0.0, 1.0)),
    "a pinned arrow": _space((2, 3), 2, (0.0, 1.0), ((0, 0, 1, 0),)),
}


@cache
def _all_machines(space: Space) -> Machines:
    """Return every valid labelled machine of a space."""
    tables = []
    n, m, levels = space.largest, space.m, len(space.levels)
    for size in space.sizes:
        for targets in itertools.product(range(size), repeat=size * m):
            for paid in itertools.product(range(levels), repeat=size * m):
                rows = np.arange(n)[:, None].repeat(m, axis=1), np.full((n, m), space.zero)
                rows[0][:size] = np.reshape(targets, (size, m))
                rows[1][:size] = np.reshape(paid, (size, m))
                tables.append((*rows, size))
    machines = Machines(*(np.array(column) for column in zip(*tables, strict=True)))
    return machines.rows(space.valid(machines))


def _codes(machines: Machines, space: Space) -> Ints:
    """Return int64[B], one number for each labelled machine."""
    size = len(machines.n_states)
    digits = [machines.transitions.reshape(size, -1), machines.paid.reshape(size, -1)]
    base = max(space.largest, len(space.levels)) + 1
    codes = machines.n_states.astype(np.int64)
    for column in np.concatenate(digits, axis=1).T:
        codes = codes * base + column
    return np.asarray(codes)


def _likelihood(machines: Machines, space: Space) -> Floats:
    """Return float64[B]: some log likelihood that does not depend on the labels of states."""
    _, rewards = machines.tables(space.levels)
    state = np.zeros(len(machines.n_states), dtype=np.int64)
    row = np.arange(len(state))
    total = np.zeros(len(state))
    for step in range(7):
        symbol = (step * step) % space.m
        total += (1 + 0.3 * step) * rewards[row, state, symbol]
        state = machines.transitions[row, state, symbol]
    return np.asarray(0.4 * total - 0.3 * rewards.sum(axis=(1, 2)))


def _p_value(space: Space, name: str, *, with_ratio: bool = True) -> float:
    """Move exact samples once; return the p-value of their being exact samples still."""
    rng = np.random.default_rng(1)
    every = _all_machines(space)
    log_target = space.log_prior(every) + _likelihood(every, space)
    target = np.exp(log_target - log_target.max())
    target /= target.sum()
    start = every.rows(rng.choice(len(target), p=target, size=SAMPLES))
    proposed, log_q = MOVES[name](rng, start, space)
    gain = space.log_prior(proposed) + _likelihood(proposed, space)
    gain -= space.log_prior(start) + _likelihood(start, space)
    accepted = np.log(rng.random(SAMPLES)) < gain + (log_q if with_ratio else 0.0)
    before, after = _codes(start, space), _codes(proposed, space)
    ended = np.where(accepted, after, before)
    assert (ended != before).any(), "nothing moved"
    codes = _codes(every, space)
    order = np.argsort(codes)
    counts = np.bincount(np.searchsorted(codes[order], ended), minlength=len(codes))
    assert (codes[order][np.searchsorted(codes[order], ended)] == ended).all()
    expected = target[order] * SAMPLES
    common = expected >= 10
    observed = np.append(counts[common], counts[~common].sum())
    wanted = np.append(expected[common], expected[~common].sum())
    keep = wanted > 0
    return float(
        stats.chisquare(observed[keep], wanted[keep] * observed.sum() / wanted.sum()).pvalue
    )


CASES = [(space, move) for space in SPACES for move in usable(SPACES[space])]


@pytest.mark.parametrize(("space", "move"), CASES)
def test_a_move_leaves_the_target_as_it_is(space: str, move: str) -> None:
    assert _p_value(SPACES[space], move) > LEAST_P


@pytest.mark.parametrize(
    ("space", "move"),
    [
        ("two states", "redraw"),
        ("two states", "copy_row"),
        ("three states", "regroup"),
        ("one to three states", "resize"),
        ("one or two states", "insert"),
        ("two states", "either"),
    ],
)
def test_without_its_ratio_it_does_not(space: str, move: str) -> None:
    assert _p_value(SPACES[space], move, with_ratio=False) < 1e-9


@pytest.mark.parametrize("space", SPACES)
def test_samples_of_a_space_have_its_prior(space: str) -> None:
    chosen = SPACES[space]
    every = _all_machines(chosen)
    codes = _codes(every, chosen)
    order = np.argsort(codes)
    drawn = _codes(chosen.sample(np.random.default_rng(0), 100_000), chosen)
    counts = np.bincount(np.searchsorted(codes[order], drawn), minlength=len(codes))
    log_prior = chosen.log_prior(every)[order]
    if len(chosen.sizes) == 1:  # of several, the prior counts valid machines
        expected = np.exp(log_prior - log_prior.max())
        expected *= len(drawn) / expected.sum()
        assert stats.chisquare(counts, expected).pvalue > LEAST_P
    assert counts.sum() == len(drawn)
