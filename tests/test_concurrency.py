"""The engine in several threads and processes at once: the numbers of one alone, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import whence
from support.problems import random_world
from whence import Expert, Posterior
from whence._arrays import Floats, Ints
from whence.likelihood import posterior as posterior_module

PROGRAM = """
import multiprocessing, sys, warnings
import numpy as np
import whence

def scores(seed):
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=5, length=30, seed=0)
    posterior = whence.Posterior(world.mdp, demos, expert=world.expert, threads=2)
    rng = np.random.default_rng(seed)
    transitions = rng.integers(3, size=(200, 3, 3))
    rewards = rng.integers(2, size=(200, 3, 3)).astype(float)
    return posterior.log_likelihood(transitions, rewards).tobytes()

if __name__ == "__main__":
    alone = [scores(seed) for seed in range(3)] if sys.argv[1] == "fork" else None
    warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of forks beside threads
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        together = pool.map(scores, range(3))
    assert together == (alone or [scores(seed) for seed in range(3)])
    print("the same")
"""


def problem(seed: int) -> tuple[whence.LabeledMDP, whence.Demonstrations]:
    rng = np.random.default_rng(seed)
    world = random_world(rng, states=20, actions=3, symbols=3, successors=3)
    task = whence.RewardMachine(
        ("a", "b", "c"), rng.integers(0, 2, (2, 3)), [[1, 0, 0], [0, 1, 0]]
    )
    demos = whence.simulate(world, task, Expert(5, 0.9), episodes=20, length=20, seed=seed)
    return world, demos


def machines(seed: int, size: int = 300) -> tuple[Ints, Floats]:
    rng = np.random.default_rng(seed)
    rewards = rng.integers(-1, 2, size=(size, 3, 3)).astype(np.float64)
    return rng.integers(3, size=(size, 3, 3)), rewards


def test_threads_that_share_a_posterior_get_the_numbers_of_one_alone() -> None:
    shared = Posterior(*problem(0), expert=Expert(5, 0.9), threads=2)
    alone = Posterior(*problem(0), expert=Expert(5, 0.9), threads=1)
    expected = [alone.log_likelihood(*machines(seed)) for seed in range(4)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda k: shared.log_likelihood(*machines(k % 4)), range(24)))
    for k, values in enumerate(found):
        assert np.array_equal(values, expected[k % 4])


def test_a_posterior_that_forgets_while_others_look_up_still_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posterior_module, "REMEMBERED", 40)
    shared = Posterior(*problem(1), expert=Expert(5, 0.9), threads=1)
    expected = [shared.log_likelihood(*machines(seed, 60), remember=False) for seed in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            calls = pool.map(lambda k: shared.log_likelihood(*machines(k % 4, 60)), range(400))
            found = list(calls)
    finally:
        sys.setswitchinterval(interval)
    assert all(np.array_equal(values, expected[k % 4]) for k, values in enumerate(found))


def test_inference_in_several_threads_is_that_of_one() -> None:
    def inferred(seed: int) -> whence.Run:
        return whence.infer(
            *problem(seed), states=2, expert=Expert(5, 0.9), steps=60, seed=seed, threads=2
        )

    alone = [inferred(seed) for seed in range(2)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(inferred, [0, 1, 0, 1]))
    for seed, run in enumerate(together):
        assert run.best == alone[seed % 2].best
        assert np.array_equal(run.trace.score, alone[seed % 2].trace.score)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_get_the_numbers_of_one(way: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-W", "error", str(program), way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the same\n"


@pytest.mark.slow
def test_processes_that_compile_into_one_empty_cache_do_not_disturb_each_other(
    tmp_path: Path,
) -> None:
    """Kernels of several files, each compiled by both processes as they start together."""
    program = (
        "import whence, numpy as np\n"
        "from whence.likelihood.compiled import canonical_tables\n"
        "from whence.likelihood.hub_map import map_hubs\n"
        "world = whence.worlds.recharge()\n"
        "task, every = world.task, np.ones(len(world.mdp.alphabet), dtype=np.bool_)\n"
        "tables = canonical_tables(task.transitions[None], task.rewards[None], every)\n"
        "hubs = map_hubs(world.mdp, np.arange(world.mdp.n_states))\n"
        "print(tables[0].tolist(), hubs.hubs.tolist(), hubs.lengths.tolist())\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    ends = [process.communicate(timeout=600) for process in started]
    again = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert [process.returncode for process in started] == [0, 0], ends
    assert {output for output, _ in ends} == {again.stdout}
