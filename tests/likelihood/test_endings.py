"""Episodes that end because the task is over: counted, integrated, inferred."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from support.conformance import walks
from support.problems import random_machine, random_world
from whence import Demonstrations, Episode, Expert, LabeledMDP, Posterior, RewardMachine
from whence.errors import ArgumentError
from whence.likelihood import reference
from whence.likelihood.endings import log_mean


def _with_endings(rng: np.random.Generator, demos: Demonstrations) -> Demonstrations:
    said = [None, True, False]
    return Demonstrations.from_episodes(
        [episode._replace(ended=said[int(rng.integers(3))]) for episode in demos]
    )


def _world(rng: np.random.Generator) -> tuple[LabeledMDP, Demonstrations]:
    world = random_world(rng, states=8, actions=2, symbols=3, successors=2)
    return world, _with_endings(rng, walks(rng, world))


def _tables(machines: list[RewardMachine]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([m.transitions for m in machines]), np.array([m.rewards for m in machines])


@pytest.mark.parametrize(("times", "others"), [(0, 0), (3, 40), (0, 500), (200, 10)])
def test_the_unknown_rate_is_integrated_out(times: int, others: int) -> None:
    p = (np.arange(400_000) + 0.5) / 400_000
    mean = (999 * (1 - p) ** 998 * p**times * (1 - p) ** others).mean()
    assert log_mean(times, others) == pytest.approx(math.log(mean), abs=1e-6)


def test_the_four_counts_of_a_small_case() -> None:
    """Entered: b (live), a (dead, went on), blank (dead, ended); then b (live, ended)."""
    mdp = LabeledMDP.from_dense(np.full((3, 1, 3), 1 / 3), labels=["a", "b", None])
    machine = RewardMachine(("a", "b"), [[1, 0], [1, 1]], [[1.0, 0.0], [0.0, 0.0]])
    demos = Demonstrations.from_episodes(
        [
            Episode([0, 1, 0, 2], [0, 0, 0], ended=True),
            Episode([0, 1], [0], ended=True),
            Episode([2, 1, 1], [0, 0], ended=False),
            Episode([2, 0, 0], [0, 0]),
        ]
    )
    expected = log_mean(1, 1) + log_mean(1, 3)
    assert reference.log_likelihood_of_endings([(mdp, demos)], machine) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(12))
def test_endings_add_what_the_readable_engine_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worlds = [_world(rng) for _ in range(1 + seed % 2)]
    expert = Expert(3.0, 0.9, 0.1)
    plain = Posterior(worlds, expert=expert, threads=1)
    told = Posterior(worlds, expert=expert, threads=1, endings="task")
    machines = [random_machine(rng, plain.alphabet, int(rng.integers(1, 4))) for _ in range(12)]
    machines += [RewardMachine(plain.alphabet, m.transitions, 0 * m.rewards) for m in machines[:2]]
    for machine in machines:
        added = reference.log_likelihood_of_endings(worlds, machine)
        own = machine.transitions[None], machine.rewards[None]
        found = told.log_likelihood(*own)[0] - plain.log_likelihood(*own)[0]
        assert found == pytest.approx(added, abs=1e-9)
    some = [machine for machine in machines if machine.n_states == 3]
    if some:
        together = told.log_likelihood(*_tables(some)).tolist()
        alone = [float(told.log_likelihood(*_tables([m]))[0]) for m in some]
        assert together == alone
        assert told.log_likelihood_by_episode(some[0]).sum() == pytest.approx(
            told.finest(some[0]), abs=1e-7
        )


def test_temperature_touches_endings_as_it_does_actions() -> None:
    rng = np.random.default_rng(5)
    world = [_world(rng)]
    machine = random_machine(rng, world[0][0].alphabet, 2)
    own = machine.transitions[None], machine.rewards[None]
    hot = Posterior(world, expert=Expert(3.0, 0.9), temperature=4.0, endings="task")
    assert hot.score(*own)[0] == pytest.approx(
        hot.log_likelihood(*own)[0] / 4 + hot.log_prior(*own)[0]
    )


LINE = LabeledMDP.from_map(
    "labels: k g\nstarts: S\n\nmap:\nS.k.g\n"  # a key on the way to the goal
)
TASK = RewardMachine.from_arrows(["none -k-> key", "key -g/1-> over"], alphabet=("k", "g"))


def _ended_runs(wrong: float = 0.0) -> Demonstrations:
    """Return runs along the line that end at the goal, but for a share that goes on or stops."""
    rng = np.random.default_rng(1)
    raw = whence.simulate(LINE, TASK, Expert(20.0, 0.9, 0.1), episodes=400, length=30, seed=1)
    episodes = []
    for states, actions, *_ in raw:
        y, end = 0, None
        for place in range(1, len(states)):
            y, _ = TASK.step(y, LINE.label(states[place]))
            over = not TASK.can_pay[y]
            if over != (rng.random() < wrong):
                end = place
                break
        cut = len(actions) if end is None else end
        episodes.append(Episode(states[: cut + 1], actions[:cut], ended=end is not None))
    return Demonstrations.from_episodes(episodes)


def test_rates_of_wrong_endings_are_found() -> None:
    posterior = Posterior(LINE, _ended_runs(0.02), expert=Expert(20.0, 0.9, 0.1), endings="task")
    rates = posterior.ending_rates(TASK)
    assert rates is not None
    counted = 0.02 * 400 * 4 / (1000 + 400 * 4)
    assert rates.ended == pytest.approx(counted, abs=0.01)
    assert 0.001 < rates.went_on < 0.02
    perfect = Posterior(LINE, _ended_runs(), expert=Expert(20.0, 0.9, 0.1), endings="task")
    fewer = perfect.ending_rates(TASK)
    assert fewer is not None
    assert max(fewer) < 0.001
    plain = Posterior(LINE, _ended_runs(), expert=Expert(20.0, 0.9, 0.1))
    assert plain.ending_rates(TASK) is None


def test_the_task_is_found_although_one_ending_in_fifty_is_wrong() -> None:
    demos = _ended_runs(0.02)
    run = whence.infer(LINE, demos, states=2, endings="task", steps=200, seed=3)
    assert run.best.same_in(TASK, LINE)
    assert "after that nothing more" in run.answer
    rates = Posterior(LINE, demos, expert=run.expert, endings="task").ending_rates(run.best)
    assert rates is not None
    assert 0.005 < rates.ended < 0.02, "Beta(1, 999) weighs against 2%"
    assert 0.001 < rates.went_on < 0.02


def test_that_episodes_end_tells_that_nothing_more_is_paid() -> None:
    demos = _ended_runs()
    again = RewardMachine.from_arrows(["none -k-> key", "key -g/1-> key"], alphabet=("k", "g"))
    plain = Posterior(LINE, demos, expert=Expert(20.0, 0.9, 0.1))
    told = Posterior(LINE, demos, expert=Expert(20.0, 0.9, 0.1), endings="task")
    ended = sum(episode.ended is True for episode in demos)
    for machine, expected in ((TASK, (0, ended)), (again, (0, 0))):
        own = machine.transitions[None], machine.rewards[None]
        entered = demos.n_steps
        went_on, dead = expected
        added = log_mean(went_on, dead) + log_mean(ended - dead, entered - ended - went_on)
        found = told.log_likelihood(*own)[0] - plain.log_likelihood(*own)[0]
        assert found == pytest.approx(added, abs=1e-8)
    assert ended > 300


def test_a_run_remembers_what_endings_mean(tmp_path: Path) -> None:
    demos = _ended_runs()
    how: dict[str, Any] = {"states": 2, "expert": Expert(20.0, 0.9, 0.1), "steps": 60, "seed": 0}
    told = whence.infer(LINE, demos, endings="task", folder=tmp_path / "run", **how)
    plain = whence.infer(LINE, demos, **how)
    assert told.log_likelihood - plain.log_likelihood == pytest.approx(
        reference.log_likelihood_of_endings([(LINE, demos)], told.best), abs=1e-6
    )
    assert told.best.same_in(plain.best, LINE)
    assert not told.notes
    assert 'endings="task"' in plain.notes[0]
    opened = whence.load(tmp_path / "run")
    assert opened.job.endings == "task"
    assert opened.log_likelihood == told.log_likelihood
    assert [p[1] for p in opened.job.pairs] == [demos]
    with pytest.raises(ArgumentError, match="endings is 'some'; known are ignore, task"):
        whence.infer(LINE, demos, endings="some", **how)
