"""The reader of rule files in the manner of Toro Icarte's `reward_machines`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import FormatError, WhenceWarning
from whence.io.icarte_rules import Rule, RuleFile, parse
from whence.io.labels import LARGEST, MOST_ENTRIES, shown, too_large
from whence.model.machine import RewardMachine, number

_COPY = re.compile(r"(-?[0-9]{1,9})\s*+=\s*+(-?[0-9]{1,9})")


def read_rules(text: str, source: str) -> RewardMachine:
    """Return the machine of a rule file."""
    content = parse(text, source)
    alphabet = _alphabet(content)
    states = _states(content)
    if too_large(len(states), len(alphabet)):
        raise FormatError(
            f"{content.head(0)}: {len(states)} states and {len(alphabet)} symbols are too many; "
            f"keep to {LARGEST} of each and {MOST_ENTRIES} table entries, or use .json"
        )
    transitions, rewards = _tables(content, states, alphabet)
    same = _originals(content, states, len(transitions))
    _check_copies(content, states, alphabet, (same[transitions], rewards), same)
    kept = np.flatnonzero(same == np.arange(len(same)))
    transitions = np.searchsorted(kept, same[transitions[kept]])
    names = _names(content, len(kept))
    return RewardMachine(alphabet, transitions, rewards[kept], names)


def _alphabet(content: RuleFile) -> tuple[str, ...]:
    rules = [rule for among in content.rules.values() for rule in among]
    rules.sort(key=lambda rule: rule.line)
    said = {symbol: rule.line for rule in reversed(rules) for symbol in rule.formula.said}
    if "alphabet" not in content.fields:
        return tuple(dict.fromkeys(x for rule in rules for x in rule.formula.said))
    for symbol in content.fields["alphabet"]:
        said.pop(symbol, None)
    if said:
        symbol, line = next(iter(said.items()))
        raise FormatError(
            f"{content.source}, line {line}: proposition {shown(symbol)} is not in the alphabet "
            "of the first line's comment; add it there or correct the formula"
        )
    return content.fields["alphabet"]


def _states(content: RuleFile) -> list[int]:
    return [content.initial, *sorted(content.first.keys() - {content.initial})]


def _tables(
    content: RuleFile, states: list[int], alphabet: tuple[str, ...]
) -> tuple[Ints, Floats]:
    """Return int[n, m] and float[n, m]; one state more where symbols fall off without an end."""
    rows = {state: row for row, state in enumerate(states)}
    columns = {symbol: column for column, symbol in enumerate(alphabet)}
    end = next((rows[state] for state in states if content.is_end(state)), len(states))
    transitions = np.tile(np.arange(len(states) + 1)[:, None], (1, len(alphabet)))
    rewards = np.zeros(transitions.shape)
    for state in states:
        if content.is_end(state):
            continue
        for rule, labels in _matches(content, state, alphabet):
            for symbol in labels:
                entry = rows[state], columns[symbol]
                transitions[entry] = end if rule is None else rows[rule.target]
                rewards[entry] = 0 if rule is None else rule.reward
    n = len(states) + bool((transitions[:-1] == len(states)).any())
    return transitions[:n], rewards[:n]


def _matches(
    content: RuleFile, state: int, alphabet: Iterable[str]
) -> list[tuple[Rule | None, list[str]]]:
    """Return the symbols by the rule that they match first; None for no rule."""
    found: list[tuple[Rule | None, list[str]]] = []
    labels: set[str | None] = {None, *alphabet}
    for rule in content.rules.get(state, []):
        hits = rule.formula.hits(labels)
        if None in hits and (rule.target != state or rule.reward != 0):
            raise FormatError(
                f"{content.source}, line {rule.line}: the rule moves or pays where no proposition "
                "holds, and a machine here waits there unpaid; exclude that case, as in 'a&!b'"
            )
        found.append((rule, [symbol for symbol in hits if symbol is not None]))
        labels -= hits
    left = sorted(symbol for symbol in labels if symbol is not None)
    if None in labels:
        loop = "&".join("!" + symbol for symbol in alphabet) or "True"
        raise FormatError(
            f"{content.place(state)}: state {state} has no rule for steps where no proposition "
            f"holds; add ({state},{state},{shown(loop)},ConstantRewardFunction(0)), or list it "
            "as terminal"
        )
    if left:
        _warn_of_payment(content, state, left)
    return [*found, (None, left)]


def _warn_of_payment(content: RuleFile, state: int, symbols: list[str]) -> None:
    """Warn where the repository's loader pays for falling off, against its own note."""
    into_end = [rule for rule in content.rules.get(state, []) if content.is_end(rule.target)]
    if into_end and into_end[-1].reward:
        rule = into_end[-1]
        warnings.warn(
            f"{content.source}, line {rule.line}: state {state} has no rule for "
            f"{shown(', '.join(symbols))}: read as the end, with reward 0; the repository's "
            f"loader pays {number(rule.reward)}, as for this rule; add a rule to say which",
            WhenceWarning,
            stacklevel=2,
        )


def _originals(content: RuleFile, states: list[int], n: int) -> Ints:
    """Return, for each row, the row that it is a copy of, or itself."""
    rows = {state: row for row, state in enumerate(states)}
    same = np.arange(n)
    for said in content.fields.get("copies", ()):
        match = _COPY.fullmatch(said)
        copy, original = (int(match[1]), int(match[2])) if match else (content.initial,) * 2
        known = copy in rows and original in rows and copy != content.initial
        if not known or same[rows[copy]] != rows[copy]:
            raise FormatError(
                f"{content.head(1)}: the copy {shown(said)} cannot be read; write "
                "copy=original, two different states of the file"
            )
        same[rows[copy]] = rows[original]
    if not np.array_equal(same[same], same):
        raise FormatError(
            f"{content.head(1)}: a state is a copy of a copy; name the original instead"
        )
    return same


def _check_copies(
    content: RuleFile,
    states: list[int],
    alphabet: tuple[str, ...],
    tables: tuple[Ints, Floats],
    same: Ints,
) -> None:
    """Refuse copies that do not behave alike; targets stand for their originals here."""
    targets, rewards = tables
    differ = (targets != targets[same]) | (rewards != rewards[same])
    for row, column in np.argwhere(differ)[:1].tolist():
        raise FormatError(
            f"{content.place(states[row])}: state {states[row]} is named as a copy of "
            f"{states[same[row]]} in the comment of the second line, but differs from it at "
            f"{shown(alphabet[column])}; change both alike, or take it off the copies"
        )


def _names(content: RuleFile, n: int) -> tuple[str, ...] | None:
    names = content.fields.get("names")
    if names is not None and len(names) != n:
        raise FormatError(
            f"{content.head(0)}: {len(names)} names for {n} states; name each state, or remove "
            "'names:'"
        )
    return names
