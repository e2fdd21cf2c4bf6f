"""The readable engine, in plain NumPy: the specification, and the oracle of the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.endings import log_mean
from whence.likelihood.given import Worlds
from whence.likelihood.soft_planning import soft_q
from whence.model.checks import step_labels, step_states, translated_history
from whence.model.demos import Demonstrations
from whence.model.episodes import Episode
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import Product, product_of_tables, with_blank

STALLED = 20  # policies in a row whose values are no larger, after which they count as equal
BACKUPS = 16  # product states for each backup before the first policy
DENSE_LIMIT = 1500  # product states up to which policies are evaluated by a linear solve


def log_likelihood(
    mdp: LabeledMDP, demos: Demonstrations, transitions: Ints, rewards: Floats, expert: Expert
) -> float:
    """Return the sum over all steps of log P(action | state, machine state).

    The machine, int[n, m] and float[n, m], reads the labels entered so far in each episode,
    after those of its history.
    """
    q = expert_q(product_of_tables(mdp, transitions, rewards), expert)
    log_p = expert.log_action_probabilities(q)
    following, _ = with_blank(transitions, rewards)
    labels, history = step_labels(mdp, demos), translated_history(mdp, demos)
    here = step_states(demos)
    total = 0.0
    for episode in range(len(demos)):
        memory = 0
        for label in history[demos.history_offsets[episode] : demos.history_offsets[episode + 1]]:
            memory = following[memory, label]
        for step in range(demos.action_offsets[episode], demos.action_offsets[episode + 1]):
            if step > demos.action_offsets[episode]:
                memory = following[memory, labels[here[step]]]
            total += log_p[memory, demos.states[here[step]], demos.actions[step]]
    return float(total)


def log_likelihood_of_endings(worlds: Worlds, machine: RewardMachine) -> float:
    """Return what it adds that episodes end because the task is over; see `likelihood.endings`.

    The machine reads every symbol of the worlds.
    """
    return float(endings_by_episode(worlds, machine).sum())


def endings_by_episode(worlds: Worlds, machine: RewardMachine) -> Floats:
    """Return float64[E]: what each episode adds to `log_likelihood_of_endings`, after the others.

    Worlds come one after the other.
    """
    shown = {s for mdp, demos in worlds for s in _shown(mdp, demos)}
    pays = [_pays(machine, y, shown) for y in range(machine.n_states)]
    counts: Counter[tuple[bool, bool]] = Counter()
    sums = [0.0]
    for mdp, demos in worlds:
        for episode in demos:
            counts.update(_endings(mdp, episode, machine, pays))
            dead = log_mean(counts[False, False], counts[False, True])
            sums.append(dead + log_mean(counts[True, True], counts[True, False]))
    return np.diff(sums)


def _endings(
    mdp: LabeledMDP, episode: Episode, machine: RewardMachine, pays: Sequence[bool]
) -> Iterator[tuple[bool, bool]]:
    """Yield, for each state entered, whether the machine is live, and whether it ended there."""
    if episode.ended is None:
        return
    said = episode.labels or [mdp.label(s) for s in episode.states]
    memory = 0
    for symbol in episode.history:
        memory, _ = machine.step(memory, symbol)
    for place in range(1, len(episode.states)):
        memory, _ = machine.step(memory, said[place])
        yield pays[memory], episode.ended and place == len(episode.states) - 1


def _shown(mdp: LabeledMDP, demos: Demonstrations) -> set[str]:
    """Return the symbols that a world's states carry, or that its demonstrations read."""
    own = {mdp.alphabet[label] for label in mdp.labels[mdp.labels >= 0].tolist()}
    read = [s for e in demos for s in (*(e.labels or ())[1 : len(e.states)], *e.history)]
    return own | {symbol for symbol in read if symbol is not None}


def _pays(machine: RewardMachine, state: int, symbols: set[str]) -> bool:
    """Return whether a non-zero pay can be reached from a machine state by some symbols."""
    reached, waiting = {state}, [state]
    while waiting:
        here = waiting.pop()
        for symbol in symbols:
            following, reward = machine.step(here, symbol)
            if reward != 0:
                return True
            if following not in reached:
                reached.add(following)
                waiting.append(following)
    return False


def expert_q(product: Product, expert: Expert) -> Floats:
    """Return what an expert goes by, float[n, S, A]: the optimal Q, or a soft one in nats."""
    if expert.is_soft:
        return soft_q(product, expert.alpha, expert.discount)
    return optimal_q(product, expert.discount)


def optimal_q(product: Product, discount: float) -> Floats:
    """Return the optimal discounted Q of the product, float[n, S, A]."""
    size = product.n_machine_states * product.mdp.n_states
    if size <= DENSE_LIMIT:
        return policy_iteration(product, discount)
    return value_iteration(product, discount)


def policy_iteration(product: Product, discount: float) -> Floats:
    """Howard's policy iteration, each policy evaluated exactly; returns float[n, S, A].

    An action is changed only for one that is better by more than rounding at its state. Where
    rounding still leads back to an earlier policy, or on and on among policies none of which
    has larger values than those before, all of them are equally good, and it ends.
    """
    expected = product.expected_rewards()
    shape = (product.n_machine_states, product.mdp.n_states)
    policy = _greedy(product, discount, expected)
    everywhere = np.arange(len(policy))
    seen: set[bytes] = set()
    most, stalled = np.full(len(policy), -np.inf), 0
    while True:
        values = _policy_values(product, policy, discount, expected)
        grown = (values - most > 1e-13 * np.abs(values)).any()
        most, stalled = np.maximum(most, values), 0 if grown else stalled + 1
        q = product.discounted(values.reshape(shape), discount, expected)
        flat = q.reshape(len(policy), -1)
        best = flat.argmax(axis=1)
        gain = flat[everywhere, best] - flat[everywhere, policy]
        better = gain > 1e-13 * np.abs(flat).max(axis=1, initial=0.0, where=np.isfinite(flat))
        if not better.any() or policy.tobytes() in seen or stalled == STALLED:
            return q
        seen.add(policy.tobytes())
        policy = np.where(better, best, policy)


def _greedy(product: Product, discount: float, expected: Floats) -> Ints:
    """Return int[n * S]: a policy to improve, after as many backups as cost less than it saves."""
    values = np.zeros((product.n_machine_states, product.mdp.n_states))
    q = np.tile(np.where(product.mdp.available, 0.0, -np.inf), (len(values), 1, 1))
    for _ in range(values.size // BACKUPS):
        q = product.discounted(values, discount, expected)
        values = q.max(axis=2)
    return np.asarray(q.argmax(axis=2).reshape(-1))


def value_iteration(product: Product, discount: float) -> Floats:
    """Repeat Bellman's backup until rounding is all that is left; returns float[n, S, A]."""
    expected = product.expected_rewards()
    values = np.zeros((product.n_machine_states, product.mdp.n_states))
    while True:
        q = product.discounted(values, discount, expected)
        updated = q.max(axis=2)
        residual = float(np.abs(updated - values).max())
        values = updated
        if residual * discount <= 1e-13 * (1 - discount) + 4e-16 * float(np.abs(values).max()):
            return product.discounted(values, discount, expected)


def _policy_values(product: Product, policy: Ints, discount: float, expected: Floats) -> Floats:
    """Return float[n * S]: solve V = r + discount P V for one action per product state."""
    mdp, size = product.mdp, len(policy)
    matrix = np.eye(size)
    pair = np.tile(np.arange(mdp.n_states) * mdp.n_actions, product.n_machine_states) + policy
    for state in range(size):
        row = slice(mdp.offsets[pair[state]], mdp.offsets[pair[state] + 1])
        targets = product.targets[state // mdp.n_states, row]
        np.subtract.at(matrix[state], targets, discount * mdp.probabilities[row])
    rewards = expected[np.arange(size) // mdp.n_states, pair]
    return np.asarray(np.linalg.solve(matrix, rewards), dtype=np.float64)
