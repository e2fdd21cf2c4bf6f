"""What every method of search has in common.

A method is a class with typed settings: `init` draws where to begin, `step` makes one step,
`finish` says what was found. A `State` is all that the next step needs, and nothing else; what a
step tells beyond that is its `Info`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from whence._arrays import Bools, Floats
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.search.draws import Draws, Exact
from whence.search.problem import Problem
from whence.search.tape import Tape
from whence.search.target import Chains

AGREED = "agreed"  # why a method ends whose independent parts have found the same


class Row(NamedTuple):
    """One step of a trace, for each of the B runs or ladders.

    Attributes:
        score: float64[B], of the current machine at the temperature that scores are compared at.
        best: float64[B], the best score so far.
        temperature: float64[B], of the step.
        accepted: bool[B], whether the proposal was.
    """

    score: Floats
    best: Floats
    temperature: Floats
    accepted: Bools


class Found(NamedTuple):
    """The best machine, the expert that it was found with, and its score."""

    machine: RewardMachine
    expert: Expert
    score: float


class Finding(NamedTuple):
    """What a search has found.

    Attributes:
        best: the best machine.
        evaluations: how many machines were scored.
        draws: machines with their weights in the posterior, where the method knows them.
        exact: what is known of all machines together, where every one was scored.
        doubts: what speaks against the result, in words.
        log_evidence: log P(D | n) and its error, by the number of states; where kinds of expert
            are compared, by the number of states and the kind.
    """

    best: Found
    evaluations: int
    draws: Draws | None = None
    exact: Exact | None = None
    doubts: tuple[str, ...] = ()
    log_evidence: Mapping[int | tuple[int, str], tuple[float, float]] = MappingProxyType({})


class Part(NamedTuple):
    """A unit of work: steps that depend on a part of a state alone, wherever they are made.

    Attributes:
        name: what it is called where people watch.
        places: which part of a state it is, for `part_of`.
        state: the part of the state.
        shared: what all parts of the state have in common, if it is large.
        scans: how many steps to make; where they are cut changes nothing.
    """

    name: str
    places: tuple[int, ...]
    state: Any
    shared: Any
    scans: int


class Carried(NamedTuple):
    """What became of a part.

    Attributes:
        state: the part of the state, without what is shared.
        rows: the trace, a block of one row a step, or None.
        records: what was kept of the steps, a block, or None.
    """

    state: Any
    rows: Any
    records: Any


class Stepped(Protocol):
    """A state: it counts the steps that were made."""

    @property
    def step(self) -> int:
        """Steps done."""
        ...


StateT = TypeVar("StateT", bound=Stepped)
InfoT = TypeVar("InfoT")
SettingsT = TypeVar("SettingsT")


class Method(ABC, Generic[SettingsT, StateT, InfoT]):
    """A way to search machines.

    Attributes:
        settings_type: the class of its settings.
        meeting: whether parts of its work depend on each other, so that all of them must be back
            before there are others; else there may be others as soon as the first is back.
        problem: what is searched.
        settings: how.
    """

    settings_type: ClassVar[type]
    meeting: ClassVar[bool] = True

    def __init__(self, problem: Problem, settings: SettingsT) -> None:
        self.problem = problem
        self.settings = settings

    @abstractmethod
    def init(self, rng: np.random.Generator) -> StateT:
        """Return the state before the first step."""

    @abstractmethod
    def step(self, rng: np.random.Generator, state: StateT) -> tuple[StateT, InfoT]:
        """Make one step."""

    @abstractmethod
    def finish(self, state: StateT, records: Tape[Chains]) -> Finding:
        """Return what was found, from the last state and what was kept of the steps."""

    @abstractmethod
    def ended(self, state: StateT, records: Tape[Chains]) -> str | None:
        """Return why to stop, or None."""

    @abstractmethod
    def steps(self, state: StateT) -> int:
        """Return how many steps there are in all, at most."""

    @abstractmethod
    def row(self, state: StateT, info: InfoT) -> Row:
        """Return the trace of a step."""

    @abstractmethod
    def best(self, state: StateT) -> Found | None:
        """Return the best machine so far, if there is one."""

    @abstractmethod
    def evaluations(self, state: StateT) -> int:
        """Return how many machines were scored so far."""

    @abstractmethod
    def sound(self, state: StateT, block: Chains | None) -> bool:
        """Return whether every index of a state, and of a block of records, is in range."""

    def parts(
        self, state: StateT, seats: int, scans: int, ahead: Sequence[Part] = ()
    ) -> list[Part]:
        """Return work that can be done apart, up to where its parts must meet; none by default.

        Args:
            state: where the search stands.
            seats: how many workers there are.
            scans: how many steps a part should make, about; where they are cut changes nothing.
            ahead: parts that are under way already.
        """
        return []

    def part_of(self, state: StateT, places: tuple[int, ...]) -> Any:
        """Return a part of a state."""
        return state

    def shared_like(self) -> Any:
        """Return a value of the kind of what parts share."""
        return None

    def carried_like(self, part: Part) -> Any:
        """Return a value of the kind of the state that a part is carried to."""
        return part.state

    def carried(self, rng: np.random.Generator, part: Part) -> Carried:
        """Do the work of a part; `rng` names its streams, and is not used up."""
        raise NotImplementedError

    def met(self, state: StateT, done: list[Carried]) -> tuple[StateT, list[Row], list[Chains]]:
        """Return the state after all parts of it were carried on, and rows and records."""
        raise NotImplementedError

    def record(self, state: StateT) -> Chains | None:
        """Return what to keep of a step, if anything."""
        return None

    def shaped(self, state: StateT, warm: bool, copies: int) -> StateT:
        """Return a state that has just begun, with arrays of the shapes of a later one.

        Args:
            state: the state.
            warm: whether the warm-up of the later one is over.
            copies: how many copies of ladders it has.
        """
        return state

    def recorded(self, state: StateT) -> Chains | None:
        """Return a value of the shape of those that `record` keeps, if any."""
        return None

    def look(self, state: StateT) -> int | None:
        """Return the next step after which the method may end by itself, as far as is known."""
        return None

    def sampled(self, state: StateT, records: Tape[Chains]) -> Draws | None:
        """Return the draws of what was kept so far, if the method samples."""
        return None

    def met_so_far(self, state: StateT) -> Draws | None:
        """Return machines that the search stands at, weighed beside each other, if it can.

        For whoever cannot wait for a sample: nothing is known of machines that were not met.
        """
        return None

    def details(self, state: StateT) -> dict[str, Any]:
        """Return what to tell whoever watches, for JSON."""
        return {}


def best_of(chains: Chains, score: Floats, problem: Problem) -> Found:
    """Return the chain of the highest score, the first of equals."""
    first = int(np.argmax(score))
    posterior = problem.posteriors[0]
    n = int(chains.machines.n_states[first])
    transitions, rewards = chains.machines.rows(np.array([first])).tables(posterior.levels)
    machine = RewardMachine(posterior.alphabet, transitions[0, :n], rewards[0, :n])
    experts = chains.experts
    expert = problem.unknowns.expert(
        int(experts.discount[first]), float(experts.alpha[first]), float(experts.lapse[first])
    )
    return Found(machine.canonical(), expert, float(score[first]))


def within(values: Any, most: int) -> bool:
    """Return whether all of some whole numbers are from 0 to `most` - 1."""
    return bool(((values >= 0) & (values < most)).all())
