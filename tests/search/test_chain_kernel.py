"""What a step does compiled is what NumPy says, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from whence import Prior
from whence._arrays import Ints
from whence.search import census
from whence.search.census import Census
from whence.search.chain_kernel import draw_members, find_members
from whence.search.machines import Machines
from whence.search.recalling import _listed
from whence.search.space import Space
from whence.search.target import Chains
from whence.search.unknowns import Experts

LEVELS = (-1.0, 0.0, 2.0)
ORDER = np.array([0, 3, 1, 2])  # other numbers for four states, the first as it was


def _space(sizes: tuple[int, ...], m: int) -> Space:
    rng = np.random.default_rng(len(sizes))
    log_size = np.full(sizes[-1] + 1, -np.inf)
    log_size[list(sizes)] = rng.normal(size=len(sizes))
    nothing = np.full((sizes[-1], m), -1)
    return Space(sizes, m, LEVELS, Prior(), log_size, nothing, nothing)


def _any(rng: np.random.Generator, space: Space, size: int) -> Machines:
    """Return machines, many of them not valid."""
    n_states = rng.choice(space.sizes, size=size)
    shape = size, space.largest, space.m
    machines = Machines(
        rng.integers(0, n_states[:, None, None], size=shape),
        np.where(rng.random(shape) < 0.8, space.zero, rng.integers(0, len(LEVELS), shape)),
        n_states,
    )
    return space.tidy(machines)


@pytest.mark.parametrize(("sizes", "m"), [((1,), 3), ((2, 3, 4), 2), ((4,), 3), ((7,), 2)])
def test_the_prior_of_machines_is_that_of_their_entries(sizes: tuple[int, ...], m: int) -> None:
    space = _space(sizes, m)
    machines = _any(np.random.default_rng(0), space, 400)
    plain = space.log_entries(machines) + space.log_size[machines.n_states]
    valid = space.valid(machines)
    assert 20 < valid.sum() < 400
    wanted = np.where(valid, plain, -np.inf)
    assert space.log_prior(machines).tobytes() == wanted.tobytes()


def test_arrows_that_are_known_count() -> None:
    space = _space((3,), 2)
    targets, paid = space.known_targets.copy(), space.known_paid.copy()
    targets[0, 1], paid[2, 0] = 2, space.zero
    pinned = Space(space.sizes, 2, LEVELS, Prior(), space.log_size, targets, paid)
    machines = _any(np.random.default_rng(1), space, 400)
    found = np.isfinite(pinned.log_prior(machines))
    assert found.tolist() == pinned.valid(machines).tolist()
    assert 0 < found.sum() < np.isfinite(space.log_prior(machines)).sum()


def _chains(rng: np.random.Generator, machines: Machines) -> Chains:
    size = machines.size
    experts = Experts(rng.random(size), rng.random(size), rng.integers(0, 3, size))
    return Chains(machines, experts, rng.normal(size=size), rng.normal(size=size))


def test_rows_are_picked_from_one_or_the_other() -> None:
    rng, space = np.random.default_rng(2), _space((2, 3), 2)
    one = _chains(rng, _any(rng, space, 30))
    other = _chains(rng, _any(rng, space, 12)).rows(np.arange(12)[::-1])  # not in order in memory
    for table in other.tables:
        table.setflags(write=False)
    own, others = rng.integers(0, 30, 50), rng.integers(-1, 12, 50)
    found = one.picked(other, own, others)
    for table, first, second in zip(found.tables, one.tables, other.tables, strict=True):
        wanted = [second[j] if j >= 0 else first[i] for i, j in zip(own, others, strict=True)]
        assert table.tolist() == np.array(wanted).tolist()
        assert table.dtype == first.dtype


def _members(seed: int) -> Census:
    """Return many different machines of two sizes, in canonical form."""
    rng, space = np.random.default_rng(seed), _space((3, 4), 2)
    machines = _any(rng, space, 900)
    machines = census.canonical(machines.rows(space.valid(machines)), space)
    members = Census(machines, rng.integers(0, 2, machines.size))
    first = {key: row for row, key in reversed(list(enumerate(census.keys(members))))}
    return members.rows(np.array(sorted(first.values())))


def _relabelled(machines: Machines) -> Machines:
    """Return machines of four states with their states numbered otherwise."""
    back = np.argsort(ORDER)
    return Machines(
        ORDER[machines.transitions][:, back], machines.paid[:, back], machines.n_states
    )


def _numbers(asked: Census, members: Census) -> Ints:
    rows, slots = _listed(members)
    result = np.empty(asked.size, dtype=np.int64)
    find_members(*asked.machines, asked.discount, rows, slots, result, False)
    return result


def test_machines_are_found_among_members_whatever_their_labels() -> None:
    every = _members(3)
    members, strangers = every.rows(np.arange(0, every.size, 2)), every.rows(np.arange(1, 99, 2))
    assert members.size > 100
    assert _numbers(members, members).tolist() == list(range(members.size))
    assert (_numbers(strangers, members) == -1).all()
    assert (_numbers(members._replace(discount=members.discount + 2), members) == -1).all()
    large = np.flatnonzero(members.machines.n_states == 4)
    copies = Census(_relabelled(members.machines.rows(large)), members.discount[large])
    assert (copies.machines.transitions != members.machines.transitions[large]).any()
    assert _numbers(copies, members).tolist() == large.tolist()


def test_members_are_drawn_as_a_sorted_search_says() -> None:
    rng = np.random.default_rng(4)
    running = np.cumsum(np.exp(rng.normal(size=(5, 77)) * 4), axis=1)
    rung, chance = rng.integers(0, 5, 3000), rng.random(3000)
    chance[:3] = 0.0, 1 - 1e-16, 1.0
    found = np.empty(3000, dtype=np.int64)
    draw_members(running, rung, chance, found)
    wanted = [
        min(int(np.searchsorted(running[k], u * running[k, -1], side="right")), 76)
        for k, u in zip(rung, chance, strict=True)
    ]
    assert found.tolist() == wanted
