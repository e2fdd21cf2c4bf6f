"""The paper's three worlds, each with its task and its expert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

from whence.io import world_map as map_format
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.planning.simulation import simulate


@dataclass(frozen=True)
class World:
    """A world with a task that is known.

    Attributes:
        name: what the command line calls it.
        summary: what it is about, in a line.
        mdp: the world itself.
        task: the true machine.
        expert: the expert whose demonstrations the paper's table was made from.
        episodes: how many episodes the paper recorded.
        length: how many steps each has.
        rewards: the levels that inference may choose from.
    """

    name: str
    summary: str
    mdp: LabeledMDP
    task: RewardMachine
    expert: Expert
    episodes: int
    length: int
    rewards: tuple[float, ...]

    def demonstrations(self, seed: int) -> Demonstrations:
        """Return as many episodes of the expert as the paper recorded."""
        return simulate(
            self.mdp,
            self.task,
            self.expert,
            episodes=self.episodes,
            length=self.length,
            seed=seed,
        )


def recharge(start: tuple[int, int] | None = None) -> World:
    """Reach a recharging station dry: avoid lava, use a towel after water."""
    task = RewardMachine.from_arrows(
        [
            "dry -w-> wet",
            "dry -l-> over",
            "dry -r/1-> over",
            "wet -t-> dry",
            "wet -l,r-> over",
        ],
        alphabet=("t", "w", "l", "r"),
    )
    return _world("recharge", recharge.__doc__, task, 1000, 25, (0.0, 1.0), start)


def coffee(start: tuple[int, int] | None = None) -> World:
    """Bring a coffee to the office without stepping on a decoration; moves slip."""
    task = RewardMachine.from_arrows(
        [
            "before -c-> holding",
            "before -*-> over",
            "holding -o/1-> over",
            "holding -*-> over",
        ],
        alphabet=("c", "o", "*"),
    )
    return _world("coffee", coffee.__doc__, task, 100, 100, (0.0, 1.0), start)


def multi_coffee(start: tuple[int, int] | None = None) -> World:
    """Bring a coffee to the office: strong coffee pays 2, weak coffee 1."""
    task = RewardMachine.from_arrows(
        [
            "before -c-> strong",
            "before -k-> weak",
            "before -*-> over",
            "strong -o/2-> over",
            "strong -*-> over",
            "weak -o/1-> over",
            "weak -*-> over",
        ],
        alphabet=("c", "k", "o", "*"),
    )
    return _world("multi-coffee", multi_coffee.__doc__, task, 300, 100, (0.0, 1.0, 2.0), start)


BUILT_IN: dict[str, Callable[[tuple[int, int] | None], World]] = {
    "recharge": recharge,
    "coffee": coffee,
    "multi-coffee": multi_coffee,
}


def map_text(name: str) -> str:
    """Return the drawing of a built-in world."""
    return (resources.files("whence.paper") / "maps" / f"{name}.map").read_text(encoding="utf-8")


def _world(
    name: str,
    summary: str | None,
    task: RewardMachine,
    episodes: int,
    length: int,
    rewards: tuple[float, ...],
    start: tuple[int, int] | None,
) -> World:
    mdp = map_format.loads(map_text(name), f"{name}.map")
    if start is not None:
        assert mdp.grid is not None
        mdp = mdp.with_initial(mdp.grid.state(*start))
    expert = Expert(alpha=30, discount=0.92)
    return World(name, summary or "", mdp, task, expert, episodes, length, rewards)
