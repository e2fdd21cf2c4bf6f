"""Runs in which chains leap: the same bytes with ladders apart, and killed and resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence import Expert, Tempering
from whence.runs import searching
from whence.runs.events import Event
from whence.search import census, surveying
from whence.search.leaping import Leaper

SETTINGS = Tempering(rungs=6, warm_up=40, pace=10, steps=160, every=20, trips=1,
                     until_agreed=False)  # fmt: skip
ASKED: dict[str, dict[str, Any]] = {
    "known": {"expert": Expert(20, 0.9), "alpha": None, "lapse": None, "discount": None},
    "unknown": {"alpha": "infer", "lapse": "infer", "discount": (0.8, 0.9)},
}


class _KillError(Exception):
    """Stands for a kill."""


@pytest.fixture(autouse=True)
def leaps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a small space do with leaps, and count the chains that are offered one."""
    monkeypatch.setattr(surveying, "MOST_MEMBERS", 0)
    for module in (census, surveying):
        monkeypatch.setattr(module, "KEPT", 1.0)
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    counts: list[int] = []
    step = Leaper.step

    def counted(self: Leaper, rng: np.random.Generator, chains: Any, rungs: Any) -> Any:
        counts.append(chains.size)
        return step(self, rng, chains, rungs)

    monkeypatch.setattr(Leaper, "step", counted)
    return counts


@pytest.mark.parametrize("expert", ["known", "unknown"])
def test_a_broken_run_with_leaps_ends_as_an_unbroken_one(
    expert: str, tmp_path: Path, leaps: list[int]
) -> None:
    asked = ASKED[expert] | {"settings": SETTINGS, "states": 3}
    small.infer("tempering", **asked, folder=tmp_path / "whole")
    assert len(leaps) > 50

    def broken(event: Event) -> None:
        if event.step >= 120:
            raise _KillError

    with pytest.raises(_KillError):
        small.infer(
            "tempering", **asked, folder=tmp_path / "broken", checkpoint=0.0, on_event=broken
        )
    whence.resume(tmp_path / "broken")
    assert small.contents(tmp_path / "broken") == small.contents(tmp_path / "whole")


@pytest.mark.parametrize("expert", ["known", "unknown"])
def test_threads_do_not_change_where_chains_leap(
    expert: str, tmp_path: Path, leaps: list[int]
) -> None:
    asked = ASKED[expert] | {"settings": SETTINGS, "states": 3}
    for threads in (1, 3):
        small.infer("tempering", **asked, threads=threads, folder=tmp_path / str(threads))
    assert len(leaps) > 100
    assert small.contents(tmp_path / "1") == small.contents(tmp_path / "3")
