"""The studio's side of the process that infers for a project."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from whence.studio.worker import Command

LONGEST_LINE = 256 * 2**20
PATIENCE = 10.0  # seconds to wait for a process that was asked to end

Heard = Callable[[dict[str, Any]], None]


class Workshop:
    """A process that infers; started when there is something to do, again if it died.

    Attributes:
        busy: whether it works on something.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._next: Command | None = None
        self._stopping = False
        self.busy = False

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.returncode is None

    @property
    def waiting(self) -> bool:
        """Whether there is something to do next."""
        return self._next is not None

    async def do(self, command: Command) -> None:
        """Have something done: at once, or as soon as what is being done has stopped."""
        if self.busy:
            self._next = command
            self.stop()
            return
        await self._send(command)

    def stop(self) -> None:
        """Stop what is being done; the process stays, for the next command."""
        process = self._process
        if self._stopping or not self.busy:
            return
        self._stopping = True  # a second signal would not wait for the end of a step
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                if os.name == "posix":
                    process.send_signal(signal.SIGINT)
                else:
                    process.terminate()  # the next command starts another

    async def close(self) -> None:
        """End the process: it keeps where it stands, and goes."""
        process, self._process, self._next = self._process, None, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _send(self, command: Command) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            process = await self._started()
        assert process.stdin is not None
        self.busy, self._stopping = True, False
        process.stdin.write(msgspec.json.encode(command) + b"\n")
        with contextlib.suppress(ConnectionError):
            await process.stdin.drain()

    async def _started(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "whence.studio.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=LONGEST_LINE,
            start_new_session=os.name == "posix",  # so that Ctrl-C is the studio's alone
        )
        self._process = process
        self._reading = asyncio.create_task(self._read(process))
        return process

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Hear what the process says, until it ends."""
        assert process.stdout is not None
        while line := await process.stdout.readline():
            message: dict[str, Any] = msgspec.json.decode(line)
            ended = message["said"] in ("idle", "failed", "stopped")
            if ended:
                self.busy = False
            self._heard(message)
            if ended:
                await self._go_on()
        await process.wait()
        if self._process is process and self.busy:
            self.busy = False
            self._heard({"said": "failed", "text": "the process that infers ended; try again"})
            await self._go_on()

    async def _go_on(self) -> None:
        command, self._next = self._next, None
        if command is not None:
            await self._send(command)
