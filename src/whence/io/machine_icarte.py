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

from collections.abc import Iterator

from whence.errors import MachineError
from whence.io.icarte_reader import read_rules
from whence.io.labels import check_writable, shown, symbols_text, too_large
from whence.model.machine import RewardMachine, number

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
    return read_rules(text, source)


def _check_symbol(symbol: str) -> None:
    """Refuse a symbol that is no proposition."""
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
