"""Names that may be another one misspelled: rare ones that are almost like a frequent one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from whence.io.columns import as_number

RATIO = 5  # so many times as often stands the name that is meant
RARE = 3  # a name that stands more often than this is meant as it is
MOST = 5_000  # names beyond which none are compared
NUMBER = re.compile(r"[-+]?[0-9]*[.,]?[0-9]*")
IN_NAMES = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,]\d+)*")  # arm-7 is no arm below zero


class Slip(NamedTuple):
    """A name that may be misspelled.

    Attributes:
        name: as it stands.
        rare: how often.
        meant: the name that it is like.
        often: how often that stands.
    """

    name: str
    rare: int
    meant: str
    often: int

    @property
    def question(self) -> str:
        """Whether both are the same, in words."""
        return (
            f"`{self.name}` stands {times(self.rare)}, `{self.meant}` {times(self.often)}: "
            "the same?"
        )


def times(count: int) -> str:
    """Return `once` or `7 times`."""
    return "once" if count == 1 else f"{count:,} times"


def slips(counts: Mapping[str, int]) -> list[Slip]:
    """Return the names that may be misspelled, each with what may be meant.

    Two names are alike when their digits are the same and their other characters differ by case
    or spaces alone, or by one that is left out, too many, another one, or exchanged with its
    neighbour. Names that differ by digits, such as arm1 and arm2, are different. Numbers are
    alike when they are the same number, however often they stand: 1, 1.0 and 01.

    Args:
        counts: how often each name stands.
    """
    if len(counts) > MOST:
        return []
    found = _numbers(counts)
    known = {slip.name for slip in found}
    for name, count in counts.items():
        if name in known:
            continue
        likely = [
            (bare(name) == bare(other), many, other)
            for other, many in counts.items()
            if many >= RATIO * count and other != name and alike(name, other, count)
        ]
        if likely:
            _, many, other = max(likely)
            found.append(Slip(name, count, other, many))
    return found


def _numbers(counts: Mapping[str, int]) -> list[Slip]:
    """Return the numbers that are spelt in several ways, each with the usual one."""
    spelt: dict[float, list[str]] = {}
    for name in counts:
        value = as_number(name, commas=True) if NUMBER.fullmatch(name) else None
        if value is not None:
            spelt.setdefault(value, []).append(name)
    found = []
    for names in spelt.values():
        meant = max(names, key=lambda name: (counts[name], -len(name)))
        found += [Slip(n, counts[n], meant, counts[meant]) for n in names if n != meant]
    return found


def alike(name: str, other: str, count: int = 1) -> bool:
    """Return whether one name may be the other, misspelled."""
    if IN_NAMES.findall(name) != IN_NAMES.findall(other):
        return False
    if bare(name) == bare(other):
        return True
    if count > RARE:
        return False
    one, two = (re.sub(r"\d+", "", bare(text)) for text in (name, other))
    return max(len(one), len(two)) >= 3 and one != two and near(one, two)


def bare(name: str) -> str:
    """Return a name without case, spaces and punctuation; a name of nothing else as it is."""
    return re.sub(r"[\W_]", "", name).casefold() or name


def near(one: str, two: str) -> bool:
    """Return whether two texts differ by one character, or by two neighbours exchanged."""
    if abs(len(one) - len(two)) > 1:
        return False
    if len(one) == len(two):
        wrong = [at for at in range(len(one)) if one[at] != two[at]]
        exchanged = (
            len(wrong) == 2
            and wrong[1] == wrong[0] + 1
            and one[wrong[0]] == two[wrong[1]]
            and one[wrong[1]] == two[wrong[0]]
        )
        return len(wrong) <= 1 or exchanged
    short, long = sorted((one, two), key=len)
    return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
