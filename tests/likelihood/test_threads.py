"""Work on several threads: all of it is done, in order, and little of it by one thread."""

from __future__ import annotations

import os
import threading
from itertools import pairwise

import pytest

from whence.likelihood import threads
from whence.likelihood.threads import LITTLE, side_by_side, spread


def _pieces(size: int, work: float) -> tuple[list[tuple[int, int]], set[int]]:
    done: list[tuple[int, int]] = []
    who: set[int] = set()

    def part(start: int, stop: int) -> None:
        done.append((start, stop))
        who.add(threading.get_ident())

    spread(part, size, 2, 3, work)
    return sorted(done), who


def test_every_machine_is_worked_on_once() -> None:
    pieces, _ = _pieces(100, 4 * LITTLE)
    assert len(pieces) == 4
    assert pieces[0][0] == 0
    assert pieces[-1][1] == 100
    assert all(one[1] == other[0] for one, other in pairwise(pieces))


def test_little_work_is_not_handed_to_others() -> None:
    pieces, who = _pieces(100, 2 * LITTLE - 1)
    assert pieces == [(0, 100)]
    assert who == {threading.get_ident()}


def test_nobody_waits_for_threads_that_are_busy_elsewhere() -> None:
    free, pool = threading.Event(), threads._pool(2, os.getpid(), "pieces")
    busy = [pool.submit(free.wait, 60) for _ in range(2)]
    who: list[int] = []
    try:
        spread(lambda start, stop: who.append(threading.get_ident()), 50, 2, 2)
        assert not any(each.done() for each in busy)
    finally:
        free.set()
    assert len(who) == 8
    assert set(who) == {threading.get_ident()}


def test_a_piece_that_fails_is_told_and_ends_the_others() -> None:
    both = threading.Barrier(2, timeout=60)
    done: list[int] = []

    def part(start: int, stop: int) -> None:
        if start < 12:
            both.wait()  # so that each thread has one of the first two pieces
            if start == 0:
                raise ValueError("the first piece")
        done.append(start)

    with pytest.raises(ValueError, match="the first piece"):
        spread(part, 50, 2, 2)
    assert 6 in done


def test_calls_go_on_side_by_side_and_spread_their_own_work() -> None:
    meeting = threading.Barrier(2, timeout=60)
    done: list[int] = []

    def call(number: int) -> int:
        meeting.wait()  # ends only if the other one is under way, too
        spread(lambda start, stop: done.extend(range(start, stop)), 50, 2, 2)
        return number

    assert side_by_side([lambda: call(1), lambda: call(2)], 2) == [1, 2]
    assert sorted(done) == sorted([*range(50), *range(50)])


def test_one_thread_makes_one_call_after_the_other() -> None:
    who: list[int] = []
    side_by_side([lambda: who.append(threading.get_ident()) for _ in range(3)], 1)
    assert who == [threading.get_ident()] * 3
