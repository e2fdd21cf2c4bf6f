"""The studio as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from whence.errors import WhenceError
from whence.runs import lock
from whence.studio.gate import Gate
from whence.studio.routes import refused, routes
from whence.studio.studio import Studio


def application(folder: Path, token: str, hosts: Sequence[str]) -> ASGIApp:
    """Return the application; see `whence.studio.app`."""
    studio = Studio(folder)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.enter_context(lock.held(folder))
            stack.push_async_callback(studio.close)
            yield

    inner = Starlette(
        routes=routes(studio),
        lifespan=lifespan,
        exception_handlers={WhenceError: refused, HTTPException: refused},
    )
    return Gate(inner, token, hosts)
