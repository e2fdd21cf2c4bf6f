"""A Dask client as an executor: the same bytes, units with names, and refusals by name."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from runs import small
from whence import Tempering
from whence.errors import WorkerError
from whence.runs import units, workers

distributed = pytest.importorskip("distributed")

SETTINGS = Tempering(rungs=4, warm_up=20, pace=10, steps=60, every=20, until_agreed=False)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Return the client of a cluster within this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


def test_a_dask_client_does_the_work(client: Any) -> None:
    units._known.clear()
    run = small.infer("tempering", settings=SETTINGS, executor=client)
    alone = small.infer("tempering", settings=SETTINGS)
    assert run.draws is not None
    assert alone.draws is not None
    assert run.draws.log_likelihood.tobytes() == alone.draws.log_likelihood.tobytes()
    assert run.trace.score.tobytes() == alone.trace.score.tobytes()


def test_units_have_names_on_the_dashboard(client: Any) -> None:
    found = workers.DaskWorkers(client)
    assert found.seats == 2
    future = found.submit_named("ladder 1 steps 1-10", int, "3")
    assert future.result() == 3
    assert future.key.startswith("ladder 1 steps 1-10 #")


def test_a_worker_that_differs_is_refused_before_it_gets_work(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = units.identity() | {"whence": "9.9"}
    monkeypatch.setattr(client, "run", lambda function: {"tcp://10.1.1.1:7": there})
    with pytest.raises(WorkerError, match=r"worker tcp://10.1.1.1:7: whence is 9.9 there"):
        workers.adopted(client)


def test_a_client_of_a_scheduler_elsewhere_wants_tls() -> None:
    away = type("Client", (SimpleNamespace,), {"__module__": "distributed.client"})
    elsewhere = away(scheduler=SimpleNamespace(address="tcp://10.0.0.7:8786"))
    with pytest.raises(WorkerError, match="use TLS"):
        workers.adopted(elsewhere)


def test_a_scheduler_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(WorkerError, match=r"tcp://127.0.0.1:9: no scheduler answers"),
        workers.opened("tcp://127.0.0.1:9"),
    ):
        pass


def test_a_scheduler_without_workers_is_told_of_with_what_to_do() -> None:
    def none_comes(count: int, timeout: float) -> None:
        raise TimeoutError

    scheduler = SimpleNamespace(address="tcp://127.0.0.1:8786")
    lonely = SimpleNamespace(scheduler=scheduler, wait_for_workers=none_comes)
    with pytest.raises(WorkerError, match=r"no worker came .* client.wait_for_workers\(1\)"):
        workers.DaskWorkers(lonely)
