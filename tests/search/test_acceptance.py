"""The acceptance rules of annealing and tempering and the swaps of ladders, number by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

from whence import Expert, Posterior
from whence._arrays import Floats
from whence.search import adapting, annealing, ladder, tempering
from whence.search.settings import Annealing


@dataclass
class Scores:
    """What the rules look at, of a population or of chains."""

    log_likelihood: Floats
    log_prior: Floats


def scores(likelihood: list[float], prior: list[float]) -> Any:
    return cast("Any", Scores(np.array(likelihood), np.array(prior)))


class Given:
    """A generator that gives out what it was given."""

    def __init__(self, *values: Floats) -> None:
        self.values = list(values)

    def random(self, size: object) -> Floats:
        value = self.values.pop(0)
        assert value.shape == (size if isinstance(size, tuple) else (size,))
        return value


@pytest.mark.parametrize(
    ("rule", "expected"), [("modified", [5.75, 0.75]), ("standard", [2.0, 0.375])]
)
def test_annealing_divides_the_likelihood_or_both(rule: str, expected: list[float]) -> None:
    old, new = scores([-10.0, -8.0], [-7.0, -2.0]), scores([-7.0, -7.0], [-2.0, -1.5])
    found = annealing.log_ratio(old, new, 4.0, rule)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_impossible_machines_compare_by_prior_in_annealing() -> None:
    inf = np.inf
    old = scores([-inf, -inf, -3.0, -3.0], [-1.0, -1.0, -1.0, -1.0])
    new = scores([-inf, -3.0, -inf, -3.0], [-3.0, -1.0, -1.0, -1.0])
    found = annealing.log_ratio(old, new, 2.0, "modified")
    assert found.tolist() == [-2.0, inf, -inf, 0.0]


def test_a_proposal_is_accepted_below_its_chance_and_not_at_it() -> None:
    half = float(np.exp(np.log(0.5)))
    rng = cast("Any", Given(np.array([half - 1e-12, half, 0.999999, 0.0])))
    ratios = np.array([np.log(0.5), np.log(0.5), 5.0, -np.inf])
    assert annealing.accept(rng, ratios).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("done", "expected"),
    [(1, (100.0, 0.5)), (4, (100.0, 0.5)), (5, (50.0, 0.25)), (10, (50.0, 0.25))],
)
def test_the_schedule_decays_every_k_steps(done: int, expected: tuple[float, float]) -> None:
    settings = Annealing(t0=100, t_min=8, beta_t=0.5, p0=0.5, p_min=0.1, beta_p=0.5, every=5)
    assert annealing.scheduled(done, 100.0, 0.5, settings) == expected


def test_the_schedule_stops_at_its_floors() -> None:
    settings = Annealing(t0=100, t_min=8, beta_t=0.5, p0=0.5, p_min=0.1, beta_p=0.5, every=5)
    assert annealing.scheduled(5, 10.0, 0.15, settings) == (8.0, 0.1)


def test_tempering_accepts_by_tempered_likelihood_prior_and_proposals() -> None:
    old = scores([-10.0, -20.0], [-1.0, -2.0])
    new = scores([-4.0, -30.0], [-3.0, -1.0])
    found = tempering.acceptance(old, new, np.array([2.0, 5.0]), np.array([0.25, -0.5]))
    np.testing.assert_allclose(found, [6 / 2 - 2 + 0.25, -10 / 5 + 1 - 0.5], rtol=1e-15)


def test_tempering_with_impossible_machines() -> None:
    inf = np.inf
    old = scores([-inf, -inf, -5.0, -5.0, -inf], [-1.0, -1.0, -1.0, -1.0, -1.0])
    new = scores([-inf, -5.0, -inf, -5.0, -inf], [-4.0, -1.0, -1.0, -inf, -inf])
    found = tempering.acceptance(old, new, np.full(5, 3.0), np.full(5, 0.5))
    assert found.tolist() == [-2.5, inf, -inf, -inf, -inf]


def test_how_far_scores_lie_apart() -> None:
    assert adapting.apart(np.array([-3.0, -1.0, -7.5])) == 6.5
    assert adapting.apart(np.array([-np.inf, -np.inf])) == 0.0
    assert adapting.apart(np.array([-np.inf, 0.0])) == np.inf


def test_rungs_are_geometric_and_never_fall_together() -> None:
    np.testing.assert_allclose(ladder.geometric(2.0, 32.0, 5), [2, 4, 8, 16, 32], rtol=1e-12)
    assert ladder.geometric(3.0, 99.0, 1).tolist() == [3.0]
    close = ladder.geometric(2.0, 1.0, 2)
    assert close[0] == 2.0
    assert 2.0 * (1 + 1e-10) < close[1] < 2.0 * (1 + 1e-8)


@pytest.mark.parametrize("odd", [False, True])
def test_swaps_follow_the_rule_pair_by_pair(odd: bool) -> None:
    temperatures = np.array([[1.0, 2.0, 4.0, 8.0, 16.0]])
    likelihood = np.array([[-3.0, -2.0, -9.0, -5.0, -5.5]])
    low = [1, 3] if odd else [0, 2]
    gains = [
        (1 / temperatures[0, i] - 1 / temperatures[0, i + 1])
        * (likelihood[0, i + 1] - likelihood[0, i])
        for i in low
    ]
    chances = np.exp(np.minimum(gains, 0.0))
    below = np.array([chances * (1 - 1e-9)])
    order, chance = ladder.swaps(cast("Any", Given(below)), temperatures, likelihood, odd)
    assert chance.shape == (1, 4)
    np.testing.assert_allclose(chance[0, low], chances, rtol=1e-15)
    assert np.isnan(np.delete(chance[0], low)).all()
    assert order[0].tolist() == ([0, 2, 1, 4, 3] if odd else [1, 0, 3, 2, 4])
    order, _ = ladder.swaps(cast("Any", Given(np.array([chances]))), temperatures, likelihood, odd)
    kept = [i for i, p in zip(low, chances, strict=True) if p < 1]
    for i in kept:
        assert order[0, [i, i + 1]].tolist() == [i, i + 1]


def test_impossible_chains_swap_freely_and_sink() -> None:
    inf = np.inf
    temperatures = np.array([[1.0, 2.0]] * 3)
    likelihood = np.array([[-inf, -inf], [-inf, -1.0], [-1.0, -inf]])
    draws = np.full((3, 1), 0.5)
    order, chance = ladder.swaps(cast("Any", Given(draws)), temperatures, likelihood, False)
    assert chance[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert order.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_rungs_are_placed_where_rejections_are_equal() -> None:
    temperatures = np.array([1.0, 2.0, 4.0, 8.0])
    found = ladder.respaced(temperatures, np.array([0.6, 0.2, 0.1]))
    barrier = np.array([0.0, 0.6, 0.8, 0.9])
    expected = np.exp(np.interp([0.0, 0.3, 0.6, 0.9], barrier, np.log(temperatures)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[0], found[-1]) == (1.0, 8.0)
    idle = ladder.respaced(temperatures, np.array([0.0, 0.0, 0.0]))
    np.testing.assert_allclose(idle, temperatures, rtol=1e-12)
    mixed = ladder.respaced(np.array([1.0, 3.0, 9.0]), np.array([0.0, 0.04]))
    barrier = np.array([0.0, 0.02, 0.06])
    expected = np.exp(np.interp([0.0, 0.03, 0.06], barrier, np.log([1.0, 3.0, 9.0])))
    np.testing.assert_allclose(mixed, expected, rtol=1e-12)


def test_round_trips_are_counted_from_the_hottest_rung_to_the_coldest() -> None:
    nobody = np.zeros((1, 3), dtype=np.bool_)
    first, arrived = ladder.travelled(np.array([[0, 1, 2]]), nobody)
    assert first.tolist() == [[False, False, True]]
    assert arrived.tolist() == [0]
    second, arrived = ladder.travelled(np.array([[2, 1, 0]]), first)
    assert arrived.tolist() == [1]
    assert second.tolist() == [[True, False, False]]
    third, arrived = ladder.travelled(np.array([[2, 0, 1]]), second)
    assert arrived.tolist() == [0]
    assert third.tolist() == [[True, True, False]]
    assert not nobody.any()


def test_a_ladder_of_one_rung_always_arrives() -> None:
    _, arrived = ladder.travelled(np.array([[0], [0]]), np.zeros((2, 1), dtype=np.bool_))
    assert arrived.tolist() == [1, 1]


def test_a_ladder_of_two_rungs_counts_its_trips() -> None:
    nobody = np.zeros((1, 2), dtype=np.bool_)
    first, arrived = ladder.travelled(np.array([[0, 1]]), nobody)
    assert arrived.tolist() == [0]
    _, arrived = ladder.travelled(np.array([[1, 0]]), first)
    assert arrived.tolist() == [1]


class Flat:
    """A target on which every machine is as good as any other."""

    levels: tuple[float, ...] = (0.0, 1.0)
    alphabet: tuple[str, ...] = ("a", "b")
    expert = Expert(1.0, 0.9)

    def log_likelihood(self, transitions: Any, rewards: Any, /) -> Floats:
        return np.zeros(len(transitions))

    def log_prior(self, transitions: Any, rewards: Any, /) -> Floats:
        return np.zeros(len(transitions))


def test_annealing_keeps_the_first_of_equally_good_machines() -> None:
    rng, settings = np.random.default_rng(0), Annealing(runs=4)
    flat = cast(Posterior, Flat())
    start = annealing.init(rng, flat, 2, settings)
    state = start
    for _ in range(5):
        state, info = annealing.step(rng, state, flat, settings)
        assert info.accepted.all()
    for now, then in zip(state.best.machines, start.best.machines, strict=True):
        assert np.array_equal(now, then)
    assert not np.array_equal(state.current.machines.paid, start.current.machines.paid)
