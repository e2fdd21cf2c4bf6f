"""Streams of ladders: the same numbers alone and beside others, scan by scan."""

from __future__ import annotations

import numpy as np
import pytest

from whence.search import streams
from whence.search.streams import LadderStreams, Streams, taken, together


def _root(seed: int = 4) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))


def _drawn(rng: np.random.Generator, rows: int) -> list[np.ndarray]:
    """Draw in every way that moves do."""
    counts = np.arange(1, rows + 1)
    found = [
        rng.random((rows, 2)),
        rng.integers(0, counts),
        rng.integers(1, counts[:, None] + 1, size=(rows, 3)),
        rng.choice(4, p=[0.1, 0.2, 0.3, 0.4], size=rows),
        rng.choice((0.5, 1.5), rows),
        rng.normal(size=rows),
        rng.chisquare(5.0, rows),
        rng.beta(1.0, 19.0, rows),
        rng.uniform(2.0, 3.0, rows),
    ]
    some = np.arange(rows) % 2 == 0
    return [*found, taken(rng, some).random(int(some.sum()))]


def test_a_ladder_draws_the_same_with_others_beside_it() -> None:
    rows, alone = 5, []
    for ladder in (2, 0, 1):
        lot, own = LadderStreams(_root(), [ladder]).at(7)
        alone.append((lot, _drawn(together(own, rows), rows)))
    lot, every = LadderStreams(_root(), [2, 0, 1]).at(7)
    assert {each for each, _ in alone} == {lot}
    rng = together(every, rows)
    assert isinstance(rng, Streams)
    counts = np.tile(np.arange(1, rows + 1), 3)
    beside = [rng.random((15, 2)), rng.integers(0, counts)]
    for place, (_, own) in enumerate(alone):
        where = slice(place * rows, (place + 1) * rows)
        for one, all_ in zip(own, beside, strict=False):
            np.testing.assert_array_equal(all_[where], one)


def test_every_way_to_draw_is_the_same_alone_and_beside_others() -> None:
    """Rows need not lie together: those of two owners alternate."""
    rows = 6
    own = [_drawn(rng, rows) for rng in LadderStreams(_root(), [0, 1]).at(3)[1]]
    generators = LadderStreams(_root(), [0, 1]).at(3)[1]
    owner = np.tile([0, 1], rows)
    rng = Streams(generators, owner)
    both = [
        rng.random((12, 2)),
        rng.integers(0, np.repeat(np.arange(1, rows + 1), 2)),
        rng.integers(1, np.repeat(np.arange(2, rows + 2), 2)[:, None], size=(12, 3)),
        rng.choice(4, p=[0.1, 0.2, 0.3, 0.4], size=12),
        rng.choice((0.5, 1.5), 12),
        rng.normal(size=12),
        rng.chisquare(5.0, 12),
        rng.beta(1.0, 19.0, 12),
        rng.uniform(2.0, 3.0, 12),
    ]
    for number, found in enumerate(both):
        for ladder in (0, 1):
            np.testing.assert_array_equal(found[owner == ladder], own[ladder][number])


def test_scans_and_ladders_have_streams_of_their_own() -> None:
    """A scan that draws more than another does not push the next one."""
    found = LadderStreams(_root(), [0, 1])
    found.at(5)[1][0].random(1_000)
    seen = {
        (scan, place): rng.random(4).tobytes()
        for scan in range(20)
        for place, rng in enumerate(found.at(scan)[1])
    }
    assert len(set(seen.values())) == len(seen)
    assert LadderStreams(_root(), [1]).at(6)[1][0].random(4).tobytes() == seen[6, 1]
    lots = [found.at(scan)[0] for scan in range(400)]
    assert abs(np.mean(lots) - 0.5) < 4 * np.sqrt(1 / 12 / 400)
    assert LadderStreams(_root(9), [0]).at(6)[1][0].random(4).tobytes() != seen[6, 0]


def test_a_draw_for_other_rows_than_the_ladders_is_refused() -> None:
    rng = together(LadderStreams(_root(), [0, 1]).at(0)[1], 3)
    with pytest.raises(ValueError, match="5 rows are drawn for 6 rows"):
        rng.random(5)
    with pytest.raises(AttributeError):
        rng.permutation(6)
    assert streams.APART == 2**64
