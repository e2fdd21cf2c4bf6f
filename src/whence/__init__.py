"""Infer the reward machine behind an expert's behaviour."""

import warnings

from whence import ask, envs, report, studio, worlds
from whence._files import __version__
from whence.analysis.certainty import Certainty, arrow_certainty
from whence.analysis.facts import Fact, Route
from whence.analysis.outliers import Outlier, outliers
from whence.analysis.questions import Difference, OpenQuestion, differences, open_questions
from whence.analysis.sample import PosteriorSample
from whence.errors import WhenceError, WhenceWarning
from whence.likelihood.posterior import Posterior
from whence.model.coverage import Coverage
from whence.model.demos import Demonstrations
from whence.model.episodes import Episode
from whence.model.expert import Expert
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.grid import Grid
from whence.model.joint import joint_machine
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.planning.evaluation import Evaluation, evaluate
from whence.planning.policies import Policy, expert_policy, plan
from whence.planning.simulation import simulate
from whence.runs.events import Event
from whence.runs.inference import infer
from whence.runs.result import Run
from whence.runs.resuming import load, resume
from whence.search.settings import Annealing, Exhaustive, Tempering

__all__ = [
    "AlphaPrior",
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
    "Fact",
    "Grid",
    "LabeledMDP",
    "LapsePrior",
    "OpenQuestion",
    "Outlier",
    "Policy",
    "Posterior",
    "PosteriorSample",
    "Prior",
    "RewardMachine",
    "Route",
    "Run",
    "Tempering",
    "WhenceError",
    "WhenceWarning",
    "__version__",
    "arrow_certainty",
    "ask",
    "differences",
    "envs",
    "evaluate",
    "expert_policy",
    "infer",
    "joint_machine",
    "load",
    "open_questions",
    "outliers",
    "plan",
    "report",
    "resume",
    "simulate",
    "studio",
    "worlds",
]

_RENAMED = {
    "OddEpisode": "Outlier",
    "Telling": "OpenQuestion",
    "odd_episodes": "outliers",
    "telling_sequences": "open_questions",
}


def __getattr__(name: str) -> object:
    """Return what has another name since version 0.2, with a warning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(f"whence.{name} is whence.{new} now", DeprecationWarning, stacklevel=2)
    return globals()[new]
