"""Random problems for the kernels run as Python; ends with a count where all agree."""

from __future__ import annotations

import sys

import kernels_as_python
import numpy as np

import whence
from support.problems import masked, random_machine, random_world
from whence import Expert, Posterior
from whence.likelihood import reference, values
from whence.likelihood.kernels.constants import PAUSE, PLAIN
from whence.likelihood.kernels.extrapolation import may_extrapolate
from whence.likelihood.kernels.packs import SEAT
from whence.model.product import product

assert kernels_as_python.REPLACED


def scored(rng: np.random.Generator) -> None:
    """Compare the log likelihoods of a small batch with the readable engine's."""
    world = random_world(
        rng, states=int(rng.integers(2, 9)), actions=int(rng.integers(1, 4)),
        symbols=int(rng.integers(1, 4)), successors=int(rng.choice([1, 2, 3, 6])),
    )  # fmt: skip
    world = masked(rng, world) if rng.random() < 0.3 else world
    expert = Expert(
        float(rng.choice([0.0, 1.0, 20.0, np.inf])),
        float(rng.choice([0.0, 0.5, 0.9, 0.98])),
        float(rng.choice([0.0, 0.2, 1.0])),
    )
    n = int(rng.integers(1, 4))
    machines = [random_machine(rng, world.alphabet, n) for _ in range(int(rng.integers(1, 8)))]
    demos = whence.simulate(
        world, machines[0], Expert(1.0, 0.5, 0.3), episodes=4, length=6, seed=int(rng.integers(99))
    )
    posterior = Posterior(world, demos, expert=expert, threads=1, tolerance=1e-4)
    found = posterior.log_likelihood(
        np.array([m.transitions for m in machines]), np.array([m.rewards for m in machines])
    )
    for value, each in zip(found.tolist(), machines, strict=True):
        tables = each.transitions, each.rewards
        exact = reference.log_likelihood(world, demos, *tables, expert)
        assert value == exact or abs(value - exact) <= 1e-4, (value, exact)


def solved(rng: np.random.Generator, states: int, discount: float) -> None:
    """Compare optimal values with those of policy iteration."""
    world = random_world(rng, states=states, actions=2, symbols=2, successors=2, blank=0.7)
    machine = random_machine(rng, world.alphabet, 2)
    found = values.optimal_values(world, machine, discount)
    both = product(world, machine)
    q = reference.optimal_q(both, discount)
    assert np.abs(found - q.max(axis=2)).max() <= 1e-9 * (1 + np.abs(q).max())


def remembered(rng: np.random.Generator) -> None:
    """Compile thousands of label histories, and count their steps again."""
    world = random_world(rng, states=6, actions=2, symbols=3, successors=3, blank=0.0)
    machine = random_machine(rng, world.alphabet, 2)
    demos = whence.simulate(world, machine, Expert(0.1, 0.5), episodes=40, length=100, seed=0)
    demos = whence.Demonstrations.from_episodes(
        episode._replace(history=("a", "c")) for episode in demos
    )
    expert = Expert(1.0, 0.5, 1e-310)
    found = Posterior(world, demos, expert=expert, threads=1).finest(machine)
    exact = reference.log_likelihood(world, demos, machine.transitions, machine.rewards, expert)
    assert abs(found - exact) <= 1e-7


def walked(rng: np.random.Generator) -> None:
    """Simulate one long episode, which is walked by a kernel; every step must be possible."""
    world = random_world(rng, states=6, actions=2, symbols=3, successors=3)
    machine = random_machine(rng, world.alphabet, 2)
    demos = whence.simulate(world, machine, Expert(1.0, 0.5), episodes=1, length=10_001, seed=0)
    assert demos.n_steps == 10_001
    assert not demos.check(world).problems


def paused() -> None:
    """A machine whose changes do not halve goes on without extrapolation, longer each time."""
    seat = np.zeros(1, SEAT).view(np.recarray)[0]
    seat.reached, seat.last, seat.rounds = 1.0, 1.0, PLAIN + 1
    answers = [bool(may_extrapolate(seat, 1.0, 4)) for _ in range(200)]
    pauses = "".join("+" if answer else "-" for answer in answers).replace("+", " ").split()
    assert len(pauses[0]) == PAUSE + 1
    assert len(pauses[1]) == 2 * PAUSE + 1


def main() -> None:
    """Run all; print how many problems agreed."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        scored(rng)
    for states, discount in ((3, 0.99), (12, 0.999), (30, 0.95), (5000, 0.3)):
        solved(rng, states, discount)
    remembered(rng)
    walked(rng)
    paused()
    sys.stdout.write("67 problems agree\n")


if __name__ == "__main__":
    main()
