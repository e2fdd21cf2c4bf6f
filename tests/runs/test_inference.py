from __future__ import annotations

import math

import numpy as np
import pytest

import whence
from whence import Annealing, Expert, Posterior, Run
from whence.errors import ArgumentError
from whence.likelihood import reference

EXPERT = Expert(50, 0.92)
SHORT = Annealing(t0=5_000, t_min=20, beta_t=0.8, every=2, steps=60)


def _world() -> tuple[whence.worlds.World, whence.Demonstrations]:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=15, length=40, seed=0)
    return world, demos


def _run(**changes: object) -> Run:
    world, demos = _world()
    given = {
        "states": 3, "expert": EXPERT, "method": "annealing", "settings": SHORT, "seed": 3,
    } | changes  # fmt: skip
    return whence.infer(world.mdp, demos, **given)  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_run_whatever_the_threads() -> None:
    first, second = _run(threads=1), _run(threads=2)
    assert first.best == second.best
    assert first.score == second.score
    for name in ("score", "best", "temperature", "accepted"):
        a, b = getattr(first.trace, name), getattr(second.trace, name)
        assert a.shape == (60, 3)
        assert a.tobytes() == b.tobytes()
    assert _run(seed=4).trace.score.tobytes() != first.trace.score.tobytes()


def test_the_result_fits_together() -> None:
    world, demos = _world()
    run = _run()
    exact = reference.log_likelihood(
        world.mdp, demos, run.best.transitions, run.best.rewards, EXPERT
    )
    assert run.log_likelihood == pytest.approx(exact, abs=1e-6)
    posterior = Posterior(world.mdp, demos, expert=EXPERT)
    prior = posterior.log_prior(run.best.transitions[None], run.best.rewards[None])[0]
    assert run.log_prior == prior
    assert run.score == run.log_likelihood / 20 + run.log_prior
    assert run.trace.best[-1].max() == pytest.approx(run.score, abs=0.01 / 20 + 1e-9)
    assert (np.diff(run.trace.best, axis=0) >= 0).all()
    assert (run.trace.best >= run.trace.score).all()
    assert (np.diff(run.trace.temperature, axis=0) <= 0).all()
    assert run.best == run.best.canonical()
    assert run.best.is_valid
    assert (run.evaluations, run.steps, run.stopped) == (3 * 61, 60, "steps")
    assert run.seconds > 0
    assert (run.method, run.settings, run.seed, run.rewards) == ("annealing", SHORT, 3, (0, 1))


def test_steps_and_temperature_take_the_place_of_the_settings() -> None:
    run = _run(steps=5, temperature=7.0)
    assert (run.settings.steps, run.settings.t_min, run.temperature) == (5, 7.0, 7.0)
    assert run.steps == 5
    assert run.score == run.log_likelihood / 7 + run.log_prior


def test_minutes_stop_a_run_and_keep_what_was_found() -> None:
    run = _run(steps=10**9, minutes=1e-9)
    assert run.stopped == "minutes"
    assert run.steps == 0
    assert run.trace.score.shape == (0, 0)
    assert run.best.is_valid


def test_events_tell_how_a_run_goes() -> None:
    told: list[whence.Event] = []
    run = _run(steps=4, on_event=told.append)
    assert (told[0].kind, told[0].step, told[0].steps) == ("started", 0, 4)
    assert (told[-1].kind, told[-1].step, told[-1].evaluations) == ("finished", 4, 15)
    assert {event.kind for event in told} == {"started", "progress", "analysing", "finished"}
    assert told[-1].machine == run.best
    assert told[-1].score == pytest.approx(run.score, abs=1e-3)
    assert told[-1].document()["temperature"] == told[-1].details["temperature"]


def test_one_machine_explains_several_worlds() -> None:
    world, demos = _world()
    run = whence.infer(
        [(world.mdp, demos), (world.mdp, demos)],
        states=2, expert=EXPERT, method="annealing", settings=SHORT, steps=10,
    )  # fmt: skip
    alone = Posterior(world.mdp, demos, expert=EXPERT).finest(run.best)
    assert run.log_likelihood == pytest.approx(2 * alone, abs=1e-6)


def test_a_simple_task_is_found() -> None:
    mdp = whence.LabeledMDP.from_map("labels: c o\nstarts: S\nmap:\nS.c\n...\no..\n", source="map")
    task = whence.RewardMachine.from_arrows(
        ["before -c-> holding", "holding -o/1-> before"], alphabet=("c", "o")
    )
    demos = whence.simulate(mdp, task, Expert(20, 0.9), episodes=40, length=40, seed=0)
    run = whence.infer(
        mdp, demos, states=2, expert=Expert(20, 0.9), method="annealing", seed=0,
        settings=Annealing(t0=2_000, t_min=1, beta_t=0.9, every=5, steps=300),
    )  # fmt: skip
    assert run.best.same_in(task, mdp)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, "known are auto, tempering, annealing, exhaustive"),
        ({"settings": {"t0": 3}}, "give Annealing settings"),
        ({"states": 0}, "states is 0"),
        ({"states": range(2, 4)}, "one whole number"),
        ({"states": True}, "states is True"),
        ({"minutes": 0}, "minutes is 0"),
        ({"minutes": math.inf}, "minutes is inf"),
        ({"threads": 0}, "threads is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"temperature": 1e9}, "at least t_min"),
        ({"rewards": (0.0,)}, "nothing to search"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _run(**change)
