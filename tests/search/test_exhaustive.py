from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

import whence
from support.problems import random_world, valid_machines
from whence import Demonstrations, Exhaustive, Expert, LabeledMDP, Posterior, Prior, RewardMachine
from whence.errors import ArgumentError
from whence.likelihood import reference
from whence.model.canonical import minimise_batch
from whence.search import batches
from whence.search.affordable import seconds_each
from whence.search.draws import Draws
from whence.search.enumeration import Enumeration
from whence.search.problem import checked_sizes

EXPERT = Expert(4.0, 0.8)
PRIOR = Prior(0.55, 0.6)


def _world(seed: int, symbols: int = 2) -> tuple[LabeledMDP, Demonstrations]:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=4, actions=2, symbols=symbols, successors=2, blank=0.2)
    task = RewardMachine(mdp.alphabet, [[0] * symbols], [[1.0] + [0.0] * (symbols - 1)])
    return mdp, whence.simulate(mdp, task, EXPERT, episodes=3, length=6, seed=seed)


def _by_brute_force(
    mdp: LabeledMDP, demos: Demonstrations, sizes: range, temperature: float
) -> tuple[dict[RewardMachine, float], list[float]]:
    """Return the weight of each canonical machine, and P(D | n), summed over labelled machines.

    No formula but that of the prior, and no engine but the readable one.
    """
    halves = [0.5 ** (n - sizes[0]) for n in sizes]
    weights: dict[RewardMachine, float] = {}
    evidence, known = [], {}
    for n, half in zip(sizes, halves, strict=True):
        transitions, rewards = valid_machines(n, len(mdp.alphabet), (0.0, 1.0))
        priors = np.exp(PRIOR.log_prior(transitions, rewards, (0.0, 1.0)))
        total = 0.0
        for t, r, prior in zip(transitions, rewards, priors / priors.sum(), strict=True):
            machine = RewardMachine(mdp.alphabet, t, r).canonical()
            if machine not in known:
                tables = machine.transitions, machine.rewards
                known[machine] = reference.log_likelihood(mdp, demos, *tables, EXPERT)
            joint = prior * math.exp(known[machine] / temperature)
            total += joint
            weights[machine] = weights.get(machine, 0.0) + half / sum(halves) * joint
        evidence.append(total)
    return weights, evidence


def _machines(draws: Draws, alphabet: tuple[str, ...]) -> list[RewardMachine]:
    tables = zip(draws.transitions, draws.rewards, draws.n_states.tolist(), strict=True)
    return [RewardMachine(alphabet, t[:n], r[:n]) for t, r, n in tables]


@pytest.mark.parametrize(
    ("symbols", "states", "temperature"),
    [(1, (1, 3), 1.0), (2, (1, 2), 1.0), (2, (2, 2), 0.5), (1, (2, 4), 7.0)],
)
def test_weights_are_those_of_a_sum_over_all_labelled_machines(
    symbols: int, states: tuple[int, int], temperature: float
) -> None:
    mdp, demos = _world(symbols, symbols)
    sizes = checked_sizes(states)
    run = whence.infer(
        mdp, demos, states=states, expert=EXPERT, prior=PRIOR, method="exhaustive",
        temperature=temperature, settings=Exhaustive(nats=700, batch=7),
    )  # fmt: skip
    weights, evidence = _by_brute_force(mdp, demos, sizes, temperature)
    assert run.draws is not None
    assert run.exact is not None
    total = sum(weights.values())
    found = dict(zip(_machines(run.draws, mdp.alphabet), run.draws.weight.tolist(), strict=True))
    assert run.draws.exact
    assert set(found) == set(weights)
    assert len(found) == run.draws.size == run.evaluations == sum(run.exact.machines)
    for machine, weight in weights.items():
        assert found[machine] == pytest.approx(weight / total, rel=1e-5)
    assert run.exact.log_evidence == pytest.approx(np.log(evidence), abs=1e-5)
    by_size = np.array(evidence) * [0.5**i for i in range(len(sizes))]
    assert run.exact.probability == pytest.approx(by_size / by_size.sum(), rel=1e-5)
    minimal = np.zeros(sizes[-1])
    for machine, weight in weights.items():
        minimal[machine.minimised().n_states - 1] += weight / total
    assert run.exact.minimal == pytest.approx(minimal, rel=1e-5)
    assert run.exact.dropped == 0
    most = max(weights.values())
    assert weights[run.best] >= most * (1 - 1e-5)
    assert (np.diff(run.draws.weight) <= 0).all()


def _posterior() -> Posterior:
    mdp, demos = _world(5)
    return Posterior(mdp, demos, expert=EXPERT, prior=PRIOR, threads=1)


def _finished(state: batches.State, settings: Exhaustive, most: int = 10**9) -> batches.State:
    target = _posterior()
    while not state.complete and state.step < most:
        state, _ = batches.step(state, target, settings)
    return state


def _same(a: batches.State, b: batches.State) -> bool:
    equal = [
        getattr(a.kept, field.name).tobytes() == getattr(b.kept, field.name).tobytes()
        for field in fields(batches.Kept)
    ]
    return all(equal) and a.log_dropped.tobytes() == b.log_dropped.tobytes()


def test_a_state_is_all_that_the_next_step_needs() -> None:
    settings = Exhaustive(batch=50, nats=3, keep=40)
    start = batches.init(_posterior(), range(1, 4), settings)
    unbroken = _finished(start, settings)
    half = _finished(start, settings, most=100)
    assert 0 < half.position < half.space.total
    again = batches.State(
        half.step, half.position, Enumeration(range(1, 4), 2, (0.0, 1.0)),
        batches.Kept(*(getattr(half.kept, f.name).copy() for f in fields(batches.Kept))),
        half.log_dropped.copy(),
    )  # fmt: skip
    assert _same(_finished(again, settings), unbroken)
    assert unbroken.step == unbroken.space.batches(50)


def test_what_is_dropped_is_accounted_for() -> None:
    mdp, demos = _world(5)
    everything = whence.infer(
        mdp, demos, states=(1, 3), expert=EXPERT, prior=PRIOR, method="exhaustive",
        settings=Exhaustive(nats=700),
    )  # fmt: skip
    assert everything.draws is not None
    assert everything.exact is not None
    for settings in (
        Exhaustive(nats=3.0, batch=1_000),
        Exhaustive(keep=50, batch=77),
        Exhaustive(keep=1),
    ):
        few = whence.infer(
            mdp, demos, states=(1, 3), expert=EXPERT, prior=PRIOR, method="exhaustive",
            settings=settings,
        )  # fmt: skip
        assert few.draws is not None
        assert few.exact is not None
        size = few.draws.size
        assert size < everything.draws.size
        assert few.exact.dropped == pytest.approx(everything.draws.weight[size:].sum(), rel=1e-3)
        share = few.draws.weight * (1 - few.exact.dropped)
        assert share == pytest.approx(everything.draws.weight[:size], rel=1e-3)
        assert few.exact.log_evidence == pytest.approx(everything.exact.log_evidence, abs=1e-3)
        if size > 1:
            assert few.best == everything.best


def test_batches_that_cannot_matter_are_joined_to_the_same_bits() -> None:
    """Most batches hold nothing near the best; their short way must change nothing."""
    settings, posterior = Exhaustive(batch=16, nats=4.0), _posterior()
    state = batches.init(posterior, range(1, 3), settings)
    short = 0
    while not state.complete:
        batch = batches.batch_at(state, state.position, posterior, settings)
        best = state.kept.log_weight.max(initial=-np.inf)
        short += batch.fresh.log_weight.max(initial=-np.inf) < best - settings.nats
        pool = batches.joined([state.kept, batch.fresh])
        kept, dropped = batches.pruned(pool, state.space, settings)
        following = batches.folded(state, batch, posterior, settings)
        rest = np.logaddexp(state.log_dropped, np.logaddexp(dropped, batch.log_rest))
        assert following.log_dropped.tobytes() == rest.tobytes()
        if not following.complete:  # the last step refines what is kept
            assert following.kept.position.tobytes() == kept.position.tobytes()
            assert following.kept.log_weight.tobytes() == kept.log_weight.tobytes()
        state = following
    assert 0 < short < state.step


def test_the_best_of_equal_machines_is_the_first() -> None:
    # an expert of rationality 0 does anything: every machine explains as much
    mdp = LabeledMDP.from_map("labels: a b\nstarts: S\nmap:\nSba\n", source="map")
    demos = Demonstrations.from_episodes([([0], [1])])
    for batch in (1, 10, 1_000):
        run = whence.infer(
            mdp, demos, states=2, expert=Expert(0.0, 0.5), method="exhaustive",
            settings=Exhaustive(batch=batch),
        )  # fmt: skip
        assert run.draws is not None
        heaviest = _machines(run.draws, mdp.alphabet)
        top = np.flatnonzero(run.draws.weight >= run.draws.weight[0] * (1 - 1e-9))
        assert len(top) > 1
        assert run.best == heaviest[0]
        rows = [[*heaviest[i].transitions.flat, *heaviest[i].rewards.flat] for i in top.tolist()]
        assert rows == sorted(rows)


def test_a_range_of_sizes_prefers_no_more_states_than_it_takes() -> None:
    mdp, demos = _world(5)
    run = whence.infer(mdp, demos, states=range(1, 4), expert=EXPERT, method="exhaustive")
    again = whence.infer(mdp, demos, states=(1, 3), expert=EXPERT, method="exhaustive")
    assert (run.states, run.best.n_states) == (range(1, 4), 1)
    assert run.best == again.best
    assert run.draws is not None
    assert run.exact is not None
    assert set(run.draws.n_states.tolist()) == {1, 2, 3}
    padded = run.draws.n_states == 1
    assert (run.draws.transitions[padded, 1:] == np.arange(1, 3)[:, None]).all()
    assert run.exact.minimal[0] > run.exact.probability[0]  # larger machines have smaller copies
    assert run.steps == 3
    assert run.trace.score.shape == (3, 0)


def test_a_space_that_is_too_large_is_refused_with_its_count_and_the_time() -> None:
    mdp, demos = _world(5)
    message = (
        r"states 3, 2 symbols, 2 reward levels: 13,608 machines, above the limit of 13,607; to "
        r"score them all takes about [\d.]+ seconds here; allow fewer states"
    )
    with pytest.raises(ArgumentError, match=message):
        whence.infer(
            mdp, demos, states=3, expert=EXPERT, method="exhaustive",
            settings=Exhaustive(limit=13_607),
        )  # fmt: skip
    settings = Exhaustive(limit=13_608)
    run = whence.infer(mdp, demos, states=3, expert=EXPERT, method="exhaustive", settings=settings)
    assert run.evaluations == 13_608
    with pytest.raises(ArgumentError, match=r"about 10\^2\d machines, .* about 10\^\d\d years"):
        whence.infer(mdp, demos, states=10, rewards=(0, 1, 2), expert=EXPERT, method="exhaustive")
    with pytest.raises(ArgumentError, match=r"more than 10\^602 machines"):
        whence.infer(mdp, demos, states=(1, 1_000), expert=EXPERT, method="exhaustive")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 3}, "steps is 3; this method ends when every machine is scored"),
        ({"settings": whence.Annealing()}, "give Exhaustive settings"),
        ({"alpha": math.inf, "lapse": "infer"}, "the lapse is to be inferred, which exhaus"),
        ({"rewards": (0.0,)}, "there is no valid machine"),
        ({"states": (3, 2)}, r"states is \(3, 2\)"),
        ({"states": (1, 2, 3)}, r"states is \(1, 2, 3\)"),
        ({"states": range(3)}, r"states is range\(0, 3\)"),
        ({"states": range(1, 4, 2)}, r"states is range\(1, 4, 2\)"),
        ({"states": range(3, 3)}, r"states is range\(3, 3\)"),
        ({"states": (True, 2)}, r"states is \(True, 2\)"),
        ({"states": "2-5"}, "states is '2-5'"),
        ({"temperature": 0.0}, "temperature is 0"),
        ({"minutes": 1e-9}, "allow more minutes"),
        ({"method": "annealing", "states": (1, 2)}, "states is 1-2; annealing searches"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], message: str) -> None:
    mdp, demos = _world(5)
    given = {"states": 2, "expert": EXPERT, "method": "exhaustive"} | change
    with pytest.raises(ArgumentError, match=message):
        whence.infer(mdp, demos, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["batch", "limit", "keep", "nats", "temperature"])
def test_bad_settings_are_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"{name} is 0"):
        Exhaustive(**{name: 0})


def test_demonstrations_that_no_machine_explains_are_refused() -> None:
    mdp = LabeledMDP.from_map("labels: a\nstarts: S\nmap:\nS.a\n", source="map")
    away = [([0, 0, 1, 0], [3, 1, 3, 1]), ([0], [1])]
    demos = Demonstrations.from_episodes(away)
    with pytest.raises(ArgumentError, match="none of 1 machines can have produced"):
        whence.infer(mdp, demos, states=1, expert=Expert(math.inf, 0.5), method="exhaustive")


def test_minutes_end_it_with_the_best_so_far_and_no_posterior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(10**9))
    monkeypatch.setattr("whence.runs.inference.time.perf_counter", lambda: float(next(clock)))
    mdp, demos = _world(5)
    run = whence.infer(
        mdp, demos, states=3, expert=EXPERT, method="exhaustive", minutes=5 / 60,
        settings=Exhaustive(batch=100),
    )  # fmt: skip
    assert run.stopped == "minutes"
    assert (run.draws, run.exact) == (None, None)
    assert 0 < run.evaluations == 100 * run.steps < 13_608
    assert run.best.is_valid


@pytest.mark.parametrize("seed", range(5))
def test_the_smallest_sizes_of_a_batch_are_those_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    transitions = rng.integers(0, 4, size=(100, 4, 2))
    rewards = (rng.random((100, 4, 2)) < 0.2).astype(float)
    each = [
        RewardMachine(("a", "b"), t, r).minimised().n_states
        for t, r in zip(transitions, rewards, strict=True)
    ]
    assert minimise_batch(transitions, rewards)[2].tolist() == each
    assert len(set(each)) > 2


def test_the_time_a_space_takes_is_told_by_batches_that_an_engine_can_show_its_speed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mdp, demos = _world(5)
    posterior = Posterior(mdp, demos, expert=EXPERT)
    space = Enumeration(range(3, 4), 2, (0.0, 1.0))
    clock = [0.0]

    def score(self: object, transitions: np.ndarray, *_: object, **__: object) -> None:
        clock[0] += 1e-3 + 1e-7 * len(transitions)  # what a call costs, and a machine

    monkeypatch.setattr(Posterior, "log_likelihood", score)
    monkeypatch.setattr("whence.search.affordable.time.perf_counter", lambda: clock[0])
    assert seconds_each(space, posterior) < 2e-7
