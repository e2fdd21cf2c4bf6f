"""Ctrl-C and SIGTERM: a run is stopped between two steps, when its state is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A run was stopped by the user; its folder is safe."""


class Stop:
    """Whether the user asked to stop.

    Attributes:
        asked: true after a first signal; a second one interrupts at once.
        patient: while true, a first signal waits for the step to end.
    """

    def __init__(self) -> None:
        self.asked = False
        self.patient = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        if self.asked or not self.patient:
            raise Stopped
        self.asked = True


@contextmanager
def caught() -> Iterator[Stop]:
    """Catch the signals, in the main thread; elsewhere none arrive."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before: dict[int, Any] = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
