"""A plan of many inferences, from a TOML or JSON file: worlds x demonstrations x settings x seeds.

format = "whence/sweep/1"
seeds = [0, 1]

[[worlds]]
world = "coffee"                # a built-in world, or a file
simulate = {episodes = 100, length = 100, seeds = [0, 1, 2]}

[[worlds]]
world = "lab.json"
demos = ["monday.jsonl", "tuesday.jsonl"]

[settings]                      # as the arguments of `whence.infer`
states = 3

[[variants]]                    # each once, on top of the settings; one without any by default
name = "expert known"
alpha = 30
discount = 0.92
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from whence import _files as files
from whence.errors import FormatError

TAG = "whence/sweep/1"
SETTINGS = (
    "states", "rewards", "alpha", "discount", "lapse", "sizes_prior", "alpha_prior",
    "lapse_prior", "p_self", "p_zero", "temperature", "method", "precision", "steps", "minutes",
    "endings", "ladders", "rungs", "limit",
)  # fmt: skip
MOST_CELLS = 100_000


class Simulation(msgspec.Struct, forbid_unknown_fields=True):
    """Demonstrations that are simulated: a built-in world's task, or a machine's."""

    episodes: int = 100
    length: int = 100
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])
    alpha: float | None = None
    discount: float | None = None
    lapse: float = 0.0
    machine: str | None = None


class World(msgspec.Struct, forbid_unknown_fields=True):
    """A world, and its demonstrations."""

    world: str
    demos: list[str] = []
    simulate: Simulation | None = None
    start: str | None = None


class Document(msgspec.Struct, forbid_unknown_fields=True):
    """The file of a sweep."""

    format: str
    worlds: list[World]
    settings: dict[str, Any] = {}
    variants: list[dict[str, Any]] = []
    seeds: list[int] = msgspec.field(default_factory=lambda: [0])


class Cell(NamedTuple):
    """One inference of a sweep.

    Attributes:
        name: of its folder.
        world: the part of the file that names its world.
        demos: a file, or the seed of a simulation.
        variant: the name of its settings.
        seed: of the inference.
        settings: arguments of `infer`.
    """

    name: str
    world: World
    demos: str | int
    variant: str
    seed: int
    settings: dict[str, Any]


class Plan(NamedTuple):
    """All inferences of a file, and what the file is known by."""

    key: str
    folder: Path
    cells: list[Cell]


def read(path: str) -> Plan:
    """Return the plan that a file describes."""
    data = files.read_bytes(path)
    decode = msgspec.toml.decode if path.endswith(".toml") else msgspec.json.decode
    try:
        document = decode(data, type=Document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"{path}: {error}; see docs/cluster.md for what a sweep says") from None
    if document.format != TAG:
        raise FormatError(f"{path}: format is {document.format!r}; this file must say {TAG!r}")
    key = hashlib.sha256(msgspec.json.encode(document)).hexdigest()
    cells = _cells(document, path)
    return Plan(key, Path(path).absolute().parent, cells)


def _cells(document: Document, path: str) -> list[Cell]:
    """Return all combinations, in the order of the file."""
    found: list[Cell] = []
    variants = document.variants or [{"name": "usual"}]
    names = [str(variant.get("name", f"variant {n}")) for n, variant in enumerate(variants, 1)]
    if len(set(names)) < len(names):
        raise FormatError(f"{path}: two variants are called the same; give each a name of its own")
    for where, world in enumerate(document.worlds, 1):
        demos: list[str | int] = list(world.demos)
        demos += [] if world.simulate is None else world.simulate.seeds
        if not demos:
            raise FormatError(
                f"{path}: world {where}, {world.world}: no demonstrations; give demos, files, or "
                "simulate"
            )
        for shown in demos:
            for name, variant in zip(names, variants, strict=True):
                settings = _checked(document.settings | variant, path, name)
                for seed in document.seeds:
                    title = f"{Path(world.world).stem}-{Path(str(shown)).stem}-{name}-{seed}"
                    slug = f"{len(found) + 1:04d}-{re.sub(r'[^A-Za-z0-9]+', '-', title)[:60]}"
                    found.append(Cell(slug, world, shown, name, seed, settings))
    if not 0 < len(found) <= MOST_CELLS:
        raise FormatError(f"{path}: {len(found):,} inferences; plan 1 to {MOST_CELLS:,}")
    return found


def _checked(settings: dict[str, Any], path: str, variant: str) -> dict[str, Any]:
    rest = {name: value for name, value in settings.items() if name != "name"}
    for name in rest:
        if name not in SETTINGS:
            raise FormatError(
                f"{path}: variant {variant!r}: unknown setting {name!r}; known are "
                f"{', '.join(SETTINGS)}"
            )
    return rest
