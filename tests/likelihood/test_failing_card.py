"""Cards that fill up or are taken away in mid-run: a message, and nothing lost."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import whence
from support.conformance import walks
from support.emulated import COMPILER, EmulatedCard
from support.problems import random_world
from whence import Expert
from whence.errors import DeviceError
from whence.likelihood.cuda import card as card_module
from whence.likelihood.cuda import sifting
from whence.likelihood.cuda.card import CudaCard, FullError
from whence.likelihood.engines import CPU
from whence.runs.job import Job
from whence.search import placing
from whence.search.finding.climbing import Scorer
from whence.search.placing import placed
from whence.search.settings import Exhaustive, Tempering
from whence.search.unknowns import Experts

emulated = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler to emulate a card with")


class MemoryGoneError(Exception):
    """Stands where CuPy's error of a full card stands."""


class LaunchError(Exception):
    """Stands where CuPy's errors of CUDA stand."""


CUPY = SimpleNamespace(
    cuda=SimpleNamespace(
        memory=SimpleNamespace(OutOfMemoryError=MemoryGoneError),
        runtime=SimpleNamespace(CUDARuntimeError=LaunchError),
        driver=SimpleNamespace(CUDADriverError=LaunchError),
    )
)


class FailingCard(EmulatedCard):
    """A card that fails at one of its operations: once, where it is full, or from then on."""

    _cupy = CUPY
    guarded: Any = CudaCard.guarded

    def __init__(self, at: int | None, error: type[Exception] = LaunchError) -> None:
        super().__init__()
        self._at, self._error, self.done = at, error, 0

    def _do(self) -> None:
        self.done += 1
        if self._at is None or self.done < self._at:
            return
        if self._error is LaunchError or self.done == self._at:
            raise self._error("cudaErrorSomething: it does not answer")

    def put(self, numbers: Any) -> Any:
        self._do()
        return super().put(numbers)

    def get(self, numbers: Any) -> Any:
        self._do()
        return super().get(numbers)

    def empty(self, size: int, kind: type) -> Any:
        self._do()
        return super().empty(size, kind)

    def kernel(self, file: str, name: str, options: tuple[str, ...], text: str = "") -> Any:
        launch = super().kernel(file, name, options, text)

        def run(*arguments: Any) -> None:
            self._do()
            launch(*arguments)

        return run


@pytest.fixture(autouse=True)
def _few_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the emulation launch few blocks: each takes as long as it does on a card."""
    monkeypatch.setattr(sifting, "BLOCKS", 4)


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    mdp = random_world(rng, states=9, actions=2, symbols=2, successors=2)
    return {
        "mdp": mdp, "demos": walks(rng, mdp), "states": (1, 2), "expert": Expert(10.0, 0.8, 0.1),
        "method": "exhaustive", "settings": Exhaustive(batch=1), "device": "cuda",
    }  # fmt: skip


def _on(monkeypatch: pytest.MonkeyPatch, card: EmulatedCard) -> EmulatedCard:
    monkeypatch.setattr(card_module, "first_card", lambda: card)
    return card


def _told(run: Any) -> tuple[Any, ...]:
    return run.best, run.evaluations, dict(run.log_evidence), run.draws.weight.tolist()


@emulated
def test_a_card_that_is_taken_away_ends_a_run_that_goes_on_to_the_same_bits(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = _on(monkeypatch, FailingCard(None))
    whole = _told(whence.infer(**asked))
    assert isinstance(good, FailingCard)
    places = np.linspace(1, good.done, 7).astype(int).tolist()
    for at in places:
        folder = tmp_path / str(at)
        _on(monkeypatch, FailingCard(at))
        with pytest.raises(DeviceError, match=r"emulated: cudaError.*nothing that was written"):
            whence.infer(**asked, folder=folder, checkpoint=0.0)
        _on(monkeypatch, FailingCard(None))
        assert _told(whence.resume(folder)) == whole
    assert len(set(places)) == 7


@emulated
def test_a_card_that_is_full_for_a_moment_does_less_at_a_time(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = _on(monkeypatch, FailingCard(None))
    whole = whence.infer(**asked)
    assert isinstance(good, FailingCard)
    finished = 0
    for at in np.linspace(1, good.done, 9).astype(int).tolist():
        _on(monkeypatch, FailingCard(at, MemoryGoneError))
        try:
            found = whence.infer(**asked)
        except FullError:
            continue
        finished += 1
        assert found.best == whole.best
        assert found.evaluations == whole.evaluations
        for n, (log_evidence, _) in whole.log_evidence.items():
            assert found.log_evidence[n][0] == pytest.approx(log_evidence, abs=1e-12)
    assert finished >= 4


@emulated
def test_a_few_chains_are_scored_by_the_cores_and_many_by_the_card(
    asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _on(monkeypatch, FailingCard(None))
    few = {**asked, "method": "tempering", "settings": Tempering(steps=60, rungs=4), "states": 2}
    found = whence.infer(**few)
    cores = whence.infer(**{**few, "device": CPU})
    assert found.draws is not None
    assert cores.draws is not None
    assert found.draws.log_likelihood.tobytes() == cores.draws.log_likelihood.tobytes()
    assert any("the cores scored the 8 chains" in note for note in found.notes)
    assert not any("the cores scored" in note for note in cores.notes)
    job: Job = found.job
    problem = job.problem()
    least = placing.few(problem.posteriors)
    assert least == 100
    assert placed(problem, least) is problem
    on_cores = placed(problem, least - 1)
    assert {posterior.device for posterior in on_cores.posteriors} == {CPU}
    scorer = Scorer(on_cores.target(), problem.target())
    machines = problem.target().space.sample(np.random.default_rng(0), least)
    expert = Experts(np.array([10.0]), np.array([0.1]), np.zeros(1, dtype=np.int64))
    for size, scored_by in ((least, problem), (least - 1, on_cores)):
        some = machines.rows(np.arange(size))
        rows = expert.rows(np.zeros(size, dtype=np.int64))
        exact = scored_by.target().chains(some, rows)
        assert scorer.at_one(some, expert).score.tobytes() == scorer.target.score(exact).tobytes()
    other = on_cores.target().log_likelihood(some, rows)
    assert (other != problem.target().log_likelihood(some, rows)).any()


def test_errors_of_a_card_become_messages_with_a_cure() -> None:
    card = FailingCard(None)
    with pytest.raises(FullError, match="score fewer machines"), card.guarded():
        raise MemoryGoneError("out of memory")
    with pytest.raises(DeviceError, match=r"whence doctor.*leave device="), card.guarded():
        raise LaunchError("an illegal memory access was encountered")
    with pytest.raises(ValueError, match="other"), card.guarded():
        raise ValueError("other")
