"""Rule files of Toro Icarte's `reward_machines`: states, formulas and constant rewards.

    0 # initial state
    [2] # terminal states
    (0,0,'!c',ConstantRewardFunction(0))
    (0,1,'c',ConstantRewardFunction(0))
    ...

The loader of that repository keeps one rule for each pair of states and treats all terminal
states as one. Where a machine pays different rewards between the same two states, the target is
therefore written several times, as copies that behave alike; the comment of line 2 names them.
The loader also takes `c` to hold at the label `coffee`, because it searches for a text within a
text, so that the formula for c reads `c&!coffee` there. A step without a label changes nothing:
each state's loop includes it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import FormatError, MachineError, WhenceWarning
from whence.io.icarte_rules import Rule, RuleFile, parse
from whence.io.labels import (
    LARGEST,
    MOST_ENTRIES,
    check_writable,
    shown,
    symbols_text,
    too_large,
)
from whence.model.machine import RewardMachine, number

ENDINGS = (".txt", ".rm")
_COPY = re.compile(r"(-?[0-9]{1,9})\s*+=\s*+(-?[0-9]{1,9})")
_FORBIDDEN = frozenset("&|!'\"\\#(),")


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a rule file.

    Raises:
        MachineError: if a symbol cannot stand in a formula.
    """
    check_writable(machine)
    for symbol in machine.alphabet:
        _check_symbol(symbol)
    return _Writer(machine).text()


def loads(text: str, source: str) -> RewardMachine:
    """Read a rule file, where exactly one proposition, or none, holds at a time.

    A symbol that matches no rule ends the episode: it leads to an absorbing state and pays 0.

    Raises:
        FormatError: if the text is not a rule file, or its machine does not wait, unpaid, for
            steps without a label.

    Warns:
        WhenceWarning: if the repository's own loader would pay such a symbol.
    """
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


def _check_symbol(symbol: str) -> None:
    """Refuse a symbol that cannot be a proposition."""
    reason = ""
    if symbol in ("True", "False"):
        reason = "it is a constant there"
    elif not symbol.isprintable() or " " in symbol:
        reason = "it has white space or characters that do not print"
    elif not _FORBIDDEN.isdisjoint(symbol):
        reason = "it has one of & | ! ' \" \\ # ( ) ,"
    if reason:
        raise MachineError(
            f"symbol {shown(symbol)} cannot stand in a formula of a rule file: {reason}; rename it"
        )


class _Writer:
    """A machine, and the nodes that its rule file needs: (state, copy) pairs.

    Copy 0 of state u has the number u, and further copies follow. A node leads to copy k of the
    target, with one k for each reward; among its own copies it moves on by k in a circle.
    """

    def __init__(self, machine: RewardMachine) -> None:
        self._machine = machine
        self._ends = self._terminal_states()
        self._groups = [self._grouped(state) for state in range(machine.n_states)]
        self._shifts = [self._assigned(state) for state in range(machine.n_states)]
        self._numbers = self._numbered()
        self._literals = {symbol: self._literal(symbol) for symbol in machine.alphabet}

    def text(self) -> str:
        """Return the file."""
        machine = self._machine
        first = f"0 # initial state | alphabet: {symbols_text(machine.alphabet)}".rstrip()
        if machine.names is not None:
            first += f" | names: {symbols_text(machine.names)}"
        second = f"[{','.join(map(str, self._ends))}] # terminal states"
        copies = [
            f"{node}={state}"
            for state, nodes in enumerate(self._numbers)
            for node in nodes
            if node != state
        ]
        if copies:
            second += f" | copies: {', '.join(copies)}"
        return "\n".join([first, second, *self._rules()]) + "\n"

    def _terminal_states(self) -> list[int]:
        """States, other than the initial one, that absorb and pay nothing."""
        machine = self._machine
        return [
            state
            for state in range(1, machine.n_states)
            if (machine.transitions[state] == state).all() and not machine.rewards[state].any()
        ]

    def _grouped(self, state: int) -> dict[tuple[int, float], list[str]]:
        """The symbols of a state by target and reward; first those that change nothing."""
        groups: dict[tuple[int, float], list[str]] = {(state, 0.0): []}
        targets, rewards = self._machine.transitions[state], self._machine.rewards[state]
        row = zip(self._machine.alphabet, targets.tolist(), rewards.tolist(), strict=True)
        for symbol, target, reward in row:
            groups.setdefault((target, reward), []).append(symbol)
        return groups

    def _assigned(self, state: int) -> dict[tuple[int, float], int]:
        """For each target and reward, which copy of the target; at most one is terminal."""
        ends = set(self._ends)
        used: dict[int, int] = {}
        ended = False
        assigned = {}
        for target, reward in self._groups[state]:
            copy = used.get(target, 1 if target in ends and ended else 0)
            ended = ended or (target in ends and copy == 0)
            assigned[target, reward] = copy
            used[target] = copy + 1
        return assigned

    def _numbered(self) -> list[list[int]]:
        """The numbers of each state's copies."""
        n = self._machine.n_states
        counts = [1] * n
        for assigned in self._shifts:
            for (target, _), copy in assigned.items():
                counts[target] = max(counts[target], copy + 1)
        if too_large(sum(counts), len(self._machine.alphabet)):
            raise MachineError(
                f"a rule file needs {sum(counts)} states, copies included, for this machine, "
                "which is too many; save it as .json"
            )
        fresh = iter(range(n, sum(counts)))
        return [[state, *(next(fresh) for _ in range(1, counts[state]))] for state in range(n)]

    def _literal(self, symbol: str) -> str:
        longer = (x for x in self._machine.alphabet if x != symbol and symbol in x)
        return "&!".join([symbol, *longer])

    def _rules(self) -> Iterator[str]:
        ends = set(self._ends)
        for state, nodes in enumerate(self._numbers):
            for copy, node in enumerate(nodes):
                if state in ends and copy == 0:
                    continue
                for (target, reward), symbols in self._groups[state].items():
                    shift = self._shifts[state][target, reward]
                    among = self._numbers[target]
                    goal = among[(copy + shift) % len(among) if target == state else shift]
                    stays = (target, reward) == (state, 0.0)
                    yield (
                        f"({node},{goal},'{self._formula(symbols, stays)}',"
                        f"ConstantRewardFunction({number(reward)}))"
                    )

    def _formula(self, symbols: list[str], stays: bool) -> str:
        """Return a formula for any of the symbols, or also for no symbol at all."""
        if len(symbols) == len(self._machine.alphabet) and stays:
            return "True"
        terms = [self._literals[symbol] for symbol in symbols]
        if stays:
            terms.insert(0, "&".join("!" + symbol for symbol in self._machine.alphabet))
        return "|".join(terms)


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
    """Return int[n, m] and float[n, m]; one more state if an end is needed."""
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
    """Return the symbols, grouped by the first rule that they match; None for no rule."""
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
    """Warn if the repository's loader pays for a symbol without a rule, against its own note."""
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
