"""Facts about demonstrations in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whence import Demonstrations, Episode

EPISODES = [
    Episode([0, 1], [0]),
    Episode([2], []),
    Episode([3, 1, 2], [1, 0, 1], ["a", None, "b"]),
    Episode([1, 0], [1], history=("b", "a")),
]


@pytest.mark.parametrize("chosen", [[], [3], [2, 0], [1, 1, 3], [0, 1, 2, 3]])
def test_a_subset_holds_the_chosen_episodes(chosen: list[int]) -> None:
    demos = Demonstrations.from_episodes(EPISODES)
    found = demos.subset(chosen)
    assert [episode._asdict() for episode in found] == [demos[at]._asdict() for at in chosen]


def test_a_subset_remembers_its_lines() -> None:
    demos = Demonstrations.from_episodes(EPISODES)
    read = replace(demos, source="d.jsonl", lines=np.array([1, 2, 5, 9]))
    assert read.subset([2, 3]).place(1) == "d.jsonl, line 9"
