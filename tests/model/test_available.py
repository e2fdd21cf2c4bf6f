"""Actions that some states do not have: worlds, checks, files, maps, logs, planning."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import whence
from support.problems import masked, random_machine, random_world
from whence import Demonstrations, Episode, Expert, LabeledMDP, RewardMachine
from whence.errors import (
    ArgumentError,
    DemonstrationsError,
    FormatError,
    WhenceWarning,
    WorldError,
)
from whence.likelihood import reference
from whence.model.available import filled, log_chances
from whence.planning.evaluation import expected_return, horizon_optimum
from whence.planning.policies import expert_policy, optimal_q

FORK = LabeledMDP.from_triples(
    [(0, 0, 1, 1.0), (0, 1, 2, 1.0), (1, 0, 0, 1.0), (2, 1, 0, 0.5), (2, 1, 2, 0.5)],
    states=3,
    actions=["left", "right"],
    labels=[None, "a", "b"],
    unavailable=[(1, 1), (2, 0)],
)
TASK = RewardMachine(("a", "b"), [[0, 0]], [[1.0, 0.0]])


def test_a_world_says_which_actions_a_state_has() -> None:
    assert FORK.available.tolist() == [[True, True], [True, False], [False, True]]
    assert FORK.unavailable.tolist() == [[1, 1], [2, 0]]
    assert FORK.is_masked
    assert not FORK.is_deterministic
    assert FORK.row(1, 1)[0].tolist() == []
    assert FORK.with_initial(2).available.tolist() == FORK.available.tolist()
    coffee = whence.worlds.coffee().mdp
    assert coffee.available.all()
    assert not coffee.is_masked


def test_rows_about_unavailable_actions_are_left_out() -> None:
    dense = np.zeros((2, 2, 2))
    dense[:, :, 0] = 1.0
    world = LabeledMDP.from_dense(dense, labels=["a", None], unavailable=[(1, 0)])
    assert world.n_transitions == 3
    assert world.is_deterministic
    assert world != LabeledMDP.from_dense(dense, labels=["a", None])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 0), (0, 1)], "state 0 has no available action; leave every state at least one"),
        ([(5, 0)], "unavailable: state 5 does not exist; use 0 to 1"),
        ([(0, -1)], "unavailable: action -1 does not exist; use 0 to 1"),
        ([(0, 0.5)], "unavailable: action 0.5 does not exist"),
        ([0, 1], r"unavailable must be pairs \[state, action\]"),
        ([("a", "b")], r"unavailable must be pairs \[state, action\]"),
    ],
)
def test_unavailable_pairs_that_make_no_sense_are_refused(pairs: object, message: str) -> None:
    with pytest.raises(WorldError, match=message):
        LabeledMDP.from_dense(np.ones((2, 2, 2)) / 2, labels=["a", None], unavailable=pairs)  # type: ignore[arg-type]


def test_a_missing_row_is_missed_unless_it_is_unavailable() -> None:
    with pytest.raises(WorldError, match=r"state 1, action 0 .*or that it is unavailable"):
        LabeledMDP.from_triples(
            [(0, 0, 0, 1.0)], states=2, actions=2, labels=["a", None], unavailable=[(0, 1)]
        )


def test_a_demonstration_that_takes_an_unavailable_action_is_told_where() -> None:
    demos = Demonstrations.from_episodes([Episode([0, 1, 0], [0, 1]), Episode([0, 2], [0])])
    findings = demos.check(FORK)
    assert findings.total == 2
    assert findings.problems[0] == (
        "demonstrations, episode 0, step 1: action 'right' is not available in state 1, which "
        "has left; correct the step, or the world's unavailable actions"
    )
    assert "'left' never leads from state 0 to state 2" in findings.problems[1]
    with pytest.raises(DemonstrationsError, match="not available in state 1"):
        whence.Posterior(FORK, demos, expert=Expert(1.0, 0.9))


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_files_keep_what_is_available_under_a_tag_of_their_own(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"world.{ending}"
    FORK.save(path)
    assert LabeledMDP.load(path) == FORK
    assert b"whence/mdp/2".decode() in path.read_bytes().decode("latin1").replace("\0", "")
    whence.worlds.coffee().mdp.save(path)
    assert "whence/mdp/1" in path.read_bytes().decode("latin1").replace("\0", "")


def test_the_first_version_of_the_format_has_no_unavailable_actions(tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    FORK.save(path)
    path.write_text(path.read_text().replace("whence/mdp/2", "whence/mdp/1"))
    with pytest.raises(FormatError, match="unknown field `unavailable`"):
        LabeledMDP.load(path)
    FORK.save(tmp_path / "world.npz")
    fields = dict(np.load(tmp_path / "world.npz"))
    np.savez(tmp_path / "old.npz", **{**fields, "format": np.array("whence/mdp/1")})
    with pytest.raises(FormatError, match="unavailable needs format 'whence/mdp/2'"):
        LabeledMDP.load(tmp_path / "old.npz")


MAP = "labels: g\nstarts: S\nblocked: unavailable\n\nmap:\n+---+\n|S.#|\n|.|g|\n+---+\n"


def test_a_map_may_do_without_blocked_moves(tmp_path: Path) -> None:
    lines = MAP.replace("|.|g|", "|..g|")
    world = LabeledMDP.from_map(lines)
    has = {
        world.state_name(s): [world.actions[a] for a in np.flatnonzero(world.available[s])]
        for s in range(world.n_states)
    }
    assert has["(0, 0)"] == ["up", "right"]
    assert has["(2, 0)"] == ["left"]
    world.save(tmp_path / "again.map")
    assert LabeledMDP.load(tmp_path / "again.map") == world
    with pytest.raises(FormatError, match="line 3: blocked 'no'; a blocked move either 'stays'"):
        LabeledMDP.from_map(lines.replace("blocked: unavailable", "blocked: no"))


def test_a_log_may_show_which_actions_there_are() -> None:
    many = Episode([0, 1, 0, 2] * 4, ([0, 0, 1, 1] * 4)[:-1], [None, "a", None, "b"] * 4)
    log = Demonstrations.from_episodes([many])
    with pytest.warns(WhenceWarning, match="2 of 3 states were left fewer than 6 times.*: 1, 2"):
        world = LabeledMDP.from_demonstrations(log, available="seen")
    assert world.available.tolist() == FORK.available.tolist()
    assert world.unseen is not None
    assert world.unseen.tolist() == []
    assert log.coverage(world).pairs == 4
    assert LabeledMDP.from_demonstrations(log).available.all()
    with pytest.raises(ArgumentError, match="available is 'some'; known are all, seen"):
        LabeledMDP.from_demonstrations(log, available="some")


def test_a_state_that_was_never_left_keeps_every_action() -> None:
    log = Demonstrations.from_episodes([Episode([0, 1] * 10 + [0, 2], [0, 1] * 10 + [1], None)])
    world = LabeledMDP.from_demonstrations(log, labels={1: "a"}, available="seen")
    assert world.available.tolist() == [[True, True], [False, True], [True, True]]


def _by_hand(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> dict[object, float]:
    """Return Q of every machine state, state and action that the state has, by plain loops."""
    n = machine.n_states
    value = {(y, s): 0.0 for y in range(n) for s in range(mdp.n_states)}
    q: dict[object, float] = {}
    for _ in range(600):
        for y, s in value:
            for a in range(mdp.n_actions):
                successors, chances = mdp.row(s, a)
                if len(successors):
                    q[y, s, a] = 0.0
                for t, p in zip(successors.tolist(), chances.tolist(), strict=True):
                    z, r = machine.step(y, mdp.label(t))
                    q[y, s, a] += p * (r + discount * value[z, t])
        value = {
            (y, s): max(q[y, s, a] for a in range(mdp.n_actions) if (y, s, a) in q)
            for y, s in value
        }
    return q


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("alpha", "lapse"), [(3.0, 0.2), (0.0, 0.1), (math.inf, 0.3), (5.0, 0)])
def test_the_readable_engine_is_what_plain_loops_give(
    seed: int, alpha: float, lapse: float
) -> None:
    rng = np.random.default_rng(seed)
    world = random_world(rng, states=5, actions=3, symbols=2, successors=2)
    mdp = masked(rng, world)
    machine = random_machine(rng, mdp.alphabet, 2)
    q = _by_hand(mdp, machine, 0.8)
    found = optimal_q(mdp, machine, 0.8)
    log_p = Expert(alpha, 0.8, lapse).log_action_probabilities(found)
    for y, s, a in np.ndindex(found.shape):
        has = [b for b in range(mdp.n_actions) if (y, s, b) in q]
        if a not in has:
            assert found[y, s, a] == log_p[y, s, a] == -math.inf
            continue
        assert found[y, s, a] == pytest.approx(q[y, s, a], abs=1e-10)
        top = max(q[y, s, b] for b in has)
        odds = {
            b: float(q[y, s, b] > top - 1e-9)
            if alpha == math.inf
            else math.exp(alpha * (q[y, s, b] - top))
            for b in has
        }
        p = (1 - lapse) * odds[a] / sum(odds.values()) + lapse / len(has)
        assert np.exp(log_p[y, s, a]) == pytest.approx(p, abs=1e-8)


def test_optimal_values_do_not_change_when_missing_actions_are_filled_in() -> None:
    rng = np.random.default_rng(7)
    mdp = masked(rng, random_world(rng, states=12, actions=4, symbols=2, successors=3))
    machine = random_machine(rng, mdp.alphabet, 3)
    whole = filled(mdp)
    assert not whole.is_masked
    assert mdp.is_masked
    own, others = (optimal_q(w, machine, 0.9).max(axis=2) for w in (mdp, whole))
    np.testing.assert_allclose(own, others, atol=1e-11)


def test_nobody_takes_an_action_that_is_not_there() -> None:
    rng = np.random.default_rng(8)
    mdp = masked(rng, random_world(rng, states=9, actions=4, symbols=2, successors=3))
    machine = random_machine(rng, mdp.alphabet, 2)
    expert = Expert(1.0, 0.9, 0.5)
    demos = whence.simulate(mdp, machine, expert, episodes=40, length=30, seed=0)
    assert demos.check(mdp).ok
    policy = expert_policy(mdp, machine, expert)
    assert not policy.probabilities[:, ~mdp.available].any()
    np.testing.assert_allclose(policy.probabilities.sum(axis=2), 1.0)
    planned = whence.plan(mdp, machine, 0.9)
    assert expected_return(mdp, planned, machine, 20) <= horizon_optimum(mdp, machine, 20) + 1e-9
    exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
    posterior = whence.Posterior(mdp, demos, expert=expert)
    assert posterior.finest(machine) == pytest.approx(exact, abs=1e-7)
    assert posterior.log_likelihood_by_episode(machine).sum() == pytest.approx(exact, abs=1e-7)


def test_a_policy_for_more_actions_does_not_fit() -> None:
    whole = filled(FORK)
    policy = expert_policy(whole, TASK, Expert(1.0, 0.9))
    with pytest.raises(ArgumentError, match="takes action 'right' in state 1, which does not"):
        policy.in_world(FORK)


def test_acting_at_random_spreads_over_what_there_is() -> None:
    half = math.log(0.5)
    assert log_chances(FORK).tolist() == [[half, half], [0.0, -math.inf], [-math.inf, 0.0]]
