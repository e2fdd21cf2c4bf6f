"""What is kept of steps: all of a short run, evenly spaced ones of a long run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from whence._arrays import Floats, Ints
from whence.search import tape
from whence.search.tape import Tape


class Inner(NamedTuple):
    ids: Ints


class Item(NamedTuple):
    value: Floats
    inner: Inner


def _item(at: int) -> Item:
    return Item(np.array([at, -at], dtype=np.float64), Inner(np.array(at)))


@pytest.mark.parametrize("most", [1, 2, 7, 8, 100])
def test_at_most_so_many_are_kept_evenly_spaced_from_the_first(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(tape, "MOST", most)
    monkeypatch.setattr(tape, "BLOCK", 3)
    kept: Tape[Item] = Tape()
    for at in range(300):
        kept.append(_item(at))
        assert len(kept) <= most
        assert kept.offered == at + 1
        assert len(kept) == -(-kept.offered // kept.every)
        assert len(kept) > most // 2 or kept.every == 1
        if at % 37 == 0:  # packing in between changes nothing
            kept.together()
    whole = kept.together()
    assert whole is not None
    expected = np.arange(0, 300, kept.every)
    assert np.array_equal(whole.value, np.stack([expected, -expected], axis=1))
    assert np.array_equal(whole.inner.ids, expected)
    assert whole.inner.ids.dtype == np.int64
    assert np.array_equal(kept.places, expected)
    some = kept.together(1)
    assert (some is None) == (len(kept) == 1)
    if some is not None:
        assert np.array_equal(some.inner.ids, expected[1:])


@pytest.mark.parametrize("value", [0, -1, 127, 128, -129, 2**31, -(2**62), 2**63 - 1])
def test_whole_numbers_of_any_size_are_kept(value: int) -> None:
    kept: Tape[Inner] = Tape()
    for number in (0, value):
        kept.append(Inner(np.array([number])))
        kept.together()
    again: Tape[Inner] = Tape([Inner(np.array([[0], [value]]))])
    for tried in (kept, again):
        whole = tried.together()
        assert whole is not None
        assert whole.ids.dtype == np.int64
        assert whole.ids.tolist() == [[0], [value]]


def test_short_runs_are_kept_whole() -> None:
    kept: Tape[Item] = Tape()
    assert kept.together() is None
    for at in range(tape.BLOCK + 5):
        kept.append(_item(at))
    assert (len(kept), kept.every) == (tape.BLOCK + 5, 1)
