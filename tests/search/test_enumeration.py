from __future__ import annotations

import numpy as np
import pytest

from support.problems import valid_machines
from whence import RewardMachine
from whence._arrays import Floats, Ints
from whence.model.canonical import valid
from whence.search.enumeration import WIDE, Enumeration, count, structures

SMALL = [(1, 1, 2), (1, 2, 3), (2, 1, 2), (2, 2, 2), (3, 1, 3), (3, 2, 2)]


def _machines(transitions: Ints, rewards: Floats) -> list[RewardMachine]:
    alphabet = tuple("abcdefg"[: transitions.shape[2]])
    return [RewardMachine(alphabet, t, r) for t, r in zip(transitions, rewards, strict=True)]


def _space(n: int, m: int, g: int) -> Enumeration:
    return Enumeration(range(n, n + 1), m, (-1.0, 0.0, 2.0) if g == 3 else (0.0, 1.0))


@pytest.mark.parametrize(("n", "m", "g"), SMALL)
def test_every_machine_comes_once_and_in_canonical_form(n: int, m: int, g: int) -> None:
    space = _space(n, m, g)
    found = _machines(*space.machines(np.arange(space.total)).tables(space.levels))
    expected = {machine.canonical() for machine in _machines(*valid_machines(n, m, space.levels))}
    assert len(found) == count(n, m, g) == len(expected)
    assert set(found) == expected
    assert all(machine == machine.canonical() for machine in found)


def test_machines_come_in_lexicographic_order() -> None:
    space = _space(3, 2, 2)
    transitions, rewards = space.machines(np.arange(space.total)).tables(space.levels)
    rows = np.concatenate([transitions, rewards], axis=1).reshape(space.total, -1).tolist()
    assert rows == sorted(rows)


def test_the_numbers_of_machines() -> None:
    assert count(3, 3, 2) == 4_070_115  # the coffee world's
    # initially connected automata of 2 and 3 inputs: A006689 and A006690 of the OEIS
    assert [structures(n, 2) for n in range(1, 7)] == [1, 12, 216, 5_248, 160_675, 5_931_540]
    assert [structures(n, 3) for n in range(1, 5)] == [1, 56, 7_965, 2_128_064]
    assert [structures(n, 1) for n in range(1, 6)] == [1, 2, 3, 4, 5]


def test_a_range_of_sizes_is_numbered_through() -> None:
    space = Enumeration(range(1, 4), 2, (0.0, 1.0))
    assert space.counts == (count(1, 2, 2), count(2, 2, 2), count(3, 2, 2)) == (3, 180, 13_608)
    assert space.edges == (0, 3, 183, 13_791)
    assert space.size_index(np.array([0, 2, 3, 182, 183, 13_790])).tolist() == [0, 0, 1, 1, 2, 2]
    starts = [0]
    while starts[-1] < space.total:
        starts.append(space.stop(starts[-1], 100))
    assert starts[:4] == [0, 3, 103, 183]
    assert len(starts) - 1 == space.batches(100) == 1 + 2 + 137
    first = space.machines(np.array([3])).tables(space.levels)
    alone = Enumeration(range(2, 3), 2, (0.0, 1.0)).machines(np.array([0]))
    assert np.array_equal(first[0], alone[0])
    assert np.array_equal(first[1], alone[1])


def test_numbers_beyond_64_bits_stand_for_machines_too() -> None:
    space = Enumeration(range(8, 9), 4, (0.0, 1.0, 2.0))
    assert space.total > WIDE**2
    positions = space.numbers([0, space.total // 3, space.total - 1])
    transitions, rewards = space.machines(positions).tables(space.levels)
    assert valid(transitions, rewards).all()
    assert all(machine == machine.canonical() for machine in _machines(transitions, rewards))
    assert (rewards[0] != 0).sum() == 1
    assert (rewards[-1] == 2).all()
    assert transitions[-1, 0].tolist() == [1, 2, 3, 4]
