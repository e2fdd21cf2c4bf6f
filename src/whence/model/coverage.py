"""How much of a world's dynamics demonstrations show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Ints, frozen_own
from whence.model.demos import Demonstrations
from whence.model.estimation import ended_in, transitions_seen
from whence.model.mdp import LabeledMDP

THIN = 5  # a pair seen fewer times is known roughly
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """How often each state-action pair was seen to lead somewhere.

    Attributes:
        counts: int64[S, A].
        available: bool[S, A], the actions that states have, but for those of which nothing is to
            be seen: in a world estimated from a log, what follows the end.
        state_names: S names.
        action_names: A names.
        episodes: E.
        steps: T in all.
    """

    counts: Ints
    available: Bools
    state_names: tuple[str, ...]
    action_names: tuple[str, ...]
    episodes: int
    steps: int

    @property
    def pairs(self) -> int:
        """State-action pairs in all, of actions that states have."""
        return int(self.available.sum())

    @property
    def seen(self) -> int:
        """Pairs that were seen."""
        return int((self.counts > 0).sum())

    @property
    def thin(self) -> int:
        """Pairs that were seen fewer than five times."""
        return int(((self.counts > 0) & (self.counts < THIN)).sum())

    @property
    def unseen(self) -> int:
        """Pairs that were never seen."""
        return self.pairs - self.seen

    @property
    def states_left(self) -> int:
        """States in which at least one action was seen."""
        return int((self.counts > 0).any(axis=1).sum())

    @property
    def unseen_pairs(self) -> list[tuple[str, str]]:
        """The names of state and action of each pair that was never seen."""
        return [
            (self.state_names[s], self.action_names[a])
            for s, a in np.argwhere((self.counts == 0) & self.available).tolist()
        ]

    def document(self) -> dict[str, int]:
        """Return the counts, for JSON."""
        names = ("episodes", "steps", "pairs", "seen", "thin", "unseen", "states_left")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        shown = "episode shows" if self.episodes == 1 else "episodes show"
        text = (
            f"{self.steps} steps of {self.episodes} {shown} {self.seen} of {self.pairs} "
            f"state-action pairs ({self.seen / self.pairs:.0%}), {self.thin} of them fewer than "
            f"{THIN} times; {self.states_left} of {len(self.state_names)} states were left by an "
            "action"
        )
        if not self.unseen:
            return text
        some = ", ".join(f"{action!r} in {state!r}" for state, action in self._first())
        more = ", ..." if self.unseen > SHOWN else ""
        return f"{text}\nnever seen, taken to stay put: {some}{more} ({self.unseen} in all)"

    def _first(self) -> list[tuple[str, str]]:
        places = np.argwhere((self.counts == 0) & self.available)[:SHOWN].tolist()
        return [(self.state_names[s], self.action_names[a]) for s, a in places]

    def __repr__(self) -> str:
        return f"<Coverage: {self.seen} of {self.pairs} pairs seen, {self.thin} thinly>"


def coverage(demos: Demonstrations, mdp: LabeledMDP) -> Coverage:
    """Return how much of a world's dynamics demonstrations show; they must fit it."""
    demos.check(mdp).raise_any()
    seen = transitions_seen(demos)
    counts = np.zeros((mdp.n_states, mdp.n_actions), dtype=np.int64)
    np.add.at(counts, (seen.state, seen.action), seen.times)
    names = tuple(mdp.state_name(state) for state in range(mdp.n_states))
    sizes = len(demos), demos.n_steps
    asked = mdp.available & ~_after_the_end(demos, mdp)[:, None]
    return Coverage(frozen_own(counts), frozen_own(asked), names, mdp.actions, *sizes)


def _after_the_end(demos: Demonstrations, mdp: LabeledMDP) -> Bools:
    """Return bool[S]: in a world estimated from a log, states in which it is over by construction.

    They lead to the state `end`, which absorbs; neither are their pairs among those unseen.
    """
    result = np.zeros(mdp.n_states, dtype=np.bool_)
    if mdp.unseen is None:
        return result
    end = mdp.n_states - 1
    first = mdp.offsets[:: mdp.n_actions][:-1]
    ends = np.logical_and.reduceat(mdp.successors == end, first)
    over = ended_in(demos)
    over = over[ends[over]]
    if len(over) and ends[end]:
        result[over] = result[end] = True
        result[mdp.unseen // mdp.n_actions] = False
    return result
