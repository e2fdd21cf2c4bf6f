"""Everything that `whence bench` measured, as one record."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from whence.cli.benchmarks import card, engine, growth
from whence.cli.benchmarks.series import Growth
from whence.likelihood.threads import threads_available

PARTS = ("engine", "growth", "card", "all")
PACKAGES = ("whence", "numpy", "numba", "quantecon")


@dataclass(frozen=True)
class Computer:
    """What the figures were measured on.

    Attributes:
        processor: its name.
        cores: how many the process may use.
        system: operating system and architecture.
        python: its version.
        packages: their versions, by name.
    """

    processor: str
    cores: int
    system: str
    python: str
    packages: dict[str, str]


@dataclass(frozen=True)
class Report:
    """What was measured; None stands for a part that was not.

    Attributes:
        computer: what it was measured on.
        machines: how many were scored in each case of the built-in worlds.
        seed: what machines, worlds and demonstrations were drawn from.
        cases: the engine beside its peers.
        cold_start: seconds until a new process has scored a machine.
        growth: how time grows.
        card: a graphics card beside one core; of `all` it is no part.
    """

    computer: Computer
    machines: int
    seed: int
    cases: tuple[engine.Result, ...] | None
    cold_start: float | None
    growth: Growth | None
    card: tuple[card.CardResult, ...] | None = None

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        result: dict[str, Any] = msgspec.to_builtins(self)
        return result


def read(data: bytes) -> Report:
    """Return the report that a `bench.json` holds."""
    return msgspec.json.decode(data, type=Report)


def measure(
    part: str, machines: int, largest: int, seed: int, tell: Callable[[str], None]
) -> Report:
    """Measure one of `PARTS`; `tell` hears what comes next."""
    cases, started, grown = None, None, None
    if part in ("engine", "all"):
        cases = tuple(_cases(machines, seed, tell))
        tell("the first score of a new process")
        started = engine.cold_start()
    if part in ("growth", "all"):
        grown = growth.measure(growth.sizes_up_to(largest, machines), seed, tell)
    found = tuple(_on_card(seed, tell)) if part == "card" else None
    return Report(computer(), machines, seed, cases, started, grown, found)


def computer() -> Computer:
    """Return what this process runs on."""
    return Computer(
        processor=_processor(),
        cores=threads_available(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        packages={name: found for name in PACKAGES if (found := _version(name)) is not None},
    )


def _cases(machines: int, seed: int, tell: Callable[[str], None]) -> list[engine.Result]:
    results = []
    for world, discount in engine.CASES:
        tell(f"{world} at discount {discount}")
        results.append(engine.measure(world, discount, machines, seed))
    return results


def _on_card(seed: int, tell: Callable[[str], None]) -> list[card.CardResult]:
    results = []
    for world, discount in card.CASES:
        tell(f"{world} at discount {discount} on the card")
        results.append(card.measure(world, discount, seed))
    return results


def _processor() -> str:
    """Return the processor's name, as far as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return (names or [platform.processor() or platform.machine()])[0]


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
