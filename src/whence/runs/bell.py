"""A bell that futures ring when they are done, so that nobody has to look all the time."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any


class Bell:
    """Rings when one of the futures that it hears is done, and says whose it is."""

    def __init__(self) -> None:
        self._rung = threading.Event()
        self._whose: deque[Any] = deque()
        self._silent: list[tuple[Any, Any]] = []

    def hear(self, future: Any, whose: Any = None) -> None:
        """Ring when a future is done; one that tells nobody is looked at now and then."""
        tell = getattr(future, "add_done_callback", None)
        if tell is None:
            self._silent.append((future, whose))
        else:
            tell(lambda _: self._ring(whose))

    def wait(self, seconds: float) -> bool:
        """Wait until it has rung since the last wait, at most some seconds; return whether."""
        rung = self._rung.wait(seconds)
        self._rung.clear()
        return rung

    def answered(self) -> list[Any]:
        """Return whose futures were done since this was asked for last."""
        found = [self._whose.popleft() for _ in range(len(self._whose))]
        if self._silent:
            found += [whose for future, whose in self._silent if future.done()]
            self._silent = [pair for pair in self._silent if not pair[0].done()]
        return found

    def _ring(self, whose: Any) -> None:
        self._whose.append(whose)
        self._rung.set()
