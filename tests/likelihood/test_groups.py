from __future__ import annotations

import gc
import pickle
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from whence.likelihood.kernels.compiling import UNCOUNTED, part
from whence.likelihood.kernels.groups import Handed, either, own


class Inner(NamedTuple):
    counts: Any
    table: Any


class Outer(NamedTuple):
    scale: float
    size: int
    flag: bool
    first: Inner
    second: Inner
    flags: Any


def inner(start: int) -> Inner:
    table = np.arange(6.0).reshape(2, 3) + start
    return Inner(np.array([start, start + 1], dtype=np.uint32), table)


def outer() -> Outer:
    return Outer(0.5, 7, True, inner(10), inner(20), np.array([False, True]))


@part
def _entry(group, place):  # type: ignore[no-untyped-def]
    return group.table[1, 2] + group.counts[place]


@numba.njit(**UNCOUNTED)
def _read(group, out):  # type: ignore[no-untyped-def]
    group = own(group)
    out[0] = group.scale
    out[1] = group.size
    out[2] = 1.0 if group.flag else 0.0
    out[3] = _entry(group.first, 1)
    out[4] = _entry(group.second, 0)
    out[5] = group.flags.shape[0] + group.flags[1]
    out[6] = group.first.table.shape[0] * 10 + group.first.table[1].shape[0]
    for k in range(2):
        out[7 + k] = _entry(either(k == 0, group.first, group.second), 0)


@numba.njit(**UNCOUNTED)
def _double(group):  # type: ignore[no-untyped-def]
    group = own(group)
    for i in range(group.table.shape[0]):
        for j in range(group.table.shape[1]):
            group.table[i, j] *= 2.0


@numba.njit(**UNCOUNTED)
def _of_tuple(pair, out):  # type: ignore[no-untyped-def]
    out[0] = _entry(own(Inner(*pair)), 1)


def test_kernels_read_what_is_in_a_group() -> None:
    out = np.zeros(9)
    _read(Handed(outer()), out)
    assert out.tolist() == [0.5, 7.0, 1.0, 15 + 11, 25 + 20, 3.0, 23.0, 15 + 10, 25 + 20]


def test_kernels_write_to_the_arrays_of_a_group() -> None:
    given = inner(0)
    _double(Handed(given))
    assert given.table.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_tuple_of_arrays_becomes_a_group_in_a_kernel() -> None:
    out = np.zeros(1)
    _of_tuple(tuple(inner(3)), out)
    assert out[0] == 8 + 4


def test_locked_arrays_are_of_the_same_type_so_that_nothing_is_compiled_twice() -> None:
    locked = outer()
    for array in (*locked.first, *locked.second, locked.flags):
        array.flags.writeable = False
    assert Handed(locked)._numba_type_ == Handed(outer())._numba_type_
    other = outer()._replace(flags=np.zeros(2))
    assert Handed(other)._numba_type_ != Handed(outer())._numba_type_


def test_a_copy_of_a_group_tells_of_its_own_arrays() -> None:
    handed = Handed(inner(0))
    copy = pickle.loads(pickle.dumps(handed))
    handed.values.table[:] = -1.0
    _double(copy)
    assert copy.values.table[1, 2] == 10.0
    assert (handed.values.table == -1.0).all()


def test_arrays_with_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="gaps"):
        Handed(Inner(np.zeros(2), np.zeros((4, 4))[:, ::2]))


def test_garbage_is_left_alone_while_a_kernel_is_compiled_and_collected_afterwards() -> None:
    seen: list[bool] = []

    class Watcher(numba.core.event.Listener):  # type: ignore[misc]
        def on_start(self, started: Any) -> None:
            seen.append(gc.isenabled())

        def on_end(self, ended: Any) -> None:
            seen.append(gc.isenabled())

    assert gc.isenabled()
    with numba.core.event.install_listener("numba:run_pass", Watcher()):
        _fresh(lambda x: x + 1)(1)
        assert gc.isenabled()
        with pytest.raises(numba.core.errors.TypingError):
            _fresh(lambda x: x.nothing)(1)
    assert gc.isenabled()
    assert seen
    assert not any(seen)


def _fresh(function: Any) -> Any:
    """Return a kernel that is compiled when it is called, as one of this package's."""
    function.__module__ = "whence.made_here"
    return numba.njit(function)


def test_who_collects_no_garbage_is_left_so() -> None:
    gc.disable()
    try:
        _fresh(lambda x: x + 2)(1)
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("scale", [np.float64(0.5), np.float32(0.5)])
def test_numbers_of_numpy_are_handed_as_pythons(scale: Any) -> None:
    theirs, plain = Handed(outer()._replace(scale=scale)), Handed(outer())
    assert theirs._numba_type_ is plain._numba_type_
    assert theirs.words[0] == plain.words[0]
