"""A bell that futures ring when they are done, so that nobody has to look all the time."""

from __future__ import annotations

import threading
from typing import Any


class Bell:
    """Rings when one of the futures that it hears is done."""

    def __init__(self) -> None:
        self._rung = threading.Event()

    def hear(self, future: Any) -> None:
        """Ring when a future is done; one that tells nobody must be looked at now and then."""
        tell = getattr(future, "add_done_callback", None)
        if tell is not None:
            tell(lambda _: self._rung.set())

    def wait(self, seconds: float) -> None:
        """Wait until it has rung since the last wait, or for some seconds."""
        self._rung.wait(seconds)
        self._rung.clear()
