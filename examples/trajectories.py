"""Trajectories with continuous observations: say what they stand for; no other package needed."""

from dataclasses import dataclass

import numpy as np

import whence


@dataclass
class Trajectory:
    """What imitation and others have: T + 1 observations and T actions."""

    obs: np.ndarray
    acts: np.ndarray


office = whence.worlds.coffee()
demos = whence.simulate(office.mdp, office.task, office.expert, episodes=20, length=60, seed=0)
noise = np.random.default_rng(0)
assert office.mdp.grid is not None
cells = office.mdp.grid.cells
rollouts = [
    Trajectory(cells[e.states] + noise.uniform(-0.4, 0.4, (len(e.states), 2)), np.array(e.actions))
    for e in demos
]

seen = whence.Demonstrations.from_trajectories(
    rollouts, state=lambda obs: f"({round(obs[0])}, {round(obs[1])})", mdp=office.mdp
)
print(seen, "that fit the world:", seen.check(office.mdp).ok)
print("the very states that were visited:", np.array_equal(seen.states, demos.states))
