"""Masks, endings, rough dynamics, several worlds and subjects in one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from support.problems import random_machine
from whence import Demonstrations, Episode, Expert, LabeledMDP, RewardMachine, Tempering
from whence.analysis import roughness
from whence.likelihood import reference
from whence.runs import searching
from whence.runs.events import Event

EXPERT = Expert(12.0, 0.9, 0.05)
TASK = RewardMachine.from_arrows(["x -a-> y", "y -b/1-> over"], alphabet=("a", "b"))
SETTINGS = Tempering(rungs=4, warm_up=20, pace=10, steps=60, every=20, until_agreed=False)


class _KillError(Exception):
    """Stands for a kill."""


def _corridor(n_states: int) -> LabeledMDP:
    """A corridor whose ends lack the action that would lead out; one step in ten goes astray."""
    triples = []
    for state in range(n_states):
        for action, step in enumerate((-1, 1)):
            if 0 <= state + step < n_states:
                back = min(max(state - step, 0), n_states - 1)
                triples += [(state, action, state + step, 0.9), (state, action, back, 0.1)]
    return LabeledMDP.from_triples(
        triples, states=n_states, actions=("left", "right"), alphabet=("a", "b"),
        labels=["a", *[None] * (n_states - 2), "b"], initial=[(1, 0.5), (2, 0.5)],
        unavailable=[(0, 0), (n_states - 1, 1)],
    )  # fmt: skip


def _shown(world: LabeledMDP, episodes: int, seed: int) -> Demonstrations:
    """Two subjects who stop where the task is over, with the labels that they read."""
    raw = whence.simulate(world, TASK, EXPERT, episodes=episodes, length=20, seed=seed)
    result = []
    for number, episode in enumerate(raw):
        y, cut = 0, len(episode.actions)
        for place, state in enumerate(episode.states[1:], start=1):
            y, _ = TASK.step(y, world.label(state))
            if not TASK.can_pay[y]:
                cut = place
                break
        states = episode.states[: cut + 1]
        labels = [world.label(state) for state in states]
        result.append(
            Episode(states, episode.actions[:cut], labels, ended=not TASK.can_pay[y],
                    subject=("ada", "bob")[number % 2])
        )  # fmt: skip
    return Demonstrations.from_episodes(result)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[LabeledMDP, Demonstrations]]:
    """A world known from its log, with the actions that were seen, and one that is given."""
    log = _shown(_corridor(5), 30, 1)
    given = _corridor(6)
    return [
        (LabeledMDP.from_demonstrations(log, available="seen"), log),
        (given, _shown(given, 10, 2)),
    ]


@pytest.fixture(autouse=True)
def _short_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughness, "FIRST", 40)
    monkeypatch.setattr(roughness, "STEPS", 80)
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)


def _infer(pairs: list[tuple[LabeledMDP, Demonstrations]], **changes: Any) -> whence.Run:
    said: dict[str, Any] = {
        "states": (1, 3), "method": "tempering", "settings": SETTINGS, "endings": "task",
        "seed": 4,
    }  # fmt: skip
    return whence.infer(pairs, **(said | changes))


def test_engines_agree_with_plain_loops(
    pairs: list[tuple[LabeledMDP, Demonstrations]],
) -> None:
    rng = np.random.default_rng(3)
    posterior = whence.Posterior(pairs, expert=EXPERT, endings="task", threads=1)
    assert pairs[0][0].is_masked
    for n_states in (1, 2, 3) * 5:
        machine = random_machine(rng, posterior.alphabet, n_states)
        wanted = reference.log_likelihood_of_endings(pairs, machine) + sum(
            reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, EXPERT)
            for mdp, demos in pairs
        )
        found = posterior.log_likelihood(machine.transitions[None], machine.rewards[None])[0]
        assert found == pytest.approx(wanted, abs=1e-3)


def test_a_run_of_all_ends_with_the_same_bytes_however_it_is_made(
    pairs: list[tuple[LabeledMDP, Demonstrations]], tmp_path: Path
) -> None:
    def broken(event: Event) -> None:
        if event.step >= 33:
            raise _KillError

    run = _infer(pairs, folder=tmp_path / "whole", threads=1)
    assert run.rough is not None
    assert run.posterior is not None
    _infer(pairs, folder=tmp_path / "threads", threads=2)
    with pytest.raises(_KillError):
        _infer(pairs, folder=tmp_path / "broken", checkpoint=0.0, on_event=broken)
    again = whence.resume(tmp_path / "broken")
    read = whence.load(tmp_path / "whole")
    kept = small.contents(tmp_path / "whole")
    assert {"best.json", "draws.npz", "trace.npz"} <= set(kept)
    for other in ("threads", "broken"):
        assert small.contents(tmp_path / other) == kept
    for each in (again, read):
        assert each.posterior is not None
        assert each.posterior.weights.tobytes() == run.posterior.weights.tobytes()
        assert each.answer == run.answer
        assert all(set(demos.subjects or ()) == {"ada", "bob"} for _, demos in each.job.pairs)


def test_subjects_of_masked_and_estimated_worlds_have_experts_of_their_own(
    pairs: list[tuple[LabeledMDP, Demonstrations]],
) -> None:
    with pytest.raises(whence.WhenceError, match="endings"):
        _infer(pairs, experts="by-subject")
    run = _infer(pairs, experts="by-subject", endings="ignore", states=2)
    assert run.groups is not None
    assert {subject.name for subject in run.groups.subjects} == {"ada", "bob"}
    assert any("takes the dynamics that the log shows for the true ones" in n for n in run.notes)
