"""Infer the reward machine behind an expert's behaviour."""

from whence import worlds
from whence.demos import Demonstrations, Episode
from whence.errors import WhenceError, WhenceWarning
from whence.evaluation import Evaluation, evaluate
from whence.expert import Expert
from whence.grid import Grid
from whence.inference import infer
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.planning import Policy, expert_policy, plan
from whence.posterior import Posterior
from whence.prior import Prior
from whence.runs.result import Run
from whence.search.exhaustive import Exhaustive
from whence.search.settings import Annealing
from whence.simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "Annealing",
    "Demonstrations",
    "Episode",
    "Evaluation",
    "Exhaustive",
    "Expert",
    "Grid",
    "LabeledMDP",
    "Policy",
    "Posterior",
    "Prior",
    "RewardMachine",
    "Run",
    "WhenceError",
    "WhenceWarning",
    "evaluate",
    "expert_policy",
    "infer",
    "plan",
    "simulate",
    "worlds",
]
