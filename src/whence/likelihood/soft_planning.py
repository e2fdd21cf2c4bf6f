"""How a soft expert plans, in plain NumPy: the specification of maximum causal entropy.

In nats, with U the value of a state of the product and A(s) the actions that it has,

    Q(s, y, a) = E[alpha r + discount U(s', y')]
    U(s, y) = log sum over a in A(s) of exp Q(s, y, a)

The map from U to U is a contraction by the discount, so there is one solution. Where pay is out of
reach and states differ in how many actions they have, such an expert prefers those with many.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.model.product import Product

DENSE_LIMIT = 1500  # product states up to which policies are evaluated by a linear solve
MOST_POLICIES = 200
ROUNDING = 4e-15  # of a value: what the sum of a few exponentials may be off by


def soft_q(product: Product, alpha: float, discount: float) -> Floats:
    """Return Q of a soft expert in nats, float[n, S, A]; -inf where an action is not available."""
    paid = paid_nats(product, alpha)
    size = product.n_machine_states * product.mdp.n_states
    values = _improved(product, discount, paid) if size <= DENSE_LIMIT else None
    return _iterated(product, discount, paid, values)


def log_sum(q: Floats) -> Floats:
    """Return float[...]: the log of the sum over the last axis of exp."""
    best = q.max(axis=-1)
    return np.asarray(best + np.log(np.exp(q - best[..., None]).sum(axis=-1)))


def paid_nats(product: Product, alpha: float) -> Floats:
    """Return float[n, S * A]: alpha times the reward of a step, on average.

    It is -inf where the action is not available, even to an expert of alpha 0.
    """
    expected = product.expected_rewards()
    return np.multiply(alpha, expected, out=expected, where=~np.isneginf(expected))


def _iterated(product: Product, discount: float, paid: Floats, values: Floats | None) -> Floats:
    """Repeat the soft backup until rounding is all that is left, from some values, float[n, S].

    Each backup changes values by the discount times what the last one did, at most. Where values
    change by more, that is rounding, which may go around in a circle and never end.
    """
    if values is None:
        values = np.zeros((product.n_machine_states, product.mdp.n_states))
    most = None
    while True:
        q = product.discounted(values, discount, paid)
        updated = log_sum(q)
        residual = float(np.abs(updated - values).max())
        values = updated
        most = residual if most is None else min(residual, discount * most)
        if most * discount <= 1e-13 * (1 - discount) + ROUNDING * float(np.abs(values).max()):
            return product.discounted(values, discount, paid)


def _improved(product: Product, discount: float, paid: Floats) -> Floats:
    """Return float[n, S], values after Newton's method: each policy is evaluated exactly.

    The policy of some values is worth at least as much as they are, entropy counted, and its own
    values are the next ones.
    """
    shape = product.n_machine_states, product.mdp.n_states
    values = np.zeros(shape)
    for _ in range(MOST_POLICIES):
        q = product.discounted(values, discount, paid)
        log_p = q - log_sum(q)[..., None]
        found = _policy_values(product, log_p, discount, paid)
        change = float(np.abs(found - values).max())
        values = found
        if change <= 1e-12 * (1 + float(np.abs(values).max())):
            break
    return values


def _policy_values(product: Product, log_p: Floats, discount: float, paid: Floats) -> Floats:
    """Return float[n, S]: what a policy is paid, and its entropy, from each state on."""
    mdp, size = product.mdp, log_p.shape[0] * log_p.shape[1]
    chance = np.exp(log_p)
    taken = chance > 0
    gains = np.subtract(paid.reshape(log_p.shape), log_p, out=np.zeros(log_p.shape), where=taken)
    own = chance * gains
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    weight = chance.reshape(len(chance), -1)[:, pair] * mdp.probabilities
    origin = np.arange(len(chance))[:, None] * mdp.n_states + pair // mdp.n_actions
    matrix = np.eye(size)
    np.subtract.at(matrix, (origin, product.targets), discount * weight)
    values = np.linalg.solve(matrix, own.sum(axis=2).reshape(-1))
    return np.asarray(values).reshape(log_p.shape[:2])
