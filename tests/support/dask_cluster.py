"""A Dask scheduler and workers, each a process of this machine, by TLS where that is asked for."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPENSSL = shutil.which("openssl")
PATIENCE = 60.0  # seconds to wait for a scheduler


class Cluster:
    """A scheduler and workers.

    Attributes:
        address: of the scheduler.
        scheduler: its process.
        workers: their processes, one thread each.
    """

    def __init__(self, place: Path, count: int, certificate: Path | None = None) -> None:
        """Start them.

        Args:
            place: an empty folder.
            count: how many workers.
            certificate: a file with a certificate and its key, which all of them share.
        """
        self._place = place
        port = _free_port()
        self._tls = [] if certificate is None else [
            "--tls-ca-file", str(certificate), "--tls-cert", str(certificate),
            "--tls-key", str(certificate),
        ]  # fmt: skip
        protocol = "tcp" if certificate is None else "tls"
        self.address = f"{protocol}://127.0.0.1:{port}"
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--protocol", protocol
        )
        _wait_for(port, self.scheduler)
        self.workers = [self.worker() for _ in range(count)]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker."""
        own = self._place / f"worker-{time.monotonic_ns()}"
        return self._start(
            "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0",
            "--local-directory", str(own),
        )  # fmt: skip

    def close(self) -> None:
        """End all of them."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        command += ["--no-dashboard", *self._tls]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def clustered(place: Path, count: int, certificate: Path | None = None) -> Iterator[Cluster]:
    """Open a cluster."""
    place.mkdir(parents=True, exist_ok=True)
    found = Cluster(place, count, certificate)
    try:
        yield found
    finally:
        found.close()


def certificate_in(folder: Path) -> Path:
    """Return a new certificate with its key in one file, good for a day."""
    assert OPENSSL is not None
    key, paper, both = (folder / name for name in ("key.pem", "certificate.pem", "both.pem"))
    command = [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "1", "-subj", "/CN=whence", "-keyout", str(key)]
    subprocess.run([*command, "-out", str(paper)], check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + paper.read_bytes())
    return both


def settings_of(certificate: Path) -> dict[str, str]:
    """Return what a client sets in its environment to use a certificate."""
    names = ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(certificate) for name in names}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as found:
            if found.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"no Dask scheduler came up on port {port}")
