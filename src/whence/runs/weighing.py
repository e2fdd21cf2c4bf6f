"""The sample of a run, weighed anew where the dynamics are known from a log alone.

That takes a while, so the folder of a run keeps what was drawn, under a name that says what it was
drawn from: whoever reads the run again need not draw again.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from whence import _files as files
from whence._arrays import Ints
from whence.analysis import roughness, sensitivity
from whence.analysis.apart import told_apart
from whence.analysis.facts import percent
from whence.analysis.plans import Known
from whence.analysis.sample import PosteriorSample
from whence.errors import FileError, FormatError
from whence.io import arrays
from whence.likelihood.posterior import Posterior
from whence.model.coverage import THIN, coverage
from whence.model.expert import BOLTZMANN, SOFT, Expert
from whence.model.machine import RewardMachine
from whence.runs.reported import sampled
from whence.search.diagnostics import MOST_ERRORS
from whence.search.draws import Draws
from whence.search.problem import Problem

PLAIN, ANEW = "whence/draws/1", "whence/draws/2"
WITH_KINDS = "whence/draws/3"  # which says of each expert whether it plans softly
DRAWS = "draws.npz"
SO_FAR = "the dynamics are taken as estimated until the search is over"
NAMES = tuple(field.name for field in fields(Draws) if field.name != "soft")


@dataclass(frozen=True, eq=False, repr=False)
class Rough:
    """What was done about dynamics that a log shows roughly.

    Attributes:
        as_estimated: the sample that takes the estimated dynamics for the true ones.
        note: what was done, in words.
        source: names what was weighed anew.
    """

    as_estimated: PosteriorSample
    note: str
    source: str

    def __repr__(self) -> str:
        return f"<Rough: {self.note}>"


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a search drew, as the run tells it.

    Attributes:
        draws: machines with their weights.
        sample: the same in classes.
        rough: what was done about the dynamics, where anything was.
        doubts: what speaks against it, in words.
    """

    draws: Draws | None
    sample: PosteriorSample | None
    rough: Rough | None = None
    doubts: tuple[str, ...] = ()


def weighed(
    problem: Problem,
    posterior: Posterior,
    draws: Draws | None,
    seed: int,
    folder: Path | None,
    known: Known | None = None,
    tell: Callable[[str], None] | None = None,
    instead: tuple[str, ...] = (SO_FAR,),
    most_seconds: float = math.inf,
) -> Weighed:
    """Return the sample of a run.

    Args:
        problem: what was searched.
        posterior: of the expert that was found.
        draws: what the search drew, which takes the dynamics as estimated.
        seed: the run's.
        folder: the run's, where it has one.
        known: plans that were worked out before.
        tell: is told how far that is; None where nobody is to wait for dynamics: they are taken
            as estimated.
        instead: what is doubted then.
        most_seconds: what machines may take that are weighed anew.
    """
    plans = {} if known is None else known
    if draws is None:
        return Weighed(None, None, doubts=tuple(sensitivity.doubts_of_dynamics(posterior, None)))
    sample = sampled(posterior, draws, plans)
    if all(mdp.unseen is None for mdp, _ in posterior.worlds):
        return Weighed(draws, sample)
    if tell is None:
        return Weighed(draws, sample, doubts=instead)
    source = digest(draws, seed)
    anew = None if folder is None else _kept(folder, source)
    if anew is None:
        began = time.perf_counter()
        anew = roughness.weighed_anew(
            problem, draws, seed, tell, lambda: 2 * (time.perf_counter() - began) > most_seconds
        )
    if anew is None:
        doubts = sensitivity.doubts_of_dynamics(posterior, sample)
        return Weighed(draws, sample, doubts=tuple(doubts))
    found = sampled(posterior, anew, plans)
    rough = Rough(sample, _note(posterior, found, sample), source)
    return Weighed(anew, found, rough, _doubts(found))


def leading(
    found: Weighed, machine: RewardMachine, expert: Expert, temperature: float
) -> tuple[RewardMachine, Expert]:
    """Return the machine to call the best, and its expert: that of the heaviest class.

    Args:
        found: the sample.
        machine: the best of the search.
        expert: its expert.
        temperature: likelihoods count to the power of one over it.
    """
    sample, draws = found.sample, found.draws
    if found.rough is None or sample is None or draws is None:
        return machine, expert
    if all(told_apart(machine, sample.best, mdp) is None for mdp in sample.worlds):
        return machine, expert
    return sample.best, likeliest_expert(sample, draws, temperature)


def likeliest_expert(sample: PosteriorSample, draws: Draws, temperature: float) -> Expert:
    """Return the expert of the likeliest draw of the heaviest class."""
    score = draws.log_likelihood / temperature + draws.log_prior
    at = int(np.argmax(np.where(sample.drawn.kind == 0, score, -np.inf)))
    numbers = draws.alpha[at], draws.discount[at], draws.lapse[at]
    alpha, discount, lapse = (float(number) for number in numbers)
    return Expert(alpha, discount, lapse, SOFT if draws.softly[at] else BOLTZMANN)


def digest(draws: Draws, seed: int) -> str:
    """Return a name for what machines are weighed anew from."""
    settings = (roughness.CHAINS, roughness.FIRST, roughness.STEPS, roughness.PRECISION, seed)
    found = hashlib.sha256(repr(settings).encode())
    for name in _columns(draws):
        found.update(np.ascontiguousarray(getattr(draws, name)).tobytes())
    return found.hexdigest()


def _columns(draws: Draws) -> tuple[str, ...]:
    return NAMES if draws.soft is None else (*NAMES, "soft")


def draw_arrays(draws: Draws, rough: Rough | None) -> arrays.Arrays:
    """Return draws as arrays for a file, which names what they were weighed anew from."""
    columns = {name: np.asarray(getattr(draws, name)) for name in _columns(draws)}
    tag = PLAIN if rough is None else ANEW
    head = {"format": np.array(tag if draws.soft is None else WITH_KINDS)}
    return head | ({} if rough is None else {"source": np.array(rough.source)}) | columns


def _kept(folder: Path, source: str) -> Draws | None:
    """Return the draws that a folder keeps, if they are those asked for and whole."""
    try:
        found = arrays.load(files.read_bytes(files.own(folder, DRAWS)), DRAWS)
    except (FileError, FormatError):
        return None
    if str(found.get("source")) != source or set(NAMES) - set(found):
        return None
    names = (*NAMES, "soft") if "soft" in found else NAMES
    columns = {name: found[name] for name in names}
    size, shape = len(columns["weight"]), columns["transitions"].shape
    tables = {"transitions", "rewards"}
    whole = len(shape) == 3 and size > 0 and columns["rewards"].shape == shape
    whole &= all(columns[name].shape[:1] == (size,) for name in names if name != "exact")
    whole &= all(columns[name].ndim == 1 for name in set(names) - tables - {"exact"})
    if not whole or not _possible(columns["transitions"], columns["n_states"]):
        return None
    del columns["exact"]
    return Draws(**columns, exact=False)


def _possible(transitions: Ints, n_states: Ints) -> bool:
    n = transitions.shape[1]
    return bool(
        ((transitions >= 0) & (transitions < n)).all()
        and ((n_states >= 1) & (n_states <= n)).all()
    )


def _doubts(rough: PosteriorSample) -> tuple[str, ...]:
    apart = 0.0 if rough.agreement is None else rough.agreement.largest
    if apart <= MOST_ERRORS:
        return ()
    return (
        "over the dynamics that the log allows for, chains' frequencies of a machine are "
        f"{apart:.1f} errors apart: log more episodes, or give the dynamics",
    )


def _note(posterior: Posterior, rough: PosteriorSample, sample: PosteriorSample) -> str:
    """Return how much of the dynamics is known, and what that does to the first probability."""
    known = [coverage(demos, mdp) for mdp, demos in posterior.worlds if mdp.unseen is not None]
    pairs, unseen, thin = (
        sum(getattr(each, name) for each in known) for name in ("pairs", "unseen", "thin")
    )
    best = [m for m in range(len(sample)) if _same(rough, sample.machines[m])]
    before = float(sample.weights[best].sum())
    missing = [
        *([f"never shows {unseen} of {pairs} state-action pairs"] if unseen else []),
        *([f"shows {thin} of {pairs} state-action pairs fewer than {THIN} times"] if thin else []),
    ]
    which = f", which {' and '.join(missing)}" if missing else ""
    return (
        f"the dynamics are estimated from the log{which}; probabilities take that into account: "
        f"the likeliest machine has {percent(float(rough.weights[0]))}, and would have "
        f"{percent(before)} if the estimate were exact"
    )


def _same(rough: PosteriorSample, machine: RewardMachine) -> bool:
    return all(rough.best.same_in(machine, mdp) for mdp in rough.worlds)
