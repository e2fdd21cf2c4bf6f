"""All that a report is made from, as one value."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from whence._files import __version__
from whence.analysis.apart import told_apart
from whence.analysis.certainty import Certainty, arrow_certainty
from whence.errors import ArgumentError
from whence.likelihood.given import world_pairs
from whence.likelihood.posterior import Posterior
from whence.model.demos import Demonstrations
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.runs.checking import Check, Fitted, confronted
from whence.runs.events import OnEvent
from whence.runs.held_out import MINUTES, HeldOut, held_out
from whence.runs.result import Run
from whence.runs.trust import FOLDER

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]
REPLICAS = 199
LOOKED_AT = 20  # machines among which the best one is looked for


@dataclass(frozen=True)
class Ladders:
    """The ladders at the end of a run; K rungs.

    Attributes:
        temperatures: K of them, the coldest first.
        swap_rates: K - 1, how often neighbours were exchanged.
        round_trips: for each ladder, how often a chain went from the hottest rung to the coldest.
        copies: of each ladder, which make trips side by side.
    """

    temperatures: tuple[float, ...]
    swap_rates: tuple[float, ...]
    round_trips: tuple[int, ...]
    copies: int = 1

    @classmethod
    def told(cls, event: Mapping[str, Any] | None) -> Ladders | None:
        """Return the ladders that an event of a journal describes; None if they make no sense."""
        keys = ("temperatures", "swap_rates", "round_trips")
        found = [(event or {}).get(key) for key in keys]
        for values in found:
            if not isinstance(values, list) or not all(map(_number, values)):
                return None
        temperatures, rates, trips = (tuple(values) for values in found if values is not None)
        if len(temperatures) != len(rates) + 1:
            return None
        copies = (event or {}).get("copies")
        return cls(temperatures, rates, trips, copies if isinstance(copies, int) else 1)


@dataclass(frozen=True, eq=False)
class Study:
    """A run, what it was made from, and how well inference of its kind predicts.

    Attributes:
        run: what was found, and how.
        worlds: each world with its demonstrations.
        names: what each world is called.
        sources: what each world's demonstrations are called, such as their file.
        command: the line that makes the run again, quoted for a shell; empty for a run made in
            Python.
        versions: what made the run, by name.
        comparison: how it and other methods predict episodes set aside, or None.
        check: whether the model fits, tested on the same episodes, or None.
        left_out: why there is no comparison, in words.
        ladders: how the ladders of tempering did, if that was kept.
        fix: arrows that were given to the run as known.
        discounts: those that the run chose among, if that is known.
        folder: where the run is kept, if it is.
        group: what the group of subjects is called whose study this is; empty for that of all.
    """

    run: Run
    worlds: tuple[tuple[LabeledMDP, Demonstrations], ...]
    names: tuple[str, ...]
    sources: tuple[str, ...]
    command: str
    versions: Mapping[str, str]
    comparison: HeldOut | None
    check: Check | None = None
    left_out: str = ""
    ladders: Ladders | None = None
    fix: tuple[str, ...] = ()
    discounts: tuple[float, ...] = ()
    folder: str = ""
    group: str = ""

    @classmethod
    def of(
        cls,
        run: Run,
        mdp: LabeledMDP | Pairs,
        demos: Demonstrations | None = None,
        *,
        names: Sequence[str] = (),
        sources: Sequence[str] = (),
        command: str = "",
        versions: Mapping[str, str] | None = None,
        fix: Sequence[str] = (),
        discounts: Sequence[float] = (),
        ladders: Ladders | None = None,
        folder: str = "",
        compare: bool = True,
        minutes: float = MINUTES,
        threads: int | None = None,
        executor: Any = None,
        on_event: OnEvent | None = None,
    ) -> Study:
        """Gather what a report needs, and compare methods on episodes set aside.

        Args:
            run: what to report on.
            mdp: the world, or pairs of a world and its demonstrations, as given to `infer`.
            demos: the demonstrations of the one world.
            names: what each world is called.
            sources: what each world's demonstrations are called; by default their file.
            command: the line that makes the run again.
            versions: what made the run; by default what is running now.
            fix: arrows that were given to the run as known.
            discounts: those that the run chose among, if it did.
            ladders: how the ladders of tempering did, if that was kept.
            folder: where the run is kept, for commands that can be pasted.
            compare: whether to infer once more, on four fifths of the episodes, and compare.
            minutes: the most that this inference may take.
            threads: how many to use; all cores by default.
            executor: who does the work of this inference; see `infer`.
            on_event: called with each `Event` of this inference.
        """
        worlds = tuple(world_pairs(mdp, demos))
        usual = ["the world"] if len(worlds) == 1 else [f"world {at}" for at in range(len(worlds))]
        how = {
            "fix": fix, "discounts": discounts, "minutes": minutes, "threads": threads,
            "executor": executor, "on_event": on_event,
        }  # fmt: skip
        comparison, reason = None, "It was not asked for."
        if run.provisional:
            reason = (
                "The run is not finished, and the report on it infers nothing of its own; "
                "`whence report --predict` does."
            )
        if compare:
            comparison, reason = _comparison(run, worlds, how)
        return cls(
            run=run,
            worlds=worlds,
            names=tuple(names) or tuple(usual),
            sources=tuple(sources) or tuple(demos.source for _, demos in worlds),
            command=command,
            versions=current_versions() if versions is None else versions,
            comparison=comparison,
            check=None if comparison is None else _check(comparison, worlds),
            left_out=reason,
            ladders=ladders,
            fix=tuple(fix),
            discounts=tuple(discounts),
            folder=folder,
        )

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the run's expert over all demonstrations."""
        run = self.run
        return Posterior(
            self.worlds,
            expert=run.expert,
            prior=run.prior,
            rewards=run.rewards,
            temperature=run.temperature,
            endings=run.job.endings,
        )

    @cached_property
    def groups(self) -> tuple[Study, ...]:
        """A study of each group of subjects; nothing where nobody asked for groups."""
        if self.run.groups is None:
            return ()
        names = [each.called for each in self.run.groups.groups]
        runs = [self.run.of_group(number) for number in range(len(names))]
        return tuple(
            replace(
                self, run=run, worlds=tuple(run.job.pairs), group=f"Group {number}: {name}",
                comparison=None, check=None,
            )
            for number, (run, name) in enumerate(zip(runs, names, strict=True), start=1)
        )  # fmt: skip

    @property
    def shown(self) -> RewardMachine:
        """The machine that illustrates the answer; the best one where it is the same."""
        shown, best = self.run.shown, self.run.best
        same = shown.same_as(best) and shown.n_states == best.n_states
        return best if same else shown

    @cached_property
    def certainty(self) -> tuple[Certainty, ...]:
        """How sure each arrow of that machine is; nothing where there are no probabilities."""
        if self.shown is self.run.best or self.run.posterior is None:
            return self.run.certainty
        return arrow_certainty(self.posterior, self.shown, self.run.posterior)

    @property
    def undetermined(self) -> list[tuple[int, int]]:
        """The arrows that are not determined, as (state, column)."""
        return [
            (each.state, self.shown.index(each.symbol))
            for each in self.certainty
            if not each.determined
        ]

    @property
    def kept(self) -> str:
        """The folder of the run, or what stands for it."""
        return self.folder or FOLDER

    @cached_property
    def place(self) -> int | None:
        """Where the class of the machine that is drawn stands in the posterior sample, or None."""
        sample = self.run.posterior
        if sample is None:
            return None
        for number, machine in enumerate(sample.machines[:LOOKED_AT]):
            if all(told_apart(machine, self.shown, mdp) is None for mdp, _ in self.worlds):
                return number
        return None

    @property
    def episodes(self) -> int:
        """How many episodes were demonstrated."""
        return sum(len(demos) for _, demos in self.worlds)

    @property
    def steps(self) -> int:
        """How many steps were demonstrated."""
        return sum(demos.n_steps for _, demos in self.worlds)


def current_versions() -> dict[str, str]:
    """Return the versions of what is running now."""
    from importlib import metadata

    found = {"whence": __version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "msgspec"):
        found[package] = metadata.version(package)
    found["system"] = platform.platform()
    return found


def _comparison(run: Run, worlds: Pairs, options: dict[str, Any]) -> tuple[HeldOut | None, str]:
    """Return the comparison on episodes set aside, or why there is none."""
    try:
        return held_out(run, worlds, **options), ""
    except ArgumentError as error:
        return None, str(error)[:1].upper() + str(error)[1:] + "."


def _check(found: HeldOut, worlds: Pairs) -> Check | None:
    """Return whether what was inferred from the other episodes fits those set aside."""
    run = found.run
    fitted = Fitted(run.best, run.expert, run.draws, run.doubts)
    try:
        return confronted(run.job, fitted, worlds, found.chosen, REPLICAS)
    except ArgumentError:
        return None


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )
