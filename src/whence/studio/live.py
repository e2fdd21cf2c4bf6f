"""Tells every open page what changed, so that tabs and people see the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import msgspec
from starlette.exceptions import HTTPException

MOST = 64  # pages that listen to one project
HEARTBEAT = 10.0  # seconds


class Listener:
    """One open page: what it has not heard of yet, the last of each kind."""

    def __init__(self, who: str) -> None:
        self.who = who
        self.pending: dict[str, Any] = {}
        self.awake = anyio.Event()

    def hear(self, kind: str, value: Any) -> None:
        """Take note of something that changed."""
        self.pending[kind] = value
        self.awake.set()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield server-sent events, and a heartbeat while nothing happens."""
        yield b": hello\n\n"
        while True:
            with anyio.move_on_after(HEARTBEAT):
                await self.awake.wait()
            told, self.pending, self.awake = self.pending, {}, anyio.Event()
            yield b": still here\n\n" if not told else _event(told)


class Audience:
    """The pages that listen to one project."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()

    @contextmanager
    def listening(self, who: str) -> Iterator[Listener]:
        """Count a page among those that listen, as long as it does."""
        if len(self.listeners) >= MOST:
            raise HTTPException(503, f"{MOST} pages look at this project already; close some")
        listener = Listener(who)
        self.listeners.add(listener)
        try:
            yield listener
        finally:
            self.listeners.discard(listener)

    def tell(self, kind: str, value: Any = True, *, who: str | None = None) -> None:
        """Tell all pages, or those of one person, that something changed."""
        for listener in self.listeners:
            if who is None or listener.who == who:
                listener.hear(kind, value)

    @property
    def present(self) -> set[str]:
        """Who looks at a page now."""
        return {listener.who for listener in self.listeners}


def _event(told: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(told) + b"\n\n"
