"""Words that put a machine and a small one together: what was read is remembered beside it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from whence._arrays import Bools
from whence.search.finding.parts import arrows_of, dead_states
from whence.search.finding.reducing import Tables


def wait(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """The product with "k read?": an arrow, all that pay, or all of one label, wait for it."""
    targets, paid = machine
    n, m = targets.shape
    groups: list[Bools] = [paid != zero]
    doing = np.zeros((n, m), dtype=np.bool_)
    for arrow in arrows_of(machine, zero):
        doing[arrow] = True
        alone = np.zeros((n, m), dtype=np.bool_)
        alone[arrow] = True
        groups.append(alone)
    for label in range(m):
        same = np.zeros((n, m), dtype=np.bool_)
        same[:, label] = doing[:, label]
        groups.append(same)
    for waits in {group.tobytes(): group for group in groups if group.any()}.values():
        for k in range(m):
            if not waits[:, k].all():
                yield _waiting(machine, waits, k, zero)


def _waiting(machine: Tables, waits: Bools, k: int, zero: int) -> Tables:
    """Return the product with "k read?": states without, then states with."""
    targets, paid = machine
    n, _ = targets.shape
    own = np.arange(n)[:, None]
    before = np.where(waits, own, targets)
    pays = np.where(waits, zero, paid)
    before = before.copy()
    before[:, k] += n
    return np.concatenate([before, targets + n]), np.concatenate([pays, paid])


def hold(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """The product with "does it hold?": k makes it hold, and l ends that; arrows that pay need it.

    It holds at first, or it does not; an arrow that would pay without it is lost, or waits.
    """
    targets, paid = machine
    n, m = targets.shape
    pays = paid != zero
    for k, u in permutations(range(m), 2):
        for lost in (True, False):
            without = targets if lost else np.where(pays, np.arange(n)[:, None], targets)
            for at_first in (True, False):
                with_it = targets + (0 if at_first else n)
                before = without + (n if at_first else 0)
                with_it[:, u] = without[:, u] + (n if at_first else 0)
                before[:, k] = targets[:, k] + (0 if at_first else n)
                none = np.full_like(paid, zero)
                if at_first:
                    yield np.concatenate([with_it, before]), np.concatenate([paid, none])
                else:
                    yield np.concatenate([before, with_it]), np.concatenate([none, paid])


def beside(machine: Tables, zero: int, levels: int) -> Iterator[Tables]:
    """The product with a small task; what ends it all, unpaid, ends the small one, too, or not."""
    targets, paid = machine
    n, m = targets.shape
    dead = dead_states(machine, zero)
    lost = dead[targets] & (paid == zero) & ~dead[:, None]
    for small, sums in _small_tasks(m, zero, levels):
        over = len(small) - 1
        more = (small[:, None] * n + targets).reshape(-1, m)
        pays = np.where(paid != zero, paid, sums[:, None]).reshape(-1, m)
        yield more, pays
        if lost.any() and (small[over] == over).all():
            gone = np.where(lost, over * n + targets, more.reshape(-1, n, m))
            yield gone.reshape(-1, m), np.where(np.tile(lost, (over + 1, 1)), zero, pays)


def _small_tasks(m: int, zero: int, levels: int) -> Iterator[Tables]:
    """Yield tasks of one or two labels that pay at their end, once or each time."""
    stay = np.arange(3)[:, None].repeat(m, axis=1)
    for way in (*permutations(range(m), 1), *permutations(range(m), 2)):
        for again in (True, False)[len(way) == 1 :]:
            n = len(way) if again else len(way) + 1
            targets = stay[:n].copy()
            for place, label in enumerate(way):
                targets[place, label] = (place + 1) % n
            for level in (level for level in range(levels) if level != zero):
                paid = np.full((n, m), zero)
                paid[len(way) - 1, way[-1]] = level
                yield targets, paid
