"""Triples: a demonstration set with a seed of its own, three annealing runs, the best kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whence.likelihood.posterior import Posterior
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.prior import Prior
from whence.paper import published as paper
from whence.paper.worlds import BUILT_IN, World
from whence.planning.evaluation import expected_return, returns_of
from whence.planning.policies import plan
from whence.runs.inference import infer
from whence.runs.result import Run
from whence.search.settings import Annealing


@dataclass(frozen=True)
class Variant:
    """The paper's method, or the same with one thing changed.

    Attributes:
        name: what tables call it.
        alpha: the rationality assumed.
        rule: how proposals are accepted.
        neighbours: how many entries change.
        uniform_prior: whether every machine is equally likely beforehand.
        binary: whether machines pay 0 and 1 only.
    """

    name: str
    alpha: float = paper.ALPHA
    rule: str = "modified"
    neighbours: str = "several"
    uniform_prior: bool = False
    binary: bool = False

    def levels(self, world: World) -> tuple[float, ...]:
        """Return the levels that machines may pay."""
        return (0.0, 1.0) if self.binary else world.rewards

    def prior(self, world: World) -> Prior:
        """Return the prior: the paper's, or uniform, p_self = 1 / n and p_zero = 1 / G."""
        if not self.uniform_prior:
            return Prior()
        return Prior(p_self=1 / world.task.n_states, p_zero=1 / len(self.levels(world)))

    def settings(self, world: World, steps: int | None) -> Annealing:
        """Return the column of Table 1, with what the variant changes."""
        preset = Annealing.preset(world.name)
        return replace(
            preset, rule=self.rule, neighbours=self.neighbours, steps=steps or preset.steps
        )


PAPER = Variant("paper")
BINARY = Variant("binary", binary=True)
ABLATION = (
    Variant("standard-rule", rule="standard"),
    Variant("one-change", neighbours="one"),
    Variant("uniform-prior", uniform_prior=True),
    Variant("alpha-5", alpha=5.0),
    Variant("alpha-500", alpha=500.0),
)


@dataclass(frozen=True)
class Job:
    """One triple to do; `steps` takes the place of the preset's N, for trials."""

    world: str
    seed: int
    variant: Variant
    steps: int | None = None


@dataclass(frozen=True)
class Found:
    """What a triple found.

    Attributes:
        world: its name.
        seed: of the demonstrations and of the search.
        variant: its name.
        machine: the best one, minimised and in canonical form.
        agent: r_a, the exact expected return of its optimal policy, paid by the truth.
        watched: the average return of the demonstrated episodes, r_e as it was seen.
        score: of the machine found.
        truth_score: of the true machine on the same demonstrations; None if it pays something
            that is not among the levels.
        log_likelihood: of the machine found.
        truth_log_likelihood: of the true machine.
        same: whether it is the true machine.
        same_in_world: whether the world cannot tell the two apart.
        acceptance: the fraction of proposals accepted.
    """

    world: str
    seed: int
    variant: str
    machine: RewardMachine
    agent: float
    watched: float
    score: float
    truth_score: float | None
    log_likelihood: float
    truth_log_likelihood: float
    same: bool
    same_in_world: bool
    acceptance: float


def anneal(job: Job) -> Found:
    """Simulate the demonstrations of a triple, infer, and evaluate what was found."""
    world = BUILT_IN[job.world](None)
    demos = world.demonstrations(job.seed)
    return _found(job, world, demos, inferred(job, world, demos))


def inferred(job: Job, world: World, demos: Demonstrations) -> Run:
    """Infer a machine as the job's variant does."""
    variant = job.variant
    return infer(
        world.mdp,
        demos,
        states=world.task.n_states,
        method="annealing",
        expert=Expert(variant.alpha, world.expert.discount),
        rewards=variant.levels(world),
        prior=variant.prior(world),
        settings=variant.settings(world, job.steps),
        seed=job.seed,
        threads=1,
        progress=False,
    )


def _found(job: Job, world: World, demos: Demonstrations, run: Run) -> Found:
    machine = run.best.minimised()
    truth_score, truth_likelihood = _truth(world, demos, run)
    return Found(
        world=job.world,
        seed=job.seed,
        variant=job.variant.name,
        machine=machine,
        agent=agent_return(world, machine),
        watched=watched_return(world, demos),
        score=run.score,
        truth_score=truth_score,
        log_likelihood=run.log_likelihood,
        truth_log_likelihood=truth_likelihood,
        same=machine.same_as(world.task),
        same_in_world=machine.same_in(world.task, world.mdp),
        acceptance=float(run.trace.accepted.mean()),
    )


def agent_return(world: World, machine: RewardMachine) -> float:
    """Return what the machine's optimal policy earns, exactly, when the truth pays."""
    policy = plan(world.mdp, machine, world.expert.discount)
    return expected_return(world.mdp, policy, world.task, world.length)


def watched_return(world: World, demos: Demonstrations) -> float:
    """Return the average of what the demonstrated episodes earned."""
    states = demos.states.reshape(world.episodes, world.length + 1)
    return float(returns_of(world.task, world.mdp.labels[states[:, 1:]]).mean())


def _truth(world: World, demos: Demonstrations, run: Run) -> tuple[float | None, float]:
    """Return the true machine's score and log likelihood, under the run's assumptions."""
    posterior = Posterior(
        world.mdp, demos, expert=run.expert, prior=run.prior, rewards=run.rewards, threads=1
    )
    likelihood = posterior.finest(world.task)
    if not set(world.task.rewards.flat) <= set(run.rewards):
        return None, likelihood
    prior = float(posterior.log_prior(world.task.transitions[None], world.task.rewards[None])[0])
    return likelihood / run.temperature + prior, likelihood
