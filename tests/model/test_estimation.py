from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import whence
from whence import Demonstrations, Episode, Expert, LabeledMDP, WhenceWarning
from whence.analysis.design import best_start
from whence.analysis.sensitivity import doubts_of_dynamics, elsewhere
from whence.errors import ArgumentError, DemonstrationsError

WORLD = whence.worlds.coffee()
EXPERT = Expert(alpha=50, discount=0.92)

# hall -on-> kitchen three times and back to hall once; `off` is seen in the kitchen alone.
LOG = {
    "episode": [1, 1, 1, 1, 1, 2, 2],
    "state": ["hall", "kitchen", "hall", "hall", "kitchen", "hall", "kitchen"],
    "action": ["on", "off", "on", "on", None, "on", None],
    "label": [None, "tea", None, None, "tea", None, "tea"],
}


def test_probabilities_are_dirichlet_means_over_the_neighbours() -> None:
    demos = Demonstrations.from_table(LOG)
    mdp = LabeledMDP.from_demonstrations(demos, smoothing=0.5)
    assert (mdp.names, mdp.actions, mdp.alphabet) == (("hall", "kitchen"), ("off", "on"), ("tea",))
    successors, probabilities = mdp.row(0, 1)
    assert successors.tolist() == [0, 1]
    assert probabilities == pytest.approx([1.25 / 4.5, 3.25 / 4.5])
    assert mdp.row(1, 0)[1] == pytest.approx([1.25 / 1.5, 0.25 / 1.5])
    assert mdp.unseen is not None
    assert mdp.unseen.tolist() == [0, 3]
    assert [mdp.row(s, a)[0].tolist() for s, a in ((0, 0), (1, 1))] == [[0], [1]]
    assert mdp.label(1) == "tea"
    assert mdp.initial_states.tolist() == [0]


def test_without_smoothing_probabilities_are_frequencies() -> None:
    mdp = LabeledMDP.from_demonstrations(Demonstrations.from_table(LOG), smoothing=0)
    assert mdp.row(0, 1)[1] == pytest.approx([1 / 4, 3 / 4])
    assert mdp.row(1, 0)[1].tolist() == [1.0]


def test_coverage_asks_for_nothing_after_the_end() -> None:
    log = Demonstrations.from_table(
        {"episode": [0, 0, 0], "state": ["hall", "den", "exit"], "action": ["on", "off", None],
         "label": [None, None, "out"], "ended": [None, None, True]}
    )  # fmt: skip
    world = LabeledMDP.from_demonstrations(log)
    coverage = log.coverage(world)
    assert world.names == ("den", "exit", "hall", "end")
    assert (coverage.seen, coverage.unseen, coverage.pairs) == (2, 2, 4)
    assert coverage.unseen_pairs == [("den", "on"), ("hall", "off")]
    assert world.unseen is not None
    assert coverage.unseen == len(world.unseen)
    cut = log.subset([0])
    cut = Demonstrations.from_episodes(
        [Episode(cut.states.tolist(), cut.actions.tolist(), [None, None, "out"])]
    )
    assert cut.coverage(LabeledMDP.from_demonstrations(cut)).pairs == 6


def test_coverage_counts_and_names_what_nobody_saw() -> None:
    demos = Demonstrations.from_table(LOG)
    coverage = demos.coverage(LabeledMDP.from_demonstrations(demos))
    assert coverage.counts.tolist() == [[0, 4], [1, 0]]
    assert (coverage.seen, coverage.thin, coverage.unseen, coverage.pairs) == (2, 2, 2, 4)
    assert coverage.unseen_pairs == [("hall", "off"), ("kitchen", "on")]
    text = str(coverage)
    assert "5 steps of 2 episodes show 2 of 4 state-action pairs (50%)" in text
    assert "'off' in 'hall', 'on' in 'kitchen' (2 in all)" in text


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_an_estimated_world_reads_back(tmp_path: Path, ending: str) -> None:
    mdp = LabeledMDP.from_demonstrations(Demonstrations.from_table(LOG))
    mdp.save(tmp_path / f"w{ending}")
    again = LabeledMDP.load(tmp_path / f"w{ending}")
    assert again.unseen is not None
    assert again == mdp


def test_labels_may_be_given_and_must_belong_to_states() -> None:
    bare = {name: column for name, column in LOG.items() if name != "label"}
    demos = Demonstrations.from_table(bare)
    with pytest.raises(DemonstrationsError, match="no labels; add a column"):
        LabeledMDP.from_demonstrations(demos)
    mdp = LabeledMDP.from_demonstrations(demos, labels={"kitchen": "tea"})
    assert [mdp.label(0), mdp.label(1)] == [None, "tea"]
    with pytest.raises(ArgumentError, match="no state 'attic'"):
        LabeledMDP.from_demonstrations(demos, labels={"attic": "tea"})
    with pytest.raises(ArgumentError, match="smoothing is -1"):
        LabeledMDP.from_demonstrations(demos, labels={}, smoothing=-1)
    odd = Demonstrations.from_table(
        LOG | {"label": [None, "tea", None, "cat", "tea", None, "tea"]}
    )
    with pytest.raises(DemonstrationsError, match=r"row 3, .*'hall' is labelled 'cat' here"):
        LabeledMDP.from_demonstrations(odd)


def test_unseen_pairs_lead_elsewhere_evenly() -> None:
    mdp = LabeledMDP.from_demonstrations(Demonstrations.from_table(LOG))
    moved = elsewhere(mdp)
    for state, action in ((0, 0), (1, 1)):
        assert moved.row(state, action)[0].tolist() == [0, 1]
        assert moved.row(state, action)[1].tolist() == [0.5, 0.5]
    for state, action in ((0, 1), (1, 0)):
        assert moved.row(state, action)[1].tolist() == mdp.row(state, action)[1].tolist()
    assert elsewhere(WORLD.mdp) is WORLD.mdp


def log_of(tmp_path: Path, episodes: int, seed: int) -> Demonstrations:
    """Return demonstrations of the coffee world as they come back from a table of names."""
    demos = whence.simulate(
        WORLD.mdp, WORLD.task, WORLD.expert, episodes=episodes, length=100, seed=seed
    )
    demos.save(tmp_path / "log.csv", WORLD.mdp)
    return Demonstrations.from_table(tmp_path / "log.csv")


def test_an_estimate_comes_close_to_the_world_that_was_logged(tmp_path: Path) -> None:
    demos = log_of(tmp_path, 300, 0)
    mdp = LabeledMDP.from_demonstrations(demos)
    coverage = demos.coverage(mdp)
    assert coverage.seen > 0.95 * coverage.pairs
    assert mdp.names is not None
    names = [WORLD.mdp.state_name(s) for s in range(WORLD.mdp.n_states)]
    moves = [WORLD.mdp.actions.index(a) for a in mdp.actions]
    for s, a in np.argwhere(coverage.counts >= 200).tolist():
        there = dict(zip(*(x.tolist() for x in mdp.row(s, a)), strict=True))
        true = zip(*WORLD.mdp.row(names.index(mdp.names[s]), moves[a]), strict=True)
        for t, p in true:
            n = coverage.counts[s, a]
            error = 5 * np.sqrt(p * (1 - p) / n) + 0.1 / n
            assert abs(there.get(mdp.names.index(names[t]), 0.0) - p) < error
    assert (coverage.counts >= 200).sum() > 10


def test_starts_and_policies_speak_the_names_of_the_log(tmp_path: Path) -> None:
    demos = log_of(tmp_path, 30, 0)
    mdp = LabeledMDP.from_demonstrations(demos)
    task = whence.RewardMachine.from_arrows(["a -o/1-> b"], alphabet=mdp.alphabet)
    other = whence.RewardMachine.from_arrows(["a -c/1-> b"], alphabet=mdp.alphabet)
    start = best_start((mdp,), (task, other), (0.5, 0.5), EXPERT, 10)
    assert mdp.names is not None
    assert start.name == mdp.names[start.state]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WhenceWarning)
        policy = whence.plan(mdp, task, discount=0.9)
    assert policy.act(mdp.names[0], "b") == mdp.actions[0]
    with pytest.raises(ArgumentError, match="state 'attic': nothing has that name"):
        policy.act("attic")


def test_a_log_that_shows_little_of_the_dynamics_is_doubted(tmp_path: Path) -> None:
    """Thirty episodes leave more than a quarter of the pairs unseen or thin; 300 do not."""
    for episodes, doubted in ((30, True), (300, False)):
        demos = log_of(tmp_path, episodes, 11)
        posterior = whence.Posterior(LabeledMDP.from_demonstrations(demos), demos, expert=EXPERT)
        doubts = doubts_of_dynamics(posterior, None)
        assert any("known roughly" in doubt for doubt in doubts) == doubted
    known = Demonstrations.load(tmp_path / "log.csv", WORLD.mdp)
    assert not doubts_of_dynamics(whence.Posterior(WORLD.mdp, known, expert=EXPERT), None)


def two_rooms() -> Demonstrations:
    """Nobody is seen to leave the den, where staying put pays again and again."""
    episodes = [Episode([0, 1], [0], [None, "o"]), Episode([0, 0, 1], [1, 0], [None, None, "o"])]
    return Demonstrations.from_episodes(episodes)


def test_a_policy_that_counts_on_unseen_pairs_is_warned_of() -> None:
    mdp = LabeledMDP.from_demonstrations(two_rooms())
    greedy = whence.RewardMachine(("o",), [[0]], [[1]])
    with pytest.warns(WhenceWarning, match="counts on 2 state-action pairs"):
        whence.plan(mdp, greedy, discount=0.9)
    once = whence.RewardMachine(("o",), [[1], [1]], [[1], [0]])
    whence.plan(mdp, once, discount=0.9)


def test_a_conclusion_that_rests_on_unseen_pairs_is_doubted() -> None:
    """`wait` is chosen in the den, and nobody saw `go` there: does it keep its owner in?

    If an unseen pair stays put, both actions pay alike wherever `o` is paid time and again, and
    the choice of `wait` says nothing; if it may lead back to the hall, `wait` speaks for such pay.
    """
    stay = [Episode([0] + [1] * 20, [0] + [1] * 19, [None] + ["o"] * 20)] * 5
    back = [Episode([1, 0, 1], [1, 0], ["o", None, "o"])]
    demos = Demonstrations.from_episodes([*stay, *back])
    mdp = LabeledMDP.from_demonstrations(demos)
    run = whence.infer(mdp, demos, states=2, expert=Expert(alpha=5, discount=0.9),
                       method="exhaustive")  # fmt: skip
    assert run.rough is not None
    sample = run.rough.as_estimated
    every = doubts_of_dynamics(whence.Posterior(mdp, demos, expert=run.expert), sample)
    doubted = [doubt for doubt in every if "the log shows nothing of" in doubt]
    moved = whence.Posterior(elsewhere(mdp), demos, expert=Expert(alpha=5, discount=0.9))
    kept = whence.Posterior(mdp, demos, expert=Expert(alpha=5, discount=0.9))
    machines = sample.machines[:10]
    gain = [moved.finest(m) - kept.finest(m) for m in machines]
    best = int(np.argmax(np.log(sample.weights[: len(machines)]) + gain))
    assert bool(doubted) == (best != 0)
    assert doubted


def test_numbers_that_are_names_make_no_world_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("episode,state,action,label\n1,7,9999999,\n1,8,3,a\n")
    demos = whence.Demonstrations.load(log)
    with pytest.raises(
        DemonstrationsError,
        match=r"log.csv: states up to 8 and actions up to 9999999 .*numbers=False",
    ):
        LabeledMDP.from_demonstrations(demos)
