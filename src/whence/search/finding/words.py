"""Changes of a machine in the language of tasks.

People put tasks together from requirements, and these words change a machine by one of them at a
time, however many arrows that takes:

wait       an arrow, all that pay, or all of one label, waits until k has been read
order      where l leads on and then k, k and then l lead there, too
both       an arrow needs k as well, before or after its own label
insert     an arrow leads to a new state, which k leaves for where it led; pay moves along
avoid      k ends it all, from one state or from all
either     k does what l does, in one state or in all
drop       one state takes the place of another
repeat     where a paid arrow ended the task, it begins again; and the other way round
second     from a state, k and then l pay another sum
undo       k leads back to the start, or to where an arrow came from
split      a state that an arrow leads to becomes its own, and differs by one entry
part       the same, and the two states share out what can be done
hold       nothing is paid unless k was read, and l not since; or unless k was, if l ever was
later      what an arrow pays is paid by the arrows after it; and the other way round
beside     k pays as well, once, or k and then l do, once or each time, whatever else is done
pay        all arrows from a state, to a state or by a label pay the same

What comes out may have states that nothing leads to, or that are alike: see `reducing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from whence.search.finding.parts import arrows_of, dead_states, grown
from whence.search.finding.products import beside, hold, wait
from whence.search.finding.reducing import Tables


def candidates(machine: Tables, zero: int, levels: int) -> list[Tables]:
    """Return every machine that a word makes of one; its own states keep their numbers.

    Args:
        machine: int64[n, m] twice, all states reachable.
        zero: the place of the level 0.
        levels: how many there are.
    """
    return [tables for made in by_word(machine, zero, levels) for tables in made]


def by_word(machine: Tables, zero: int, levels: int) -> list[list[Tables]]:
    """Return what each word makes of a machine; some make nothing of it."""
    made = [list(word(machine, zero, levels)) for word in WORDS]
    return [tables for tables in made if tables]


def _insert(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, m = targets.shape
    dead = dead_states(machine, zero)
    for y, s in arrows_of(machine, zero):
        ends = dead[targets[y]] & (paid[y] == zero) & (targets[y] != y)
        for k in range(m):
            new, pays = grown(machine, zero)
            new[n, ends] = targets[y, ends]
            new[n, k], pays[n, k] = targets[y, s], paid[y, s]
            new[y, s], pays[y, s] = n, zero
            yield new, pays


def _avoid(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    n, m = machine[0].shape
    ends = np.flatnonzero(dead_states(machine, zero))
    for k in range(m):
        for y in (*range(n), None):
            new, pays = grown(machine, zero)
            over = int(ends[0]) if len(ends) else n
            rows = slice(0, n) if y is None else slice(y, y + 1)
            new[rows, k], pays[rows, k] = over, zero
            yield new, pays


def _either(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    m = targets.shape[1]
    for y, s in arrows_of(machine, zero):
        for k in range(m):
            if k != s:
                new, pays = targets.copy(), paid.copy()
                new[y, k], pays[y, k] = targets[y, s], paid[y, s]
                yield new, pays
    for s in range(m):
        for k in range(m):
            if k != s:
                new, pays = targets.copy(), paid.copy()
                new[:, k], pays[:, k] = targets[:, s], paid[:, s]
                yield new, pays


def _drop(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, _ = targets.shape
    for y in range(n):
        for z in range(n):
            if y != z:
                new = np.where(targets == y, z, targets)
                if y == 0:  # the state that begins is z now
                    order = np.array([z, *(x for x in range(n) if x != z)])
                    place = np.argsort(order)
                    yield place[new[order]], paid[order]
                else:
                    yield new, paid


def _repeat(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, _ = targets.shape
    pays = paid != zero
    yield np.where(pays, 0, targets), paid
    new, more = grown(machine, zero)
    new[:n] = np.where(pays, n, targets)
    yield new, more
    dead = dead_states(machine, zero)
    yield np.where(dead[targets], 0, targets), paid
    for arrow in np.argwhere(pays):
        y, s = int(arrow[0]), int(arrow[1])
        new, more = grown(machine, zero)
        new[y, s] = n
        yield new, more


def _second(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """From a live state two labels pay; from the first state, also three."""
    targets, paid = machine
    n, m = targets.shape
    end = int(targets[tuple(np.argwhere(paid != zero)[0])])
    dead = dead_states(machine, zero)
    for y in np.flatnonzero(~dead).tolist():
        lost = dead[targets[y]] & (paid[y] == zero) & (targets[y] != y)
        for k, s in permutations(range(m), 2):
            for level in (level for level in range(levels) if level != zero):
                new, pays = grown(machine, zero)
                other = lost & (np.arange(m) != k)
                new[n, other] = targets[y, other]
                new[y, k], pays[y, k] = n, zero
                new[n, s], pays[n, s] = end, level
                yield new, pays
                if y == 0:
                    for t in range(m):
                        if t not in (k, s):
                            more, sums = grown((new, pays), zero)
                            more[n + 1, other] = targets[y, other]
                            more[n, s], sums[n, s] = n + 1, zero
                            more[n + 1, t], sums[n + 1, t] = end, level
                            yield more, sums


def _undo(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    m = targets.shape[1]
    alive = ~dead_states(machine, zero)
    for k in range(m):
        new, pays = targets.copy(), paid.copy()
        new[alive, k] = 0
        yield new, pays
    for y, s in arrows_of(machine, zero):
        z = int(targets[y, s])
        for k in range(m):
            if k != s and z != y:
                new = targets.copy()
                new[z, k] = y
                yield new, paid


def _split(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, m = targets.shape
    for x, r in arrows_of(machine, zero):
        z = int(targets[x, r])
        own = np.where(targets[z] == z, n, targets[z])
        for s in range(m):
            for target in range(n + 1):
                if target != own[s]:
                    new, pays = grown(machine, zero)
                    new[n], pays[n] = own, paid[z]
                    new[x, r] = n
                    new[n, s] = target
                    yield new, pays
            for level in range(levels):
                if level != paid[z, s]:
                    new, pays = grown(machine, zero)
                    new[n], pays[n] = own, paid[z]
                    new[x, r] = n
                    pays[n, s] = level
                    yield new, pays


def _part(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """The arrow pays or not; or else nothing pays but what the new state can do."""
    targets, paid = machine
    n = len(targets)
    dead = dead_states(machine, zero)
    arrows = arrows_of(machine, zero)
    for x, r in arrows:
        z = int(targets[x, r])
        own = np.where(targets[z] == z, n, targets[z])
        ends = dead[targets[z]] & (paid[z] == zero) & (targets[z] != z)
        doing = [s for y, s in arrows if y == z and not ends[s]]
        for s in doing:
            others = [k for k in doing if k != s]
            for lost, left in ((others, [s]), ([s], others)):
                new, pays = grown(machine, zero)
                new[n], pays[n] = own, paid[z]
                new[x, r] = n
                new[n, lost], pays[n, lost] = n, zero
                new[z, left], pays[z, left] = z, zero
                yield new, pays
                unpaid = pays.copy()
                unpaid[x, r] = zero
                yield new, unpaid
                last = np.full_like(pays, zero)
                last[n] = pays[n]
                yield new, last


def _later(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, m = targets.shape
    arrows = arrows_of(machine, zero)
    for x, r in arrows:
        z = int(targets[x, r])
        if paid[x, r] != zero:
            for s in range(m):
                for level in range(levels):
                    if level != zero and level != paid[z, s]:
                        new, pays = grown(machine, zero)
                        new[n], pays[n] = np.where(targets[z] == z, n, targets[z]), paid[z]
                        new[x, r], pays[x, r] = n, zero
                        pays[n, s] = level
                        yield new, pays
            before = targets == x
            sooner = np.where(before, paid[x, r], paid)
            sooner[x, r] = zero
            yield targets, sooner
            follow = [(y, s) for y, s in arrows if y == z]
            for y, s in follow:
                pays = paid.copy()
                pays[x, r], pays[y, s] = zero, paid[x, r]
                yield targets, pays


def _both(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, m = targets.shape
    dead = dead_states(machine, zero)
    for y, s in arrows_of(machine, zero):
        ends = dead[targets[y]] & (paid[y] == zero) & (targets[y] != y)
        for k in range(m):
            if k != s:
                new, pays = grown(grown(machine, zero), zero)
                new[n, ends] = new[n + 1, ends] = targets[y, ends]
                new[y, k], pays[y, k] = n, zero
                new[y, s], pays[y, s] = n + 1, zero
                for state, label in ((n, s), (n + 1, k)):
                    new[state, label], pays[state, label] = targets[y, s], paid[y, s]
                yield new, pays


def _order(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    targets, paid = machine
    n, _ = targets.shape
    arrows = arrows_of(machine, zero)
    dead = dead_states(machine, zero)
    for y, s in arrows:
        x = int(targets[y, s])
        ends = dead[targets[y]] & (paid[y] == zero) & (targets[y] != y)
        for z, k in arrows:
            if z == x and x != y and k != s:
                new, pays = grown(machine, zero)
                new[n, ends] = targets[y, ends]
                new[y, k], pays[y, k] = n, zero
                new[n, s], pays[n, s] = targets[x, k], paid[x, k]
                yield new, pays


def _pay(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """All arrows that do something from a state, to a state or by a label pay the same sum."""
    targets, paid = machine
    n, m = targets.shape
    doing = np.zeros((n, m), dtype=np.bool_)
    for arrow in arrows_of(machine, zero):
        doing[arrow] = True
    own = np.arange(n)[:, None]
    groups = [doing & (own == y) for y in range(n)]
    groups += [doing & (targets == z) for z in range(n)]
    groups += [doing & (np.arange(m) == k) for k in range(m)]
    for group in groups:
        for level in range(levels):
            if group.sum() > 1 and (paid[group] != level).any():
                yield targets, np.where(group, level, paid)


WORDS = (
    wait, _both, _order, _insert, _avoid, _either, _drop, _repeat, _second, _undo, hold,
    _split, _part, _later, beside, _pay,
)  # fmt: skip
