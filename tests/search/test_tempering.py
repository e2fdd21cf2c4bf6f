"""Parallel tempering against the exact posterior, and what it promises of itself."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Expert, Posterior, PosteriorSample, RewardMachine, Run, Tempering
from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.search import census
from whence.search.draws import Draws
from whence.search.enumeration import Enumeration
from whence.search.machines import Machines
from whence.search.moves import MOVES, Move
from whence.search.problem import Problem
from whence.search.space import Space
from whence.search.unknowns import unknowns

QUICK = Tempering(rungs=4, warm_up=200, pace=50, steps=1_000, until_agreed=False)


def _problem(seed: int) -> tuple[whence.LabeledMDP, whence.Demonstrations, Expert]:
    """Return a small problem: a stochastic world, and a few demonstrations of a random task."""
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=3, symbols=2, successors=2, blank=0.3)
    expert = Expert(6.0, 0.8)
    paying = random_machine(rng, mdp.alphabet, 3)
    rewards = (paying.rewards > 0.6).astype(np.float64)
    task = whence.RewardMachine(mdp.alphabet, paying.transitions, rewards)
    return mdp, whence.simulate(mdp, task, expert, episodes=20, length=10, seed=seed), expert


def _frequencies(draws: Draws, like: PosteriorSample) -> Floats:
    """Return float64[K + 1]: the share of draws in each class of a sample, and of all others."""
    keys = {machine: place for place, machine in enumerate(like.machines)}
    counts = np.zeros(len(keys) + 1)
    mine = PosteriorSample.from_draws(list(like.worlds), draws, like.alphabet)
    for machine, weight in mine:
        place = keys.get(machine)
        if place is None:
            same = [k for k, other in enumerate(like.machines) if _same(machine, other, like)]
            place = same[0] if same else len(keys)
        counts[place] += weight
    return counts


def _same(one: whence.RewardMachine, other: whence.RewardMachine, sample: PosteriorSample) -> bool:
    return all(one.same_in(other, world) for world in sample.worlds)


MANY = Tempering(ladders=32, rungs=6, warm_up=400, steps=2_500, until_agreed=False)


def _exact(seed: int, states: int | tuple[int, int]) -> Run:
    mdp, demos, expert = _problem(seed)
    return whence.infer(mdp, demos, states=states, expert=expert, method="exhaustive")


def _sampled(seed: int, states: int | tuple[int, int]) -> Run:
    mdp, demos, expert = _problem(seed)
    return whence.infer(mdp, demos, states=states, expert=expert, settings=MANY, seed=seed)


def _spread(n: int, many: int) -> list[int]:
    """Return the first problems whose exact posterior is spread out, but not over too many."""
    found: list[int] = []
    for seed in range(1_000):
        sample = _exact(seed, n).posterior
        if sample is not None and sample.weights[0] < 0.9 and len(sample.heaviest(0.99)) < 30:
            found.append(seed)
        if len(found) == many:
            return found
    raise AssertionError("no such problems")


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("n", [2, 3])
def test_samples_have_the_exact_posterior(n: int, place: int) -> None:
    seed = _spread(n, place + 1)[-1]
    exact, sampled = _exact(seed, n).posterior, _sampled(seed, n)
    assert exact is not None
    assert sampled.posterior is not None
    assert sampled.draws is not None
    wanted = np.append(exact.weights, 0.0)
    distance = 0.5 * np.abs(_frequencies(sampled.draws, exact) - wanted).sum()
    noise = float(0.5 * np.sqrt(2 / np.pi) * sampled.posterior.errors.sum())
    assert distance < 0.03
    assert distance < 3 * noise


def _expected_distance(weights: Floats, size: float) -> float:
    """Return the total variation that so many independent draws would have, about."""
    return float(0.5 * np.sqrt(2 / np.pi * weights * (1 - weights) / size).sum())


@pytest.mark.slow
def test_moves_without_their_ratios_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_ratio(plain: Move) -> Move:
        def wrong(
            rng: np.random.Generator, machines: Machines, space: Space
        ) -> tuple[Machines, Floats]:
            proposed, log_q = plain(rng, machines, space)
            return proposed, np.zeros_like(log_q)

        return wrong

    monkeypatch.setattr(census, "possible", lambda target: False)
    for name, plain in list(MOVES.items()):
        monkeypatch.setitem(MOVES, name, without_ratio(plain))
    seed = _spread(2, 1)[0]
    exact, sampled = _exact(seed, 2).posterior, _sampled(seed, 2)
    assert exact is not None
    assert sampled.posterior is not None
    assert sampled.draws is not None
    wanted = np.append(exact.weights, 0.0)
    distance = 0.5 * np.abs(_frequencies(sampled.draws, exact) - wanted).sum()
    assert distance > 0.03
    assert distance > 3 * _expected_distance(wanted, sampled.posterior.ess)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sizes_have_their_exact_probability(seed: int) -> None:
    exact, sampled = _exact(seed, (1, 3)).exact, _sampled(seed, (1, 3)).draws
    assert exact is not None
    assert sampled is not None
    sizes = np.bincount(sampled.n_states, minlength=4)[1:] / sampled.size
    assert np.abs(sizes - exact.probability).max() < 0.03


def _coffee_run(**changes: object) -> Run:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=10, length=40, seed=0)
    given: dict[str, object] = {"states": 3, "expert": Expert(50, 0.92), "settings": QUICK}
    return whence.infer(world.mdp, demos, **(given | changes))  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_draws_whatever_the_threads() -> None:
    first, second = _coffee_run(threads=1), _coffee_run(threads=2)
    assert first.best == second.best
    assert first.draws is not None
    assert second.draws is not None
    assert first.draws.transitions.tobytes() == second.draws.transitions.tobytes()
    assert first.draws.log_likelihood.tobytes() == second.draws.log_likelihood.tobytes()
    assert first.trace.score.tobytes() == second.trace.score.tobytes()


def test_known_arrows_stay_as_they_are() -> None:
    run = _coffee_run(fix=["a -o/1-> b", "b -c-> b"], steps=400)
    assert run.draws is not None
    column = {symbol: place for place, symbol in enumerate(run.best.alphabet)}
    assert (run.draws.transitions[:, 0, column["o"]] == 1).all()
    assert (run.draws.rewards[:, 0, column["o"]] == 1).all()
    assert (run.draws.transitions[:, 1, column["c"]] == 1).all()
    assert run.best.run(["o"]).rewards == (1.0,)


def test_a_machine_to_start_from_is_where_it_starts() -> None:
    task = whence.worlds.coffee().task
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=10, length=40, seed=0)
    posterior = Posterior(world.mdp, demos, expert=Expert(50, 0.92))
    run = _coffee_run(init=task, steps=2)
    assert (
        run.trace.best[0].min()
        >= posterior.score(task.transitions[None], task.rewards[None])[0] - 0.05
    )


def test_alpha_and_lapse_are_inferred_where_nothing_is_said() -> None:
    run = _coffee_run(expert=None, discount=0.92, steps=600)
    assert run.inferred == ("alpha", "lapse")
    assert run.posterior is not None
    assert 0.1 <= run.posterior.alpha.low <= run.posterior.alpha.high <= 1000
    assert run.posterior.discount.low == run.posterior.discount.high == 0.92
    grid = _coffee_run(expert=None, discount=(0.8, 0.92), alpha=50.0, lapse=0.0, steps=300)
    assert grid.inferred == ("discount",)
    assert grid.expert.discount in (0.8, 0.92)


def test_disagreement_is_said() -> None:
    run = _coffee_run(settings=replace(QUICK, until_agreed=True, steps=30, warm_up=20, pace=10))
    assert run.stopped == "steps"
    assert run.doubts


def test_a_single_chain_is_said_to_be_one() -> None:
    run = _coffee_run(settings=Tempering(ladders=1, rungs=1, warm_up=50, steps=200))
    assert run.best.is_valid
    assert any("one ladder" in doubt for doubt in run.doubts)


def test_an_expert_who_never_errs_is_no_trouble() -> None:
    run = _coffee_run(expert=Expert(float("inf"), 0.92), steps=300)
    assert run.best.is_valid
    assert run.log_likelihood == -np.inf
    assert any("can have produced" in doubt for doubt in run.doubts)


def test_a_world_without_symbols_is_refused() -> None:
    rows = [(0, 0, 1, 1.0), (1, 0, 0, 1.0)]
    mdp = whence.LabeledMDP.from_triples(
        rows, states=2, actions=1, labels=[None, None], alphabet=[], initial=0
    )
    demos = whence.Demonstrations.from_episodes([([0, 1], [0])])
    with pytest.raises(whence.errors.ArgumentError, match="the world has no symbols"):
        whence.infer(mdp, demos, states=2, expert=Expert(5, 0.9))


def test_a_machine_to_start_from_has_the_known_arrows_however_its_states_are_numbered() -> None:
    mdp, demos, expert = _problem(0)
    posterior, known = Posterior(mdp, demos, expert=expert), unknowns(expert, None, None, None)
    targets = np.array([[1, 3], [3, 0], [2, 0], [2, 0]])
    rewards = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    fixed = {(0, 0): (2, 0.0), (1, 0): (3, 1.0)}  # the second state is that which pays
    for order in itertools.permutations((1, 2, 3)):
        old = np.array([0, *order])
        machine = RewardMachine(mdp.alphabet, np.argsort(old)[targets[old]], rewards[old])
        problem = Problem((posterior,), known, range(4, 5), fixed, machine)
        space = problem.target().space
        found = problem.started(space)
        assert found is not None
        assert space.valid(found)[0]
        tables = [table[0] for table in found.tables(space.levels)]
        assert RewardMachine(mdp.alphabet, *tables).canonical() == machine.canonical()
    other = replace(problem, fixed={(0, 0): (2, 1.0)})
    with pytest.raises(ArgumentError, match="does not have the known arrows"):
        other.started(other.target().space)


def test_the_names_of_known_arrows_speak_for_no_number_of_states() -> None:
    mdp, demos, expert = _problem(0)
    posterior, known = Posterior(mdp, demos, expert=expert), unknowns(expert, None, None, None)
    sizes, m = range(2, 4), len(mdp.alphabet)
    problem = Problem((posterior,), known, sizes, {(0, 0): (1, 0.0)})
    target = problem.target()
    listed = Enumeration(sizes, m, posterior.levels)
    mass, wanted = [], []
    for n, first, last in zip(sizes, listed.edges[:-1], listed.edges[1:], strict=True):
        pairs = itertools.product(range(n), repeat=n * m), itertools.product((0, 1), repeat=n * m)
        moves, pays = (np.array(list(each)).reshape(-1, n, m) for each in pairs)
        which = np.indices((len(moves), len(pays))).reshape(2, -1)
        some = Machines(moves[which[0]], pays[which[1]], np.full(which.shape[1], n))
        tables = (
            np.tile(np.arange(3)[:, None], (some.size, 1, m)),
            np.zeros((some.size, 3, m), int),
        )
        tables[0][:, :n], tables[1][:, :n] = some.transitions, some.paid
        mass.append(
            np.exp(
                target.space.log_prior(Machines(tables[0], tables[1].astype(int), some.n_states))
            ).sum()
        )
        every = listed.machines(np.arange(first, last))
        leads = (every.transitions[:, 0, 0] != 0) & (every.paid[:, 0, 0] == 0)
        rows = every.rows(leads).tables(posterior.levels)
        wanted.append(np.exp(posterior.prior.log_mass(*rows, posterior.levels, sizes)).sum())
    assert mass[1] / mass[0] == pytest.approx(wanted[1] / wanted[0])
    assert (target.log_copies[[2, 3]] == np.log([1, 1])).all()
