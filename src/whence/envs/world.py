"""The world of a Gymnasium environment, and the translation between the two."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whence.envs.exploration import Coverage, explore
from whence.envs.labelling import Label, Labelling, labelling, shown
from whence.envs.outcomes import Outcomes, source_of, without_endings
from whence.envs.recorder import Recording
from whence.envs.splitting import Part, Split, split
from whence.envs.table import has_table, table_outcomes
from whence.errors import ArgumentError, DemonstrationsError, WhenceWarning, WorldError
from whence.model.demos import Demonstrations
from whence.model.episodes import Episode
from whence.model.mdp import LabeledMDP
from whence.planning.policies import Policy
from whence.planning.simulation import check_size, checked_seed, cumulative

AVAILABLE = ("mask", "all")  # what says which actions a state has
ENDINGS = ("world", "task")  # what ends episodes


@dataclass(frozen=True, eq=False, repr=False)
class GymWorld:
    """A world made from an environment, which remembers what its states stand for.

    State s of the world is state s of the environment, counted from 0; where that had to be
    split, further parts of it follow. See `whence.envs.splitting`.

    Attributes:
        mdp: the world.
        coverage: what exploration saw if the environment has no table, else None.
        outcomes: of the environment.
        labelling: the label function.
        parts: which part of the environment's states each state is.
        by_task: whether a task ends episodes, so that where one is does not tell.
    """

    mdp: LabeledMDP
    coverage: Coverage | None
    outcomes: Outcomes = field(kw_only=True)
    labelling: Labelling = field(kw_only=True)
    parts: Split = field(kw_only=True)
    by_task: bool = field(kw_only=True, default=False)

    @classmethod
    def from_env(
        cls,
        env: Any,
        *,
        label: Label,
        alphabet: Iterable[str] | None = None,
        actions: Sequence[str] | None = None,
        initial: Any = None,
        steps: int | None = None,
        seed: int = 0,
        available: str = "mask",
        endings: str = "world",
    ) -> GymWorld:
        """Return the world of an environment; `LabeledMDP.from_gymnasium` has the arguments."""
        source = source_of(env)
        reads = labelling(label)
        if available not in AVAILABLE:
            raise ArgumentError(f"available is {available!r}; known are {', '.join(AVAILABLE)}")
        if endings not in ENDINGS:
            raise ArgumentError(f"endings is {endings!r}; known are {', '.join(ENDINGS)}")
        masks = available == "mask"
        found = None
        if steps is not None:
            if initial is not None:
                raise ArgumentError(
                    "initial is for tables; leave it out, exploration sees where episodes start"
                )
            outcomes, found = explore(env, steps, seed, masks=masks)
        elif has_table(env):
            outcomes = table_outcomes(env, initial, masks=masks)
        else:
            raise WorldError(
                f"{source} has no transition table, env.unwrapped.P; to estimate a model, say how "
                "many steps to explore and from which seed: steps=100_000, seed=0"
            )
        by_task = endings == "task"
        if by_task:
            outcomes = without_endings(outcomes)
        parts = split(outcomes, reads, alphabet, actions)
        if found is not None and not found.complete:
            warnings.warn(f"{source}: {found}", WhenceWarning, stacklevel=3)
        return cls(
            parts.mdp, found, outcomes=outcomes, labelling=reads, parts=parts, by_task=by_task
        )

    def state(self, observation: Any) -> int:
        """Return the state of an observation, the first part if it was split."""
        return self.outcomes.observations.number(observation)

    def observation(self, state: int) -> Any:
        """Return what the environment shows in a state; None for `end` and `unknown`."""
        listed = self.parts.parts
        known = 0 <= state < len(listed)
        return self.outcomes.observations.member(listed[state].state) if known else None

    def ended(self, state: int) -> bool:
        """Whether the episode is over in a state."""
        listed = self.parts.parts
        return state >= len(listed) or listed[state].ended

    def demonstrations(self, recordings: Iterable[Recording | tuple[Any, Any]]) -> Demonstrations:
        """Return what was recorded in the environment as demonstrations in the world."""
        given = [Recording(*recording) for recording in recordings]
        found = Demonstrations.from_episodes(
            [self._episode(recording, number) for number, recording in enumerate(given)]
        )
        if self.coverage is not None:
            _check_explored(found, self.mdp, self.coverage.steps)
        return found

    def recordings(self, demos: Demonstrations) -> list[Recording]:
        """Return demonstrations in the world as the environment would have shown them.

        What follows the end of an episode is left out.
        """
        return [self._recording(episode) for episode in demos]

    def play(
        self, env: Any, policy: Policy, *, episodes: int, length: int, seed: int
    ) -> list[Recording]:
        """Act in the environment itself, as a policy of the world says.

        Args:
            env: the environment, without wrappers that change what it shows.
            policy: from `plan` or `expert_policy` in this world.
            episodes: how many.
            length: how many steps an episode has at most.
            seed: for every random choice, also the environment's.
        """
        check_size(episodes, length)
        source_of(env)
        rng = np.random.default_rng(checked_seed(seed))
        policy = policy.in_world(self.mdp)
        seeds = [int(seed)] + [None] * episodes
        return [self._played(env, policy, length, rng, seeds[i]) for i in range(episodes)]

    def _played(
        self, env: Any, policy: Policy, length: int, rng: np.random.Generator, seed: int | None
    ) -> Recording:
        observation = deepcopy(env.reset(seed=seed)[0])  # environments may overwrite theirs
        observations: list[Any] = [observation]
        actions: list[Any] = []
        over, terminated, memory = False, False, 0
        while len(actions) < length and not over:
            chances = cumulative(policy.probabilities[memory, self.state(observation)])
            number = int((rng.random() >= chances).sum())
            action = self.outcomes.actions.member(number)
            before = observation
            shown_now, _, terminated, truncated, _ = env.step(action)
            observation = deepcopy(shown_now)
            symbol = self.labelling(before, action, observation)
            memory, _ = policy.machine.step(memory, symbol)
            observations.append(observation)
            actions.append(action)
            over = terminated or truncated
        return Recording(tuple(observations), tuple(actions), bool(terminated))

    def _episode(self, recording: Recording, number: int) -> Episode:
        place = f"recording {number}"
        seen = [
            self._number(self.outcomes.observations, member, f"{place}, observation {i}")
            for i, member in enumerate(recording.observations)
        ]
        done = [
            self._number(self.outcomes.actions, member, f"{place}, step {i}")
            for i, member in enumerate(recording.actions)
        ]
        if len(seen) - len(done) not in (0, 1):
            raise DemonstrationsError(
                f"{place}: {len(seen)} observations for {len(done)} actions; give as many "
                "observations as actions, or one more"
            )
        if done and self.ended(seen[0]):
            raise DemonstrationsError(
                f"{place}: it begins in state {shown(recording.observations[0])}, where episodes "
                "are over; correct the recording"
            )
        states = seen[:1]
        for i in range(len(seen) - 1):
            last = i == len(seen) - 2
            symbol = self.labelling(
                recording.observations[i], recording.actions[i], recording.observations[i + 1]
            )
            over = last and bool(recording.terminated)
            entered = self._entered(seen[i + 1], symbol, over)
            if entered is None or (self.ended(entered) and not last):
                raise DemonstrationsError(self._misfit(recording, place, i, entered))
            states.append(entered)
        whole = len(seen) > len(done)
        return Episode(states, done, ended=recording.terminated if whole else None)

    def _entered(self, state: int, symbol: str | None, over: bool) -> int | None:
        """Return the part of a state that a step entered, with this ending if there is one."""
        if symbol is not None and symbol not in self.mdp.alphabet:
            return None
        label = -1 if symbol is None else self.mdp.alphabet.index(symbol)
        found = [self.parts.numbers.get(Part(state, flag, label)) for flag in (over, not over)]
        return found[0] if found[0] is not None else found[1]

    def _misfit(self, recording: Recording, place: str, step: int, entered: int | None) -> str:
        before, after = (shown(recording.observations[i]) for i in (step, step + 1))
        action = shown(recording.actions[step])
        what = (
            "which it never does with that label" if entered is None else "where episodes are over"
        )
        return (
            f"{place}, step {step}: action {action} of state {before} leads to state {after}, "
            f"{what}; correct the recording, or make the world from the environment that it "
            "comes from"
        )

    def _recording(self, episode: Episode) -> Recording:
        states, actions = list(episode.states), list(episode.actions)
        over = [i for i, state in enumerate(states) if self.ended(state)]
        kept = over[0] + 1 if over else len(states)
        seen = [self.observation(state) for state in states[:kept]]
        if seen and seen[-1] is None:
            seen.pop()
        taken = actions[: len(seen) - 1] if over else actions
        members = tuple(self.outcomes.actions.member(a) for a in taken)
        ended = episode.ended
        if ended is None and (over or not self.by_task):
            ended = bool(over) and len(seen) == kept
        return Recording(tuple(seen), members, ended)

    def _number(self, members: Any, member: Any, place: str) -> int:
        try:
            return int(members.number(member))
        except WorldError as error:
            raise DemonstrationsError(f"{place}: {error}; correct the recording") from None

    def __repr__(self) -> str:
        split_up = self.mdp.n_states - self.outcomes.observations.n
        return f"<GymWorld: {self.outcomes.source}, {self.mdp!r}, {split_up} states more>"


def _check_explored(demos: Demonstrations, mdp: LabeledMDP, steps: int) -> None:
    """Refuse what exploration never saw."""
    problems = demos.check(mdp)
    if not problems.ok:
        first, others = problems.problems[0].partition(";")[0], problems.total - 1
        more = f" ({others} more like this)" if others else ""
        raise DemonstrationsError(
            f"{first}, as far as {steps:,} steps of exploring saw{more}; explore with more, such "
            f"as steps={10 * steps:_}"
        )
