"""Machines as Python source for the package pyrewardmachines, whose module is `pycrm`.

The text defines an Enum of the symbols and a reward machine class over it. At most one symbol
holds at a time; the last rule of a state, without a condition, is blank: stay, and pay 0.
"""

from __future__ import annotations

from whence.model.machine import RewardMachine, number

ENDINGS = (".py",)
HEAD = '''"""A reward machine, written by whence for the package pyrewardmachines."""

from enum import Enum

from pycrm.automaton import RewardMachine


class Symbol(Enum):
    """The labels; a labelling function returns the set of those that hold, one at most."""

'''

BODY = '''

class Machine(RewardMachine):
    """Reads the label of each state entered; `Machine()` makes one."""

    def __init__(self):
        super().__init__(env_prop_enum=Symbol)

    @property
    def u_0(self):
        return 0

    def _get_state_transition_function(self):
        return {
@TRANSITIONS@        }

    def _get_reward_transition_function(self):
        return {
@REWARDS@        }
'''


def dumps(machine: RewardMachine) -> str:
    """Write a machine as a module."""
    members = [f"    S{i} = {symbol!r}" for i, symbol in enumerate(machine.alphabet)]
    functions = transition_functions(machine)
    texts = [_rows(function, machine.state_names) for function in functions]
    body = BODY.replace("@TRANSITIONS@", texts[0]).replace("@REWARDS@", texts[1])
    return HEAD + "\n".join(members or ["    pass"]) + "\n" + body


def transition_functions(
    machine: RewardMachine,
) -> tuple[dict[int, dict[str, float]], dict[int, dict[str, float]]]:
    """Return the targets and the rewards by state and condition: `S0` is the first symbol."""
    targets: dict[int, dict[str, float]] = {}
    rewards: dict[int, dict[str, float]] = {}
    for state in range(machine.n_states):
        rules = range(len(machine.alphabet))
        targets[state] = {f"S{i}": int(machine.transitions[state, i]) for i in rules}
        rewards[state] = {f"S{i}": float(machine.rewards[state, i]) for i in rules}
        targets[state][""], rewards[state][""] = state, 0.0
    return targets, rewards


def _rows(function: dict[int, dict[str, float]], names: tuple[str, ...]) -> str:
    lines = []
    for state, rules in function.items():
        cells = ", ".join(f'"{rule}": {_literal(value)}' for rule, value in rules.items())
        comment = names[state].encode("unicode_escape").decode("ascii")
        lines.append(f"            {state}: {{{cells}}},  # {comment}\n")
    return "".join(lines)


def _literal(value: float) -> str:
    return number(value) if isinstance(value, int) else repr(float(value))
