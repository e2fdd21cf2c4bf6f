"""Infer the reward machine behind an expert's behaviour."""

from whence import envs, report, worlds
from whence.certainty import Certainty, arrow_certainty
from whence.coverage import Coverage
from whence.demos import Demonstrations, Episode
from whence.errors import WhenceError, WhenceWarning
from whence.evaluation import Evaluation, evaluate
from whence.expert import Expert
from whence.grid import Grid
from whence.inference import infer
from whence.joint import joint_machine
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.odd import OddEpisode, odd_episodes
from whence.planning import Policy, expert_policy, plan
from whence.posterior import Posterior
from whence.prior import Prior
from whence.resuming import load, resume
from whence.runs.events import Event
from whence.runs.result import Run
from whence.sample import PosteriorSample
from whence.search.exhaustive import Exhaustive
from whence.search.settings import Annealing, Tempering
from whence.simulation import simulate
from whence.telling import Difference, Telling, differences, telling_sequences

__version__ = "0.1.0"

__all__ = [
    "Annealing",
    "Certainty",
    "Coverage",
    "Demonstrations",
    "Difference",
    "Episode",
    "Evaluation",
    "Event",
    "Exhaustive",
    "Expert",
    "Grid",
    "LabeledMDP",
    "OddEpisode",
    "Policy",
    "Posterior",
    "PosteriorSample",
    "Prior",
    "RewardMachine",
    "Run",
    "Telling",
    "Tempering",
    "WhenceError",
    "WhenceWarning",
    "arrow_certainty",
    "differences",
    "envs",
    "evaluate",
    "expert_policy",
    "infer",
    "joint_machine",
    "load",
    "odd_episodes",
    "plan",
    "report",
    "resume",
    "simulate",
    "telling_sequences",
    "worlds",
]
