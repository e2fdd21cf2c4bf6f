"""How long things took the last time: loading, compiling. Kept beside the compiled kernels."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Any

from whence import _files as files

NAME = "whence-times.json"
LEAST = 1.0  # seconds that are worth remembering


def kept_in() -> Path:
    """Return the folder of compiled kernels."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    return Path(given) if given else Path(files.__file__).parent / "__pycache__"


def last(what: str) -> float | None:
    """Return how many seconds something took the last time, if that is known."""
    value = _read().get(what)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 < value < 1e6 else None


def remember(what: str, seconds: float) -> None:
    """Keep how long something took; nothing happens where nothing can be written."""
    if seconds < LEAST:
        return
    known = _read() | {what: round(seconds, 1)}
    with suppress(OSError):
        kept_in().mkdir(parents=True, exist_ok=True)
        (kept_in() / NAME).write_text(json.dumps(known), encoding="utf-8")


def _read() -> dict[str, Any]:
    try:
        found = json.loads((kept_in() / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class Compiling:
    """Counts the seconds that kernels take to compile, in whichever thread.

    A kernel that is compiled for another one is not counted twice.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self._began: dict[int, list[float]] = {}

    @property
    def seconds(self) -> float:
        """Seconds so far, those of what is being compiled now among them."""
        now = time.perf_counter()
        return self.total + sum(now - stack[0] for stack in list(self._began.values()) if stack)

    @property
    def now(self) -> bool:
        """Whether anything is being compiled."""
        return any(self._began.values())

    def watch(self) -> None:
        """Begin to count; numba must be there by then."""
        from numba.core import event

        outer = self

        class Listener(event.Listener):  # type: ignore[misc]
            def on_start(self, started: Any) -> None:
                outer._began.setdefault(get_ident(), []).append(time.perf_counter())

            def on_end(self, ended: Any) -> None:
                stack = outer._began.get(get_ident())
                if stack:
                    began = stack.pop()
                    if not stack:
                        outer.total += time.perf_counter() - began

        event.register("numba:compile", Listener())


_COMPILING: list[Compiling] = []


def compiling() -> Compiling:
    """Return the count of this process, which begins with the first call."""
    if not _COMPILING:
        count = Compiling()
        count.watch()
        _COMPILING.append(count)
    return _COMPILING[0]
