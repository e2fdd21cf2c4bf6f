"""A headless Chromium for tests, spoken to over a pipe: it opens files, and tells all."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 120.0  # seconds for one answer; a busy machine is slow, a hung browser is slower


def find() -> str | None:
    """Return where a Chromium is, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


@dataclass
class Page:
    """One open page.

    Attributes:
        requests: the addresses that were asked for, in order.
        complaints: errors and warnings: exceptions, console messages, the browser's log.
    """

    pipe: _Pipe
    session: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.pipe.loaded = False
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.pipe.until(lambda: self.pipe.loaded)
        self.call("Runtime.evaluate", expression="1")
        for event in self.pipe.events:
            self._note(event["method"], event.get("params", {}))

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(f"{params['entry']['level']}: {params['entry']['text']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method in ("Runtime.consoleAPICalled", "Page.javascriptDialogOpening"):
            self.complaints.append(f"{method}: {params}")

    def value(self, expression: str) -> Any:
        """Return what an expression is worth on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screen(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Choose the size of the window, and light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self) -> bytes:
        """Return the whole page as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        """Return the page as printed."""
        answer = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        return base64.b64decode(answer["data"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol on this page."""
        return self.pipe.call(method, params, self.session)


class _Pipe:
    """The DevTools protocol: JSON documents that end with a zero byte."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self.events: list[dict[str, Any]] = []
        self.answers: dict[int, dict[str, Any]] = {}
        self.loaded = False
        self.last = 0
        self.rest = b""

    def call(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        self.last += 1
        number = self.last
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writing, data) :]
        self.until(lambda: number in self.answers)
        answer = self.answers.pop(number)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def until(self, done: Any) -> None:
        deadline = time.monotonic() + PATIENCE
        while not done():
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.reading], [], [], max(left, 0))
            assert ready, "the browser does not answer"
            data = os.read(self.reading, 1 << 20)
            assert data, "the browser ended"
            *whole, self.rest = (self.rest + data).split(b"\0")
            for part in whole:
                self._take(json.loads(part))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self.answers[message["id"]] = message
            return
        self.events.append(message)
        self.loaded = self.loaded or message["method"] == "Page.loadEventFired"


@contextmanager
def browser(program: str) -> Iterator[Page]:
    """Start a browser with an empty profile, and end it afterwards."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_read, from_write)]

    def plug() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(theirs[1], 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=plug,
        )
        for end in (to_read, from_write, *theirs):
            os.close(end)
        pipe = _Pipe(from_read, to_write)
        try:
            target = pipe.call("Target.createTarget", {"url": "about:blank"})
            attached = {"targetId": target["targetId"], "flatten": True}
            yield Page(pipe, pipe.call("Target.attachToTarget", attached)["sessionId"])
        finally:
            process.kill()
            process.wait()
            os.close(from_read)
            os.close(to_write)
