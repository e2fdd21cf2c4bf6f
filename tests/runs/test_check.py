"""Facts about checks of the model: replicas, what is counted in them, and p-values."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

import whence
from runs import small
from whence import Demonstrations, Episode, Expert, LabeledMDP, RewardMachine
from whence.analysis import discrepancies, replicas
from whence.analysis.discrepancies import Reader, Statistic, statistics
from whence.analysis.misfit import compared
from whence.cli import run as main
from whence.errors import ArgumentError
from whence.planning.policies import Policy
from whence.planning.simulation import simulate_from
from whence.runs.checking import Fitted, confronted, halves

TASK = RewardMachine.from_arrows(["x -a-> y", "y -b/1-> over"], alphabet=("a", "b"))
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
FIRM = Expert(float("inf"), 0.9)


def corridor() -> LabeledMDP:
    """Return five states in a row, a at one end and b at the other, where every move succeeds."""
    rows = [
        (s, a, min(max(s + step, 0), 4), 1.0) for s in range(5) for a, step in enumerate((-1, 1))
    ]
    return LabeledMDP.from_triples(
        rows, states=5, actions=("left", "right"), labels=["a", None, None, None, "b"],
        alphabet=("a", "b"), initial=2,
    )  # fmt: skip


def test_walks_begin_and_end_where_they_should() -> None:
    mdp = corridor()
    always = np.zeros((3, 5, 2))
    always[0, :, 0], always[1, :, 1], always[2, :, 1] = 1, 1, 1
    policy = Policy(TASK, always, 0.9)
    lengths = np.array([1, 6, 0, 3])
    states, memory, actions = simulate_from(
        mdp, policy, np.array([2, 1, 4, 3]), np.array([0, 0, 1, 1]), lengths,
        np.random.default_rng(0),
    )  # fmt: skip
    rows = np.split(states, np.cumsum(lengths + 1)[:-1])
    assert [row.tolist() for row in rows] == [[2, 1], [1, 0, 1, 2, 3, 4, 4], [4], [3, 4, 4, 4]]
    assert memory.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 2]
    assert actions.tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]


def test_replicas_are_as_likely_as_the_expert_is_to_act_so() -> None:
    mdp, expert = small.world(), Expert(3.0, 0.9, 0.1)
    demos = Demonstrations.from_episodes([Episode([2, 2], [0], None, ("a",))] * 2_500)
    found = replicas.replica(
        replicas.seats(mdp, demos), TASK, expert, None, np.random.default_rng(1)
    )
    policy = whence.expert_policy(mdp, TASK, expert).probabilities[1, 2]
    assert (found.actions == 1).mean() == pytest.approx(policy[1], abs=4 * 0.5 / 2_500**0.5)
    assert found[0].history == ("a",)


def test_a_replica_ends_when_the_task_is_over() -> None:
    mdp = corridor()
    demos = Demonstrations.from_episodes(
        [Episode([2, 1], [0], ended=True), Episode([2, 1, 2], [0, 1], ended=False)]
    )
    place = replicas.seats(mdp, demos, longest=20)
    found = replicas.replica(place, TASK, FIRM, (0.0, 0.0), np.random.default_rng(0))
    assert found[0].states == [2, 1, 0, 1, 2, 3, 4]
    assert found[0].ended is True
    assert found[1].states == [2, 1, 0]
    assert found[1].ended is False
    late = replicas.replica(place, TASK, FIRM, (1.0, 0.0), np.random.default_rng(0))
    assert late.lengths.tolist() == [20, 2]


def test_a_replica_goes_on_where_another_world_shows_what_is_paid() -> None:
    mdp = corridor()
    bare = replace(mdp, labels=np.array([0, -1, -1, -1, -1]))  # b, which pays, is elsewhere
    on = Demonstrations.from_episodes([Episode([2, 1, 0, 0], [0, 0, 0], ended=False)] * 20)
    over = Demonstrations.from_episodes(
        [Episode([2, 1, 0, 1, 2, 3, 4], [0, 0, 1, 1, 1, 1], ended=True)] * 20
    )
    job = whence.infer(
        [(mdp, over), (bare, on)], states=3, expert=FIRM, endings="task", steps=2, progress=False,
        method="annealing",
    ).job  # fmt: skip
    chosen = (np.arange(10), np.arange(10))
    found = confronted(job, Fitted(TASK, FIRM, None), job.pairs, chosen, 50)
    ends = next(each for each in found.discrepancies if each.statistic.kind == "ended")
    assert ends.observed == 0.5
    assert ends.expected == pytest.approx(0.5, abs=0.02)


def test_episodes_with_labels_of_their_own_are_not_made_anew() -> None:
    own = Episode([2, 1], [0], [None, "a"])
    demos = Demonstrations.from_episodes([own, Episode([2, 1], [0]), Episode([2], [])])
    assert replicas.replicable(demos).tolist() == [1]


def test_statistics_are_what_counting_by_hand_gives() -> None:
    mdp = corridor()
    demos = Demonstrations.from_episodes(
        [([3, 4, 3, 4, 4], [1, 0, 1, 1]), Episode([1, 0, 1, 2, 3, 4], [0, 1, 1, 1, 1])]
    )
    expert = Expert(2.0, 0.9)
    found = statistics([Reader.of(mdp, demos, TASK, expert, False)], [demos])
    assert found[Statistic(discrepancies.PHASE, phase=0)] == pytest.approx(5 / 9)
    assert found[Statistic(discrepancies.ACTION, "left", 0)] == pytest.approx(2 / 5)
    assert found[Statistic(discrepancies.ACTION, "right", 1)] == 1
    assert np.isnan(found[Statistic(discrepancies.ACTION, "right", 2)])
    assert found[Statistic(discrepancies.LABEL, "b")] == pytest.approx(4 / 9)
    assert found[Statistic(discrepancies.IN_A_ROW)] == pytest.approx(5 / 3)
    assert found[Statistic(discrepancies.TURN)] == pytest.approx(3 / 7)
    assert found[Statistic(discrepancies.FIRST_PAY)] == pytest.approx((4 + 5) / 2)
    by_episode = whence.Posterior(mdp, demos, expert=expert).log_likelihood_by_episode(TASK)
    assert found[Statistic(discrepancies.SURPRISE)] == pytest.approx(-by_episode.sum() / 9)
    spread = np.std(by_episode / np.array([4, 5]))
    assert found[Statistic(discrepancies.SPREAD)] == pytest.approx(spread)


def test_a_row_like_the_others_has_uniform_p_values_and_one_apart_does_not() -> None:
    rng = np.random.default_rng(7)
    names = [Statistic("label", str(k)) for k in range(4)]
    mix = rng.normal(size=(4, 4))
    together, singles = [], []
    for _ in range(400):
        found = compared(names, np.round(rng.normal(size=(100, 4)) @ mix, 1))
        together.append(found.p_value)
        singles.append(found.discrepancies[0].p_value)
    grid = np.arange(1, 401) / 400
    assert np.abs(np.sort(together) - grid).max() < 1.63 / 20  # Kolmogorov and Smirnov, at 1%
    assert np.abs(np.sort(singles) - grid).max() > 1.63 / 20  # the farthest out is no fair choice
    values = rng.normal(size=(100, 4))
    values[0, 2] += 8
    apart = compared(names, values)
    assert not apart.fits
    assert [each.statistic.of for each in apart.found] == ["2"]
    assert "real episodes enter 2 more often than this expert would" in apart.found[0].text
    assert apart.advice[0].startswith("more machine states")


def test_half_of_the_episodes_of_each_world_is_set_aside() -> None:
    mdp = corridor()
    pair = mdp, Demonstrations.from_episodes([([2, 1], [0])] * 7 + [([2], [])])
    one, other = halves([pair, pair], 0)
    assert {len(one), len(other)} == {3, 4}
    assert 7 not in one
    with pytest.raises(ArgumentError, match="3 episodes with steps; at least 4"):
        halves([(mdp, pair[1].subset([0, 1, 2, 7]))], 0)


@pytest.fixture(scope="module")
def run() -> whence.Run:
    demos = whence.simulate(small.world(), THREE, Expert(20, 0.9), episodes=80, length=25, seed=3)
    return whence.infer(
        small.world(), demos, states=1, discount=0.9, method="exhaustive", seed=5, threads=1
    )


THREE = RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))


def test_a_missing_state_is_noticed_and_said_in_words(run: whence.Run) -> None:
    found = run.check(replicas=99, threads=1)
    assert not found.fits
    assert found.training_episodes == found.episodes == 40
    assert str(found).startswith("The model does not fit (p < 0.02)")
    assert any("more machine states" in line for line in found.advice)
    again = run.check(replicas=99, threads=1)
    assert [each.p_value for each in again.discrepancies] == [
        each.p_value for each in found.discrepancies
    ]


def test_enough_states_are_not_rejected(run: whence.Run) -> None:
    more = replace(run, job=replace(run.job, sizes=range(2, 3)))
    found = more.check(replicas=99, threads=1)
    assert found.fits
    assert str(found).startswith("The model fits")
    assert found.advice == ()


def test_the_command_line_says_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.infer("exhaustive", folder=tmp_path / "run")
    assert main(["check", str(tmp_path / "run"), "--replicas", "99", "--json"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out)
    section = DOCS.read_text(encoding="utf-8").partition("\n## check of a run\n")[2]
    cells = [row.split("|")[1] for row in section.split("\n## ")[0].splitlines() if "|" in row]
    assert set(found) == {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}
    assert (found["replicas"], found["episodes"], found["training_episodes"]) == (99, 4, 4)
    assert main(["check", "nowhere"]) == 1
    assert "not a run folder" in capsys.readouterr().err
    assert main(["check", "coffee", "d.jsonl", "--replicas", "9"]) == 2


def test_p_values_of_the_truth_are_uniform() -> None:
    mdp, expert = small.world(), Expert(6.0, 0.9, 0.05)
    demos = [
        whence.simulate(mdp, THREE, expert, episodes=8, length=12, seed=seed) for seed in range(40)
    ]
    p_values, usual = [], small.infer("exhaustive").job
    for seed, each in enumerate(demos):
        job = replace(usual, pairs=[(mdp, each)], seed=seed)
        fitted = Fitted(THREE, expert, None)
        chosen = halves(job.pairs, seed)
        p_values.append(confronted(job, fitted, job.pairs, chosen, 24).p_value)
    grid = np.arange(1, 41) / 40
    assert np.abs(np.sort(p_values) - grid).max() < 1.63 / 40**0.5 + 1 / 25
