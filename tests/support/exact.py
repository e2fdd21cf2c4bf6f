"""An independent evaluator with 60 digits: slow, direct, and nothing of whence's own in it.

Worlds and machines are read as plain numbers; the product is built, solved by policy iteration
with Gaussian elimination, and summed step by step, all with mpmath.
"""

from __future__ import annotations

from typing import Any

import mpmath

from whence import Demonstrations, Expert, LabeledMDP, RewardMachine

DIGITS = 60
TIE, RESOLUTION = mpmath.mpf("1e-9"), mpmath.mpf("1e-10")  # what counts as equally good


class Product:
    """World times machine in 60 digits; product state y * S + s."""

    def __init__(self, mdp: LabeledMDP, machine: RewardMachine, discount: float) -> None:
        self.n_states = mdp.n_states
        self.discount = mpmath.mpf(discount)
        self.rows: list[list[list[tuple[int, Any, Any]]]] = []
        for memory in range(machine.n_states):
            for state in range(mdp.n_states):
                self.rows.append([_row(mdp, machine, memory, state, a) for a in _actions(mdp)])

    def solved(self) -> list[list[Any]]:
        """Return the optimal Q of each product state."""
        with mpmath.workdps(DIGITS):
            policy = [0] * len(self.rows)
            while True:
                values = self._values(policy)
                q = [[self._backed(row, values) for row in rows] for rows in self.rows]
                best = [max(range(len(each)), key=each.__getitem__) for each in q]
                size = max([abs(v) for v in values] + [mpmath.mpf(0)])
                slack = size * mpmath.mpf(10) ** (15 - DIGITS)
                new = [
                    b if each[b] > each[old] + slack else old
                    for b, each, old in zip(best, q, policy, strict=True)
                ]
                if new == policy:
                    return q
                policy = new

    def earned(self, probabilities: list[list[Any]], starts: dict[int, Any], length: int) -> Any:
        """Return the expected undiscounted rewards of a policy over a number of steps."""
        with mpmath.workdps(DIGITS):
            values = [mpmath.mpf(0)] * len(self.rows)
            for _ in range(length):
                values = [
                    sum(
                        p * sum(c * (r + values[t]) for t, c, r in row)
                        for p, row in zip(chance, rows, strict=True)
                    )
                    for chance, rows in zip(probabilities, self.rows, strict=True)
                ]
            return sum(weight * values[state] for state, weight in starts.items())

    def _backed(self, row: list[tuple[int, Any, Any]], values: Any) -> Any:
        return sum((c * (r + self.discount * values[t]) for t, c, r in row), mpmath.mpf(0))

    def _values(self, policy: list[int]) -> Any:
        size = len(policy)
        matrix, paid = mpmath.eye(size), mpmath.zeros(size, 1)
        for state, action in enumerate(policy):
            for target, chance, reward in self.rows[state][action]:
                matrix[state, target] -= self.discount * chance
                paid[state] += chance * reward
        return list(mpmath.lu_solve(matrix, paid))


def _actions(mdp: LabeledMDP) -> range:
    return range(mdp.n_actions)


def _row(
    mdp: LabeledMDP, machine: RewardMachine, memory: int, state: int, action: int
) -> list[tuple[int, Any, Any]]:
    found = []
    successors, chances = mdp.row(state, action)
    for successor, chance in zip(successors.tolist(), chances.tolist(), strict=True):
        following, reward = machine.step(memory, mdp.label(successor))
        target = following * mdp.n_states + successor
        found.append((target, mpmath.mpf(chance), mpmath.mpf(reward)))
    return found


def on_the_edge(q: list[list[Any]]) -> bool:
    """Whether an action is so nearly a tie that rounding decides."""
    with mpmath.workdps(DIGITS):
        for each in q:
            slack = max(TIE, RESOLUTION * abs(max(each)))
            if any(abs(max(each) - value - slack) < slack / 1000 for value in each):
                return True
        return False


def log_probabilities(q: list[Any], expert: Expert) -> list[Any]:
    """Return the log probability of each action of one product state."""
    with mpmath.workdps(DIGITS):
        best = max(q)
        lapse = mpmath.mpf(expert.lapse)
        if expert.alpha == float("inf"):
            slack = max(TIE, RESOLUTION * abs(best))
            chosen = [mpmath.mpf(value >= best - slack) for value in q]
        else:
            chosen = [mpmath.exp(mpmath.mpf(expert.alpha) * (value - best)) for value in q]
        total = sum(chosen)
        mixed = [(1 - lapse) * value / total + lapse / len(q) for value in chosen]
        return [mpmath.log(p) if p > 0 else mpmath.ninf for p in mixed]


def log_likelihood(
    mdp: LabeledMDP,
    demos: Demonstrations,
    machine: RewardMachine,
    expert: Expert,
    q: list[list[Any]] | None = None,
) -> Any:
    """Return the sum of log P(action | state, machine state) over all steps; `q` saves a solve."""
    with mpmath.workdps(DIGITS):
        q = Product(mdp, machine, expert.discount).solved() if q is None else q
        log_p = [log_probabilities(each, expert) for each in q]
        total = mpmath.mpf(0)
        for episode in demos:
            memory = 0
            for symbol in episode.history:
                memory, _ = machine.step(memory, symbol)
            for step, action in enumerate(episode.actions):
                state = episode.states[step]
                said = mdp.label(state) if episode.labels is None else episode.labels[step]
                if step > 0:
                    memory, _ = machine.step(memory, said)
                total += log_p[memory * mdp.n_states + state][action]
        return total
