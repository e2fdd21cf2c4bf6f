"""Workers by a number or an address: processes on this machine, or those of a Dask scheduler.

This is the one module that may connect to another machine, and only where an address is given,
or a Dask client. Dask unpickles what it receives, so whoever can reach a scheduler can run code
on it: one that is not on this machine must be reached by TLS.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

from whence.errors import ArgumentError, MissingExtraError, WorkerError
from whence.runs import units

HERE = re.compile(r"(tcp://)?(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$|inproc://.*")
SAFE = "tls://"
ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d+$")
CERTIFICATES = (
    "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
    "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY here"
)
CONNECT_SECONDS = 10.0  # to wait for a scheduler
FIRST_SECONDS = 60.0  # to wait for a first worker
PRESENT_SECONDS = 1.0  # between two looks at which workers there are
SHUN_SECONDS = 120.0  # that a worker gets no unit after it was late


@contextmanager
def opened(workers: str | int | None) -> Iterator[Any]:
    """Open workers, and let them go at the end.

    Args:
        workers: how many processes on this machine, or the address of a Dask scheduler, such as
            tcp://127.0.0.1:8786 or tls://node1:8786; None for this process alone.
    """
    if workers is None:
        yield None
        return
    text = str(workers)
    if text.isdecimal() and int(text) > 0:
        pool = LocalWorkers(int(text))
        try:
            yield pool
        finally:
            pool.close()
        return
    if not ADDRESS.match(text):
        raise ArgumentError(
            f"workers is {text!r}; give how many processes to use on this machine, or the address "
            "of a Dask scheduler, such as tcp://127.0.0.1:8786 or tls://node1:8786"
        )
    check_safe(text)
    client = _connected(text)
    try:
        yield DaskWorkers(client)
    finally:
        with suppress(Exception):
            client.close(timeout=2)


def adopted(executor: Any) -> Any:
    """Return an executor for a Dask client, and any other executor as it is."""
    if not type(executor).__module__.startswith("distributed"):
        return executor
    check_safe(executor.scheduler.address)
    return DaskWorkers(executor)


def check_safe(address: str) -> None:
    """Refuse a scheduler on another machine that is not reached by TLS."""
    if address.startswith(SAFE) or HERE.match(address):
        return
    raise WorkerError(
        f"{address}: this scheduler is not on this machine, and Dask runs whatever code it "
        "receives: use TLS. Start scheduler and workers with --tls-ca-file, --tls-cert and "
        f"--tls-key, {CERTIFICATES}, and give {SAFE}{address.removeprefix('tcp://')}"
    )


class LocalWorkers:
    """Processes on this machine; when one dies, all are started anew.

    Attributes:
        seats: how many.
    """

    def __init__(self, count: int) -> None:
        self.seats = count
        self._pool = self._started()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand over work."""
        return self._pool.submit(function, *arguments)

    def renew(self) -> bool:
        """Start the processes anew, if one has died."""
        if getattr(self._pool, "_broken", False):
            self.close()
            self._pool = self._started()
        return True

    def close(self) -> None:
        """End all processes, whatever they are at."""
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()

    def _started(self) -> ProcessPoolExecutor:
        """Start processes, which load what they need while this one prepares their work."""
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.seats, mp_context=context, initializer=_at_work)
        for _ in range(self.seats):
            pool.submit(units.identity)
        return pool


class DaskWorkers:
    """The workers of a Dask scheduler, by a client; units have names on its dashboard."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(client.scheduler.address)
        self._own = uuid4().hex[:8]
        self._numbers = itertools.count()
        self._shunned: dict[str, float] = {}  # until when, by address
        self._present: list[str] = []
        self._look_again = 0.0
        self._check()

    @property
    def present(self) -> list[str]:
        """The addresses of the workers that there are, as of the last second."""
        now = time.monotonic()
        if now >= self._look_again:
            try:
                self._present = sorted(self.client.nthreads())
            except Exception as error:
                raise WorkerError(
                    f"{self.address}: the scheduler does not answer ({type(error).__name__}: "
                    f"{error})"
                ) from error
            self._look_again = now + PRESENT_SECONDS
        return self._present

    @property
    def seats(self) -> int:
        """How many workers there are now, but for those that are late."""
        return max(len(self._fit()), 1)

    def submit_named(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand over work."""
        key = f"{name} #{self._own}-{next(self._numbers)}"
        who = self._fit() or None if self._shunned else None
        return self.client.submit(function, *arguments, key=key, pure=False, workers=who)

    def shun(self, future: Any) -> None:
        """Give no more work for a while to the worker that has a future's."""
        until = time.monotonic() + SHUN_SECONDS
        with suppress(Exception):  # it may be done by now, or its worker gone
            for worker, keys in self.client.processing().items():
                if future.key in keys:
                    self._shunned[worker] = until

    def _fit(self) -> list[str]:
        now = time.monotonic()
        self._shunned = {who: until for who, until in self._shunned.items() if until > now}
        return [who for who in self.present if who not in self._shunned]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand over work that has no name."""
        return self.submit_named("work", function, *arguments)

    def _check(self) -> None:
        """Wait for a worker; refuse workers on which results would differ."""
        address = self.address
        try:
            self.client.wait_for_workers(1, timeout=FIRST_SECONDS)
        except TimeoutError:
            raise WorkerError(
                f"{address}: no worker came in {FIRST_SECONDS:g} s; start some: dask worker "
                f"{address} --nthreads 1, or wait for those of a queue first: "
                "client.wait_for_workers(1)"
            ) from None
        try:
            found = self.client.run(units.identity)
        except ImportError as error:
            raise WorkerError(
                f"{address}: a worker cannot load whence ({error}); install the same version there"
            ) from None
        here = units.identity()
        for worker, theirs in found.items():
            wrong = units.difference(here, theirs)
            if wrong is not None:
                raise WorkerError(f"worker {worker}: {wrong}")


def _connected(address: str) -> Any:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtraError(
            f"{address}: Dask is not installed; try: pip install 'whence[cluster]'"
        ) from None
    for name in list(logging.root.manager.loggerDict):  # whence's own messages say what is wrong
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if address.startswith(SAFE):
        _check_certificates(address, distributed)
    try:
        return distributed.Client(address, set_as_default=False, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        other = "" if address.startswith(SAFE) else f", or {SAFE}... if it speaks TLS"
        raise WorkerError(
            f"{address}: no scheduler answers ({str(error).splitlines()[0]}); start one with "
            f"dask scheduler, or correct the address{other}"
        ) from None


def _check_certificates(address: str, distributed: Any) -> None:
    """Refuse to go on without certificates, or with files that are none."""
    try:
        found = distributed.Security().get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:
        raise WorkerError(
            f"{address}: the certificates that are set here cannot be read ({error}); "
            f"{CERTIFICATES}"
        ) from None
    if found is None:
        raise WorkerError(f"{address}: no certificates are set here; {CERTIFICATES}")


def _at_work() -> None:
    """Prepare a process: an interrupt is its parent's to handle, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
