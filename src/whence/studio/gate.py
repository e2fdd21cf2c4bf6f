"""The door of the studio: who may come in, how often, and what browsers may do with the page.

Every address begins with a secret token, so that nobody without it gets anywhere. Requests must
name this machine as their host, or a host that was told, since a name that somebody else gives
to 127.0.0.1 would let their pages in; and pages from elsewhere are refused, token or not.
"""

from __future__ import annotations

import ipaddress
import secrets
import time
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
RATE, BURST = 200.0, 400.0  # requests a second, and at once
LOCAL = ("localhost",)


class Bucket:
    """So many requests a second, on average, and some more at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def take(self) -> bool:
        """Take one; whether there was one left."""
        now = time.monotonic()
        self._left = min(self.burst, self._left + (now - self._at) * self.rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Gate:
    """Lets requests through that have the token, a host that is known and no foreign origin."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.token = token
        self.hosts = {host.lower() for host in (*LOCAL, *hosts)}
        self.anywhere = any(_is_wildcard(host) for host in self.hosts)
        self._known, self._strange = Bucket(RATE, BURST), Bucket(RATE, BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, _armoured(send))
            return
        inner = dict(scope)
        inner["root_path"] = f"/{self.token}"
        await self.app(inner, receive, _armoured(send))

    def _refused(self, scope: Scope) -> Response | None:
        """Return the answer to a request that may not come in, or None."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._knows(host):
            return _said(421, "this host is not known here; start the studio with --host")
        if not self._has_token(scope["path"]):
            if not self._strange.take():
                return _busy()
            return _said(403, "open the address that whence studio printed, with its token")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.lower() != f"{scope['scheme']}://{host.lower()}":
            return _said(403, "pages from elsewhere may not ask the studio for anything")
        opened = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
        if site in ("cross-site", "same-site") and not opened:
            return _said(403, "pages from elsewhere may not ask the studio for anything")
        return None if self._known.take() else _busy()

    def _has_token(self, path: str) -> bool:
        said = path[1:].split("/", 1)
        return len(said) == 2 and secrets.compare_digest(said[0].encode(), self.token.encode())

    def _knows(self, host: str) -> bool:
        """Whether a host is one of those told, or an address of this machine, not a name."""
        name = _without_port(host.lower())
        if name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or self.anywhere


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _is_wildcard(host: str) -> bool:
    return host in ("0.0.0.0", "::")  # noqa: S104 (compared, not bound to)


def _said(status: int, text: str) -> Response:
    return PlainTextResponse(text + "\n", status_code=status)


def _busy() -> Response:
    return PlainTextResponse(
        "too many requests; wait a moment\n", status_code=429, headers={"retry-after": "1"}
    )


def _armoured(send: Send) -> Send:
    """Add what browsers must heed to every answer."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            more = [
                (name.encode(), value.encode())
                for name, value in HEADERS.items()
                if name.encode() not in present
            ]
            message["headers"] = [*message.get("headers", []), *more]
        await send(message)

    return sent
