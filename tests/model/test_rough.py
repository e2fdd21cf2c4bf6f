"""What a log allows for: Dirichlet variables, and changes that keep their distribution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whence import Demonstrations, Episode, LabeledMDP
from whence.model.estimation import Seen
from whence.model.rough import RoughDynamics, likeliest_weight, rough_dynamics


def seen_twice() -> Demonstrations:
    """`0` leads from state 0 to 1 twice and to 2 once; nobody takes `1` there."""
    label = {0: None, 1: "a", 2: "b"}
    ways = [(0, 1), (0, 1), (0, 2)]
    return Demonstrations.from_episodes(
        [Episode([s, t], [0], [label[s], label[t]]) for s, t in ways]
        + [Episode([1, 1], [1], ["a", "a"])]
    )


@pytest.fixture(scope="module")
def rough() -> RoughDynamics:
    demos = seen_twice()
    found = rough_dynamics(LabeledMDP.from_demonstrations(demos), demos)
    assert found is not None
    return found


def test_shapes_are_counts_and_a_share_of_the_prior(rough: RoughDynamics) -> None:
    """From state 0 three successors are possible: 1, 2 and itself, for both actions."""
    each = rough.weight / 3
    assert rough.shape[:3] == pytest.approx([each, 2 + each, 1 + each])
    assert rough.shape[3:6] == pytest.approx([each] * 3)
    assert rough.mdp.row(0, 0)[0].tolist() == [0, 1, 2]
    assert rough.mdp.row(0, 1)[1] == pytest.approx([1 / 3] * 3)
    assert rough.mdp.row(2, 0)[0].tolist() == [2]


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_changes_keep_the_distribution_and_stay_near(rough: RoughDynamics, kept: float) -> None:
    """Means and variances are a Dirichlet's; the correlation of gammas is the share kept."""
    rng = np.random.default_rng(3)
    before = np.array([rough.sample(rng) for _ in range(20_000)])
    after = np.array([rough.changed(rng, gammas, kept) for gammas in before])
    p = np.array([rough.probabilities(gammas) for gammas in after])[:, :3]
    a, total = rough.shape[:3], rough.shape[:3].sum()
    mean = a / total
    variance = mean * (1 - mean) / (total + 1)
    assert np.abs(p.mean(axis=0) - mean).max() < 5 * np.sqrt(variance.max() / 20_000)
    assert p.var(axis=0) == pytest.approx(variance, rel=0.06)
    for column in (1, 2):
        found = np.corrcoef(before[:, column], after[:, column])[0, 1]
        assert found == pytest.approx(kept, abs=0.04)


def test_some_states_are_drawn_afresh_alone(rough: RoughDynamics) -> None:
    rng = np.random.default_rng(0)
    gammas = rough.sample(rng)
    after = rough.afresh(rng, gammas, np.array([0]))
    assert (after[:6] != gammas[:6]).all()
    assert (after[6:] == gammas[6:]).all()


@pytest.mark.parametrize("weight", [0.2, 1.0, 5.0])
def test_the_weight_of_the_prior_is_what_the_log_has(weight: float) -> None:
    """Six hundred pairs of five successors each, a dozen steps a pair."""
    rng = np.random.default_rng(7)
    chances = rng.dirichlet(np.full(5, weight / 5), size=600)
    counts = np.array([rng.multinomial(12, chance) for chance in chances])
    counts = np.concatenate([np.ones((150, 5), dtype=np.int64), counts])  # all are neighbours
    pair, successor = np.nonzero(counts)
    state, action = pair % 150, pair // 150
    known = Seen(state, action, (state + successor) % 150, counts[pair, successor])
    spoilt = likeliest_weight(known, 150, 5)
    only = action > 0
    clean = Seen(*(column[only] for column in known))
    found = likeliest_weight(clean, 150, 5)
    assert found == pytest.approx(weight, rel=0.3)
    assert spoilt > found


def test_only_a_world_estimated_from_the_log_is_rough() -> None:
    demos = seen_twice()
    mdp = LabeledMDP.from_demonstrations(demos)
    assert rough_dynamics(LabeledMDP.from_demonstrations(demos, smoothing=0), demos) is not None
    more = Demonstrations.from_episodes([*demos, Episode([0, 2], [1], [None, "b"])])
    assert rough_dynamics(mdp, more) is None
    other = Demonstrations.from_episodes([*demos, *[Episode([0, 1], [0], [None, "a"])] * 20])
    assert rough_dynamics(LabeledMDP.from_demonstrations(other), demos) is None
    assert rough_dynamics(replace(mdp, unseen=None), demos) is None


def test_actions_that_a_state_lacks_are_not_drawn() -> None:
    demos = seen_twice()
    with pytest.warns(match="left fewer than"):
        mdp = LabeledMDP.from_demonstrations(demos, available="seen")
    found = rough_dynamics(mdp, demos)
    assert found is not None
    assert found.mdp.available.tolist() == mdp.available.tolist()
