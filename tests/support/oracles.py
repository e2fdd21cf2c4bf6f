"""Answers of solvers that others wrote, for random problems; nothing of whence's solvers.

Optimal values: QuantEcon's `DiscreteDP` and, where it is installed, Storm with exact rationals.
Equality of machines: automata-lib, by way of the language of (symbol, reward) pairs, and AALpy's
bisimulation. Log likelihoods: a sparse product, solved and summed with SciPy.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from whence import Demonstrations, Expert, LabeledMDP, RewardMachine

Floats = npt.NDArray[np.float64]


class Problem:
    """The product as plain arrays: rows of (y * S + s) * A + a.

    Attributes:
        paid: float64[n * S * A], the expected reward.
        rows, columns, chances: the transitions, one entry each.
    """

    def __init__(self, mdp: LabeledMDP, machine: RewardMachine) -> None:
        rows: list[int] = []
        columns: list[int] = []
        chances: list[float] = []
        paid: list[float] = []
        for memory in range(machine.n_states):
            for state in range(mdp.n_states):
                for action in range(mdp.n_actions):
                    earned = 0.0
                    successors, weights = mdp.row(state, action)
                    for s, p in zip(successors.tolist(), weights.tolist(), strict=True):
                        following, reward = machine.step(memory, mdp.label(s))
                        rows.append(len(paid))
                        columns.append(following * mdp.n_states + s)
                        chances.append(p)
                        earned += p * reward
                    paid.append(earned)
        self.n, self.n_states, self.n_actions = machine.n_states, mdp.n_states, mdp.n_actions
        self.rows, self.columns, self.chances = rows, columns, chances
        self.paid = np.array(paid)

    @property
    def size(self) -> int:
        """The number of product states."""
        return self.n * self.n_states

    def matrix(self) -> Any:
        """Return the transitions as a sparse matrix of SciPy."""
        from scipy.sparse import csr_matrix

        shape = (len(self.paid), self.size)
        return csr_matrix((self.chances, (self.rows, self.columns)), shape=shape)


def quantecon_values(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return float64[n, S], by QuantEcon's policy iteration."""
    from quantecon.markov import DiscreteDP

    problem = Problem(mdp, machine)
    states = np.repeat(np.arange(problem.size), problem.n_actions)
    actions = np.tile(np.arange(problem.n_actions), problem.size)
    solver = DiscreteDP(problem.paid, problem.matrix(), discount, states, actions)
    found = solver.solve(method="policy_iteration").v
    return np.asarray(found).reshape(problem.n, problem.n_states)


def storm_values(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return float64[n, S], by Storm, in exact rational numbers.

    A step ends in a sink with probability 1 - discount. Rewards are raised so that all are
    positive, which raises every value by as much over 1 - discount.
    """
    import stormpy

    problem = Problem(mdp, machine)
    shift = max(0.0, -float(problem.paid.min())) + 1.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "product.drn"
        path.write_text(_drn(problem, shift, discount))
        model = stormpy.build_model_from_drn[stormpy.Rational](str(path))
    goal = stormpy.parse_properties('R{"r"}max=? [F "sink"]')[0]
    exact = stormpy.environments.exact()
    values = stormpy.model_checking(model, goal, environment=exact).get_value_vector()
    found = np.array([float(value) for value in values[: problem.size]])
    return (found - shift / (1 - discount)).reshape(problem.n, problem.n_states)


def _drn(problem: Problem, shift: float, discount: float) -> str:
    """Return the product in Storm's explicit format."""
    from fractions import Fraction

    gamma = Fraction(discount)
    entries: list[dict[int, Fraction]] = [{} for _ in problem.paid]
    for row, column, chance in zip(problem.rows, problem.columns, problem.chances, strict=True):
        entries[row][column] = entries[row].get(column, Fraction(0)) + gamma * Fraction(chance)
    lines = [
        "@type: MDP", "@parameters", "", "@reward_models", "r", "@nr_states",
        str(problem.size + 1), "@nr_choices", str(len(problem.paid) + 1), "@model",
    ]  # fmt: skip
    for state in range(problem.size):
        lines.append(f"state {state} [0]" + (" init" if state == 0 else ""))
        for action in range(problem.n_actions):
            row = state * problem.n_actions + action
            reward = Fraction(float(problem.paid[row])) + Fraction(shift)
            lines.append(f"\taction {action} [{reward}]")
            lines += [f"\t\t{target} : {p}" for target, p in sorted(entries[row].items())]
            lines.append(f"\t\t{problem.size} : {1 - sum(entries[row].values())}")
    lines += [f"state {problem.size} [0] sink", "\taction 0 [0]", f"\t\t{problem.size} : 1"]
    return "\n".join(lines) + "\n"


def automaton(machine: RewardMachine, paid: list[float]) -> Any:
    """Return the language of what a machine pays, as a DFA of automata-lib.

    A word is a sequence of (symbol, reward) pairs; it is accepted where the machine pays so.
    """
    from automata.fa.dfa import DFA

    dead = "dead"
    pairs = [(s, r) for s in range(len(machine.alphabet)) for r in range(len(paid))]
    symbols = {f"{s}/{r}" for s, r in pairs}
    table: dict[str, dict[str, str]] = {dead: dict.fromkeys(symbols, dead)}
    for state in range(machine.n_states):
        table[str(state)] = {
            f"{s}/{r}": str(machine.transitions[state, s])
            if machine.rewards[state, s] == paid[r]
            else dead
            for s, r in pairs
        }
    states = {str(state) for state in range(machine.n_states)}
    return DFA(
        states=states | {dead}, input_symbols=symbols, transitions=table, initial_state="0",
        final_states=states,
    )  # fmt: skip


def shortest_difference(one: RewardMachine, other: RewardMachine) -> int | None:
    """Return the length of the shortest sequence that tells machines apart, by automata-lib."""
    paid = sorted({float(r) for machine in (one, other) for r in machine.rewards.flat})
    first, second = automaton(one, paid), automaton(other, paid)
    if first == second:
        return None
    either = first.symmetric_difference(second)
    return int(either.minimum_word_length())


def bisimilar(one: RewardMachine, other: RewardMachine) -> bool:
    """Whether AALpy finds the two Mealy machines bisimilar."""
    from aalpy.utils import bisimilar as same

    return bool(same(_mealy(one), _mealy(other)))


def _mealy(machine: RewardMachine) -> Any:
    from aalpy.automata import MealyMachine

    setup = {
        f"s{state}": {
            symbol: (float(machine.rewards[state, column]),
                     f"s{machine.transitions[state, column]}")
            for column, symbol in enumerate(machine.alphabet)
        }
        for state in range(machine.n_states)
    }  # fmt: skip
    return MealyMachine.from_state_setup(setup)


def scipy_log_likelihood(
    mdp: LabeledMDP, demos: Demonstrations, machine: RewardMachine, expert: Expert
) -> float:
    """Return the log likelihood: a sparse product, sparse solves, SciPy's log softmax."""
    from scipy.special import log_softmax

    problem = Problem(mdp, machine)
    q = _scipy_q(problem, expert.discount)
    log_p = log_softmax(expert.alpha * q, axis=1)
    if expert.lapse > 0:
        blind = np.log(expert.lapse) - np.log(problem.n_actions)
        with np.errstate(divide="ignore"):
            log_p = np.logaddexp(np.log1p(-expert.lapse) + log_p, blind)
    total = 0.0
    for episode in demos:
        memory = 0
        for symbol in episode.history:
            memory, _ = machine.step(memory, symbol)
        for step, action in enumerate(episode.actions):
            if step > 0:
                said = mdp.label(episode.states[step])
                memory, _ = machine.step(memory, episode.labels[step] if episode.labels else said)
            total += log_p[memory * problem.n_states + episode.states[step], action]
    return float(total)


def _scipy_q(problem: Problem, discount: float) -> Floats:
    """Return float64[n * S, A], by policy iteration with SciPy's sparse solver."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import spsolve

    matrix, everywhere = problem.matrix(), np.arange(problem.size)
    policy = np.zeros(problem.size, dtype=np.int64)
    for _ in range(1000):
        chosen = everywhere * problem.n_actions + policy
        system = (identity(problem.size, format="csc") - discount * matrix[chosen]).tocsc()
        values = np.atleast_1d(spsolve(system, problem.paid[chosen]))
        q = (problem.paid + discount * (matrix @ values)).reshape(problem.size, -1)
        gain = q.max(axis=1) - q[everywhere, policy]
        if (gain <= 1e-12 * (1 + np.abs(values).max())).all():
            return np.asarray(q)
        policy = np.where(gain > 1e-12 * (1 + np.abs(values).max()), q.argmax(axis=1), policy)
    raise AssertionError("policy iteration did not end")
