"""A studio that is served by a process of its own, and requests as anybody may send them."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds; a busy machine is slow
HASTY = (
    "import sys; from whence.studio import serving; serving.SILENCE = 1.0; "
    "from whence.cli import main; main(sys.argv[1:])"
)


class Served:
    """A studio and the process that serves it.

    Attributes:
        folder: the studio's.
        url: where the page is, with the project that was opened.
    """

    def __init__(self, folder: Path, *what: str) -> None:
        self.folder = folder
        command = ["studio", *what, "-o", str(folder), "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", HASTY, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http\S+", self.process.stdout.readline())
        assert found is not None, self._failed()
        self.url = found[0]
        self._wait()

    def _failed(self) -> str:
        assert self.process.stderr is not None
        self.process.kill()
        return self.process.stderr.read()

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                self.ask("api/studio")
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the studio does not answer")

    @property
    def host(self) -> str:
        """The host and the port."""
        return self.url.split("/")[2]

    @property
    def token(self) -> str:
        """What every address begins with."""
        return self.url.split("/")[3]

    def connection(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection(self.host, timeout=PATIENCE)

    def ask(self, path: str, value: Any = None, **headers: str) -> tuple[int, Any]:
        """Send a request below the token; returns the status, and the answer as JSON or text."""
        return self.raw(f"/{self.token}/{path}", value, **headers)

    def raw(self, path: str, value: Any = None, **headers: str) -> tuple[int, Any]:
        """Send a request to any address."""
        connection = self.connection()
        body = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        kind = {} if isinstance(value, bytes | None) else {"content-type": "application/json"}
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            connection.request("GET" if body is None else "POST", path, body, kind | named)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def kill(self) -> None:
        """Kill the process, as a crash would."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def served(folder: Path, *what: str) -> Iterator[Served]:
    """Serve a studio, and kill it afterwards."""
    studio = Served(folder, *what)
    try:
        yield studio
    finally:
        if studio.process.poll() is None:
            studio.kill()
