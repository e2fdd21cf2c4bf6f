"""A Dask cluster of real processes, by TLS: killed workers and schedulers change no byte."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import whence
from runs import small
from support import dask_cluster
from support.dask_cluster import Cluster, clustered
from whence import Exhaustive, Tempering
from whence.errors import WorkerError
from whence.runs import crew, searching, workers
from whence.runs.events import Event

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

SETTINGS = Tempering(
    rungs=4, ladders=3, warm_up=20, pace=10, steps=300, every=20, until_agreed=False
)
REFUSED = r"tls://127.0.0.1:1: no certificates are set here; set DASK_DISTRIBUTED__COMM__TLS__CA"


def using(file: str | None) -> Any:
    """Let clients of this process use a certificate."""
    names = ("ca-file", "client.cert", "client.key")
    return dask.config.set({f"distributed.comm.tls.{name}": file for name in names})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path | None]:
    """Return a certificate that this process uses, too; none where no tool makes one."""
    if dask_cluster.OPENSSL is None:
        yield None
        return
    made = dask_cluster.certificate_in(tmp_path_factory.mktemp("certificate"))
    with using(str(made)):
        yield made


@pytest.fixture
def cluster(tmp_path: Path, certificate: Path | None) -> Iterator[Cluster]:
    """Return a cluster of three workers."""
    with clustered(tmp_path / "cluster", 3, certificate) as found:
        yield found


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut work into many units, and be told of each."""
    monkeypatch.setattr(crew, "UNIT_SECONDS", 0.2)
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    monkeypatch.setattr(workers, "PRESENT_SECONDS", 0.0)


def test_a_worker_that_is_killed_changes_no_byte(cluster: Cluster, tmp_path: Path) -> None:
    small.infer("exhaustive", settings=Exhaustive(batch=8), folder=tmp_path / "alone")
    small.infer("tempering", settings=SETTINGS, folder=tmp_path / "sampled alone")
    told: list[Event] = []

    def kill(event: Event) -> None:
        told.append(event)
        if len(event.details["workers"]) == 3 and event.step > 100:
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    with workers.opened(cluster.address) as executor:
        executor.client.wait_for_workers(3, timeout=60)
        small.infer(
            "exhaustive", settings=Exhaustive(batch=8), folder=tmp_path / "run", executor=executor
        )
        small.infer(
            "tempering", settings=SETTINGS, folder=tmp_path / "sampled", executor=executor,
            on_event=kill,
        )  # fmt: skip
    assert small.contents(tmp_path / "run") == small.contents(tmp_path / "alone")
    assert small.contents(tmp_path / "sampled") == small.contents(tmp_path / "sampled alone")
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    assert any("is gone; 2 are left" in note for note in told[-1].details["mended"])


def test_a_scheduler_that_is_killed_is_told_of_and_gone_on_without(
    cluster: Cluster, tmp_path: Path
) -> None:
    small.infer("tempering", settings=SETTINGS, folder=tmp_path / "alone")

    def kill(event: Event) -> None:
        if event.details["workers"]:
            cluster.scheduler.kill()

    with (
        workers.opened(cluster.address) as executor,
        pytest.raises(WorkerError, match=r"go on with whence resume .*run"),
    ):
        small.infer(
            "tempering", settings=SETTINGS, folder=tmp_path / "run", executor=executor,
            on_event=kill,
        )  # fmt: skip
    whence.resume(tmp_path / "run", threads=1)
    assert small.contents(tmp_path / "run") == small.contents(tmp_path / "alone")


def test_tls_without_certificates_is_refused_at_once() -> None:
    with (
        using(None),
        pytest.raises(WorkerError, match=REFUSED),
        workers.opened("tls://127.0.0.1:1"),
    ):
        pass


def test_certificates_that_are_none_are_named(tmp_path: Path) -> None:
    with (
        using(str(tmp_path / "none.pem")),
        pytest.raises(WorkerError, match="the certificates that are set here cannot be read"),
        workers.opened("tls://127.0.0.1:1"),
    ):
        pass
