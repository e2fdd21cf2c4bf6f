"""Which subjects have which task: groups by evidence, each with a posterior of its own.

Machines are found by searches: what all subjects show together, what each shows alone, and, once
groups are guessed, what each group shows. They are weighed exactly for every subject, and sums are
over the machines so found. Where every machine is found by a search of all, nothing is left out;
else machines that no search met count as impossible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence.analysis.mixture import Parted
from whence.analysis.questions import open_questions
from whence.analysis.sample import PosteriorSample
from whence.analysis.subjects import Weights, expert_of, weighed
from whence.model.expert import SOFT
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.machine import RewardMachine
from whence.model.prior import checked_levels
from whence.runs import listed
from whence.runs.checking import fitted_to
from whence.runs.groups import Group, Groups, Subject
from whence.runs.job import Job
from whence.runs.listed import padded
from whence.search.diagnostics import Summary
from whence.search.draws import Draws
from whence.search.settings import Tempering

FROM_ALL, FROM_ONE = 40, 8  # machines that a search hands on, the heaviest
GUESSED = 2_000  # combinations of machines by which groups are guessed
PART: dict[str, Any] = {"ladders": 2, "warm_up": 100, "every": 50, "trips": 2, "precision": 0.1}
MOST_STEPS = 1_000  # of tempering, of what one subject or group shows; most agree far sooner
WEIGHING = "weighing {} machines for every subject"

Tell = Callable[[str], None]


def grouped(
    job: Job, first: Draws | None, folder: Path | None, tell: Tell = lambda text: None
) -> Groups:
    """Divide the subjects of a job into groups.

    Args:
        job: its demonstrations name who acted.
        first: what a search of all demonstrations drew.
        folder: the run's, where it has one.
        tell: is told how far it is.
    """
    names, subject = numbered(job)
    source = listed.source_of(job, first)
    alphabet = tuple(dict.fromkeys(s for mdp, _ in job.pairs for s in mdp.alphabet))
    found = listed.kept(folder, source, alphabet)
    before = None
    if found is None:
        found, before = _list(job, alphabet, first, subject, names, tell)
    tell(WEIGHING.format(len(found)))
    weights = _weighed(job, found, subject, before)
    possible = [k for k in job.tasks if k <= len(names)]
    parts = {k: weights.parted(k) for k in possible}
    logs = np.array([part.log_evidence for part in parts.values()])
    chance = np.exp(logs - np.logaddexp.reduce(logs))
    best = possible[int(np.argmax(logs))]
    experts = _experts(weights, parts[best])
    return Groups(
        groups=_groups(job, names, weights, parts[best], experts),
        subjects=_subjects(job, names, subject, parts[best], experts),
        log_evidence={k: part.log_evidence for k, part in parts.items()},
        probability=dict(zip(possible, chance.tolist(), strict=True)),
        together=parts[best].together,
        machines=weights.machines,
        source=source,
        experts=job.experts,
        estimated=any(mdp.unseen is not None for mdp, _ in job.pairs),
    )


def numbered(job: Job) -> tuple[tuple[str, ...], list[Ints]]:
    """Return who acted, and for each world, int64[E], who in each episode."""
    every = [str(name) for _, demos in job.pairs for name in demos.subjects or ()]
    names = tuple(dict.fromkeys(every))
    place = {name: number for number, name in enumerate(names)}
    return names, [
        np.array([place[str(name)] for name in demos.subjects or ()], dtype=np.int64)
        for _, demos in job.pairs
    ]


def _list(
    job: Job,
    alphabet: tuple[str, ...],
    first: Draws | None,
    subject: Sequence[Ints],
    names: Sequence[str],
    tell: Tell,
) -> tuple[list[RewardMachine], Weights | None]:
    """Return machines that searches find: of all subjects, of each, and of likely groups.

    The first of them come with their weights, where these were needed.
    """
    subjects, every = len(names), np.arange(len(names))
    found = heaviest(first, alphabet, FROM_ALL)
    if first is None:
        found = _of_some(job, alphabet, subject, every, FROM_ALL)
    if job.tasks[-1] == 1:
        return _distinct(found), None
    for number, name in enumerate(names):
        tell(f"searching what {name} shows alone: {number + 1} of {subjects} subjects")
        found += _of_some(job, alphabet, subject, every[number : number + 1], FROM_ONE)
    found = _distinct(found)
    tell(WEIGHING.format(len(found)))
    weights = _weighed(job, found, subject)
    return _widened(job, found, weights, subject, subjects, tell), weights


def _widened(
    job: Job,
    found: list[RewardMachine],
    weights: Weights,
    subject: Sequence[Ints],
    subjects: int,
    tell: Tell,
) -> list[RewardMachine]:
    """Return the list with what groups show that seem likely so far."""
    alphabet = found[0].alphabet
    seen = set()
    more = list(found)
    for k in job.tasks:
        if not 1 < k <= subjects:
            continue
        groups = weights.parted(k, GUESSED).groups
        for number in range(k):
            members = np.flatnonzero(groups == number)
            if 1 < len(members) < subjects and members.tobytes() not in seen:
                seen.add(members.tobytes())
                tell(f"searching what {len(members)} subjects show that may be a group")
                more += _of_some(job, alphabet, subject, members, FROM_ALL)
    return _distinct(more)


def _of_some(
    job: Job, alphabet: tuple[str, ...], subject: Sequence[Ints], members: Ints, most: int
) -> list[RewardMachine]:
    """Return machines that a search of what some subjects show finds."""
    pairs = [
        (mdp, demos.subset(np.flatnonzero(np.isin(who, members))))
        for (mdp, demos), who in zip(job.pairs, subject, strict=True)
    ]
    settings: Any = job.settings
    if isinstance(settings, Tempering):
        settings = replace(settings, steps=min(settings.steps, MOST_STEPS), **PART)
    part = replace(
        job,
        pairs=[pair for pair in pairs if pair[1].n_steps],
        settings=settings,
        init=None,
        minutes=None if job.minutes is None else job.minutes / len(numbered(job)[0]),
    )
    if not part.pairs:
        return []
    result = fitted_to(part, None, None)
    return [result.machine.over(alphabet), *heaviest(result.draws, alphabet, most)]


def heaviest(draws: Draws | None, alphabet: tuple[str, ...], most: int) -> list[RewardMachine]:
    """Return the machines that draws have most of."""
    if draws is None:
        return []
    tables = draws.transitions, draws.rewards + 0.0
    rows = np.concatenate([table.reshape(draws.size, -1) for table in tables], axis=1)
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(-np.bincount(which.reshape(-1), weights=draws.weight), kind="stable")
    return [
        RewardMachine(alphabet, *(table[i, : draws.n_states[i]] for table in tables))
        for i in first[order[:most]].tolist()
    ]


def _distinct(machines: list[RewardMachine]) -> list[RewardMachine]:
    """Return canonical machines, each once."""
    kept: dict[bytes, RewardMachine] = {}
    for each in machines:
        own = each.canonical()
        kept.setdefault(own.transitions.tobytes() + own.rewards.tobytes(), own)
    return list(kept.values())


def _weighed(
    job: Job,
    machines: list[RewardMachine],
    subject: Sequence[Ints],
    before: Weights | None = None,
) -> Weights:
    """Return what each machine says of each subject; `before`, of the first of them."""
    known = job.unknowns
    levels = checked_levels(job.rewards)
    largest = max(abs(level) for level in levels) or 1.0
    prior = known.alpha_prior
    own = AlphaPrior(
        prior.centre / largest, prior.spread, prior.low / largest, prior.high / largest
    )
    lapse: float | LapsePrior = known.lapse_prior if known.lapse is None else known.lapse
    mass = [
        float(job.prior.log_mass(each.transitions[None], each.rewards[None], levels, job.sizes)[0])
        for each in machines
    ]
    return weighed(
        job.pairs,
        machines,
        np.array(mass),
        known.discounts,
        own if known.alpha is None else known.alpha,
        lapse,
        subject,
        job.experts,
        before,
        known.kinds[0],
    )


def _experts(weights: Weights, part: Parted) -> list[tuple[Summary, Summary]]:
    """Return what is known of each subject's alpha and lapse."""
    found = []
    for s, group in enumerate(part.groups.tolist()):
        members, others = _members(part, group)
        found.append(expert_of(weights, members, s, others))
    return found


def _members(part: Parted, group: int) -> tuple[Ints, list[Ints]]:
    """Return who belongs to a group, and to each of the others."""
    every = [np.flatnonzero(part.groups == k) for k in range(len(part.machines))]
    return every[group], [*every[:group], *every[group + 1 :]]


def _groups(
    job: Job,
    names: Sequence[str],
    weights: Weights,
    part: Parted,
    experts: list[tuple[Summary, Summary]],
) -> tuple[Group, ...]:
    result = []
    for number in range(len(part.machines)):
        members = _members(part, number)
        own = tuple(names[s] for s in members[0].tolist())
        draws = _draws(job, weights, members, [experts[s] for s in members[0].tolist()])
        alphabet = weights.machines[0].alphabet
        sample = PosteriorSample.from_draws(list(job.pairs), draws, alphabet)
        heaviest = int(np.argmax(draws.weight))
        asked = open_questions(sample, expert=draws.expert(heaviest))
        result.append(Group(own, sample, draws, asked))
    return tuple(result)


def _draws(
    job: Job,
    weights: Weights,
    members: tuple[Ints, list[Ints]],
    experts: list[tuple[Summary, Summary]],
) -> Draws:
    """Return the machines of a group with their weights, each with its best discount.

    `members` are those of the group and of each other one, `experts` those of the group.
    """
    logs = weights.of_group(*members)
    alone = np.logaddexp.reduce(weights.of_group(members[0]), axis=0)
    total = np.logaddexp.reduce(logs, axis=0)
    weight = np.exp(total - np.logaddexp.reduce(total))
    kept = np.flatnonzero(weight > 1e-9)
    best = logs.argmax(axis=0)
    discounts = np.array([job.unknowns.discounts[c.discount] for c in weights.contexts])[best]
    size = max(weights.machines[j].n_states for j in kept.tolist())
    machines = [padded(weights.machines[j], size) for j in kept.tolist()]
    return Draws(
        transitions=np.stack([tables[0] for tables in machines]),
        rewards=np.stack([tables[1] for tables in machines]),
        n_states=np.array([weights.machines[j].n_states for j in kept.tolist()]),
        alpha=np.full(len(kept), math.exp(np.mean([math.log(a.mean) for a, _ in experts]))),
        lapse=np.full(len(kept), np.mean([lapse.mean for _, lapse in experts])),
        discount=discounts[kept],
        log_likelihood=alone[kept] - weights.log_prior[kept],
        log_prior=weights.log_prior[kept],
        weight=weight[kept] / weight[kept].sum(),
        ladder=np.zeros(len(kept), dtype=np.int64),
        exact=True,
        soft=np.ones(len(kept), dtype=np.bool_) if job.unknowns.kinds[0] == SOFT else None,
    )


def _subjects(
    job: Job,
    names: Sequence[str],
    subject: Sequence[Ints],
    part: Parted,
    experts: list[tuple[Summary, Summary]],
) -> tuple[Subject, ...]:
    result = []
    for s, name in enumerate(names):
        alpha, lapse = experts[s]
        counts = [
            (int((who == s).sum()), int(demos.lengths[who == s].sum()))
            for (_, demos), who in zip(job.pairs, subject, strict=True)
        ]
        episodes, steps = (sum(each) for each in zip(*counts, strict=True))
        result.append(
            Subject(name, int(part.groups[s]), float(part.share[s]), alpha, lapse, episodes, steps)
        )
    return tuple(result)
