"""Mice that shuttle between home and water, in a labyrinth whose nodes lack some actions."""

from itertools import product
from pathlib import Path

import numpy as np

import whence

folder = Path(__file__).parent / "mice"
world = whence.LabeledMDP.load(folder / "labyrinth.json")
windows = whence.Demonstrations.load(folder / "windows.npz")
has, nodes = np.unique(world.available.sum(axis=1), return_counts=True)
for actions, count in zip(has.tolist(), nodes.tolist(), strict=True):
    print(f"{count} nodes have {actions} of {world.n_actions} actions")

posterior = whence.Posterior(world, windows, expert=whence.Expert(alpha=5, discount=0.95))


def per_step(machine: whence.RewardMachine, alpha: np.ndarray) -> np.ndarray:
    """Return nats a step, one for each alpha."""
    many = np.repeat(machine.transitions[None], len(alpha), axis=0)
    paid = np.repeat(machine.rewards[None], len(alpha), axis=0)
    return posterior.log_likelihood(many, paid, alpha=alpha) / windows.n_steps


nothing = whence.RewardMachine(world.alphabet, [[0, 0]], [[0, 0]])
print(f"at random: {per_step(nothing, np.ones(1))[0]:.3f} nats a step")

alphas = np.geomspace(0.5, 20, 12)
found = []
for targets in product(range(2), repeat=4):
    for rewards in product((0, 1), repeat=4):
        table = np.array(targets).reshape(2, 2), np.array(rewards, dtype=float).reshape(2, 2)
        if any(rewards):
            machine = whence.RewardMachine(world.alphabet, *table)
            found.append((per_step(machine, alphas).max(), machine))
nats, best = max(found, key=lambda pair: pair[0])
print(f"the best of {len(found)} machines with two states: {nats:.3f}")
memoryless = max(value for value, machine in found if machine.minimised().n_states == 1)
print(f"the best that remembers nothing: {memoryless:.3f}")
print(best)
print("home, water, home, water pays", list(best.run("hwhw").rewards))
