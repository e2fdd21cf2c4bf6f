"""The draws of a run for ArviZ, versions 0.x and 1.x."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import BLANK, Floats, Ints
from whence.analysis import replicas
from whence.analysis.grouping import unique_machines
from whence.analysis.sample import PosteriorSample, draw_classes
from whence.errors import ArgumentError, MissingExtraError
from whence.likelihood.episodes import log_likelihood_by_episode
from whence.likelihood.reference import endings_by_episode
from whence.model.canonical import minimise_batch
from whence.model.checks import step_labels
from whence.model.demos import Demonstrations
from whence.model.expert import BOLTZMANN, SOFT, Expert
from whence.model.machine import RewardMachine
from whence.runs.job import Job
from whence.search import diagnostics
from whence.search.draws import Draws
from whence.search.unknowns import Experts

VARIABLES = ("n_states", "alpha", "lapse", "discount", "log_likelihood", "log_prior")
MOST_NUMBERS = 2**25  # of log likelihoods by episode
PREDICTED = 50  # draws of a chain that make episodes
STREAM = 4  # apart from the streams of `simulate`, `infer`, `held_out` and `check`

Group = dict[str, Any]


class Rows(NamedTuple):
    """Draws by chain.

    Attributes:
        draws: all of them.
        chosen: int64[C, N], those of each chain, in order of time.
    """

    draws: Draws
    chosen: Ints

    def of(self, values: Ints | Floats) -> Any:
        """Return values of the draws, [draws, ...], as [C, N, ...]."""
        return np.asarray(values)[self.chosen]


def to_arviz(
    job: Job,
    draws: Draws | None,
    sample: PosteriorSample | None,
    ladders: Mapping[str, Any],
    *,
    predicted: int = PREDICTED,
    every: int | None = None,
) -> Any:
    """Return groups as an InferenceData (0.x) or a DataTree (1.x); see `Run.to_arviz`."""
    arviz = _arviz()
    if draws is None or sample is None or draws.exact:
        raise ArgumentError(
            f"method {job.method!r} draws no chains; infer with method='tempering', or read "
            "run.posterior"
        )
    rows = _rows(draws, sum(len(demos) for _, demos in job.pairs), every)
    tables = _machines(draws, sample.alphabet)
    groups = {
        "posterior": _posterior(rows, sample),
        "sample_stats": {"lp": rows.of(draws.log_likelihood / job.settings.temperature
                                       + draws.log_prior)},
        "log_likelihood": {"episodes": _episodes(job, rows, tables)},
        "log_prior": _log_prior(job, rows),
    }  # fmt: skip
    dims = {"episodes": ["episode"]}
    if predicted:
        made, seen = _predicted(job, rows, tables, predicted)
        groups |= {"posterior_predictive": made, "observed_data": seen}
        dims |= {name: ["episode", *(["symbol"] if values.ndim > 1 else [])]
                 for name, values in seen.items()}  # fmt: skip
    coords = {"symbol": list(sample.alphabet)}
    attributes = {"inference_library": "whence", "temperature": job.settings.temperature}
    return _with_ladders(_made(arviz, groups, dims, coords, attributes), ladders)


def _arviz() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # 0.x announces 1.x when it is imported
        try:
            import arviz
        except ImportError:
            raise MissingExtraError(
                "to_arviz needs the package arviz; install it with: pip install 'whence[arviz]'"
            ) from None
    return arviz


def _made(arviz: Any, groups: dict[str, Group], dims: Group, coords: Group, attrs: Group) -> Any:
    """Return the groups as ArviZ has them; 0.x takes no log prior with the others."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "log_likelihood variable found", UserWarning)
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict(groups, dims=dims, coords=coords, attrs={"/": attrs})
        prior = groups.pop("log_prior")
        data = arviz.from_dict(**groups, dims=dims, coords=coords, attrs=attrs)
        data.add_groups(log_prior=prior)
        return data


def _with_ladders(data: Any, ladders: Mapping[str, Any]) -> Any:
    """Say how the ladders did, among the statistics of the sampler."""
    rates = [np.nan if rate is None else rate for rate in ladders.get("swap_rates", ())]
    if not rates:
        return data
    known = {
        "swap_rate": ("swap", rates),
        "temperatures": ("rung", list(ladders["temperatures"])),
        "round_trips": ("chain", list(ladders["round_trips"])),
        "Lambda": ((), diagnostics.barrier(1 - np.array(rates))),
    }
    import xarray

    for name, (dims, values) in known.items():
        data["sample_stats"][name] = xarray.DataArray(values, dims=dims)
    return data


def _rows(draws: Draws, episodes: int, every: int | None) -> Rows:
    """Return the draws of each ladder; of each, as many as the shortest has."""
    ladders: list[Ints] = [np.flatnonzero(draws.ladder == k) for k in np.unique(draws.ladder)]
    shortest = min(len(ladder) for ladder in ladders)
    step = every or -(-shortest * len(ladders) * max(episodes, 1) // MOST_NUMBERS)
    return Rows(draws, np.stack([ladder[:shortest:step] for ladder in ladders]))


def _posterior(rows: Rows, sample: PosteriorSample) -> Group:
    draws = rows.draws
    small = minimise_batch(draws.transitions, draws.rewards)[2]
    columns = {name: rows.of(getattr(draws, name)) for name in VARIABLES}
    return columns | {"n_minimal": rows.of(small), "machine": rows.of(draw_classes(sample, draws))}


def _machines(draws: Draws, alphabet: Sequence[str]) -> tuple[list[RewardMachine], Ints]:
    """Return the different machines, and that of each draw, int64[N]."""
    first, which = unique_machines(draws.transitions, draws.rewards)
    return [
        RewardMachine(alphabet, draws.transitions[i, :n], draws.rewards[i, :n])
        for i, n in zip(first.tolist(), draws.n_states[first].tolist(), strict=True)
    ], which


def _episodes(job: Job, rows: Rows, tables: tuple[list[RewardMachine], Ints]) -> Floats:
    """Return float64[C, N, E], the log likelihood of each episode."""
    machines, which = tables
    flat = rows.chosen.reshape(-1)
    result = np.zeros((len(flat), sum(len(demos) for _, demos in job.pairs)))
    for number in np.unique(which[flat]).tolist():
        own = np.flatnonzero(which[flat] == number)
        own = own[np.argsort(rows.draws.discount[flat[own]], kind="stable")]
        experts = [expert_of(job, rows.draws, row) for row in flat[own].tolist()]
        found = log_likelihood_by_episode(job.pairs, machines[number], experts)
        if job.endings != "ignore":
            found = found + endings_by_episode(job.pairs, machines[number])
        result[own] = found
    return result.reshape(*rows.chosen.shape, -1)


def expert_of(job: Job, draws: Draws, row: int) -> Expert:
    """Return the expert of a draw."""
    kind = SOFT if draws.softly[row] else BOLTZMANN
    numbers = draws.alpha[row], draws.discount[row], draws.lapse[row]
    return Expert(float(numbers[0]), float(numbers[1]), float(numbers[2]), kind)


def _log_prior(job: Job, rows: Rows) -> Group:
    """Return what is known beforehand of machines, and of experts where they are unknown."""
    draws, known = rows.draws, replace(job.unknowns, largest=_largest(job))
    experts = Experts(draws.alpha, draws.lapse, np.zeros(draws.size, dtype=np.int64))
    own = known.log_prior(experts)
    machine = {"machine": rows.of(draws.log_prior - own)}
    return machine | ({"expert": rows.of(own)} if known.any_number else {})


def _largest(job: Job) -> float:
    return max(abs(level) for level in job.rewards) or 1.0


def _predicted(
    job: Job, rows: Rows, tables: tuple[list[RewardMachine], Ints], most: int
) -> tuple[Group, Group]:
    """Return what episodes show that some draws make, [C, N', E, ...], and what the real ones do.

    Episodes with labels of their own are made with the world's.
    """
    rng = np.random.default_rng(np.random.SeedSequence(job.seed, spawn_key=(STREAM,)))
    machines, which = tables
    places = [replicas.seats(mdp, demos) for mdp, demos in job.pairs]
    length = rows.chosen.shape[1]
    some = np.unique(np.linspace(0, length - 1, min(most, length)).astype(np.int64))
    made = [
        [
            _shown(job, [
                replicas.replica(
                    place, machines[which[row]], expert_of(job, rows.draws, row), None, rng
                )
                for place in places
            ])
            for row in chain.tolist()
        ]
        for chain in rows.chosen[:, some]
    ]  # fmt: skip
    seen = _shown(job, [demos for _, demos in job.pairs])
    stacked = {name: np.array([[each[name] for each in chain] for chain in made]) for name in seen}
    return stacked, seen


def _shown(job: Job, sets: Sequence[Demonstrations]) -> Group:
    """Return how often each episode enters each label and turns back, int64[E, m], int64[E]."""
    symbols = tuple(dict.fromkeys(s for mdp, _ in job.pairs for s in mdp.alphabet))
    counts, turns = [], []
    for (mdp, _), demos in zip(job.pairs, sets, strict=True):
        columns = np.array([symbols.index(s) for s in mdp.alphabet] + [0], dtype=np.int64)
        episode = np.repeat(np.arange(len(demos)), np.diff(demos.state_offsets))
        labels, states = step_labels(mdp, demos), demos.states
        read = (labels != BLANK) & (np.arange(len(labels)) != demos.state_offsets[:-1][episode])
        codes = episode[read] * len(symbols) + columns[labels[read]]
        size = len(demos) * len(symbols)
        counts.append(np.bincount(codes, minlength=size).reshape(len(demos), -1))
        back = (episode[2:] == episode[:-2]) & (states[2:] == states[:-2])
        back &= states[2:] != states[1:-1]
        turns.append(np.bincount(episode[2:][back], minlength=len(demos)))
    return {"label_counts": np.concatenate(counts), "turns_back": np.concatenate(turns)}
