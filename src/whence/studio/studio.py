"""The studio: a folder of projects, those of them that are open, and how they come to be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from whence._files import __version__
from whence.errors import ArgumentError
from whence.paper.worlds import BUILT_IN
from whence.runs import manifest
from whence.studio import drawn, uploads
from whence.studio import files as places
from whence.studio.desk import Desk
from whence.studio.project import MOST_LEVELS, Project, Settings

AT_WORK = 3  # processes that infer at the same time
READING = 2  # files that are read at the same time


class Studio:
    """A folder of projects.

    Attributes:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._desks: dict[str, Desk] = {}
        self._opening = anyio.Lock()
        self._reading = anyio.CapacityLimiter(READING)

    async def desk(self, name: str) -> Desk:
        """Return a project that is open, opened if it is not."""
        async with self._opening:
            if name not in self._desks:
                folder = places.project_folder(self.folder, name)
                project = await anyio.to_thread.run_sync(Project, folder)
                self._desks[name] = Desk(project)
                await self._rest(name)
                await self._desks[name].go_on()
            return self._desks[name]

    async def _rest(self, but: str) -> None:
        """End the processes of projects that nobody looks at, where there are too many."""
        idle = [
            desk
            for name, desk in self._desks.items()
            if name != but and not desk.audience.listeners and not desk.workshop.busy
        ]
        running = sum(desk.workshop.running for desk in self._desks.values())
        for desk in idle[: max(0, running - AT_WORK)]:
            await desk.close()

    async def document(self) -> dict[str, Any]:
        """Return what there is, for the page."""
        names = await anyio.to_thread.run_sync(places.project_names, self.folder)
        return {
            "version": __version__,
            "folder": str(self.folder),
            "projects": names,
            "built_in": {
                name: " ".join((make.__doc__ or "").split()) for name, make in BUILT_IN.items()
            },
        }

    async def begin(self, world: str) -> str:
        """Make a project of a built-in world; returns its name."""
        if world not in BUILT_IN:
            raise ArgumentError(f"{world[:60]}: no such world; there are {', '.join(BUILT_IN)}")
        return await anyio.to_thread.run_sync(begun, self.folder, world)

    async def draw(self, asked: drawn.Drawn) -> str:
        """Make a project of a map that was drawn; returns its name."""

        def make() -> str:
            return places.create(self.folder, asked.name or "map", drawn.world_of(asked))

        return await anyio.to_thread.run_sync(make, limiter=self._reading)

    async def bring(
        self, data: bytes, name: str, project: str | None, repair: bool
    ) -> dict[str, Any]:
        """Take in a file: into a project as demonstrations, or as a project of its own."""
        desk = None if project is None else await self.desk(project)
        mdp = None if desk is None else desk.project.mdp
        found = await anyio.to_thread.run_sync(
            lambda: uploads.read(data, name, mdp, repair=repair), limiter=self._reading
        )
        notes = list(found.notes)
        if found.mdp is None:
            assert desk is not None  # else nothing but a world is read
            assert found.demos is not None
            count = await desk.act(desk.project.add, found.demos)
            await desk.changed()
            return {"project": desk.project.name, "added": count, "notes": notes}
        made = await anyio.to_thread.run_sync(
            places.create, self.folder, uploads.stem(name), found.mdp, found.demos
        )
        return {"project": made, "added": len(found.demos or ()), "notes": notes}

    async def close(self) -> None:
        """End all processes; each keeps where it stands."""
        for desk in self._desks.values():
            await desk.close()


def begun(folder: Path, world: str) -> str:
    """Make a project of a built-in world; returns its name."""
    found = BUILT_IN[world](None)
    size = found.task.n_states  # as `whence infer` takes it to be
    settings = Settings(least=size, most=size, rewards=found.rewards)

    def more(draft: Path) -> None:
        Project(draft).keep(settings=settings)

    return places.create(folder, world, found.mdp, more=more)


def opened_run(folder: Path, run: Path) -> str:
    """Make a project of a run: a copy of it, its world and its demonstrations."""
    job = manifest.job_of(run, manifest.read(run))
    if len(job.pairs) > 1:
        raise ArgumentError(f"{run}: a run about {len(job.pairs)} worlds; the studio shows one")
    if len(job.rewards) > MOST_LEVELS:
        raise ArgumentError(
            f"{run}: a run of {len(job.rewards)} reward levels; the studio infers with up to "
            f"{MOST_LEVELS}: look at it with whence report and whence ask, or infer with fewer"
        )
    mdp, demos = job.pairs[0]

    def more(draft: Path) -> None:
        shutil.copytree(run, draft / places.RUNS / "1", symlinks=True)
        project = Project(draft)
        least, most = (min(8, size) for size in (job.sizes[0], job.sizes[-1]))
        settings = Settings(least=least, most=most, rewards=tuple(job.rewards))
        project.keep(settings=settings, run=1, episodes=len(project.lines), wanted=True)
        project.keep(digest=project.digest)

    return places.create(folder, run.resolve().name, mdp, demos, more)
