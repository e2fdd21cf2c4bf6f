"""Facts about demonstrations in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whence import Demonstrations, Episode
from whence.errors import ArgumentError, DemonstrationsError

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


def test_a_subset_takes_a_mask_and_refuses_episodes_that_are_not_there() -> None:
    demos = Demonstrations.from_episodes([Episode([s], [0]) for s in range(3)])
    assert [e.states for e in demos.subset(np.array([True, False, True]))] == [[0], [2]]
    assert len(demos.subset([])) == 0
    for strange in ([3], [-1], [0.5], [True]):
        with pytest.raises(ArgumentError, match="give numbers from 0 to 2, or 3 bools"):
            demos.subset(strange)


def test_a_subset_remembers_its_lines() -> None:
    demos = Demonstrations.from_episodes(EPISODES)
    read = replace(demos, source="d.jsonl", lines=np.array([1, 2, 5, 9]))
    assert read.subset([2, 3]).place(1) == "d.jsonl, line 9"


@pytest.mark.parametrize(
    ("what", "episode"),
    [
        ("labels", Episode([0, 1], [0], labels="ab")),
        ("history", Episode([0, 1], [0], history="ab")),
    ],
)
def test_one_string_is_not_read_letter_by_letter(what: str, episode: Episode) -> None:
    with pytest.raises(
        DemonstrationsError, match=rf"episode 0: {what} is 'ab', one string; .*\['ab'\]"
    ):
        Demonstrations.from_episodes([episode])
    listed = Demonstrations.from_episodes([Episode([0, 1], [0], [None, "ab"], ["ab"])])
    assert (listed[0].labels, listed[0].history) == ([None, "ab"], ("ab",))
