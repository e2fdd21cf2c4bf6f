"""The studio: a page on this machine, to walk in a world and watch what is believed of it.

It needs `whence[studio]`: Starlette, which answers, and uvicorn, which listens.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whence.errors import ArgumentError, FileError, MissingExtraError

__all__ = ["app"]

SHORTEST = 16  # characters of a token


def app(folder: str | os.PathLike[str], *, token: str, hosts: Sequence[str] = ()) -> Any:
    """Return the studio as an ASGI application.

    `whence studio` serves it with uvicorn on 127.0.0.1. Its addresses begin with the token:
    the page is at `/TOKEN/`.

    Args:
        folder: where projects are kept; nothing outside of it is read or written.
        token: a secret without which nothing is answered, of at least 16 letters, digits, `-`
            and `_`, such as `secrets.token_urlsafe(24)` returns.
        hosts: names by which the studio may be reached besides localhost and this machine's
            loopback addresses.

    Raises:
        MissingExtraError: without Starlette.
        FileError: where the folder is not there.
        ArgumentError: where the token is too short.
    """
    need_studio("whence.studio.app", "starlette")
    if len(token) < SHORTEST or not token.replace("-", "").replace("_", "").isalnum():
        raise ArgumentError(
            f"token: {SHORTEST} or more letters, digits, - and _; try secrets.token_urlsafe(24)"
        )
    place = Path(folder)
    if not place.is_dir():
        raise FileError(f"{folder}: there is no such folder; make it first")
    from whence.studio.application import application

    return application(place.resolve(), token, hosts)


def need_studio(who: str, *packages: str) -> None:
    """Refuse what cannot be done without an optional package, with the line to install it."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(
                f"{who} needs {package}, which is not installed; try: pip install 'whence[studio]'"
            )
