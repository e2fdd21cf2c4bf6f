"""What requests bring along: never more than was allowed, and never for ever."""

from __future__ import annotations

from typing import TypeVar

import anyio
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from whence.errors import ArgumentError

SMALL = 2 * 2**20  # bytes of a request
LARGE = 16 * 2**20  # of a file
PATIENCE = 30.0  # seconds without a byte

T = TypeVar("T")


async def body(request: Request, most: int = SMALL) -> bytes:
    """Return what a request brings; more than `most` bytes are refused as soon as they are known.

    A request that says how large it is need not be read at all.
    """
    said = request.headers.get("content-length", "")
    if said.isdecimal() and (len(said) > 15 or int(said) > most):
        raise _too_large(most)
    parts: list[bytes] = []
    size = 0
    stream = request.stream().__aiter__()
    while True:
        try:
            with anyio.fail_after(PATIENCE):
                part = await stream.__anext__()
        except StopAsyncIteration:
            return b"".join(parts)
        except TimeoutError:
            raise HTTPException(408, "nothing came for too long; try again") from None
        except ClientDisconnect:
            raise HTTPException(400, "the request broke off") from None
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)


async def document(request: Request, kind: type[T]) -> T:
    """Return what a request brings as JSON of a kind."""
    data = await body(request)
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send JSON")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArgumentError(f"the request: {error}") from None


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        413,
        f"more than {most >> 20} MiB is too much for the studio; use whence infer",
        headers={"connection": "close"},
    )
