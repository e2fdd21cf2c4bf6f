"""Parallel tempering as a method of `infer`: what is kept of it, when it ends, what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from whence._arrays import Bools, Ints
from whence.search import adapting, agreeing, census, parting, taped, tempering
from whence.search.census import Census
from whence.search.draws import Draws
from whence.search.evidence import log_evidence
from whence.search.leaping import Leaper
from whence.search.method import (
    AGREED,
    Carried,
    Finding,
    Found,
    Method,
    Part,
    Row,
    best_of,
    within,
)
from whence.search.placing import placed
from whence.search.problem import Problem
from whence.search.recalling import Recaller
from whence.search.seeking import Seeker
from whence.search.settings import Tempering
from whence.search.streams import LadderStreams, together
from whence.search.surveying import centres
from whence.search.tape import block_of, items_of
from whence.search.taped import Records
from whence.search.target import Chains


class ParallelTempering(Method[Tempering, tempering.State, tempering.Info]):
    """The default method: the coldest chains of several ladders are samples of the posterior."""

    settings_type = Tempering
    _made: tuple[Recaller, Leaper | None] | None = None
    _streams: LadderStreams | None = None

    def __init__(self, problem: Problem, settings: Tempering) -> None:
        super().__init__(placed(problem, settings.at_once), settings)
        self._lists = problem

    def init(self, rng: np.random.Generator) -> tempering.State:
        """Return the ladders before the first step."""
        target, settings = self.problem.target(), self.settings
        given = self.problem.started(target.space)
        seeking = self._seeker.init(wanted=given is None)
        state = tempering.init(rng, target, settings, seeking)
        if given is None:
            return state
        every = np.arange(settings.ladders)
        cold = state.chains.experts.rows(every * settings.rungs)
        for ladder in every.tolist():
            one = target.chains(given, cold.rows(np.array([ladder])))
            state = tempering.started(state, target, one, np.array([ladder * settings.rungs]))
        return state

    @cached_property
    def _seeker(self) -> Seeker:
        return Seeker(self.problem.target(), self.settings, self._lists.target())

    def step(
        self, rng: np.random.Generator, state: tempering.State
    ) -> tuple[tempering.State, tempering.Info]:
        """Take a turn of the finders, advance every chain by one move, and swap neighbours."""
        target, settings = self.problem.target(), self.settings
        if state.common:
            return self._step_in_common(rng, state)
        ladders = state.ladder.tolist()
        if self._streams is None or not self._streams.belong(rng, ladders):
            self._streams = LadderStreams(rng, ladders)
        state, info = self._scanned(self._streams, state)
        return adapting.settled(state, target, settings), info

    def _scanned(
        self, streams: LadderStreams, state: tempering.State
    ) -> tuple[tempering.State, tempering.Info]:
        """Make a step of some ladders, as far as none needs to know of another."""
        target = self.problem.target()
        lot, rngs = streams.at(state.step)
        state = tempering.sought(rngs, state, target, self._seeker)
        rng = together(rngs, self.settings.rungs)
        state, info = tempering.step(lot, rng, state, target)
        if not state.census.size:
            return state, info
        recaller, leaper = self._recaller(state)
        if leaper is not None:
            state = tempering.leapt(rng, state, target, leaper)
        return tempering.recalled(rng, state, target, recaller), info

    def _step_in_common(
        self, rng: np.random.Generator, state: tempering.State
    ) -> tuple[tempering.State, tempering.Info]:
        """Make a step of a run whose ladders share a stream."""
        target, settings = self.problem.target(), self.settings
        state = tempering.sought([rng] * settings.ladders, state, target, self._seeker)
        if state.warm < 0 and state.seeking.over and not state.seeking.heard:
            state = adapting.heard(state, target, settings)
        state, info = tempering.step(float(rng.random()), rng, state, target)
        state = adapting.settled(state, target, settings)
        if state.census.size:
            state = tempering.recalled(rng, state, target, self._recaller(state)[0])
        return state, info

    def parts(
        self, state: tempering.State, seats: int, scans: int, ahead: Sequence[Part] = ()
    ) -> list[Part]:
        """Return groups of ladders, up to where they meet or may agree."""
        if state.common:
            return []
        stop = min(adapting.meeting(state, self.settings), self.settings.steps)
        look = self.look(state)
        stop = min(stop, state.step + scans, stop if look is None else look)
        bare = replace(state, census=self.shared_like())
        groups = np.array_split(np.arange(state.ladders), min(seats, state.ladders))
        return [
            Part(
                f"ladder {', '.join(str(n + 1) for n in group.tolist())} "
                f"steps {state.step + 1}-{stop}",
                tuple(rows.tolist()),
                parting.parted(bare, rows),
                state.census if state.census.size else None,
                stop - state.step,
            )
            for group, rows in ((group, _rows(group, state.strands)) for group in groups)
        ]

    def part_of(self, state: tempering.State, places: tuple[int, ...]) -> tempering.State:
        """Return the state of some ladders.

        One that has just begun has no copies of them yet, but a part of it as many rows.
        """
        return parting.parted(state, np.array(places) % len(state.ladder))

    def shaped(self, state: tempering.State, warm: bool, copies: int) -> tempering.State:
        """Return a state that has just begun with the copies that a later one has."""
        state = replace(state, copies=copies)
        return parting.widened(state, self.settings.ladders) if warm and copies > 1 else state

    def look(self, state: tempering.State) -> int | None:
        """Return the next step after which the ladders may be found to agree, if it is known."""
        return agreeing.look(state, self.settings)

    def shared_like(self) -> Census:
        """Return a census."""
        return census.empty(self.problem.target().space)

    def carried_like(self, part: Part) -> tempering.State:
        """Return the state of as many ladders, with room for as much as finders and draws take."""
        fresh = self._seeker.init(wanted=True)
        fresh = replace(fresh, found=fresh.found[:1] * len(part.places))
        state: tempering.State = part.state
        return replace(state, seeking=fresh, drawn=self.recorded(state))

    def carried(self, rng: np.random.Generator, part: Part) -> Carried:
        """Make the steps of some ladders."""
        state = part.state if part.shared is None else replace(part.state, census=part.shared)
        streams = LadderStreams(rng, state.ladder.tolist())
        rows, records = [], []
        for _ in range(part.scans):
            state, info = self._scanned(streams, state)
            rows.append(self.row(state, info))
            records.append(self.record(state))
        kept = block_of([each for each in records if each is not None])
        return Carried(replace(state, census=part.state.census), block_of(rows), kept)

    def met(
        self, state: tempering.State, done: list[Carried]
    ) -> tuple[tempering.State, list[Row], list[Chains]]:
        """Return the state of all ladders, once they have met."""
        following = replace(parting.joined([each.state for each in done]), census=state.census)
        ladders = [len(each.state.ladder) for each in done]
        rows = [
            Row(*(np.concatenate(parts) for parts in zip(*row, strict=True)))
            for row in zip(*(items_of(each.rows) for each in done), strict=True)
        ]
        records = [
            parting.beside(list(parts), ladders)
            for parts in zip(*(items_of(each.records) for each in done), strict=True)
        ]
        following = adapting.settled(following, self.problem.target(), self.settings)
        rows[-1] = self._row(following, rows[-1].accepted)
        return following, rows, records

    def _recaller(self, state: tempering.State) -> tuple[Recaller, Leaper | None]:
        """Return what draws from the census of a state, and what leaps, made once."""
        made = self._made
        target, temperatures = self.problem.target(), state.temperatures[0]
        if (
            made is None
            or made[0].census is not state.census
            or not np.array_equal(made[0].temperatures, temperatures)
        ):
            recaller = Recaller(target, state.census, temperatures)
            around = centres(state.census, recaller.log_weight[0])
            made = recaller, None if around is None else Leaper(target, around, temperatures)
            self._made = made
        return made

    def sampled(self, state: tempering.State, records: Records) -> Draws | None:
        """Return what the coldest chains visited so far, if the warm-up is over."""
        return taped.draws(records, self.problem, self.settings.ladders, state.strands)

    def met_so_far(self, state: tempering.State) -> Draws | None:
        """Return the machines that chains stand at, and the best ones, by their scores."""
        return taped.met(state.chains, state.best, self.problem)

    def finish(self, state: tempering.State, records: Records) -> Finding:
        """Return the best machine, the samples, and what speaks against them."""
        found = self.sampled(state, records)
        evidence = {}
        if found is not None and state.census.size:
            evidence = log_evidence(self.problem, state.census, found)
        return Finding(
            self.best(state),
            self.evaluations(state),
            draws=found,
            doubts=tuple(agreeing.doubts(state, records, self.problem, self.settings)),
            log_evidence=evidence,
        )

    def ended(self, state: tempering.State, records: Records) -> str | None:
        """Stop when the ladders agree, or the steps are spent."""
        settings = self.settings
        if state.step >= settings.steps:
            return "steps"
        if not (settings.until_agreed and agreeing.looking(state, len(records), settings)):
            return None
        if agreeing.early_doubts(state, self.problem, settings):
            return None
        return None if agreeing.late_doubts(state, records, self.problem, settings) else AGREED

    def steps(self, state: tempering.State) -> int:
        """Return how many steps there are, at most."""
        return self.settings.steps

    def row(self, state: tempering.State, info: tempering.Info) -> Row:
        """Return the scores of the coldest chains; of copies, those of the first."""
        return self._row(state, info.accepted[:: len(info.accepted) // state.ladders])

    def _row(self, state: tempering.State, accepted: Bools) -> Row:
        target, strands = self.problem.target(), state.strands
        cold = np.arange(state.ladders) * self.settings.rungs * strands
        score = target.score(state.chains.rows(cold))
        best = agreeing.of_ladders(target.score(state.best), state)
        return Row(score, best, state.temperatures[::strands, 0], accepted)

    def best(self, state: tempering.State) -> Found:
        """Return the best machine that any ladder met."""
        return best_of(state.best, self.problem.target().score(state.best), self.problem)

    def evaluations(self, state: tempering.State) -> int:
        """Return one machine a chain and step, one to begin with, and those of the finders."""
        before = state.step if state.warm < 0 else state.warm
        return (
            state.chains.size // state.strands * (before + 1)
            + state.chains.size * (state.step - before)
            + state.seeking.evaluations
            + max(state.weighed, 0)
        )

    def record(self, state: tempering.State) -> Chains | None:
        """Return the samples of a step, once the warm-up is over: the ladders' in turn."""
        if state.warm < 0 or (state.step == state.warm and not state.common):
            return None
        if state.strands > 1 and state.step <= state.warm + agreeing.SETTLING:
            return None
        if state.drawn.size:
            return state.drawn
        return state.chains.rows(np.arange(len(state.ladder)) * self.settings.rungs)

    def recorded(self, state: tempering.State) -> Chains:
        """Return chains such as `record` keeps, however many."""
        return state.best.rows(np.zeros(0, dtype=np.int64))

    def details(self, state: tempering.State) -> dict[str, Any]:
        """Return how the ladders do."""
        tried, chance = state.swap_tried.sum(axis=0), state.swap_chance.sum(axis=0)
        return {
            "warm": state.warm >= 0,
            "finding": not state.seeking.heard and state.warm < 0,
            "temperatures": state.temperatures[0].tolist(),
            "swap_rates": [
                float(total / count) if count else None
                for total, count in zip(chance, tried, strict=True)
            ],
            "round_trips": state.trips.reshape(state.ladders, -1).sum(axis=1).tolist(),
            "copies": state.strands,
            "best_likelihoods": [
                value if np.isfinite(value) else None
                for value in agreeing.of_ladders(state.best.log_likelihood, state).tolist()
            ],
        }

    def sound(self, state: tempering.State, block: Chains | None) -> bool:
        """Return whether machines, experts and replicas are in range."""
        space, grid = self.problem.target().space, len(self.problem.unknowns.places)
        every = [state.chains, state.best, *([] if block is None else [block])]
        beams = [part for each in state.seeking.found for part in (each.beam, each.waiting)]
        if not all(
            within(part.machines.transitions, space.largest)
            and within(part.machines.paid, len(space.levels))
            and within(part.machines.n_states - 1, space.largest)
            and within(part.experts.discount, grid)
            and len({len(part.score), *(len(table) for table in (*part.machines, *part.experts))})
            == 1
            for part in beams
        ) or any(len(each.stage) != len(each.beam.score) for each in state.seeking.found):
            return False
        ladders = self.settings.ladders
        if block is not None and block.log_prior.shape[1] % ladders:
            return False
        replicas = np.sort(state.replica, axis=1) == np.arange(state.replica.shape[1])
        return bool(replicas.all()) and all(
            within(chains.machines.transitions, space.largest)
            and within(chains.machines.paid, len(space.levels))
            and bool(np.isin(chains.machines.n_states, space.sizes).all())
            and within(chains.experts.discount, grid)
            for chains in every
        )


def _rows(ladders: Ints, strands: int) -> Ints:
    """Return int64[...], the rows of the copies of some ladders."""
    return np.asarray((ladders[:, None] * strands + np.arange(strands)).reshape(-1))
