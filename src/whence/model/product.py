"""The product of a world and a machine: a Markov decision process with ordinary rewards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, Floats, Ints
from whence.errors import MachineError
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

LARGEST = 1e150  # the largest value that is computed with
SHARPEST = 4e11  # alpha times the largest value: beyond, rounding changes chances by 1e-4


@dataclass(frozen=True, eq=False)
class Product:
    """World times machine; its states are (machine state, world state).

    Attributes:
        mdp: the world.
        targets: int64[n, N], where each transition leads, as machine state * S + world state.
        rewards: float[n, N], what it pays.
    """

    mdp: LabeledMDP
    targets: Ints
    rewards: Floats

    @property
    def n_machine_states(self) -> int:
        """The number of machine states, n."""
        return len(self.targets)

    def expected_rewards(self) -> Floats:
        """Return float[n, S * A]: the reward of a step, averaged over successors.

        It is -inf where the action is not available.
        """
        return self._averaged(self.rewards, -np.inf)

    def backup(self, values: Floats, discount: float) -> Floats:
        """Return Q, float[n, S, A], of one step and then `values`, float[n, S].

        It is -inf where the action is not available.
        """
        return self.discounted(values, discount, self.expected_rewards())

    def discounted(self, values: Floats, discount: float, expected: Floats) -> Floats:
        """Return `backup` for expected rewards that were computed before."""
        following = self._averaged(values.reshape(-1)[self.targets], 0.0)
        q = expected + discount * following
        return q.reshape(self.n_machine_states, self.mdp.n_states, self.mdp.n_actions)

    def _averaged(self, entries: Floats, otherwise: float) -> Floats:
        """Return float[n, S * A] of float[n, N]; `otherwise` where nothing can follow."""
        weighted = entries * self.mdp.probabilities
        if not self.mdp.is_masked:
            if self.mdp.is_deterministic:  # one entry a pair: there is nothing to add up
                return np.asarray(weighted)
            return np.add.reduceat(weighted, self.mdp.offsets[:-1], axis=1)
        open_pairs = np.flatnonzero(self.mdp.available)
        result = np.full((len(entries), self.mdp.available.size), otherwise)
        result[:, open_pairs] = np.add.reduceat(weighted, self.mdp.offsets[open_pairs], axis=1)
        return result


def product(mdp: LabeledMDP, machine: RewardMachine) -> Product:
    """Return the product; the machine's alphabet must be the world's, in any order."""
    machine = in_world(machine, mdp)
    return product_of_tables(mdp, machine.transitions, machine.rewards)


def product_of_tables(mdp: LabeledMDP, transitions: Ints, rewards: Floats) -> Product:
    """Return the product with the machine given as int[n, m] and float[n, m]."""
    following, paid = with_blank(transitions, rewards)
    entered = mdp.labels[mdp.successors]
    targets = following[:, entered].astype(np.int64) * mdp.n_states + mdp.successors
    return Product(mdp, targets, paid[:, entered])


def with_blank(transitions: Ints, rewards: Floats) -> tuple[Ints, Floats]:
    """Append the column of blank, which index -1 finds: stay, and pay 0."""
    stay = np.arange(len(transitions))[:, None]
    assert BLANK == -1
    return np.hstack([transitions, stay]), np.hstack([rewards, np.zeros(stay.shape)])


def in_world(machine: RewardMachine, mdp: LabeledMDP) -> RewardMachine:
    """Return the machine with its columns in the order of the world's alphabet."""
    try:
        return machine.over(mdp.alphabet)
    except MachineError:
        missing = [s for s in mdp.alphabet if s not in machine.alphabet]
        extra = [s for s in machine.alphabet if s not in mdp.alphabet]
        culprit = (
            f"it does not know {missing[0]!r}" if missing else f"the world lacks {extra[0]!r}"
        )
        raise MachineError(
            f"the machine reads ({', '.join(machine.alphabet)}) and the world shows "
            f"({', '.join(mdp.alphabet)}): {culprit}; give both the same symbols"
        ) from None


def checked_rewards(rewards: Floats, discount: float) -> Floats:
    """Return the rewards if floating point can hold what they add up to."""
    largest = float(np.abs(rewards).max(initial=0.0))
    if largest > LARGEST * (1 - discount):
        raise MachineError(
            f"a reward of size {largest:g} is too large at discount {discount}; "
            "divide all rewards by the same number"
        )
    return rewards


def checked_sharpness(rewards: Floats, alpha: npt.ArrayLike, discount: float) -> None:
    """Refuse an expert who tells values apart that floating point cannot.

    A value is exact to 2e-16 times its size at best, and the size may be the largest reward's
    over 1 - discount; alpha times that is by how much a step's log probability can be wrong.
    """
    alphas = np.asarray(alpha, dtype=np.float64)
    sharpest = float(alphas.max(initial=0.0, where=np.isfinite(alphas)))
    largest = float(np.abs(rewards).max(initial=0.0))
    if sharpest * largest > SHARPEST * (1 - discount):
        raise MachineError(
            f"alpha {sharpest:g} with a reward of size {largest:g} at discount {discount} asks "
            "for differences of values that floating point does not hold; give a smaller alpha, "
            "or inf for an expert that always takes a best action"
        )


def restricted(machine: RewardMachine, mdp: LabeledMDP) -> RewardMachine:
    """Return the machine as it reads a world that shows some of its symbols."""
    columns = [machine.index(symbol) for symbol in mdp.alphabet]
    tables = machine.transitions[:, columns], machine.rewards[:, columns]
    return RewardMachine(mdp.alphabet, *tables)
