"""How many machines a second a card scores, beside one core."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from whence.cli.benchmarks.timing import least
from whence.likelihood.cache import bands
from whence.likelihood.engines import DEVICES
from whence.likelihood.posterior import TOLERANCE, Posterior
from whence.model.expert import Expert
from whence.model.prior import Prior
from whence.paper.growing import Growing, growing
from whence.paper.worlds import BUILT_IN, World

GRID = "39 x 39"
CASES = (("coffee", 0.92), ("recharge", 0.92), ("multi-coffee", 0.92), (GRID, 0.97))
ALPHA = 50.0
BATCHES = {GRID: 2**16}  # machines that the card scores at a time ...
BATCH = 2**19  # ... elsewhere
SHARE = 128  # one in so many is scored by the core, too
REPEATS = 5


@dataclass(frozen=True)
class CardResult:
    """Machines a second in one world, drawn from the prior.

    Attributes:
        card: its name.
        world: its name.
        states: of the machines.
        machines: that were scored at a time.
        kernels: machines a second that the card scores once they are there.
        call: the same, with the way there and back.
        core: the same of one core.
        first: seconds until the first machine was scored, kernels compiled or loaded.
        difference: the largest difference to the core's log likelihoods, in nats.
    """

    card: str
    world: str
    states: int
    machines: int
    kernels: float
    call: float
    core: float
    first: float
    difference: float


def world_of(name: str) -> World:
    """Return a world to measure in: a built-in one, or a deterministic grid of 1,521 cells."""
    if name != GRID:
        return BUILT_IN[name](None)
    return growing(Growing(kind="sequence", states=8, symbols=8, side=39))


def measure(name: str, discount: float, seed: int) -> CardResult:
    """Measure one case."""
    from whence.likelihood.cuda.engine import CudaEngine

    world = world_of(name)
    demos = world.demonstrations(seed)
    alpha = world.expert.alpha if name == GRID else ALPHA
    core, posterior = (
        Posterior(
            world.mdp, demos, expert=Expert(alpha, discount), rewards=world.rewards, threads=1,
            device=device,
        )
        for device in DEVICES
    )  # fmt: skip
    engine = posterior.engines[0]
    assert isinstance(engine, CudaEngine)
    size, n, m = BATCHES.get(name, BATCH), world.task.n_states, len(world.mdp.alphabet)
    rng = np.random.default_rng(seed)
    tables = Prior().sample(rng, n, m, world.rewards, size)
    few = tables[0][: size // SHARE], tables[1][: size // SHARE]
    began = time.perf_counter()
    posterior.log_likelihood(tables[0][:1], tables[1][:1], remember=False)
    first = time.perf_counter() - began
    canonical = engine.canonical(*tables)
    exact = posterior.value_tolerance(bands(np.full(size, alpha)), TOLERANCE)
    experts = np.arange(size + 1), np.full(size, alpha), np.zeros(size)
    call = least(lambda: engine.log_likelihood(canonical, *experts, exact))
    slow = least(lambda: core.log_likelihood(*few, remember=False), runs=1)
    batch = engine.sent(canonical, exact)
    sent = tuple(engine.card.put(numbers) for numbers in experts)
    alone = engine.card.seconds(lambda: engine.read(batch, engine.solved(batch)[0], sent, size))
    found = engine.log_likelihood(canonical, *experts, exact)[0][: len(few[0])]
    difference = np.abs(found - core.log_likelihood(*few, remember=False)).max()
    return CardResult(
        card=engine.card.name,
        world=name,
        states=n,
        machines=size,
        kernels=size / min(alone() for _ in range(REPEATS)),
        call=size / call.wall,
        core=len(few[0]) / slow.core,
        first=first,
        difference=float(difference),
    )
