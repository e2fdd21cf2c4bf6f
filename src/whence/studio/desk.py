"""A project that is open: its folder, its pages, and the process that infers for it."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from whence import _files as files
from whence.runs import folder as results
from whence.studio import files as places
from whence.studio.live import Audience
from whence.studio.project import ConflictError, Project, Settings
from whence.studio.worker import Command, Infer, Open, Reply, Resume, Withdraw
from whence.studio.workers import Workshop

T = TypeVar("T")

KEPT_RUNS = 10  # finished runs of a project that are kept, the last ones


class Desk:
    """One project and all who work on it.

    Attributes:
        project: what its folder holds.
        audience: the pages that look at it.
        progress: what the process that infers said last; None where it does nothing.
        trouble: why it failed, or empty.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.audience = Audience()
        self.workshop = Workshop(self._heard)
        self.progress: dict[str, Any] | None = None
        self.trouble = ""
        self._lock = anyio.Lock()

    async def act(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call something that reads or changes the project, one at a time, beside the server."""
        async with self._lock:
            return await anyio.to_thread.run_sync(partial(function, *args, **kwargs))

    def someone(self) -> str:
        """Return who goes on with a walk that nobody looks at, or somebody new."""
        return self.project.orphan(self.audience.present) or secrets.token_hex(8)

    # Inference

    async def go_on(self) -> None:
        """Go on with what was asked for before the studio ended."""
        if self.project.state.wanted and not self.workshop.busy:
            await self._command(await self.act(self._wanted))

    def _wanted(self) -> Command | None:
        """Return what remains to be done about the run that was asked for."""
        project = self.project
        run = project.run_folder(project.state.run)
        if project.state.digest != project.digest or not (run / "manifest.json").is_file():
            return self._new()
        if results.complete(run):
            return Open(run=str(run))
        return Resume(run=str(run), before=self._before(project.state.run))

    async def changed(self) -> None:
        """Tell pages of other demonstrations, and infer anew where that is wanted."""
        self.audience.tell("demos")
        if self.project.state.settings.auto:
            await self.infer()

    async def infer(self) -> None:
        """Infer from all demonstrations; nothing is done twice."""
        await self._command(await self.act(self._asked))
        if not self.project.lines:
            self.workshop.stop()

    def _asked(self) -> Command | None:
        state = self.project.state
        if state.digest == self.project.digest and state.run:
            if self.workshop.busy:
                return None
            self.project.keep(wanted=True)
            return self._wanted()
        return self._new()

    def _new(self) -> Command | None:
        """Return the command for a new run, and take note of it; none without demonstrations."""
        project = self.project
        if not project.lines:
            project.keep(wanted=False, digest="")
            return None
        taken = [int(path.name) for path in (project.folder / places.RUNS).glob("[0-9]*")]
        number = max([project.state.run, *taken]) + 1
        settings = project.state.settings
        project.keep(wanted=True, run=number, episodes=len(project.lines), digest=project.digest)
        return Infer(
            world=str(project.world_path),
            demos=str(project.demos_path),
            run=str(project.run_folder(number)),
            least=settings.least,
            most=settings.most,
            rewards=settings.rewards,
            minutes=settings.minutes,
            before=self._before(number),
        )

    def _before(self, number: int) -> str:
        """Return the last run before one that was given answers; empty where none was."""
        runs = files.own(self.project.folder, places.RUNS)
        found = [
            int(path.parent.name)
            for path in runs.glob("[0-9]*/answers.jsonl")
            if int(path.parent.name) < number
        ]
        return str(runs / str(max(found))) if found else ""

    # Questions

    async def reply(self, question: str, value: float | str) -> None:
        """Give the run an answer to one of its questions."""
        asked = (await self._current()).get("questions") or []
        found = next((each for each in asked if each["id"] == question), None)
        if found is None:
            raise ConflictError("this question is not asked any more; look again")
        run = str(self.project.run_folder(self.project.state.run))
        await self.workshop.do(Reply(run=run, question=found, value=value))

    async def take_back(self, answer: str) -> None:
        """Withdraw an answer."""
        given = (await self._current()).get("answers") or []
        if not any(each["id"] == answer and not each["withdrawn"] for each in given):
            raise ConflictError("there is no such answer any more; look again")
        run = str(self.project.run_folder(self.project.state.run))
        await self.workshop.do(Withdraw(run=run, answer=answer))

    async def _current(self) -> dict[str, Any]:
        """Return what is believed; questions are about that, once a run is finished."""
        belief = await self.act(self.project.belief)
        if self.project.state.wanted or belief is None:
            raise ConflictError("inference goes on; answer when it is done")
        return belief

    async def _command(self, command: Command | None) -> None:
        if command is None:
            return
        self.trouble = ""
        self._progressed({"event": "starting"})
        await self.workshop.do(command)

    async def stop(self) -> None:
        """Stop inferring; what was found so far is kept."""
        await self.act(self.project.keep, wanted=False)
        self.workshop.stop()

    async def settle(self, settings: Settings) -> None:
        """Change how to infer."""
        await self.act(self.project.keep, settings=settings)
        self.audience.tell("settings")

    def _progressed(self, progress: dict[str, Any] | None) -> None:
        self.progress = progress
        self.audience.tell("progress", progress)

    def _heard(self, message: dict[str, Any]) -> None:
        """Take note of what the process says."""
        said = message.pop("said")
        if said == "progress":
            self._progressed(message)
        elif said == "started":
            self._tidy()
        elif said == "belief":
            self._believe(message)
        elif said == "questions":
            self._wonder(message)
        elif said in ("finished", "failed", "stopped", "idle"):
            self._ended(said, message)

    def _believe(self, message: dict[str, Any]) -> None:
        state = self.project.state
        number = self._number(message)
        if number != state.run:
            return  # of a run that was given up since
        belief = message["belief"] | {"run": number, "digest": state.digest}
        self.project.keep_belief(belief)
        self.audience.tell("belief")

    def _wonder(self, message: dict[str, Any]) -> None:
        """Keep the questions beside the belief that they are about."""
        belief = self.project.belief()
        if belief is not None and belief["run"] == self._number(message):
            self.project.keep_belief(belief | {"questions": message["questions"]})
            self.audience.tell("belief")

    def _ended(self, said: str, message: dict[str, Any]) -> None:
        """Take note that a run is finished, or that there is nothing to do any more."""
        if said == "failed":
            self.trouble = message["text"]
            self.audience.tell("trouble", self.trouble)
        mine = said == "finished" and self._number(message) == self.project.state.run
        if mine or (said == "failed" and not self.workshop.waiting):
            self.project.keep(wanted=False)
        self._progressed({"event": "starting"} if self.workshop.waiting else None)

    @staticmethod
    def _number(message: dict[str, Any]) -> int:
        """Return which run a message is about."""
        return int(Path(message["run"]).name)

    def _tidy(self) -> None:
        """Remove runs that a later one took the place of: unfinished ones, and old ones.

        The last that was given answers stays, since they hold for the next run, too.
        """
        current = self.project.state.run
        runs = files.own(self.project.folder, places.RUNS)
        older = sorted(
            (path for path in runs.glob("[0-9]*") if path.name.isdecimal()),
            key=lambda path: int(path.name),
        )
        older = [path for path in older if int(path.name) < current and not path.is_symlink()]
        done = [path for path in older if results.complete(path)]
        kept = {*done[-KEPT_RUNS:], Path(self._before(current))}
        for path in older:
            if path not in kept:
                shutil.rmtree(path, ignore_errors=True)

    async def close(self) -> None:
        """End the process; it keeps where it stands."""
        await self.workshop.close()
