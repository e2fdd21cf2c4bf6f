"""What the next demonstration and the replay show."""

from __future__ import annotations

import numpy as np

import whence
from support import studies
from support.pages import parsed
from whence import LabeledMDP
from whence.report.page import render
from whence.report.style import css
from whence.report.walks import predicted, typical


def test_a_predicted_way_is_the_shortest_to_what_pays() -> None:
    world = whence.worlds.coffee()
    start = int(world.mdp.initial_states[0])
    walk = predicted(world.mdp, world.task, 0.95, start)
    labels = [world.mdp.label(state) for state in walk.states]
    assert [label for label in labels if label is not None] == ["c", "o"]
    assert list(walk.memory) == sorted(walk.memory)
    assert walk.memory[-1] == 2
    longer = predicted(world.mdp, world.task, 0.95, walk.states[0], loops=True)
    assert longer == walk, "it stops where nothing more can be earned"
    cells = world.mdp.grid.cells[list(walk.states)]  # type: ignore[union-attr]
    assert np.abs(np.diff(cells, axis=0)).sum(axis=1).max() == 1


def test_a_loop_is_gone_through_once() -> None:
    mdp = LabeledMDP.from_map(studies.MAP, source="map")
    walk = predicted(mdp, studies.TASK, 0.9, int(mdp.initial_states[0]))
    places = list(zip(walk.states, walk.memory, strict=True))
    assert places[-1] in places[:-1]
    assert len(set(places)) == len(places) - 1
    longer = predicted(mdp, studies.TASK, 0.9, int(mdp.initial_states[0]), steps=30, loops=True)
    assert len(longer.states) == 31


def test_a_typical_episode_is_one_that_was_watched() -> None:
    study = studies.grid()
    found = typical(study)
    assert found is not None
    number, walk = found
    demos = study.worlds[0][1]
    assert list(walk.states) == list(demos[number].states)
    fit = study.posterior.log_likelihood_by_episode(study.shown) / demos.lengths
    assert fit.min() < fit[number] < fit.max()


def test_the_replay_moves_by_style_alone_and_rests_for_who_asks() -> None:
    text = render(studies.grid())
    root = parsed(text)
    (there,) = [each for each in root.all("section") if each.attributes["id"] == "replay"]
    assert len(there.all("svg")) == 4
    assert text.count("@keyframes expert-moves{") == 1
    assert text.count("@keyframes agent-moves{") == 1
    assert "<script" not in text
    assert "<animate" not in text
    calm = css().split("prefers-reduced-motion: reduce")[1].split("\n}\n")[0]
    assert "animation: none !important" in calm
