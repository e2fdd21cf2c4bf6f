"""Three environments straight from Gymnasium: demonstrate a task there, infer it, plan with it.

For each of FrozenLake, CliffWalking and Taxi: a task of two or three steps, 100 demonstrations
that an expert plays in the environment itself, inference with its default settings, and the
policy of the machine found, paid by the true task. `--seeds 5` repeats all of it, `--long` adds a
task of three steps.
"""

import argparse
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import gymnasium

import whence

EXPERT = whence.Expert(alpha=100, discount=0.99)


class Task(NamedTuple):
    """An environment, what is labelled in it, the true task, and the steps of an episode."""

    name: str
    env: Any
    label: Callable[..., str | None]
    machine: whence.RewardMachine
    length: int


def newest(name: str) -> Any:
    """Make the newest version of an environment that is installed."""
    registered = gymnasium.registry.values()
    versions = [spec.version or 0 for spec in registered if spec.name == name]
    return gymnasium.make(f"{name}-v{max(versions)}")


def lake() -> Task:
    """Touch the flag in the far corner, then reach the goal; holes end everything."""
    env = gymnasium.make("FrozenLake8x8-v1", is_slippery=True)
    kinds = env.unwrapped.desc.reshape(-1)  # type: ignore[attr-defined]

    def label(state: int) -> str | None:
        if state == 7:
            return "flag"
        return {b"G": "goal", b"H": "hole"}.get(kinds[state])

    arrows = [
        "before -flag-> flagged",
        "before -goal,hole-> over",
        "flagged -goal/1-> over",
        "flagged -hole-> over",
    ]
    machine = whence.RewardMachine.from_arrows(arrows, alphabet=("flag", "goal", "hole"))
    return Task("FrozenLake 8x8, slippery", env, label, machine, 200)


def cliff(steps: int = 2) -> Task:
    """Visit the top right corner, with three steps then the top left one, then the goal."""
    env = newest("CliffWalking")
    start, above, right = 36, 24, 1

    def label(state: int, action: int, following: int) -> str | None:
        walked_back = state == above or (state == start and action != right)
        if following == start and not walked_back:
            return "fall"
        return {0: "west", 11: "east", 47: "goal"}.get(following)

    places = ("start", "east", "west")[:steps]
    arrows = [f"{here} -{there}-> {there}" for here, there in pairwise(places)]
    arrows += [f"{places[-1]} -goal/1-> over", *(f"{place} -fall-> over" for place in places)]
    machine = whence.RewardMachine.from_arrows(arrows, alphabet=("west", "east", "goal", "fall"))
    return Task(f"CliffWalking, {steps} steps", env, label, machine, 60)


def long_cliff() -> Task:
    """The same with one step more."""
    return cliff(3)


def taxi() -> Task:
    """Fetch the passenger, then deliver; setting the passenger down elsewhere spoils it."""
    env = newest("Taxi")
    riding = 4

    def label(state: int, action: int, following: int) -> str | None:
        before, after = state // 4 % 5, following // 4 % 5
        if before == after:
            return None
        if after == riding:
            return "fetched"
        return "delivered" if after == following % 4 else "stranded"

    arrows = [
        "waiting -fetched-> aboard",
        "aboard -delivered/1-> over",
        "aboard -stranded-> over",
    ]
    alphabet = ("fetched", "delivered", "stranded")
    machine = whence.RewardMachine.from_arrows(arrows, alphabet=alphabet)
    return Task("Taxi", env, label, machine, 60)


def score(posterior: whence.Posterior, machine: whence.RewardMachine) -> float:
    """Return a machine's log likelihood and log prior together."""
    tables = machine.transitions[None], machine.rewards[None]
    return float(posterior.log_likelihood(*tables)[0] + posterior.log_prior(*tables)[0])


def solved(task: Task, seed: int) -> str:
    """Demonstrate, infer and plan; return what came out."""
    world = whence.envs.GymWorld.from_env(
        task.env, label=task.label, alphabet=task.machine.alphabet
    )
    expert = whence.expert_policy(world.mdp, task.machine, EXPERT)
    played = world.play(task.env, expert, episodes=100, length=task.length, seed=seed)
    demos = world.demonstrations(played)

    run = whence.infer(world.mdp, demos, states=task.machine.n_states, expert=EXPERT, seed=seed)
    truth = score(whence.Posterior(world.mdp, demos, expert=EXPERT), task.machine)
    policy = whence.plan(world.mdp, run.best, discount=EXPERT.discount)
    result = whence.evaluate(world.mdp, policy, truth=task.machine, length=task.length)
    assert run.score >= truth - 1e-6, (task.name, seed, run.score, truth)
    assert abs(result.regret) < 1e-9, (task.name, seed, result)
    return (
        f"{task.name}, seed {seed}: {world.mdp.n_states} states, {demos.n_steps} steps seen; "
        f"score {run.score:.2f} (truth {truth:.2f}) after {run.evaluations:,} machines in "
        f"{run.seconds:.1f} s, {run.stopped}; return {result.expected_return:.4f} of "
        f"{result.reference:.4f}"
    )


def lines(seeds: int, long: bool) -> Iterator[str]:
    """Yield a line for each task and seed."""
    for make in (lake, taxi, cliff, long_cliff) if long else (lake, taxi, cliff):
        for seed in range(seeds):
            yield solved(make(), seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--long", action="store_true", help="a task of three steps, too")
    arguments = parser.parse_args()
    for line in lines(arguments.seeds, arguments.long):
        print(line, flush=True)
