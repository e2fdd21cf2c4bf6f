"""Serves the studio with uvicorn: at the same address as before, and to those who speak up."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from whence import _files as files
from whence.errors import FileError
from whence.runs import lock
from whence.studio import app

ADDRESS = ".studio.json"  # the token and the port, for who may read the folder
FIRST_PORT, PORTS = 8757, 20
SILENCE = 15.0  # seconds in which a connection must have said what it wants
MOST = 256  # connections
ENDING = 2  # seconds that pages are given to hear that the studio ends


class Address(msgspec.Struct, frozen=True):
    """How a studio was reached; kept, so that open pages find it again after a restart."""

    token: str
    port: int = 0


class Patient(H11Protocol):
    """HTTP for connections that say what they want; the others are closed.

    One that says nothing, or not all of its request, is closed after a while; where there are
    too many, the oldest without a request under way makes room.
    """

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self.born = self.loop.time()
        self._silence = self.loop.call_later(SILENCE, self._tired)
        if len(self.connections) > MOST:
            idle = [each for each in self.connections if isinstance(each, Patient) and each.idle]
            min(idle, key=lambda each: each.born, default=self).transport.close()

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._silence.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._silence.cancel()
        self._silence = self.loop.call_later(SILENCE, self._tired)
        super().on_response_complete()

    def _tired(self) -> None:
        if self.idle and not self.transport.is_closing():
            self.transport.close()


def address(folder: Path) -> Address:
    """Return how the studio of a folder was reached before, or a new address."""
    path = files.own(folder, ADDRESS)
    try:
        return msgspec.json.decode(path.read_bytes(), type=Address)
    except (OSError, msgspec.DecodeError):
        return Address(secrets.token_urlsafe(24))


def keep_address(folder: Path, kept: Address) -> None:
    """Keep the address, for who may read the folder's secret alone."""
    path = files.own(folder, ADDRESS)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    files.write_bytes(path, msgspec.json.encode(kept))


def check_free(folder: Path) -> None:
    """Refuse a folder that another studio serves."""
    until = time.monotonic() + ENDING + 3
    while (process := lock.holder(folder)) is not None and time.monotonic() < until:
        time.sleep(0.1)  # it may be about to end
    if process is not None:
        raise FileError(
            f"{folder}: process {process} serves this studio already, at the address that it "
            "printed; use that, end it, or name another folder with -o"
        )


def listening(host: str, port: int | None, before: int) -> socket.socket:
    """Return a socket that listens: on the port asked for, else on the one before or a free one.

    Args:
        host: a name or address of this machine.
        port: the one that must be had, or None.
        before: the one that the studio had before, or 0.
    """
    usual = [*([before] if before else []), *range(FIRST_PORT, FIRST_PORT + PORTS), 0]
    ports = usual if port is None else [port]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for each in ports:
        # Named as TCP, or asyncio would not switch off Nagle's algorithm: 40 ms an answer.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, each))
        except OSError as error:
            found.close()
            reason = (error.strerror or str(error)).lower()
            continue
        found.set_inheritable(False)
        return found
    raise FileError(f"{host}, port {ports[-1]}: cannot listen: {reason}; choose another")


def serve(folder: Path, kept: Address, found: socket.socket, hosts: Sequence[str]) -> None:
    """Serve a studio until it is told to end."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)
    config = uvicorn.Config(
        app(folder, token=kept.token, hosts=hosts),
        http=Patient,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=1 << 15,
        timeout_graceful_shutdown=ENDING,
    )
    uvicorn.Server(config).run(sockets=[found])
