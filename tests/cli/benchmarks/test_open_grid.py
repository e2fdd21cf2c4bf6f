from __future__ import annotations

import numpy as np
import pytest

from whence.cli.benchmarks.grids import TASK
from whence.cli.benchmarks.growth import open_grid


@pytest.mark.parametrize(("states", "side", "labelled"), [(9, 3, 3), (100, 10, 3), (1000, 32, 10)])
def test_open_grids_are_square_and_show_every_symbol(
    states: int, side: int, labelled: int
) -> None:
    world = open_grid(states, np.random.default_rng(0))
    assert world.n_states == side * side
    assert (world.labels >= 0).sum() == labelled
    assert set(world.labels.tolist()) == {-1, 0, 1, 2}
    assert len(world.initial_states) == world.n_states
    assert TASK.alphabet == world.alphabet
    # three ways each; in the four corners two moves bump into both walls' sides at once
    assert world.n_transitions == 12 * side * side - 8


def test_a_move_slips_to_either_side() -> None:
    world = open_grid(25, np.random.default_rng(0))
    assert world.grid is not None
    up = world.row(world.grid.state(2, 2), world.actions.index("up"))
    places = {tuple(world.grid.cells[s].tolist()): p for s, p in zip(*up, strict=True)}
    assert places == pytest.approx({(2, 3): 0.9, (1, 2): 0.05, (3, 2): 0.05})
